//! The documentation of one fabric: its page and the picture of its mesh.

mod markdown;
mod mesh_picture;
mod modules;
mod page;
mod registers;

pub(super) use mesh_picture::emit as mesh_picture;
pub(super) use page::emit as page;
