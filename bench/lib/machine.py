"""Names the machine, the programs and the commit that a result belongs to."""

import os
import platform
import re
import subprocess


def describe(peers):
    """Everything a reader needs to judge whether two results can be compared."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": platform.release(),
        "system": _system(),
        "load_at_start": os.getloadavg()[0],
        "commit": commit(),
        "versions": {peer.name: peer.version() for peer in peers},
    }


def slug():
    """`<cpu model>-<cores>c`, fit for a folder name."""
    model = re.sub(r"\((r|tm)\)|\b(cpu|processor)\b|@.*", " ", _cpu_model().lower())
    return re.sub(r"[^a-z0-9]+", "-", model).strip("-") + f"-{os.cpu_count()}c"


def commit():
    """The commit of this checkout, with `+` when files differ from it."""
    here = os.path.dirname(__file__)
    try:
        text = subprocess.run(
            ["git", "-C", here, "describe", "--always", "--dirty=+", "--abbrev=12"],
            capture_output=True, text=True, check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return text.stdout.strip()


def _cpu_model():
    return _first_match("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine()


def _system():
    return _first_match("/etc/os-release", r'PRETTY_NAME="(.+)"') or platform.system()


def _first_match(path, pattern):
    try:
        with open(path) as file:
            found = re.search(pattern, file.read())
    except OSError:
        return None
    return found and found.group(1).strip()
