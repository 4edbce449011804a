"""An emitted program on the emulator: memory, launches, and the errors that come of them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.language import ir
from evenly.targets.cuda.emit.code import KernelCode
from evenly.targets.cuda.launching import Program, Scratch, Step

from . import compiler, report, source
from .counters import Counters
from .machine import Broken, Launch, Machine, Memory
from .options import Options, options_of

Stored = dict[ir.Path, np.ndarray]  # partitions, by the path of the layout that they belong to

MULTIPROCESSORS = 4  # of the emulated GPU


@dataclass(frozen=True)
class SimtExecutable:
    """The compiled kernels of a program, and how they are to be run."""

    program: Program
    options: Options = field(default_factory=Options)
    _compiled: dict[bool, Machine] = field(default_factory=dict, compare=False, repr=False)
    _lock: Any = field(default_factory=threading.Lock, compare=False, repr=False)

    def configured(self, given: dict[str, Any]) -> SimtExecutable:
        """The same program, run otherwise. Raises InputError for options that there are not."""
        return replace(self, options=options_of(given))

    # ---- running -------------------------------------------------------------------------------
    def prepare(self, binding: Binding, stored: Stored | None = None) -> Callable[[], None]:
        """What executes everything. It raises SimtError."""
        return lambda: self._run_all(binding, stored)

    def _run_all(self, binding: Binding, stored: Stored | None) -> None:
        if not self.options.seeds:
            self._run(binding, stored or {}, self.options.seed)
            return
        outputs = [binding.array(path) for path in sorted(self.program.phases.outputs)]
        before = [a.copy() for a in outputs]
        first: list[np.ndarray] = []
        for seed in self.options.seeds:
            for array, held in zip(outputs, before, strict=True):
                array[...] = held
            self._run(binding, stored or {}, seed)
            if not first:
                first = [a.copy() for a in outputs]
            self._compare(first, outputs, seed)

    def _run(self, binding: Binding, stored: Stored, seed: int) -> None:
        scratch = self.program.scratch(binding, MULTIPROCESSORS)
        memory = aligned(scratch.nbytes)
        steps = self.program.steps(binding, MULTIPROCESSORS)
        self._execute(steps, binding, scratch, memory, stored, seed)

    def store(self, binding: Binding) -> Stored:
        """Make the partitions that a plan keeps, one a layout."""
        made: Stored = {}
        for step in self.program.partition_steps(binding, MULTIPROCESSORS):
            buffer = aligned(self.program.partition_bytes(step))
            made[step.phase.path] = buffer
            self._execute([step], binding, None, None, {step.phase.path: buffer}, self.options.seed)
        return made

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        """The path of a layout whose partition is no longer the stored one."""
        made = self.store(binding)
        return next((p for p, b in made.items() if b.tobytes() != stored[p].tobytes()), None)

    def workspace_bytes(self, binding: Binding) -> int:
        return self.program.scratch(binding, MULTIPROCESSORS).nbytes

    def counters(self, binding: Binding, stored: Stored | None = None) -> list[Counters]:
        """Execute everything, recorded: the counters of each launch. Nothing is checked meanwhile."""
        scratch = self.program.scratch(binding, MULTIPROCESSORS)
        memory = aligned(scratch.nbytes)
        steps = self.program.steps(binding, MULTIPROCESSORS)
        base = memory.ctypes.data
        launches = self._launches(steps, binding, scratch, base, stored or {})
        arrays = self._arrays(binding, scratch, base, stored or {}, writes_partition=False)
        return self.machine(traced=True).count(launches, arrays)

    # ---- one run -------------------------------------------------------------------------------
    def _execute(
        self,
        steps: list[Step],
        binding: Binding,
        scratch: Scratch | None,
        memory: np.ndarray | None,
        stored: Stored,
        seed: int,
    ) -> None:
        machine = self.machine()
        base = 0 if memory is None else memory.ctypes.data
        launches = self._launches(steps, binding, scratch, base, stored)
        arrays = self._arrays(binding, scratch, base, stored, writes_partition=scratch is None)
        try:
            machine.run(launches, arrays, replace(self.options, seed=seed))
        except Broken as broken:
            raise self._error(broken, machine, seed) from None

    def _launches(
        self,
        steps: list[Step],
        binding: Binding,
        scratch: Scratch | None,
        base: int,
        stored: Stored,
    ) -> list[Launch]:
        made = []
        for step in steps:
            partition = stored.get(step.phase.path)
            at = 0 if partition is None else partition.ctypes.data
            arguments = self.program.arguments(step, binding, scratch, base, at)
            grid = step.grid[0], step.grid[1]
            made.append(Launch(step.kernel.name, grid, step.kernel.block, arguments))
        return made

    def _arrays(
        self,
        binding: Binding,
        scratch: Scratch | None,
        base: int,
        stored: Stored,
        writes_partition: bool,
    ) -> list[Memory]:
        """All that the kernels may touch."""
        arrays = []
        for name, path in binding.array_paths():
            v = binding.view(path)
            written = path in self.program.phases.outputs
            arrays.append(Memory(name, v.pointer, v.nbytes, v.dtype.itemsize, written))
        for piece in scratch.pieces.values() if scratch else ():
            arrays.append(
                Memory(piece.name, base + piece.offset, piece.nbytes, 4, True, initialised=False)
            )
        for path, buffer in stored.items():
            name = f"partition of {'.'.join(path)}"
            arrays.append(
                Memory(
                    name,
                    buffer.ctypes.data,
                    buffer.nbytes,
                    self.program.position,
                    writes_partition,
                    not writes_partition,
                )
            )
        return arrays

    # ---- code ----------------------------------------------------------------------------------
    @functools.cached_property
    def kernels(self) -> tuple[KernelCode, ...]:
        return tuple(
            k
            for code in self.program.codes
            for k in (*code.kernels, code.partition)
            if k is not None
        )

    def machine(self, traced: bool = False) -> Machine:
        """The loaded library, compiled the first time. traced: the one for the counters."""
        with self._lock:
            if traced not in self._compiled:
                text = source.program_text(self.kernels)
                path = compiler.library(text, self.program.phases.name, traced)
                self._compiled[traced] = Machine(path)
            return self._compiled[traced]

    # ---- errors --------------------------------------------------------------------------------
    def _error(self, broken: Broken, machine: Machine, seed: int) -> report.SimtError:
        origins = source.origins_of(self.kernels)
        how = replace(self.options, seed=seed).how
        return report.error(
            broken.kind, broken.text, machine.path, origins, broken.kernel, seed, how
        )

    def _compare(self, first: list[np.ndarray], now: list[np.ndarray], seed: int) -> None:
        for path, a, b in zip(sorted(self.program.phases.outputs), first, now, strict=True):
            if a.tobytes() == b.tobytes():
                continue
            bits = a.reshape(-1).view(np.uint8).reshape(a.size, -1)
            other = b.reshape(-1).view(np.uint8).reshape(b.size, -1)
            index = int(np.flatnonzero((bits != other).any(axis=1))[0])
            element = f"{'.'.join(path)}[{', '.join(map(str, np.unravel_index(index, a.shape)))}]"
            raise report.SimtError(
                "seed",
                f"the result depends on the order of threads: {element} is {a.flat[index]} with seed "
                f"{self.options.seeds[0]} and {b.flat[index]} with seed {seed}\n"
                f"  hint: {report.HINTS['seed']}",
                kernel=self.program.phases.name,
                seed=seed,
            )


def aligned(nbytes: int, to: int = 256) -> np.ndarray:
    """Bytes at an address that a GPU's allocator would give, filled with what is easily noticed."""
    raw = np.full(nbytes + to, 0xA5, np.uint8)
    start = -raw.ctypes.data % to
    return raw[start : start + nbytes]
