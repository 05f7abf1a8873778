"""A file system (FUSE) that passes a folder through: passthrough.py FOLDER MOUNT RULES

The file RULES has lines `operation part-of-path action`. The action HANG waits as long as the rule stands; any other
is the name of an error. Inodes are numbered as they are met.
"""
import errno
import os
import sys
import time

from fusepy import FUSE, FuseOSError, Operations

TOP, MOUNT, RULES = sys.argv[1:]
STAT = ("atime", "ctime", "gid", "mode", "mtime", "nlink", "size", "uid")
STATFS = ("bavail", "bfree", "blocks", "bsize", "favail", "ffree", "files", "flag", "frsize", "namemax")


def action(operation, path):
    try:
        with open(RULES) as rules:
            words = [line.split() for line in rules]
    except FileNotFoundError:
        return None
    found = [rule[2] for rule in words if len(rule) == 3 and rule[0] == operation and rule[1] in path]
    return found[0] if found else None


def obey(operation, path):
    while (found := action(operation, path)) == "HANG":
        time.sleep(0.05)
    if found:
        raise FuseOSError(getattr(errno, found))


class Passthrough(Operations):
    def getattr(self, path, handle=None):
        obey("getattr", path)
        stat = os.lstat(TOP + path)
        return {f"st_{name}": getattr(stat, f"st_{name}") for name in STAT}

    def statfs(self, path):
        stat = os.statvfs(TOP + path)
        return {f"f_{name}": getattr(stat, f"f_{name}") for name in STATFS}

    def readdir(self, path, handle):
        obey("readdir", path)
        return [".", "..", *os.listdir(TOP + path)]

    def open(self, path, flags):
        obey("open", path)
        return os.open(TOP + path, flags)

    def read(self, path, size, offset, handle):
        obey("read", path)
        return os.pread(handle, size, offset)

    def create(self, path, mode, info=None):
        return os.open(TOP + path, os.O_RDWR | os.O_CREAT, mode)

    def write(self, path, data, offset, handle):
        return os.pwrite(handle, data, offset)

    def truncate(self, path, size, handle=None):
        os.truncate(TOP + path, size)

    def release(self, path, handle):
        os.close(handle)

    def readlink(self, path):
        return os.readlink(TOP + path)

    def mkdir(self, path, mode):
        os.mkdir(TOP + path, mode)

    def unlink(self, path):
        os.unlink(TOP + path)

    def rmdir(self, path):
        os.rmdir(TOP + path)

    def rename(self, old, new):
        os.rename(TOP + old, TOP + new)

    def chmod(self, path, mode):
        os.chmod(TOP + path, mode)

    def utimens(self, path, times=None):
        os.utime(TOP + path, times)


FUSE(Passthrough(), MOUNT, foreground=True, nothreads=False, attr_timeout=0, entry_timeout=0)
