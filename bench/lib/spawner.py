"""Starts a program once for each file, from a process of a given size: what the start costs.

`spawner.py WAY MEGABYTES PROGRAM < LIST`: WAY is `fork` (fork, then exec) or `spawn`
(posix_spawn). Prints wall seconds, CPU seconds of this process and its children, and files.
"""

import os
import resource
import sys
import time


def main():
    way, megabytes, program = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    files = sys.stdin.read().splitlines()
    # Every page is touched, so that there are page tables to copy.
    ballast = bytearray(b"\1") * (megabytes << 20)
    null = os.open(os.devnull, os.O_WRONLY)
    start = {"fork": _fork, "spawn": _spawn}[way]
    wall, cpu = time.monotonic(), _cpu()
    for path in files:
        reader, writer = os.pipe()
        pid = start(program, path, writer, null)
        os.close(writer)
        while os.read(reader, 1 << 16):
            pass
        os.close(reader)
        os.waitpid(pid, 0)
    print(time.monotonic() - wall, _cpu() - cpu, len(files))
    assert ballast[-1] == 1


def _fork(program, path, output, errors):
    pid = os.fork()
    if pid == 0:
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.execv(program, [program, path])
    return pid


def _spawn(program, path, output, errors):
    actions = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, errors, 2)]
    return os.posix_spawn(program, [program, path], os.environ, file_actions=actions)


def _cpu():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    main()
