//! Element packer: packs elements into flits (`meshkv_element_packer`).

/// Flit being filled, and the flit at the output.
#[derive(Debug, Clone)]
pub struct ElementPacker<T> {
    elements: u32,
    filled: u32,
    out: Option<T>,
}

impl<T: Copy> ElementPacker<T> {
    /// Creates a packer for flits of `elements` elements.
    pub fn new(elements: u32) -> ElementPacker<T> {
        ElementPacker { elements, filled: 0, out: None }
    }

    /// Flit at the output.
    pub fn out(&self) -> Option<&T> {
        self.out.as_ref()
    }

    /// The packer is empty.
    pub fn is_empty(&self) -> bool {
        self.filled == 0 && self.out.is_none()
    }

    /// An element can be taken. `ready`: the output flit is taken.
    pub fn takes(&self, ready: bool) -> bool {
        self.out.is_none() || ready
    }

    /// Advances one cycle. `element` has a flag that ends its flit, and is given only if it can be taken.
    pub fn step(&mut self, element: Option<(T, bool)>, ready: bool) {
        if ready {
            self.out = None;
        }
        let Some((of, ends)) = element else { return };
        self.filled += 1;
        if ends || self.filled == self.elements {
            self.filled = 0;
            self.out = Some(of);
        }
    }
}
