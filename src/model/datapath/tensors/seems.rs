//! Kinds of files and of names that are given where tensors of a layer are asked for.

/// First bytes of other kinds of files; each with the kind's name, and the way out.
const FILES: [(&[u8], &str); 8] = [
    (
        b"version https://git-lfs",
        "a pointer of Git LFS: the file itself is not there; fetch it with `git lfs pull`",
    ),
    (b"PK\x03\x04", "a ZIP archive, as PyTorch's and numpy's files are: save the tensors with `safetensors`"),
    (b"\x80\x02", "a pickle, as old PyTorch's files are: save the tensors with `safetensors`"),
    (b"GGUF", "a GGUF file, which has weights: save queries, keys and values with `safetensors`"),
    (b"\x93NUMPY", "an array of numpy: save the tensors with `safetensors.numpy`"),
    (b"\x89HDF", "an HDF5 file: save the tensors with `safetensors`"),
    (b"<", "a page of the web or XML: was the download refused?"),
    (b"{", "JSON, as the index of a model in several files is: name the file with the tensors"),
];

/// The kind of a file that begins like this and is no safetensors file.
pub(super) fn file(begin: &[u8]) -> Option<&'static str> {
    let text = begin.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let known = |(first, _): &&(&[u8], &str)| begin.starts_with(first) || begin[text..].starts_with(first);
    FILES.iter().find(known).map(|(_, what)| *what)
}

/// True if tensors of these names are the weights of a model.
pub(super) fn weights(names: &[String]) -> Option<&str> {
    let of_weights = |name: &&String| name.ends_with(".weight") || name.ends_with(".qweight");
    names.iter().find(of_weights).map(String::as_str)
}
