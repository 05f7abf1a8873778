"""The programs that are measured, one module each.

A peer knows the command lines of its program and nothing about measuring. All
have the same shape:

- `name`: the label in tables, `Peer(home)`: all its data go below the folder `home`;
- `version()`: one line;
- `prepare(roots)`: empties its data and writes its configuration for these roots;
- `index()`: the `Command` that indexes, or updates when run again;
- `documents()`: how many documents the index holds; `index_bytes()`: its size on disk;
- `search(query, mode)`: the `Command` that prints hits, or None where the program
  has no such thing; `mode` is "top10" (ten hits as the program shows them by
  default) or "paths" (up to 2000 paths);
- `hits(query)`: how many documents match.
"""

import os
import re
import shutil


def empty(folder):
    """Deletes a folder with all it holds and makes it anew."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)


def disk_bytes(folder):
    """Bytes of all files below a folder."""
    return sum(
        os.path.getsize(os.path.join(parent, name))
        for parent, _, names in os.walk(folder)
        for name in names
    )


def recoll_words(query):
    """A question of ken's in Recoll's language."""
    return re.sub(r"date:(\d+)\.\.(\d+)", r"date:\1/\2", query)
