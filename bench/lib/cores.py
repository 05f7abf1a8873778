"""Simulated cores: a machine of many slow cores on one of few fast ones.

Each thread of a program, and of those that it starts and that last for a while, is put into a control group of its own
that gets one *F*-th of a core, and all of them into one that gets *n* *F*-ths: what is run takes the time that *n* cores
would, each *F* times slower. All is slowed alike, locks and waiting too; what is not simulated is that cores share
caches and memory. Needs root and the `cpu` controller of control groups, version 1 (whose groups take single threads of
any process).
"""

import os
import threading
import time

from lib import process

ROOT = "/sys/fs/cgroup/cpu"
SHARE = 1_000  # microseconds of each period that a core has, at least
LOOK = 0.001  # seconds
LOOKS = 20  # after so many it is also looked for programs that were started


def possible():
    return os.access(os.path.join(ROOT, "cpu.cfs_quota_us"), os.W_OK)


def run(command, log, n_cores, slower):
    """Runs a command on so many cores, each so many times slower; its cost, as if they were not slower."""
    group = _Group(n_cores, slower)
    try:
        began = time.monotonic()
        cost = process.run(command, log, begun=group.follow)
        cost.wall = (time.monotonic() - began) / slower
    finally:
        group.remove()
    return cost


class _Group:
    def __init__(self, n_cores, slower):
        self.path = os.path.join(ROOT, f"bench-{os.getpid()}")
        self.slower = slower
        self.ended = threading.Event()
        self.thread = None
        self.known = set()
        self.cgroups = set()
        os.mkdir(self.path)
        _limit(self.path, n_cores, slower)

    def follow(self, pid):
        """Moves each thread of a process, and of those that it starts, into a group of its own."""
        self._move(pid)
        self.thread = threading.Thread(target=self._follow, args=(pid,), daemon=True)
        self.thread.start()

    def _follow(self, pid):
        looks, programs = 0, [pid]
        while not self.ended.wait(LOOK):
            if looks % LOOKS == 0:
                programs = [pid, *_started(pid)]
            looks += 1
            threads = {thread for program in programs for thread in _threads(program)}
            for thread in threads - self.known:
                self._move(thread)
            # The number of one that has ended may be given again.
            self.known = threads

    def _move(self, thread):
        cgroup = os.path.join(self.path, str(thread))
        self.cgroups.add(cgroup)
        os.makedirs(cgroup, exist_ok=True)
        _limit(cgroup, 1, self.slower)
        try:
            with open(os.path.join(cgroup, "tasks"), "w") as file:
                file.write(str(thread))
        except OSError:
            pass  # ended meanwhile

    def remove(self):
        self.ended.set()
        if self.thread:
            self.thread.join()
        for cgroup in [*self.cgroups, self.path]:
            if os.path.isdir(cgroup):
                os.rmdir(cgroup)


def _threads(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []  # ended meanwhile


def _started(pid):
    """The programs that one has started, and those that they have."""
    started = []
    for thread in _threads(pid):
        try:
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                children = file.read().split()
        except OSError:
            continue
        for child in children:
            started += [child, *_started(child)]
    return started


def _limit(cgroup, n_cores, slower):
    quota = max(SHARE, 40 * SHARE // slower)
    for name, value in (("cpu.cfs_period_us", quota * slower), ("cpu.cfs_quota_us", n_cores * quota)):
        with open(os.path.join(cgroup, name), "w") as file:
            file.write(str(value))
