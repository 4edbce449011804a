"""Turn a failure of the emulator into an error that names the line of C++, and of the user's Python."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly.cache import borrowed
from evenly.errors import EvenlyError, UnavailableError
from evenly.language.diagnostics import Location

from .compiler import KIND

ADDRESS = re.compile(r"\{pc:([0-9a-f]+)\}")
OURS = (
    "gpu_host.hpp",
    "atomics.hpp",
    "cuda_names.hpp",
    "cuda_atomic.hpp",
    "hooks.cpp",
)  # files of primitives, which are left out of reports
BETWEEN_BLOCKS = "blocks have no barrier in common"  # a race's text (host/access.hpp)
UNEQUAL = "store different values into one place"
LOOP = "it loops for ever"
HINTS = {
    "race": "let the two meet at ev::barrier() (or ev::sync_warp) in between, or make both atomic",
    "race between blocks": "publish with ev::fence_device() before an atomic, and take it up with "
    "ev::fence_device() after the atomic that sees it; or let the reader be a later launch",
    "race of values": "let all store the same constant, or decide: ev.atomic_min or ev.atomic_max",
    "barrier": "every thread of the block must reach the same barrier: no return, break or "
    "condition on the thread around it",
    "mask": "every lane that the mask names must make the call, and a lane that is read from must be "
    "one of them",
    "deadlock": "something that a thread waits for is never done: a signal that came before the "
    "wait, or by a thread that waits itself",
    "loop": "a loop that waits for another thread reads by an atomic or a volatile access; "
    "the compiler reads a plain variable once",
    "progress": "loops that change memory while they wait, or threads that always come first; "
    "steps= allows more turns",
    "uninitialised": "write it first, and let a barrier stand in between if another thread does",
    "seed": "something depends on who comes first: an order of atomics, or a thread that reads "
    "what another has yet to write",
}


class SimtError(EvenlyError):
    """A mistake that target `simt` found in a kernel. On a GPU it might go unnoticed.

    kind: "race", "barrier", "mask", "deadlock", "progress" (threads run and none gets on), "uninitialised", "bounds",
    "undefined", "assertion", "linearisability", "memory" (what memory="relaxed" cannot run) or "seed" (the
    result depends on the seed).
    kernel: the emitted kernel. seed: the seed of the run, which repeats it.
    locations: the lines of the user's Python that are involved, the nearest first.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        kernel: str = "",
        seed: int = 0,
        locations: tuple[Location, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind, self.kernel, self.seed, self.locations = kind, kernel, seed, locations

    def __reduce__(self) -> tuple[object, ...]:
        state = {"kernel": self.kernel, "seed": self.seed, "locations": self.locations}
        return (_remade, (self.kind, str(self), state))


def _remade(kind: str, message: str, state: dict[str, Any]) -> SimtError:
    return SimtError(kind, message, **state)


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in C++, in a header or an emitted kernel."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of emitted code.

    texts: the lines of files that are not on disk. python: returns the line of Python that a line was made from.
    """

    texts: Mapping[str, tuple[str, ...]]
    python: Callable[[str, int], Location | None]


def error(
    kind: str,
    text: str,
    library: Callable[[], bytes],
    origins: Origins,
    kernel: str,
    seed: int,
    how: str,
) -> SimtError:
    """Make the error for a failure. library: returns the library's bytes. how: describes the run, to repeat it."""
    locations: list[Location] = []
    frames = resolve(library, tuple(dict.fromkeys(ADDRESS.findall(text))))
    first, *rest = text.splitlines()
    lines = [f"{_placed(first, frames)} (kernel {kernel}, {how})"]
    for line in rest:
        lines += _explained(line, frames, origins, locations)
    special = {BETWEEN_BLOCKS: "race between blocks", UNEQUAL: "race of values", LOOP: "loop"}
    hint = HINTS.get(next((name for said, name in special.items() if said in text), kind))
    if hint is not None:
        lines.append(f"  hint: {hint}")
    return SimtError(
        kind, "\n".join(lines), kernel=kernel, seed=seed, locations=tuple(dict.fromkeys(locations))
    )


def placed(text: str, library: Callable[[], bytes]) -> str:
    """Return the first line of a text from the runtime, with places of the source for code addresses."""
    first = text.partition("\n")[0]
    return _placed(first, resolve(library, tuple(ADDRESS.findall(first))))


def _placed(line: str, frames: Mapping[str, tuple[Frame, ...]]) -> str:
    """Return a line with its addresses replaced by file:line."""

    def place(match: re.Match[str]) -> str:
        found = frames.get(match[1], ())
        return f"at {Path(found[0].file).name}:{found[0].line}" if found else f"at {match[1]}"

    return ADDRESS.sub(place, line).rstrip()


def _explained(
    line: str,
    frames: Mapping[str, tuple[Frame, ...]],
    origins: Origins,
    locations: list[Location],
) -> list[str]:
    """Return a line, followed by lines with the code at its address."""
    out = [_placed(line, frames)]
    found = ADDRESS.search(line)
    chain = frames.get(found[1], ()) if found else ()
    if not chain:
        return out
    code = _text_of(chain[0], origins)
    if code:
        out.append(f"      | {code}")
    callers = [f"{Path(f.file).name}:{f.line}" for f in chain[1:]]
    if callers:
        out.append(f"      called from {', '.join(callers)}")
    for frame in chain:
        location = origins.python(Path(frame.file).name, frame.line)
        if location is not None:
            locations.append(location)
            out.append(
                f"      Python: {Path(location.file).name}:{location.line}: {location.text.strip()}"
            )
            break
    return out


def _text_of(frame: Frame, origins: Origins) -> str:
    lines = origins.texts.get(Path(frame.file).name)
    if lines is None:
        lines = _file(frame.file)
    return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""


@functools.lru_cache(maxsize=64)
def _file(path: str) -> tuple[str, ...]:
    try:
        return tuple(Path(path).read_text().splitlines())
    except OSError:
        return ()


def resolve(
    library: Callable[[], bytes], addresses: tuple[str, ...]
) -> dict[str, tuple[Frame, ...]]:
    """Find the places of code addresses, and the places into which they are inlined, without those of primitives.

    This uses addr2line, which comes with the linker. Without it, or without room for a file, nothing is found.
    """
    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    if tool is None or not addresses:
        return {}
    before = [f"{int(a, 16) - 1:#x}" for a in addresses]  # an address is where a call returns to
    options = "-f", "-C", "-i", "-a", *before
    try:
        with borrowed(KIND, library(), ".so") as path:
            command = [tool, "-e", str(path), *options]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, errors="replace"
            )
    except (OSError, UnavailableError):
        return {}
    groups: list[list[str]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            groups.append([])
        elif groups:
            groups[-1].append(line)
    return {a: _frames(g) for a, g in zip(addresses, groups, strict=False)}


def _frames(lines: list[str]) -> tuple[Frame, ...]:
    frames = []
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        file, _, number = place.split(" ")[0].rpartition(":")
        if number.isdigit() and Path(file).name not in OURS:
            frames.append(Frame(function, file, int(number)))
    return tuple(f for f in frames if "/" not in f.file or not f.file.startswith("/usr/"))
