"""Run hand-written CUDA C++ on the emulator. It uses the primitives of targets/gpu/device/gpu.cuh."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenly.errors import InputError, unknown

from . import histories, report
from .arguments import apart, array_of, block_of, grid_of, number_of
from .counters import Counters
from .cuda_source import kernels
from .machine import Broken, Launch, Machine, Memory
from .options import MEMORY, Options, count, options_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an interleaving: the arrays that the kernel may write, in the order of its arguments.

    trace: an interleaving with this result, as a sequence of threads. "0.1 0.0" is thread 1 of block 0, then
    thread 0 of block 0. After ~ a thread sees an older value than the latest. history: the calls that the kernel
    announces (ev::invoke).
    """

    arrays: tuple[np.ndarray[Any, Any], ...]
    trace: str
    history: tuple[histories.Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Exploration:
    """The different outcomes of a kernel.

    interleavings: how many were run; no two of them do the same. complete: whether every other one does the same as one
    of them. reason: if not, why.
    """

    interleavings: int
    complete: bool
    outcomes: tuple[Outcome, ...]
    reason: str = ""


class SimtProgram:
    """Kernels in CUDA C++, executed and checked on the CPU.

    source: C++17 with CUDA's names (__global__, threadIdx, __shared__, __syncthreads, atomicAdd, cuda::atomic_ref), or
    with evenly's primitives, whose headers (ev::barrier, ev::group, ev::split_block, ...) are already included.
    There, a kernel is declared with EV_KERNEL(threads), where `threads` is the most threads that a block may have.

        program = ev.SimtProgram('''
        EV_KERNEL(64) bump(int* count) { ev::atomic_add(count, 1); }
        ''')
        count = np.zeros(1, np.int32)
        program.launch("bump", 4, 64, count, seed=7)

    Raises InputError if the compiler rejects the source, and UnavailableError if there is no compiler.
    """

    def __init__(self, source: str) -> None:
        if not isinstance(source, str):
            raise InputError("source", expected="CUDA C++ as text", given=type(source).__name__)
        self.source = source
        found = kernels(source)
        self.kernels = {name: kernel.bound for name, kernel in found.items()}
        self._names = {name: _named(kernel.parameters) for name, kernel in found.items()}
        if not self.kernels:
            raise InputError(
                "source",
                expected="a kernel, EV_KERNEL(threads) name(...) { ... } or __global__ void name(...)",
                given="none",
            )
        self._machines: dict[str, Machine] = {}
        self._machine()

    def launch(
        self,
        kernel: str,
        grid: Any,
        block: int,
        *arguments: Any,
        uninitialised: Sequence[str] = (),
        shared: int = 0,
        model: histories.Model | None = None,
        **options: Any,
    ) -> None:
        """Run a kernel.

        grid: blocks, or (blocks, blocks along y). block: threads per block, up to 1024.
        arguments: C-contiguous NumPy arrays for pointers, numbers for the rest.
        uninitialised: names of parameters whose arrays hold nothing yet, as np.empty: reading them is a mistake.
        shared: bytes of dynamic shared memory (extern __shared__).
        model: what the calls have to be like that the kernel announces (evenly.targets.simt.histories).
        options: seed, order, races, resident, progress, strict, steps and the others, as in `.on("simt", ...)`.
        Raises SimtError for a mistake in the kernel, and InputError for a wrong argument.
        """
        if "seeds" in options:
            given = repr(options["seeds"])
            raise InputError("seeds", expected="one seed a launch", given=given, hint="seed=7")
        launch, memory = self._prepared(kernel, grid, block, arguments, uninitialised, shared)
        _check_model(model)
        how = options_of({"strict": False, **options})
        try:
            self._machine(how.purpose).run([launch], memory, how)
        except Broken as broken:
            raise self._error(broken, how) from None
        if (
            model is not None
        ):  # the text of a history takes time: each call with all those before it
            history = histories.read(self._machine(how.purpose).history())
            self._check(kernel, history, model, how.how, how.seed)

    def explore(
        self,
        kernel: str,
        grid: Any,
        block: int,
        *arguments: Any,
        preemptions: int | None = None,
        memory: str = "relaxed",
        uninitialised: Sequence[str] = (),
        shared: int = 0,
        model: histories.Model | None = None,
        limit: int = 1_000_000,
        seconds: float = math.inf,
    ) -> Exploration:
        """Run a kernel in every way that the memory model allows, and collect the outcomes.

        This is for a few threads with a few atomics each. Of interleavings in which each read sees the same write, and
        the writes to each place are in the same order, one is run. Afterwards the arrays have their old contents.

        memory: "relaxed", the memory model of PTX, or "sequential", where a read sees the latest write.
        preemptions: run all interleavings with at most this many switches away from a thread that could go on, in
        sequential memory. Two find most mistakes (Musuvathi, Qadeer, PLDI 2007). limit: the most interleavings to run.
        seconds: stop after that time, however many are left.
        model: what the calls have to be like that the kernel announces (evenly.targets.simt.histories).
        uninitialised, shared: as for `launch`.
        Raises SimtError for the first interleaving that shows a mistake, and InputError for a wrong argument.
        """
        if memory not in MEMORY:
            raise unknown("memory", memory, list(MEMORY))
        _check_model(model)
        launch, arrays = self._prepared(kernel, grid, block, arguments, uninitialised, shared)
        written = _written(arguments, arrays)
        sequential = memory == "sequential"
        before = [a.copy() for a in written]
        bound = -1 if preemptions is None else count("preemptions", preemptions, 2**31)
        most = count("limit", limit)
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds > 0:
            raise InputError("seconds", expected="a number above 0", given=repr(seconds))
        try:
            found = self._machine().explore(launch, arrays, bound, sequential, most, seconds)
        except Broken as broken:
            raise self._error(broken, None) from None
        finally:
            for array, held in zip(written, before, strict=True):
                array[...] = held
        outcomes = tuple(
            Outcome(_arrays(content, written), trace, histories.read(history))
            for content, trace, history in found.outcomes
        )
        if model is not None:
            for outcome in outcomes:
                self._check(kernel, outcome.history, model, f"exploring, {outcome.trace}", 0)
        reason = report.placed(found.cut, self._machine().content)
        return Exploration(found.runs, not reason, outcomes, reason)

    def counters(self, kernel: str, grid: Any, block: int, *arguments: Any) -> Counters:
        """Run a kernel while recording, and return what a GPU profiler would count."""
        launch, memory = self._prepared(kernel, grid, block, arguments)
        return self._machine("traced").count([launch], memory)[0]

    # ---- pieces ----------------------------------------------------------------------------------
    def _machine(self, purpose: str = "checked") -> Machine:
        from . import compiler, source

        if purpose not in self._machines:
            text = source.hand_written_text(self.source, self.kernels)
            content = functools.partial(compiler.library, text, "program", purpose, True)
            try:
                self._machines[purpose] = Machine(content)
            except compiler.Refused as refused:
                given = refused.first_error(source.HAND_WRITTEN)
                raise InputError(
                    "source", expected="C++ that the compiler takes", given=given
                ) from None
        return self._machines[purpose]

    def _prepared(
        self,
        kernel: str,
        grid: Any,
        block: int,
        arguments: Sequence[Any],
        uninitialised: Sequence[str] = (),
        shared: int = 0,
    ) -> tuple[Launch, list[Memory]]:
        if not isinstance(kernel, str) or kernel not in self.kernels:
            raise unknown("kernel", kernel, list(self.kernels))
        blocks, threads = grid_of(grid), block_of(block, self.kernels[kernel])
        kinds = self._machine().kinds(kernel)
        if len(arguments) != len(kinds):
            raise InputError(kernel, expected=f"{len(kinds)} arguments", given=str(len(arguments)))
        arrays = [n for n, k in zip(self._names[kernel], kinds, strict=True) if k[0] in "*&"]
        for name in uninitialised:
            if name not in arrays:
                raise unknown("uninitialised", name, arrays)
        memory: list[Memory] = []
        values: list[Any] = []
        for name, kind, given in zip(self._names[kernel], kinds, arguments, strict=True):
            if kind[0] in "*&":
                made = array_of(name, kind, given)
                memory.append(replace(made, initialised=name not in uninitialised))
                values.append(memory[-1].pointer)
            else:
                values.append(number_of(name, kind, given))
        size = count("shared", shared, 2**31)
        return Launch(kernel, blocks, threads, values, size), apart(memory)

    def _check(
        self,
        kernel: str,
        history: tuple[histories.Call, ...],
        model: histories.Model,
        how: str,
        seed: int,
    ) -> None:
        """Raise SimtError if the history is not linearisable."""
        said = histories.complaint(history, model)
        if said is not None:
            head, _, rest = said.partition("\n")
            text = f"{head} (kernel {kernel}, {how})\n{rest}"
            raise report.SimtError("linearisability", text, kernel=kernel, seed=seed)

    def _error(self, broken: Broken, how: Options | None) -> report.SimtError:
        from . import source

        texts = {source.HAND_WRITTEN: tuple(self.source.splitlines())}
        origins = report.Origins(texts, lambda file, line: None)
        said = "exploring" if how is None else how.how
        content = self._machine("checked" if how is None else how.purpose).content
        seed = 0 if how is None else how.seed
        return report.error(broken.kind, broken.text, content, origins, broken.kernel, seed, said)


def _check_model(model: object) -> None:
    if model is not None and not (hasattr(model, "first") and hasattr(model, "step")):
        expected = "a model with `first` and `step`, as histories.queue()"
        raise InputError("model", expected=expected, given=repr(model))


def _named(parameters: list[str]) -> list[str]:
    """Return the names of parameters, from texts such as "int* count" and "ev::pair<int, float>* x"."""
    return [re.findall(r"\w+", text)[-1] for text in parameters if text]


def _written(arguments: Sequence[Any], memory: Sequence[Memory]) -> list[np.ndarray[Any, Any]]:
    """Return the arrays that a kernel may write, one for each piece of writable memory."""
    at = {(a.ctypes.data, a.nbytes): a for a in arguments if isinstance(a, np.ndarray)}
    return [at[m.pointer, m.nbytes] for m in memory if m.writable]


def _arrays(
    content: bytes, like: Sequence[np.ndarray[Any, Any]]
) -> tuple[np.ndarray[Any, Any], ...]:
    out, at = [], 0
    for a in like:
        piece = content[at : at + a.nbytes]
        out.append(np.frombuffer(piece, a.dtype).reshape(a.shape))
        at += a.nbytes
    return tuple(out)
