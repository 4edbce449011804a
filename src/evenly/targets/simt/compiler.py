"""The host's C++ compiler: found, asked for its version, and run. What it makes is kept in evenly's cache."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from evenly.cache import read_file, replace_file, write_file
from evenly.errors import InternalError, UnavailableError
from evenly.targets.gpu import headers

HOST = Path(__file__).parent / "host"
RUNTIME = ("machine.cpp", "hooks.cpp", "primitives.cpp", "runtime.cpp")
CANDIDATES = ("g++", "clang++", "c++")
LIBRARIES = ("-ldl", "-lrt")
# DWARF 4: addr2line takes a file name of version 5 for another's now and then.
COMMON = ("-std=c++17", "-gdwarf-4", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off")
RUNTIME_FLAGS = ("-O2", "-g0")  # reports name lines of kernels, never of the runtime
# Kernels: every access to memory and every undefined operation calls one of our hooks (host/hooks.cpp), and comes back,
# so that where it would return to says where it is.
CHECKED = (
    "-O1",
    "-fno-optimize-sibling-calls",
    "-Werror=frame-larger-than=49152",  # a thread's stack has 64 KB (host/fiber.hpp)
    "-fsanitize=thread,signed-integer-overflow,shift,integer-divide-by-zero,bounds,return",
    "-Wno-unknown-pragmas",
    "-Wno-narrowing",
)
# For the counters: basic blocks call a hook, too, and none is copied for threads that came another way, since on a GPU
# they would meet there.
TRACED = (
    "-O1",
    "-DEV_TRACE",
    "-fsanitize=thread",
    "-fsanitize-coverage=trace-pc",
    "-fno-thread-jumps",
    "-Wno-unknown-pragmas",
    "-Wno-narrowing",
)
# Volatile accesses call hooks of their own; entering and leaving functions calls none. Lines are asked for, and where
# they were inlined, but never the values of variables, whose places take GCC a fifth of the time.
GCC = (
    "--param",
    "tsan-distinguish-volatile=1",
    "--param",
    "tsan-instrument-func-entry-exit=0",
    "-fno-var-tracking",
)
CLANG = ("-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", "-tsan-instrument-func-entry-exit=0")


KIND = "simt"
# What a compiler says that had no room for its temporary files.
NO_ROOM = ("No space left on device", "Disk quota exceeded", "File too large", "file too large")


def compiler() -> tuple[str, str]:
    """The compiler's path and version. Raises UnavailableError where there is none that works."""
    path, version = _found()
    return path, version.splitlines()[0]


@functools.cache
def _found() -> tuple[str, str]:
    """The compiler's path, and all that it says of its version."""
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


def library(source: str, name: str, traced: bool = False) -> bytes:
    """The shared library of a kernel's source and the runtime, from the cache or made now. traced: for the counters."""
    special = CLANG if "clang" in compiler()[1] else GCC
    flags = *(TRACED if traced else CHECKED), *special
    file = _key("library", source, headers.text(), *flags) + ".so"
    kept = read_file(KIND, file)
    if kept is not None:
        return kept

    def made(folder: Path) -> Path:
        text, code, linked = (folder / f"{name}.{end}" for end in ("cpp", "o", "so"))
        text.write_text(source)
        _run([*COMMON, *flags, *_includes(), "-c", str(text), "-o", str(code)], name)
        _run(["-shared", str(code), str(runtime()), "-o", str(linked), *LIBRARIES], name)
        return linked

    content = _in_a_folder(made)
    write_file(KIND, file, content)
    return content


def runtime() -> Path:
    """The runtime's object code, compiled once for all kernels, in a file of this process."""
    path = Path(_own_folder().name) / "runtime.o"
    if not path.exists() and not replace_file(path, _runtime_code()):
        raise no_room(str(path))
    return path


@functools.cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="evenly-")


@functools.cache
def _runtime_code() -> bytes:
    file = _key("runtime", *RUNTIME_FLAGS) + ".o"
    kept = read_file(KIND, file)
    if kept is not None:
        return kept

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
    """The content of the file that `made` leaves in a temporary folder.

    Raises UnavailableError where there is no room.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="evenly-") as folder:
            return made(Path(folder)).read_bytes()
    except OSError as error:
        raise no_room(str(error)) from None


def no_room(said: str) -> UnavailableError:
    """What a user is told who has no room for the files that compiling and loading need."""
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
    """The machine, and the compiler: two of one version may lie side by side, or change under their name."""
    path, version = _found()
    status = os.stat(path)
    file = os.path.realpath(path), status.st_size, status.st_mtime_ns
    return repr((platform.machine(), sys.platform, path, file, version))


@functools.cache
def _host() -> str:
    """The emulator's own texts."""
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
    """What the compiler does not take: a mistake of ours, but for hand-written source."""

    def __init__(self, what: str, said: str) -> None:
        head = "\n".join(said.splitlines()[:20])
        super().__init__(
            f"{compiler()[0]} refused {what}, for target 'simt': please report it.\n{head}"
        )
        self.said = said

    def first_error(self) -> str:
        """The first line with an error."""
        lines = self.said.splitlines()
        return next((line for line in lines if "error" in line), self.said[:200])
