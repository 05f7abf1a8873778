//! Which events are asked for, and what they say.

use rustix::fs::inotify::{ReadFlags, WatchFlags};

/// What is watched of a folder.
pub(crate) const MASK: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);

/// What is watched of a folder outside the walks. The folder of a walk keeps what is watched of it.
pub(crate) const SIDE_MASK: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::MASK_ADD);

/// What is watched of the folder of a root that is a file.
pub(crate) const FILE_MASK: WatchFlags = SIDE_MASK.union(WatchFlags::MODIFY);

/// An entry of a folder came.
pub(crate) const CAME: ReadFlags = ReadFlags::CREATE.union(ReadFlags::MOVED_TO);
/// An entry of a folder went.
pub(crate) const WENT: ReadFlags = ReadFlags::DELETE.union(ReadFlags::MOVED_FROM);
/// A folder itself went.
pub(crate) const GONE: ReadFlags = ReadFlags::DELETE_SELF.union(ReadFlags::MOVE_SELF);
