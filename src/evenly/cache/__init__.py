"""Compiled code and measured winners on disk, in the user's cache directory.

A fault of the cache makes a program slower, never wrong.

places    where the cache is, and whether its contents can be trusted
entries   files that are written atomically, and verified when they are read
limit     the size of the cache; removes what was used longest ago
"""

from evenly.cache.entries import alone, borrowed, discard, read_file, write_file
from evenly.cache.places import directory, locked, make_folder, replace_file

__all__ = [
    "alone",
    "borrowed",
    "directory",
    "discard",
    "locked",
    "make_folder",
    "read_file",
    "replace_file",
    "write_file",
]
