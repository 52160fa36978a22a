//! Layout of a slice's tokens in its flits.
//!
//! K is row-major: token after token, `head_dim / E` flits each, or `E / head_dim` tokens a flit. V is
//! transposed in blocks of E tokens, like value caches of serving systems: each block has a flit per dim,
//! with that dim of E consecutive tokens. So K and V are both multiplied lane by lane with a stationary
//! vector.

/// Returns the K flits of `tokens x head_dim` elements; the last is padded with zeros.
pub fn k_flits(k: &[u16], flit_elements: u32) -> Vec<Vec<u16>> {
    let lanes = flit_elements as usize;
    k.chunks(lanes).map(|flit| filled(flit.iter().copied(), lanes)).collect()
}

/// Returns the V flits of `tokens x head_dim` elements; the last block is padded with zeros.
pub fn v_flits(v: &[u16], head_dim: u32, flit_elements: u32) -> Vec<Vec<u16>> {
    let (head_dim, lanes) = (head_dim as usize, flit_elements as usize);
    let block = |tokens: &[u16]| -> Vec<Vec<u16>> {
        (0..head_dim).map(|dim| filled(tokens.chunks(head_dim).map(|token| token[dim]), lanes)).collect()
    };
    v.chunks(lanes * head_dim).flat_map(block).collect()
}

fn filled(elements: impl Iterator<Item = u16>, lanes: usize) -> Vec<u16> {
    let mut flit: Vec<_> = elements.collect();
    flit.resize(lanes, 0);
    flit
}
