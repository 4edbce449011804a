"""Load the emulator's runtime (host/runtime.cpp) together with a program's kernels, and run their launches."""

from __future__ import annotations

import ctypes
import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evenly.cache import borrowed

from .compiler import KIND, no_room
from .counters import DTYPE, Counters
from .options import ORDERS, Options
from .printing import lines

TRIES = 100  # how many runs are made for one that counts, at most, when exploring
MOST_TURNS = 10_000  # of an interleaving that is explored, without progress
STEPS = 200_000  # switches of threads between two checks of Python's signals (Ctrl-C)
DONE, MORE, FAILED = range(3)
# A process has one run at a time. Programs with the same text share a library, and all watchdogs share a signal.
LOCK = threading.Lock()


class _Array(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("item", ctypes.c_uint32),
        ("writable", ctypes.c_uint32),
        ("initialised", ctypes.c_uint32),
    )


class _Entry(ctypes.Structure):
    _fields_ = (("call", ctypes.c_void_p), ("kernel", ctypes.c_void_p), ("kinds", ctypes.c_char_p))


class _Options(ctypes.Structure):
    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("order", ctypes.c_int32),
        ("depth", ctypes.c_int32),
        ("races", ctypes.c_int32),
        ("resident", ctypes.c_int32),
        ("record", ctypes.c_int32),
        ("any_start", ctypes.c_int32),
        ("relaxed", ctypes.c_int32),
        ("lockstep", ctypes.c_int32),
        ("strict", ctypes.c_int32),
        ("steps", ctypes.c_uint64),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("blocks_x", ctypes.c_int32),
        ("blocks_y", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("shared", ctypes.c_uint32),
        ("cooperative", ctypes.c_int32),
    )


SCALARS: dict[str, Any] = {
    "b": ctypes.c_bool,
    "a": ctypes.c_int8,
    "B": ctypes.c_uint8,
    "h": ctypes.c_int16,
    "H": ctypes.c_uint16,
    "i": ctypes.c_int32,
    "j": ctypes.c_uint32,
    "l": ctypes.c_int64,
    "m": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
    "e": lambda v: ctypes.c_uint16(int(np.float16(v).view(np.uint16))),
    "F": lambda z: (ctypes.c_float * 2)(z.real, z.imag),
    "D": lambda z: (ctypes.c_double * 2)(z.real, z.imag),
}


@dataclass(frozen=True, slots=True)
class Memory:
    """An array that kernels may access. initialised: false for scratch memory that has not been written yet."""

    name: str
    pointer: int
    nbytes: int
    itemsize: int
    writable: bool
    initialised: bool = True


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel, its grid (x, y), its threads per block, and its arguments, which are addresses and numbers.

    cooperative: whether all blocks are in flight at once, whatever the options say.
    """

    kernel: str
    grid: tuple[int, int]
    block: int
    arguments: Sequence[Any]
    shared: int = 0  # bytes of dynamic shared memory
    cooperative: bool = False


@dataclass(frozen=True, slots=True)
class Explored:
    """What was explored: how many runs, why these are not all (empty if they are).

    outcomes: the content of the arrays, the trace, the history."""

    runs: int
    cut: str
    outcomes: list[tuple[bytes, str, str]]


class Broken(Exception):
    """Raised for a failure that the runtime reports. text: the message, with code addresses in it ({pc:1a2b})."""

    def __init__(self, kind: str, text: str, kernel: str) -> None:
        super().__init__(kind, text, kernel)
        self.kind, self.text, self.kernel = kind, text, kernel


_libraries: dict[bytes, ctypes.CDLL] = {}


def _loaded(content: bytes) -> ctypes.CDLL:
    """Load a library once, from a file that no other process can truncate or change while it is mapped."""
    digest = hashlib.blake2b(content).digest()
    if digest not in _libraries:
        try:
            with borrowed(KIND, content, ".so") as path:
                _libraries[digest] = ctypes.CDLL(str(path))
        except OSError as error:
            raise no_room(str(error)) from None
    return _libraries[digest]


class Machine:
    """A loaded library. All runs in a process wait for each other, also those of different libraries."""

    _latest: ClassVar[ctypes.CDLL | None] = None  # the library of the latest run

    def __init__(self, content: Callable[[], bytes]) -> None:
        """content: returns the library's bytes. It is called now, and again when a failure is reported."""
        self.content = content
        self._library = _loaded(content())
        for name, result in (
            ("ev_sim_failure", ctypes.c_char_p),
            ("ev_sim_failure_kind", ctypes.c_char_p),
            ("ev_sim_printed", ctypes.c_void_p),
            ("ev_sim_explored", ctypes.c_uint64),
            ("ev_sim_explore_tries", ctypes.c_uint64),
            ("ev_sim_explore_cut", ctypes.c_char_p),
            ("ev_sim_outcomes", ctypes.c_uint64),
            ("ev_sim_outcome_bytes", ctypes.c_uint64),
            ("ev_sim_outcome", ctypes.c_void_p),
            ("ev_sim_outcome_trace", ctypes.c_char_p),
            ("ev_sim_outcome_history", ctypes.c_char_p),
            ("ev_sim_history", ctypes.c_char_p),
            ("ev_sim_warps", ctypes.c_uint64),
            ("ev_sim_warp_records", ctypes.c_void_p),
        ):
            getattr(self._library, name).restype = result

    def kinds(self, kernel: str) -> tuple[str, ...]:
        """Return the kind of each parameter of a kernel (host/abi.hpp): "f", "*f" for float*, "&f" for const float*."""
        return tuple(re.findall(r"[*&]?.", self._entry(kernel).kinds.decode()))

    def _entry(self, kernel: str) -> _Entry:
        return _Entry.in_dll(self._library, f"{kernel}_entry")

    def run(
        self,
        launches: Iterable[Launch],
        memory: Sequence[Memory],
        options: Options,
        left: Callable[[], int | None] = lambda: None,
    ) -> None:
        """Run launches in sequence; each is asked for when those before it have run. Raises Broken.

        left: returns the address of what they should have put back, but have left, or None.
        """
        with LOCK:
            self._start(memory, options, record=False)
            try:
                kernel = ""
                for launch in launches:
                    self._one(launch)
                    kernel = launch.kernel
                if (at := left()) is not None:
                    self._library.ev_sim_left(ctypes.c_uint64(at))
                    raise self._failure(kernel)
            finally:
                self._library.ev_sim_stop()

    def count(self, launches: Iterable[Launch], memory: Sequence[Memory]) -> list[Counters]:
        """Run launches in sequence while recording, and return the counters of each. This needs a traced library."""
        made = []
        with LOCK:
            self._start(memory, Options(), record=True)
            try:
                for launch in launches:
                    self._one(launch)
                    made.append(Counters(self._records(), launch.kernel))
            finally:
                self._library.ev_sim_stop()
        return made

    def _records(self) -> np.ndarray[Any, Any]:
        size = self._library.ev_sim_warps() * DTYPE.itemsize
        content = ctypes.string_at(self._library.ev_sim_warp_records(), size) if size else b""
        return np.frombuffer(content, DTYPE)

    def _start(self, memory: Sequence[Memory], options: Options, record: bool) -> None:
        # Stacks take up to 30 MB, and libraries stay loaded, so only the latest library keeps its stacks.
        if Machine._latest is not None and Machine._latest is not self._library:
            Machine._latest.ev_sim_forget()
        Machine._latest = self._library
        arrays = (_Array * max(len(memory), 1))(
            *(
                _Array(m.pointer, m.nbytes, m.name.encode(), m.itemsize, m.writable, m.initialised)
                for m in memory
            )
        )
        order = ORDERS.index(options.order)
        given = _Options(
            options.seed,
            order,
            options.depth,
            options.races,
            options.resident,
            record,
            options.starts == "any",
            options.memory == "relaxed",
            options.progress == "lockstep",
            options.strict,
            options.steps,
        )
        self._library.ev_sim_start(arrays, ctypes.c_int64(len(memory)), ctypes.byref(given))

    def _launch(self, launch: Launch) -> tuple[_Launch, Any]:
        """Return the launch in the runtime's form, and the objects that must live as long as it does."""
        entry = self._entry(launch.kernel)
        held = [
            SCALARS.get(kind, ctypes.c_void_p)(value)
            for kind, value in zip(self.kinds(launch.kernel), launch.arguments, strict=True)
        ]
        pointers = (ctypes.c_void_p * max(len(held), 1))(*(ctypes.addressof(h) for h in held))
        x, y = launch.grid
        at = ctypes.addressof(entry), ctypes.addressof(pointers)
        made = _Launch(*at, x, y, launch.block, launch.shared, launch.cooperative)
        return made, (held, pointers, entry)

    def _one(self, launch: Launch) -> None:
        made, _held = self._launch(launch)
        self._library.ev_sim_launch(ctypes.byref(made))
        while (status := self._library.ev_sim_continue(ctypes.c_uint64(STEPS))) == MORE:
            self._print()
        self._print()
        if status == FAILED:
            raise self._failure(launch.kernel)

    def history(self) -> str:
        """Return the history of the latest launch (host/history.hpp)."""
        return bytes(self._library.ev_sim_history()).decode()

    def _outcome(self, number: ctypes.c_uint64, size: int) -> tuple[bytes, str, str]:
        content = ctypes.string_at(self._library.ev_sim_outcome(number), size)
        trace = self._library.ev_sim_outcome_trace(number)
        return content, trace.decode(), self._library.ev_sim_outcome_history(number).decode()

    def _print(self) -> None:
        """Print the lines that the kernel has printed."""
        size = ctypes.c_uint64()
        found = self._library.ev_sim_printed(ctypes.byref(size))
        for line in lines(ctypes.string_at(found, size.value) if size.value else b""):
            print(*line)

    def _failure(self, kernel: str) -> Broken:
        kind, text = self._library.ev_sim_failure_kind(), self._library.ev_sim_failure()
        return Broken(kind.decode(), text.decode(errors="replace"), kernel)

    def explore(
        self,
        launch: Launch,
        memory: Sequence[Memory],
        preemptions: int,
        sequential: bool,
        limit: int,
        seconds: float,
    ) -> Explored:
        """Run every execution graph, or every interleaving with few preemptions if that number is not negative."""
        end = time.monotonic() + seconds
        with LOCK:
            self._start(memory, Options(steps=MOST_TURNS, strict=False), record=False)
            try:
                given, _held = self._launch(launch)
                self._library.ev_sim_explore(ctypes.byref(given), preemptions, sequential)
                most = ctypes.c_uint64(limit)
                while (status := self._library.ev_sim_explore_on(most)) == MORE:
                    tries = self._library.ev_sim_explore_tries()
                    if self._library.ev_sim_explored() == limit or tries > TRIES * (limit + 1000):
                        break
                    if time.monotonic() > end:
                        break
                if status == FAILED:
                    raise self._failure(launch.kernel)
                size = self._library.ev_sim_outcome_bytes()
                numbers = map(ctypes.c_uint64, range(self._library.ev_sim_outcomes()))
                outcomes = [self._outcome(i, size) for i in numbers]
                cut = self._library.ev_sim_explore_cut().decode(errors="replace")
                if status == MORE:
                    over = time.monotonic() > end
                    cut = f"seconds={seconds:g} were over" if over else f"limit={limit} was reached"
                return Explored(self._library.ev_sim_explored(), cut, outcomes)
            finally:
                self._library.ev_sim_stop()
