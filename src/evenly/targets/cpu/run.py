"""Run a compiled program. A run has its own table of slots, and memory for the partial results of its workers.

A run may be called many times, for the same arguments, by one thread at a time. Each call asks the
compiled functions for everything that depends on a matrix's structure.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.interop.arrays import address
from evenly.language.ir import Array, Path
from evenly.language.phases import Lengths, Loop, Once, Owned, Workspace
from evenly.targets.workspace import Rooms, at_a_time, share_of

from . import crew_words, workers
from .calls import MORE, OVER, QUEUE
from .division import SHARE
from .facts import ATOMS, FACTS, LANES, SIZE, TILES
from .failures import RECORD, failure
from .slots import Shared

if TYPE_CHECKING:
    from .executable import CpuExecutable, Function

ROOM = (-1, 0)  # the lanes and workers that there is scratch memory for, before any is allocated
ENOUGH = (2**62, 2**62)  # the same for phases that need none
AT_ONCE = 16, 1000  # rounds of a native call: at first, and at most
ALONE_FOR, TOGETHER_FOR = 20_000, 50_000_000  # nanoseconds of a native call with tasks
A_WHILE = 0.05  # seconds that one may take, as far as the one before can tell
KEPT = 1 << 20  # bytes of scratch memory that a run keeps for its next call


class Run:
    """A run of a program. table: the slots, filled with the arguments. The run takes it over.

    lengths: the run that computes the greatest lengths of scratch arrays; None: they are constants, if there are any.
    """

    def __init__(
        self, executable: CpuExecutable, table: np.ndarray, lengths: Run | None = None
    ) -> None:
        self.lengths, self.rooms = lengths, dict(executable.phases.rooms)
        self.measured_once = False  # whether the rooms are known, and stay
        self.executable = executable
        self.slots, self.address = table, address(table)
        self.shared = {s.name: i for i, s in enumerate(executable.slots) if isinstance(s, Shared)}
        self.kept: dict[Any, np.ndarray] = {}  # memory whose addresses are in the slots
        self.records: np.ndarray | None = None
        self.calls: dict[int, np.ndarray] = {}  # the records of native calls, by phase
        self.phases: dict[int, Callable[[int], int]] = {}
        phases = executable.phases
        owned = ((n, p) for n, p in enumerate(phases.phases) if isinstance(p, Owned))
        self.scratch = {n: p.scratch for n, p in owned if p.scratch}
        self.crews = {
            n for n, p in enumerate(phases.phases) if isinstance(p, Owned) and p.makes_tasks
        }
        several = len(phases.phases) != 1 or phases.workspaces
        many = several or executable.checks or self.scratch
        self.simple = not many and not executable.functions[0].once  # one native call suffices
        self.driver, threads = workers.driver(), workers.most_threads()
        self.facts = self.exchange("facts", np.zeros(LANES + 1, np.int64))
        self.queues = self.exchange("queues", np.zeros(QUEUE * threads, np.int64))
        self.lay_out_shares(self.driver.EACH * threads)

    def __call__(self, worker_count: int | None = None) -> None:
        """Run all phases. worker_count: how many workers; by default it depends on the work and on Numba's setting."""
        if self.simple and not worker_count:
            self.natively(0, self.executable.functions[0])
            return
        self.run(worker_count)
        self.release()

    def run(self, worker_count: int | None) -> None:
        """Run all phases, and keep the arrays that live from one to the next."""
        executable = self.executable
        self.clear_records(1)
        if self.lengths is not None and not self.measured_once:
            self.rooms |= self.lengths.measured(executable.phases.lengths)
            self.measured_once = executable.lengths_stay
        for workspace in executable.phases.workspaces:
            if workspace.array.path not in self.kept:
                self.lay_out(workspace)
        self.run_parts(executable.phases.nested, worker_count)

    def run_parts(self, parts: tuple[int | Loop, ...], worker_count: int | None) -> None:
        """Run phases, and loops around some of them, in order."""
        for part in parts:
            if not isinstance(part, Loop):
                self.run_phase(part, worker_count)
            elif not worker_count and all(map(self.is_native, part.body)):
                self.run_rounds(part)
            else:
                while self.holds(part.condition):
                    self.run_parts(part.body, worker_count)

    def run_phase(self, number: int, worker_count: int | None) -> None:
        function = self.executable.functions[number]
        self.lay_out_more(number)
        if function.once:
            function.call(0, 1, self.address)
            self.check()
        elif number in self.crews:
            self.run_tasks(number, function, worker_count)
        elif worker_count or self.records is not None or number in self.scratch:
            self.in_steps(number, function, worker_count)
        else:
            self.natively(number, function)

    def is_native(self, part: int | Loop) -> bool:
        """Whether a part of a round is a phase that native code may run without the host in between."""
        if isinstance(part, Loop) or self.records is not None:
            return False
        if part in self.scratch or part in self.crews:
            return False
        return not self.executable.phases.growing.get(part)

    def run_rounds(self, loop: Loop) -> None:
        """Run a loop in native calls of many rounds. Between them, Ctrl-C can end it."""
        numbers = [part for part in loop.body if not isinstance(part, Loop)]
        functions = [(n, self.executable.functions[n]) for n in numbers]
        ended, (most, ever) = MORE, AT_ONCE
        while ended != OVER:
            if ended >= 0:  # that phase has too little memory: the host gives it more
                for number in numbers[ended:]:
                    self.run_phase(number, None)
            found = [
                (f.once, f.address if f.once else address(self.calls[n])) for n, f in functions
            ]
            head = address(self.kept[loop.condition.path]), len(found)
            record = np.array([*head, *(value for pair in found for value in pair)], np.int64)
            began = time.perf_counter()
            ended = self.driver.rounds.ctypes(address(record), self.address, workers.pool(), most)
            took = time.perf_counter() - began
            most = max(most // 2, 1) if took > A_WHILE else min(2 * most, ever)

    def release(self) -> None:
        """Free the arrays that live from one phase to the next and may have an element for each row of a matrix."""
        for workspace in self.executable.phases.workspaces:
            if workspace.extent != "one":
                del self.kept[workspace.array.path]
        for path in self.rooms:
            del self.kept[path]

    def measured(self, lengths: Lengths | None) -> Rooms:
        """Run the phases of `lengths`, and return the greatest length of each scratch array."""
        assert lengths is not None
        self.run(None)
        found = {
            path: tuple(int(self.kept[r.path][0]) for r in results)
            for path, results in lengths.results
        }
        self.release()
        return found

    def holds(self, condition: Array) -> bool:
        """Return the condition of a while around loops over tiles, as the last phase has left it."""
        return bool(self.kept[condition.path][0])

    # ---- phases ----------------------------------------------------------------------------------
    def natively(self, number: int, function: Function) -> None:
        """Run a phase in one native call."""
        while not self.phases[number](workers.pool()):
            lanes, size = int(self.facts[LANES]), int(self.facts[SIZE])
            count = self.driver.worker_count(size, workers.thread_count())
            self.make_room(number, function, lanes, count)
        if function.scratch and self.kept[number].nbytes > KEPT:
            del self.kept[number]
            self.call_with(number, function, ROOM)

    def call_with(self, number: int, function: Function, room: tuple[int, int]) -> None:
        """Make the record for the native call of a phase (see `calls`). room: the lanes and workers with memory."""
        joins = bool(function.scratch)
        places = self.address, address(self.facts), address(self.shares), address(self.queues)
        rest = *(room if joins else ENOUGH), joins, function.rule
        self.calls[number] = np.array([function.address, *places, *rest], np.int64)
        native = self.driver.phase.ctypes
        self.phases[number] = functools.partial(native, address(self.calls[number]))

    def run_tasks(self, number: int, function: Function, worker_count: int | None) -> None:
        """Run a loop over tasks by a crew (see `crew`), in calls between which Ctrl-C can end it.

        A worker begins alone, so that few tasks wake no threads.
        """
        waiting = self.ask(function)[TILES]
        debugs = self.records is not None  # an error ends a worker, and others would wait for it
        count = 1 if debugs else worker_count or workers.thread_count()
        count = self.lay_out_scratch(number, count)
        self.clear_records(count)
        self.make_room(number, function, 1, count)
        crew = self.exchange("crew", crew_words.made(count, waiting))
        crew_words.begin(crew, TOGETHER_FOR if count == 1 else ALONE_FOR)
        function.call(0, count, self.address)
        self.check()
        while not crew_words.ended(crew, waiting):
            crew_words.begin(crew, TOGETHER_FOR)
            workers.run_workers(function.address, count, self.address, address(self.queues))
            self.check()
        function.call(count, count, self.address)
        self.check()

    def in_steps(self, number: int, function: Function, worker_count: int | None) -> None:
        """Divide the work of a phase, run it, and join the partial results. Check for failures after each step."""
        facts = self.ask(function)
        count = worker_count or self.driver.worker_count(facts[SIZE], workers.thread_count())
        count = self.lay_out_scratch(number, count)
        self.clear_records(count)
        if count > len(self.shares):
            self.lay_out_shares(count)
        work = facts[TILES], facts[ATOMS], count, address(self.shares)
        self.driver.divide(function.address, self.address, function.rule, *work)
        self.check()
        self.make_room(number, function, facts[LANES], count)
        workers.run_workers(function.address, count, self.address, address(self.queues))
        self.check()
        if function.scratch:
            function.call(count, count, self.address)
            self.check()

    def ask(self, function: Function) -> list[int]:
        """Return the facts of a phase: size, tiles, atoms, lanes."""
        function.call(FACTS, 0, self.address)
        self.check()
        facts: list[int] = self.facts.tolist()
        return facts

    # ---- memory ----------------------------------------------------------------------------------
    def lay_out_shares(self, count: int) -> None:
        self.shares = self.exchange("shares", np.empty((count, SHARE), np.int64))
        for number, function in enumerate(self.executable.functions):
            self.call_with(number, function, ROOM)

    def make_room(self, number: int, function: Function, lanes: int, count: int) -> None:
        """Allocate memory for the partial results of `count` workers."""
        sizes = _sizes(function, lanes, count)
        if not sizes:
            return
        memory = self.kept[number] = np.empty(sum(sizes), np.int64)
        at = address(memory)
        for (i, _), size in zip(function.scratch, sizes, strict=True):
            self.slots[i] = at
            at += 8 * size
        self.call_with(number, function, (lanes, count))

    def lay_out(self, workspace: Workspace) -> None:
        """Allocate an array that lives from one phase to the next."""
        array = workspace.array
        memory = self.kept[array.path] = np.empty(self.shape(workspace), array.dtype.dtype)
        self.place(array.path, memory, memory.shape)

    def place(self, path: Path, memory: np.ndarray, shape: tuple[int, ...]) -> None:
        """Put the address of an array, and its lengths, into their slots."""
        for i, axis in self.executable.places.get(path, ()):
            self.slots[i] = address(memory) if axis is None else shape[axis]

    def lay_out_scratch(self, number: int, count: int) -> int:
        """Allocate the scratch arrays of a phase for `count` workers, or as many as there may be. Return how many."""
        arrays = self.scratch.get(number, ())
        rooms = [(array, share_of(self.rooms[array.path])) for array in arrays]
        count = at_a_time(rooms, count, self.executable.max_workspace, "one worker")
        for array, room in rooms:
            memory = self.kept[array.path] = np.empty(max(count * room, 1), array.dtype.dtype)
            self.place(array.path, memory, (room,))
        return count

    def lay_out_more(self, number: int) -> None:
        """Make workspace for the tiles that a phase walks, where phases before it have changed how many these are."""
        for workspace in self.executable.phases.growing.get(number, ()):
            if self.shape(workspace)[0] > len(self.kept[workspace.array.path]):
                self.lay_out(workspace)

    def shape(self, workspace: Workspace) -> tuple[int, ...]:
        if workspace.extent == "one":
            return (1,)
        facts = self.ask(self.function_over(workspace))
        return (facts[TILES], facts[LANES]) if workspace.extent == "lane" else (facts[TILES],)

    def function_over(self, workspace: Workspace) -> Function:
        """Return a phase over the workspace's layout (with lanes, if the workspace has them)."""
        phases = self.executable.phases.phases
        for function, phase in zip(self.executable.functions, phases, strict=True):
            if isinstance(phase, Once) or phase.path != workspace.layout:
                continue
            if workspace.extent != "lane" or getattr(phase, "lane", None) is not None:
                return function
        raise AssertionError(workspace)

    def exchange(self, name: str, array: np.ndarray) -> np.ndarray:
        """Put the address of an array of the host into its slot, and keep the array alive."""
        if name in self.shared:
            self.slots[self.shared[name]] = address(array)
        self.kept[name] = array
        return array

    # ---- checks ----------------------------------------------------------------------------------
    def clear_records(self, count: int) -> None:
        """Allocate an empty record for each worker, and one for the join."""
        if self.executable.checks:
            self.records = self.exchange("records", np.zeros((count + 1, RECORD), np.int64))

    def check(self) -> None:
        """Raise the error that the first worker recorded, if any did."""
        if self.records is None:
            return
        for number, value, bound, _ in self.records.tolist():
            if number:
                raise failure(self.executable.checks[number - 1], value, bound)


def _sizes(function: Function, lanes: int, count: int) -> list[int]:
    """Return the number of integers that `count` workers need, in each of the function's scratch memories."""
    return [count * s.size * (lanes if s.lanes else 1) for _, s in function.scratch]
