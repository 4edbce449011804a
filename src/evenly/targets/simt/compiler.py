"""The host's C++ compiler: found, asked for its version, and run. What it makes is kept on disk."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from evenly.cache import directory, write_file
from evenly.errors import InternalError, UnavailableError
from evenly.targets.cuda import headers

HOST = Path(__file__).parent / "host"
RUNTIME = ("machine.cpp", "hooks.cpp", "primitives.cpp", "runtime.cpp")
CANDIDATES = ("g++", "clang++", "c++")
LIBRARIES = ("-ldl", "-lrt")
# DWARF 4: addr2line takes a file name of version 5 for another's now and then.
COMMON = ("-std=c++17", "-gdwarf-4", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off")
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


@functools.cache
def compiler() -> tuple[str, str]:
    """The compiler's path and version. Raises UnavailableError where there is none that works."""
    asked = os.environ.get("EVENLY_CXX")
    for name in (asked,) if asked else CANDIDATES:
        path = shutil.which(name)
        if path is None:
            continue
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout:
            return path, done.stdout.splitlines()[0]
    missing = f"no C++ compiler ({'EVENLY_CXX is ' + asked if asked else ', '.join(CANDIDATES)})"
    raise UnavailableError(
        "target 'simt'",
        missing,
        "install g++ or clang++ (Debian: apt install g++), or name one in EVENLY_CXX",
    )


def library(source: str, name: str, traced: bool = False) -> Path:
    """The shared library of a kernel's source and the runtime, from the cache or made now. traced: for the counters."""
    special = CLANG if "clang" in compiler()[1] else GCC
    flags = *(TRACED if traced else CHECKED), *special
    key = _key("library", source, headers.text(), *flags)
    if kept := _kept(f"{key}.so"):
        return kept
    with tempfile.TemporaryDirectory(prefix="evenly-") as folder:
        text, code, linked = (Path(folder) / f"{name}.{end}" for end in ("cpp", "o", "so"))
        text.write_text(source)
        _run([*COMMON, *flags, *_includes(), "-c", str(text), "-o", str(code)], name)
        _run(["-shared", str(code), str(runtime()), "-o", str(linked), *LIBRARIES], name)
        return _keep(f"{key}.so", linked.read_bytes())


def runtime() -> Path:
    """The runtime's object code, compiled once for all kernels."""
    key = _key("runtime")
    if kept := _kept(f"{key}.o"):
        return kept
    with tempfile.TemporaryDirectory(prefix="evenly-") as folder:
        text, code = Path(folder) / "whole.cpp", Path(folder) / "whole.o"
        text.write_text("".join(f'#include "{name}"\n' for name in RUNTIME))
        _run([*COMMON, "-O2", *_includes(), "-c", str(text), "-o", str(code)], "the runtime")
        return _keep(f"{key}.o", code.read_bytes())


def _includes() -> list[str]:
    return [f"-I{HOST}", f"-I{headers.FOLDER}"]


def _kept(name: str) -> Path | None:
    places = directory("simt") / name, Path(_instead().name) / name
    return next((path for path in places if path.exists()), None)


def _keep(name: str, content: bytes) -> Path:
    kept = write_file("simt", name, content)
    if kept is not None:
        return kept
    path = Path(_instead().name) / name
    path.write_bytes(content)
    return path


@functools.cache
def _instead() -> tempfile.TemporaryDirectory[str]:
    """Where things are kept while this process lives, if the cache cannot be written."""
    return tempfile.TemporaryDirectory(prefix="evenly-")


def _key(*parts: str) -> str:
    whole = "\0".join((*parts, compiler()[1], " ".join(COMMON), _host()))
    return hashlib.sha256(whole.encode()).hexdigest()


@functools.cache
def _host() -> str:
    """The emulator's own texts."""
    return "".join(p.read_text() for p in sorted(HOST.iterdir()) if p.suffix in (".hpp", ".cpp"))


def _run(arguments: list[str], what: str) -> None:
    done = subprocess.run(
        [compiler()[0], *arguments], capture_output=True, text=True, check=False, errors="replace"
    )
    if done.returncode != 0:
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
