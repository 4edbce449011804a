"""Ways to damage the files of a cache."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path


def cut_short(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def emptied(path: Path, rng: random.Random) -> None:
    os.truncate(path, 0)


def bit_flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 3)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def overwritten(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    at = rng.randrange(len(content))
    content[at : at + 64] = rng.randbytes(len(content[at : at + 64]))
    path.write_bytes(content)


def zeroed_at_the_end(path: Path, rng: random.Random) -> None:
    """Zero the end of a file, as a file system may after a crash."""
    size = path.stat().st_size
    os.truncate(path, rng.randrange(size))
    os.truncate(path, size)


def longer(path: Path, rng: random.Random) -> None:
    with path.open("ab") as file:
        file.write(rng.randbytes(rng.randint(1, 100)))


def huge(path: Path, rng: random.Random) -> None:
    os.truncate(path, 2**42)


def other_text(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"cos\nsystem\n(S'echo planted >&2'\ntR.")


def a_neighbours(path: Path, rng: random.Random) -> None:
    others = [p for p in sorted(path.parent.iterdir()) if p.is_file() and p != path]
    if others:
        shutil.copyfile(rng.choice(others), path)


def a_folder(path: Path, rng: random.Random) -> None:
    path.unlink()
    (path / "with").mkdir(parents=True)


def a_link(path: Path, rng: random.Random) -> None:
    elsewhere = path.parent / "elsewhere"
    path.replace(elsewhere)
    path.symlink_to(elsewhere)


def a_link_to_nothing(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.symlink_to("nothing")


def a_link_to_itself(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.symlink_to(path)


def a_pipe(path: Path, rng: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def unreadable(path: Path, rng: random.Random) -> None:
    path.chmod(0)


def removed(path: Path, rng: random.Random) -> None:
    path.unlink()


WAYS: tuple[Callable[[Path, random.Random], None], ...] = (
    cut_short,
    emptied,
    bit_flipped,
    overwritten,
    zeroed_at_the_end,
    longer,
    huge,
    other_text,
    a_neighbours,
    a_folder,
    a_link,
    a_link_to_nothing,
    a_link_to_itself,
    a_pipe,
    unreadable,
    removed,
)
