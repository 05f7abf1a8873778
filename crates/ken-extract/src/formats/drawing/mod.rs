//! Drawings and plans: their texts and titles.

pub(super) mod dwg;
pub(super) mod dxf;
pub(crate) mod metafile;
