"""Runs one program and measures it: wall clock, CPU of all descendants, memory, latency.

Programs are started by posix_spawn without a shell. CPU time comes from wait4,
which counts every descendant that was reaped; descendants that outlive their
parent are reaped here (child subreaper), so that helpers such as Recoll's
Python filters are counted whoever waits for them. Memory is the largest peak of
a single process (wait4) and, sampled from /proc, the largest sum over all
processes alive at one time. The sum is given twice: all resident pages, and
anonymous pages only, because mapped index files are page cache and can be
dropped at any time.
"""

import ctypes
import os
import signal
import threading
import time
from dataclasses import dataclass, field

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.2
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Command:
    """A command line, its additions to the environment, and the exit codes that mean success."""

    argv: list
    env: dict = field(default_factory=dict)
    ok: tuple = (0,)


@dataclass
class Cost:
    """What one run cost. Seconds and bytes."""

    wall: float
    cpu: float
    peak_process: int
    peak_total: int
    peak_anonymous: int


@dataclass
class Answer:
    """One short run: seconds from process start to the last byte, CPU seconds, the output."""

    wall: float
    cpu: float
    output: bytes


class Failed(Exception):
    """A measured program ended with a status that its command does not allow."""


def adopt_orphans():
    """Makes this process the parent of descendants whose own parent ended."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command, log, begun=None):
    """Runs a command to its end, its output appended to the file `log`; `begun` is told its number."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(output, f"$ {' '.join(command.argv)}\n".encode())
    try:
        began = time.monotonic()
        pid = _spawn(command, stdout=output, stderr=output)
        if begun:
            begun(pid)
        sampler = _Sampler(pid)
        sampler.start()
        _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - began
        sampler.stop()
    finally:
        os.close(output)
    orphans = _reap_orphans()
    _check(command, status, log)
    usages = [usage, *orphans]
    largest = max(u.ru_maxrss for u in usages) * 1024
    return Cost(
        wall=wall,
        cpu=sum(u.ru_utime + u.ru_stime for u in usages),
        peak_process=largest,
        peak_total=max(largest, sampler.resident),  # a short run may have no sample
        peak_anonymous=sampler.anonymous,
    )


def answer(command):
    """Runs a command and reads its output from a pipe to the end."""
    reader, writer = os.pipe()
    began = time.monotonic()
    pid = _spawn(command, stdout=writer, stderr=None)
    os.close(writer)
    chunks = []
    while chunk := os.read(reader, 1 << 16):
        chunks.append(chunk)
    seconds = time.monotonic() - began
    os.close(reader)
    _, status, usage = os.wait4(pid, 0)
    _check(command, status, "(output not kept)")
    return Answer(seconds, usage.ru_utime + usage.ru_stime, b"".join(chunks))


def silent(command):
    """Runs a short command whose output nobody reads."""
    began = time.monotonic()
    pid = _spawn(command, stdout=None, stderr=None)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - began
    _check(command, status, "(output not kept)")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, 0, 0)


def first_byte(command):
    """Seconds from process start to the first byte of output; the rest is not waited for."""
    reader, writer = os.pipe()
    began = time.monotonic()
    pid = _spawn(command, stdout=writer, stderr=None)
    os.close(writer)
    os.read(reader, 1)
    seconds = time.monotonic() - began
    os.close(reader)
    os.wait4(pid, 0)
    return seconds


def output(command):
    """The standard output of a command, as text; for versions and counts, not for timing."""
    return answer(command).output.decode(errors="replace")


def _spawn(command, stdout, stderr):
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    for target, source in ((1, stdout), (2, stderr)):
        if source is None:
            actions.append((os.POSIX_SPAWN_OPEN, target, os.devnull, os.O_WRONLY, 0))
        else:
            actions.append((os.POSIX_SPAWN_DUP2, source, target))
    return os.posix_spawnp(
        command.argv[0],
        command.argv,
        {**os.environ, **command.env},
        file_actions=actions,
        setsigdef=[signal.SIGPIPE],  # Python ignores it; the programs should not
    )


def _check(command, status, log):
    code = os.waitstatus_to_exitcode(status)
    if code not in command.ok:
        raise Failed(f"`{' '.join(command.argv)}` ended with {code}; see {log}")


def _reap_orphans():
    """Waits for descendants that outlived the program; their resource usage."""
    usages = []
    while True:
        try:
            usages.append(os.wait4(-1, 0)[2])
        except ChildProcessError:
            return usages


class _Sampler(threading.Thread):
    """Follows the memory of a process and its descendants while they live."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root = root
        self.resident = 0
        self.anonymous = 0
        self._ended = threading.Event()

    def run(self):
        while not self._ended.wait(SAMPLE_SECONDS):
            sizes = [_memory(pid) for pid in _family(self.root)]
            self.resident = max(self.resident, sum(size[0] for size in sizes))
            self.anonymous = max(self.anonymous, sum(size[1] for size in sizes))

    def stop(self):
        self._ended.set()
        self.join()


def _family(root):
    """The process and all its living descendants."""
    parents = _parents()
    found, front = [], [root]
    while front:
        pid = front.pop()
        found.append(pid)
        front.extend(child for child, parent in parents.items() if parent == pid)
    return found


def _parents():
    """The parent of every process of the machine."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    # The second field is the name in parentheses and may hold anything.
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass  # ended in the meantime
    return parents


def _memory(pid):
    """Resident and anonymous bytes of a process; nothing when it has ended."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            _, resident, shared, *_ = (int(word) * PAGE for word in file.read().split())
            return resident, resident - shared
    except (OSError, ValueError):
        return 0, 0
