//! Elements are packed into flits (`meshkv_element_packer`).

/// The flit that is being filled, and the one that waits.
#[derive(Debug, Clone)]
pub struct ElementPacker<T> {
    elements: u32,
    filled: u32,
    out: Option<T>,
}

impl<T: Copy> ElementPacker<T> {
    /// One for flits of so many elements.
    pub fn new(elements: u32) -> ElementPacker<T> {
        ElementPacker { elements, filled: 0, out: None }
    }

    /// The flit that waits.
    pub fn out(&self) -> Option<&T> {
        self.out.as_ref()
    }

    /// Nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.filled == 0 && self.out.is_none()
    }

    /// Whether an element is taken, if the flit is (`ready`).
    pub fn takes(&self, ready: bool) -> bool {
        self.out.is_none() || ready
    }

    /// Passes a cycle with an element, of which `ends` says that it ends its flit; one that is not taken is
    /// not given.
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
