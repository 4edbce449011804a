"""Find the host's C++ compiler, and run it. Its results are kept in evenly's cache."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from evenly.cache import alone, read_file, replace_file, write_file
from evenly.errors import InternalError, UnavailableError
from evenly.targets.gpu import headers

HOST = Path(__file__).parent / "host"
RUNTIME = ("machine.cpp", "graphs.cpp", "choices.cpp", "hooks.cpp", "primitives.cpp", "runtime.cpp")
CANDIDATES = ("g++", "clang++", "c++")
LIBRARIES = ("-ldl", "-lrt")
# DWARF 4, since addr2line sometimes confuses file names in version 5; of variables, reports need nothing (-g1).
COMMON = ("-std=c++17", "-gdwarf-4", "-g1", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off")
RUNTIME_FLAGS = ("-O2", "-g0")  # reports name lines of kernels, never of the runtime
# Flags for kernels. Every access to memory and every undefined operation calls one of our hooks (host/hooks.cpp). No
# such call is a tail call, so that its return address identifies the place.
CHECKED = (
    "-O1",
    "-fno-optimize-sibling-calls",
    "-Werror=frame-larger-than=49152",  # a thread's stack has 64 KB (host/fiber.hpp)
    "-fsanitize=thread,signed-integer-overflow,shift,integer-divide-by-zero,bounds,return",
    "-Wno-unknown-pragmas",
    "-Wno-narrowing",
)
# Flags for hand-written kernels, whose pointers may lead anywhere. The compiler checks alignment only where there are
# vector types; elsewhere host/access.hpp does. With these checks GCC no longer moves loads out of loops, and that shows
# that a flag is polled by a plain load.
POINTERS = ("-fsanitize=object-size",)
VECTORS = ("-fsanitize=alignment",)
VECTOR = re.compile(r"\b(?:u?int|float|double|longlong)[24]\b")
# Flags for the counters. Basic blocks call a hook, too. None is duplicated for threads that arrive from another block,
# since on a GPU these threads would reconverge there.
TRACED = (
    "-O1",
    "-DEV_TRACE",
    "-fsanitize=thread",
    "-fsanitize-coverage=trace-pc",
    "-fno-thread-jumps",
    "-Wno-unknown-pragmas",
    "-Wno-narrowing",
)
# Flags for lock step: basic blocks call a hook, and stand in the order of the source.
LOCKSTEP = (
    "-DEV_TRACE",
    "-DEV_LOCKSTEP",
    "-fsanitize-coverage=trace-pc",
    "-fno-thread-jumps",
    "-fno-reorder-blocks",
    "-fno-guess-branch-probability",
)
# Volatile accesses call hooks of their own. Function entries and exits call none. Reports need line numbers, also of
# inlined code, but no values of variables; recording where these are takes GCC a fifth of the time.
GCC = (
    "--param",
    "tsan-distinguish-volatile=1",
    "--param",
    "tsan-instrument-func-entry-exit=0",
    "-fno-var-tracking",
)
CLANG = ("-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", "-tsan-instrument-func-entry-exit=0")


KIND = "simt"
# Messages of a compiler that had no room for its temporary files.
NO_ROOM = ("No space left on device", "Disk quota exceeded", "File too large", "file too large")


def compiler() -> tuple[str, str]:
    """Return the compiler's path and version. Raises UnavailableError if there is none that works."""
    path, version = _found()
    return path, version.splitlines()[0]


@functools.cache
def _found() -> tuple[str, str]:
    """Return the compiler's path, and its whole output for --version."""
    asked = os.environ.get("EVENLY_CXX")
    for name in (asked,) if asked else CANDIDATES:
        path = shutil.which(name)
        if path is None:
            continue
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout:
            return path, done.stdout
    missing = f"no C++ compiler ({'EVENLY_CXX is ' + asked if asked else ', '.join(CANDIDATES)})"
    raise UnavailableError(
        "target 'simt'",
        missing,
        "install g++ or clang++ (Debian: apt install g++), or name one in EVENLY_CXX",
    )


def library(
    source: str, name: str, purpose: str = "checked", written_by_hand: bool = False
) -> bytes:
    """Return the shared library of a kernel's source and the runtime. It is compiled if it is not in the cache.

    purpose: "checked", "traced" (for the counters) or "lockstep". written_by_hand: whether pointers are checked, too.
    """
    gcc = "clang" not in compiler()[1]
    checked = CHECKED
    if written_by_hand:
        checked = (*CHECKED, *POINTERS, *(VECTORS if VECTOR.search(source) else ()))
    own = {"checked": checked, "traced": TRACED, "lockstep": (*checked, *LOCKSTEP)}[purpose]
    flags = *own, *(GCC if gcc else CLANG)
    file = _key("library", source, headers.text(), *flags) + ".so"
    kept = read_file(KIND, file)
    if kept is not None:
        return kept

    def made(folder: Path) -> Path:
        text, code, linked = (folder / f"{name}.{end}" for end in ("cpp", "o", "so"))
        text.write_text(source)
        first = _precompiled(source, flags) if gcc else ()
        _run([*COMMON, *flags, *first, *_includes(), "-c", str(text), "-o", str(code)], name)
        _run(
            ["-shared", *_linker(), str(code), str(runtime()), "-o", str(linked), *LIBRARIES], name
        )
        return linked

    content = _in_a_folder(made)
    write_file(KIND, file, content)
    return content


_headers: dict[str, Path | None] = {}  # precompiled, by what they depend on; None: not yet
_precompiling = threading.Lock()


def _precompiled(source: str, flags: Sequence[str]) -> tuple[str, ...]:
    """Return the options with which GCC takes the headers that begin a source from a precompiled file.

    Parsing them takes half of the time of a small kernel. Precompiling takes as long as three times that, so it is done
    when a process compiles a second program with the same headers.
    """
    lines = source.splitlines(keepends=True)
    text = "".join(itertools.takewhile(lambda line: line.startswith("#include"), lines))
    key = _key("headers", text, str(headers.FOLDER), headers.text(), *flags)
    with _precompiling:
        if key not in _headers:
            _headers[key] = None
            return ()
        made = _headers[key]
        if made is None:
            made = Path(_own_folder().name) / f"{key}.hpp"
            made.write_text(text)
            _headers[key] = made
            with contextlib.suppress(UnavailableError):  # without room, GCC takes the file itself
                _run([*COMMON, *flags, *_includes(), str(made), "-o", f"{made}.gch"], "the headers")
    return "-include", str(made)


def runtime() -> Path:
    """Return a file of this process with the runtime's object code, which is compiled once for all kernels."""
    path = Path(_own_folder().name) / "runtime.o"
    if not path.exists() and not replace_file(path, _runtime_code()):
        raise no_room(str(path))
    return path


@functools.cache
def _linker() -> tuple[str, ...]:
    """Return the option for gold if it is there, which takes a third of the time of the usual linker."""
    return ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()


@functools.cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="evenly-")


@functools.cache
def _runtime_code() -> bytes:
    file = _key("runtime", *RUNTIME_FLAGS) + ".o"
    kept = read_file(KIND, file)
    if kept is not None:
        return kept
    with alone(KIND, file):  # it takes seconds, and programs may begin together
        return read_file(KIND, file) or _compiled_runtime(file)


def _compiled_runtime(file: str) -> bytes:
    def made(folder: Path) -> Path:
        text, code = folder / "whole.cpp", folder / "whole.o"
        text.write_text("".join(f'#include "{name}"\n' for name in RUNTIME))
        arguments = *COMMON, *RUNTIME_FLAGS, *_includes(), "-c", str(text), "-o", str(code)
        _run(list(arguments), "the runtime")
        return code

    content = _in_a_folder(made)
    write_file(KIND, file, content)
    return content


def _in_a_folder(made: Callable[[Path], Path]) -> bytes:
    """Return the content of the file that `made` writes in a temporary folder.

    Raises UnavailableError if there is no room.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="evenly-") as folder:
            return made(Path(folder)).read_bytes()
    except OSError as error:
        raise no_room(str(error)) from None


def no_room(said: str) -> UnavailableError:
    """Return the error for a full disk, on which compiling or loading could write no files."""
    return UnavailableError(
        "target 'simt'",
        f"no temporary file can be written ({said})",
        "make room, or name another folder in TMPDIR",
    )


def _includes() -> list[str]:
    return [f"-I{HOST}", f"-I{headers.FOLDER}"]


def _key(*parts: str) -> str:
    whole = "\0".join((*parts, _identity(), " ".join(COMMON), _host()))
    return hashlib.sha256(whole.encode()).hexdigest()


@functools.cache
def _identity() -> str:
    """Identify the machine and the compiler's file, since two compilers may have the same version or the same path."""
    path, version = _found()
    status = os.stat(path)
    file = os.path.realpath(path), status.st_size, status.st_mtime_ns
    return repr((platform.machine(), sys.platform, path, file, version))


@functools.cache
def _host() -> str:
    """Return the text of all source files of the emulator."""
    return "".join(p.read_text() for p in sorted(HOST.iterdir()) if p.suffix in (".hpp", ".cpp"))


def _run(arguments: list[str], what: str) -> None:
    done = subprocess.run(
        [compiler()[0], *arguments], capture_output=True, text=True, check=False, errors="replace"
    )
    if done.returncode == 0:
        return
    said = next((text for text in NO_ROOM if text in done.stderr), "")
    if said or done.returncode == -signal.SIGXFSZ:
        raise no_room(f"{compiler()[0]}: {said or 'File too large'}")
    raise Refused(what, done.stderr)


class Refused(InternalError):
    """Raised if the compiler rejects code. This is a mistake in evenly, except for hand-written source."""

    def __init__(self, what: str, said: str) -> None:
        head = "\n".join(said.splitlines()[:20])
        super().__init__(
            f"{compiler()[0]} refused {what}, for target 'simt': please report it.\n{head}"
        )
        self.said = said

    def first_error(self, file: str) -> str:
        """Return the first line with an error. For one in our headers, it names the line of `file` that leads there."""
        at = ""
        for line in self.said.splitlines():
            if found := re.match(rf"{re.escape(file)}:\d+", line):
                at = found[0]
            if "error" in line:
                _, ours, what = line.partition("error: ")
                return f"{at}: {what}" if ours and at and not line.startswith(file) else line
        return self.said[:200]
