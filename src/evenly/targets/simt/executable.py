"""Run an emitted program on the emulator: its memory, its launches, and their errors."""

from __future__ import annotations

import functools
import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.errors import EvenlyError, InternalError
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import measured
from evenly.language import ir
from evenly.targets.contract import Executable
from evenly.targets.gpu.emit.code import KernelCode
from evenly.targets.gpu.failures import too_much_shared
from evenly.targets.gpu.launching import Addresses, Program, Run, Scratch, Step
from evenly.targets.workspace import MOST_WORKSPACE

from . import compiler, report, source
from .counters import Counters
from .machine import Broken, Launch, Machine, Memory
from .options import Options, options_of

Stored = dict[ir.Path, np.ndarray]  # stored partitions, by the path of their layout

EMULATED = Gpu(multiprocessors=4)
TOO_MUCH_SHARED = re.compile(  # host/primitives.cpp
    r"^shared array \w+ of \d+ bytes: with what the block has it makes (\d+), and there are (\d+)"
)


@dataclass(frozen=True)
class SimtExecutable(Executable):
    """The compiled kernels of a program, and the options of their runs."""

    program: Program
    options: Options = field(default_factory=Options)
    lengths: SimtExecutable | None = (
        None  # of the program that computes the lengths of scratch arrays
    )
    max_workspace: int = MOST_WORKSPACE
    _compiled: dict[str, Machine] = field(default_factory=dict, compare=False, repr=False)
    _lock: Any = field(default_factory=threading.Lock, compare=False, repr=False)

    def configured(self, given: dict[str, Any]) -> SimtExecutable:
        """Return the same program with other options. Raises InputError for unknown options."""
        return replace(self, options=options_of(given))

    def limited(self, max_workspace: int) -> SimtExecutable:
        return replace(self, max_workspace=max_workspace)

    # ---- running -------------------------------------------------------------------------------
    def prepare(self, binding: Binding, stored: Stored | None = None) -> Callable[[], None]:
        """Return a function that executes all launches. It raises SimtError."""
        return lambda: self._run_all(binding, stored)

    def _run_all(self, binding: Binding, stored: Stored | None) -> None:
        if not self.options.seeds:
            self._run(binding, stored or {}, self.options.seed)
            return
        outputs = [binding.array(path) for path in sorted(self.program.phases.outputs)]
        compared = [binding.array(path) for path in self._compared]
        before = [a.copy() for a in outputs]
        first: list[np.ndarray] = []
        for seed in self.options.seeds:
            for array, held in zip(outputs, before, strict=True):
                array[...] = held
            self._run(binding, stored or {}, seed)
            if not first:
                first = [a.copy() for a in compared]
            self._compare(first, compared, seed)

    def _run(self, binding: Binding, stored: Stored, seed: int) -> None:
        run = self.run_of(binding, EMULATED, stored, seed)
        memory = memory_of(run, stored)
        self._execute(self._in_order(run.steps, memory), binding, memory, seed)

    def run_of(self, binding: Binding, gpu: Gpu, stored: Stored, seed: int = 0) -> Run:
        """Compute what a run needs. The lengths of scratch arrays are computed first."""
        lengths, rooms = self.program.phases.lengths, None
        if self.lengths is not None and lengths is not None:
            run = self.lengths.program.run(binding, EMULATED, stored)
            memory = memory_of(run, stored)
            steps = self.lengths._in_order(run.steps, memory)
            self.lengths._execute(steps, binding, memory, seed)
            rooms = {
                path: tuple(memory.integer(r.path) for r in results)
                for path, results in lengths.results
            }
        return self.program.run(binding, gpu, stored, rooms, self.max_workspace)

    def store(self, binding: Binding) -> Stored:
        """Make the partitions that a plan keeps, one for each layout."""
        made: Stored = {}
        steps = self.program.partition_steps(binding, EMULATED)
        for path, group in itertools.groupby(steps, key=lambda step: step.phase.path):
            kernels = list(group)
            made[path] = aligned(self.program.partition_bytes(kernels[0]))
            memory = RunMemory({path: made[path]}, makes_partition=True)
            self._execute(kernels, binding, memory, self.options.seed)
        return made

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        """Return the path of a layout whose partition differs from the stored one."""
        made = self.store(binding)
        kept = ((path, stored[path]) for path in made if path in stored)
        return next((p for p, b in kept if b.tobytes() != made[p].tobytes()), None)

    def workspace_bytes(self, binding: Binding, stored: Stored | None = None) -> int:
        return self.run_of(binding, EMULATED, stored or {}).workspace_bytes

    def counters(self, binding: Binding, stored: Stored | None = None) -> list[Counters]:
        """Execute all launches while recording, and return the counters of each. Nothing is checked.

        The launches are those for the GPU on which evenly was tuned. Cooperative ones, all of whose threads are there
        at once, are those of a run.
        """
        together = any(k.cooperative for code in self.program.codes for k in code.all_kernels)
        run = self.run_of(binding, EMULATED if together else measured(), stored or {})
        memory = memory_of(run, stored or {})
        launches = self._launches(self._in_order(run.steps, memory), binding, memory)
        return self.machine("traced").count(launches, self._arrays(binding, memory))

    # ---- one run -------------------------------------------------------------------------------
    def _in_order(self, steps: list[Step], memory: RunMemory) -> Iterator[Step]:
        """Yield the steps as they run: those of a loop again and again, while its condition holds in the memory."""

        def holds(condition: ir.Array) -> bool:
            assert memory.scratch is not None and memory.held is not None
            return bool(memory.held[memory.scratch.pieces[condition.path].offset])

        for number in self.program.phases.order(holds):
            yield from (step for step in steps if step.turn == number)

    def _execute(
        self, steps: Iterable[Step], binding: Binding, memory: RunMemory, seed: int
    ) -> None:
        machine = self.machine(self.options.purpose)
        launches = self._launches(steps, binding, memory)
        arrays, options = self._arrays(binding, memory), replace(self.options, seed=seed)
        try:
            machine.run(launches, arrays, options, memory.left)
        except Broken as broken:
            raise self._error(broken, machine, seed) from None

    def _launches(
        self, steps: Iterable[Step], binding: Binding, memory: RunMemory
    ) -> Iterator[Launch]:
        for step in steps:
            partition = memory.stored.get(step.phase.path)
            at = Addresses(address(memory.held), address(memory.cells), address(partition))
            arguments = self.program.arguments(step, binding, memory.scratch, at)
            grid = step.grid[0], step.grid[1]
            given = step.kernel.name, grid, step.kernel.block, arguments
            yield Launch(*given, cooperative=step.kernel.cooperative)

    def _arrays(self, binding: Binding, memory: RunMemory) -> list[Memory]:
        """Return all memory that the kernels may access."""
        arrays = []
        for name, path in binding.array_paths:
            v = binding.view(path)
            written = path in self.program.phases.outputs
            arrays.append(Memory(name, v.pointer, v.nbytes, v.dtype.itemsize, written))
        base = address(memory.held)
        for piece in memory.scratch.pieces.values() if memory.scratch else ():
            at = base + piece.offset
            arrays.append(Memory(piece.name, at, piece.nbytes, piece.item, True, initialised=False))
        if memory.cells is not None and len(memory.cells):
            arrays.append(Memory("cells", address(memory.cells), memory.cells.nbytes, 8, True))
        for path, buffer in memory.stored.items():
            name, item = f"partition({'.'.join(path)})", self.program.position
            new = memory.makes_partition
            arrays.append(Memory(name, address(buffer), buffer.nbytes, item, new, not new))
        return arrays

    # ---- code ----------------------------------------------------------------------------------
    @functools.cached_property
    def kernels(self) -> tuple[KernelCode, ...]:
        """The kernels of the program, and those that compute lengths: they are compiled together."""
        own = tuple(k for code in self.program.codes for k in code.all_kernels)
        return own if self.lengths is None else (*own, *self.lengths.kernels)

    def machine(self, purpose: str) -> Machine:
        """Return the loaded library, which is compiled the first time. purpose: see compiler.library."""
        with self._lock:
            if purpose not in self._compiled:
                text = source.program_text(self.kernels)
                name = self.program.phases.name
                content = functools.partial(compiler.library, text, name, purpose)
                self._compiled[purpose] = Machine(content)
            return self._compiled[purpose]

    # ---- errors --------------------------------------------------------------------------------
    def _error(self, broken: Broken, machine: Machine, seed: int) -> EvenlyError:
        shared = TOO_MUCH_SHARED.search(broken.text)
        if shared:  # the same error as on a GPU, where the compiler reports it
            return too_much_shared(int(shared[1]), int(shared[2]), broken.kernel)
        origins = source.origins_of(self.kernels)
        how = replace(self.options, seed=seed).how
        found = report.error(
            broken.kind, broken.text, machine.content, origins, broken.kernel, seed, how
        )
        return InternalError(f"{found}\n  please report it") if broken.kind == "left" else found

    @property
    def _compared(self) -> list[ir.Path]:
        """The outputs whose bits must not depend on the order of threads: not the lists of a frontier."""
        return sorted(a.path for a in self.program.phases.written if not (a.grows or a.own))

    def _compare(self, first: list[np.ndarray], now: list[np.ndarray], seed: int) -> None:
        for path, a, b in zip(self._compared, first, now, strict=True):
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


@dataclass(frozen=True)
class RunMemory:
    """The memory of a run besides its arguments.

    held: the scratch memory. makes_partition: whether this run makes the stored partition.
    """

    stored: Stored
    scratch: Scratch | None = None
    held: np.ndarray | None = None
    cells: np.ndarray | None = None
    makes_partition: bool = False

    def left(self) -> int | None:
        """Return the address of a cell that blocks did not put back when they met, or None if all are zero."""
        if self.cells is None or not self.cells.any():
            return None
        return address(self.cells) + int((self.cells != 0).argmax()) // 8 * 8

    def integer(self, path: ir.Path) -> int:
        """Return the int64 in a workspace array of one element."""
        assert self.scratch is not None and self.held is not None
        start = self.scratch.pieces[path].offset
        return int(self.held[start : start + 8].view(np.int64)[0])


def memory_of(run: Run, stored: Stored) -> RunMemory:
    """Allocate memory for one run."""
    return RunMemory(stored, run.scratch, aligned(run.scratch.nbytes), aligned(run.zeros, fill=0))


def address(array: np.ndarray | None) -> int:
    return 0 if array is None else int(array.ctypes.data)


def aligned(nbytes: int, to: int = 256, fill: int = 0xA5) -> np.ndarray:
    """Allocate bytes at an address that is aligned as a GPU's allocator does. The fill value is easy to recognize."""
    raw = np.full(nbytes + to, fill, np.uint8)
    start = -raw.ctypes.data % to
    return raw[start : start + nbytes]
