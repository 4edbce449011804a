"""Compiled code and measured winners on disk, in the user's cache directory. Slow at worst, never wrong.

places    where it lies; whether what lies there can be trusted
entries   files that appear whole, and are given out only as they were written
limit     how much there is, and what goes when it is too much
"""

from evenly.cache.entries import borrowed, discard, read_file, write_file
from evenly.cache.places import directory, make_folder, replace_file

__all__ = [
    "borrowed",
    "directory",
    "discard",
    "make_folder",
    "read_file",
    "replace_file",
    "write_file",
]
