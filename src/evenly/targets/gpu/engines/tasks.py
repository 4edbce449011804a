"""The engine of tasks: persistent blocks run tasks as they are made (device/tasks.cuh, device/queued.cuh).

A schedule with a `queue` names one of QUEUES. One without has stacks, and mail between them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from evenly.errors import InputError, unknown
from evenly.gpus.gpu import WARP, Gpu
from evenly.language import ir, walk
from evenly.language.phases import Owned
from evenly.language.types import POS
from evenly.schedules.contract import Sizes, ceil_div
from evenly.schedules.dynamic_chunks import takers_in_block

from ..emit.code import KernelCode, PhaseCode
from ..emit.expressions import ctype
from ..emit.parameters import Parameter
from ..emit.totals import partials
from ..emit.unit import Unit
from ..engine import Counts, Division, Engine
from ..sizing import ONE, Buffer, Sizing
from .handed_out import HandedOut, HandedOutEngine
from .owned import OwnedEngine

STACKS = 24 * 1024  # bytes of shared memory for the stacks of a block, if tasks are not large
MOST, LEAST = 256, WARP  # tasks in a stack; a power of two
MOST_STACKS = 40 * 1024
MAIL, FLAGS = "tasks_mail", "tasks_flags"
FEW = 16  # takers of a multiprocessor that mail can serve well

MADE, RESERVED, WORDS = "tasks_made", "tasks_reserved", "tasks_words"
PLACES, ROOM, CLEARED = "tasks_places", "tasks_room", "tasks_cleared"
LEAST_PLACES, MOST_PLACES = 1 << 10, 1 << 20  # for tasks in a queue; powers of two
DEQUE = 512  # the most items of a deque
HEAD = 16  # words
CLEARING = 256  # threads of a block of the kernel that clears words
QUEUE_WORDS = Parameter("buffer", "long long*", name=WORDS)


class Ring:
    """Words for a queue that all takers share. cleared: whether they have to be zero at first."""

    def __init__(self, type_: str, cleared: bool) -> None:
        self.type, self.cleared = type_, cleared

    def sizes(self, places: int, takers: int) -> tuple[int, int, int]:
        """Return the room of a queue for so many items, its words, and how many of these are zero at first."""
        return places, places, places if self.cleared else 0


class Deques:
    """Words for a deque of each taker: its head, which is zero at first, and its items."""

    type = "stealing_queue<{counted}>"

    def sizes(self, places: int, takers: int) -> tuple[int, int, int]:
        """As Ring.sizes."""
        room = min(places, DEQUE)
        return room, takers * (HEAD + room), takers * HEAD


# By the name that a schedule uses; how it is called in device/ with the schedule's parameters.
QUEUES: dict[str, Ring | Deques] = {
    "blocking": Ring("blocking_queue<{counted}>", False),
    "lock_free": Ring("lock_free_queue<{every}, {counted}>", True),
    "stealing": Deques(),
}


class TaskEngine(HandedOutEngine):
    """The engine of tasks. A thread, or a group of `size` threads, runs each. Other tiles are walked as usual."""

    parameters = ("size", "block", "counted")
    runs_methods = True
    on_cpu: ClassVar[Division] = "methods"

    def emit(self, unit: Unit, phase: Owned, name: str) -> PhaseCode:
        if phase.tasks is None:
            return OwnedEngine().emit(unit, phase, name)
        made = Tasks(unit, phase, phase.tasks)
        finals = made.totals.final(unit, name, unit.schedule.block)
        given = (
            (*made.before(name), made.kernel(name, []), *finals),
            partial(self.sizing, unit.schedule, made.totals.words, made.bytes),
        )
        return PhaseCode(*given, phase.path, counts="tiles", teams=made.teams)

    def blocks(self, schedule: Any, sizes: Sizes, gpu: Gpu) -> int:
        """Return the blocks for tiles that are no tasks, which are launched as the schedule says."""
        return Engine.blocks(self, schedule, sizes, gpu)

    def teams(self, schedule: Any, offsets: Counts, blocks: int) -> None:
        """Leave such tiles to the schedule's methods."""

    def sizing(
        self, schedule: Any, grid_words: int, task: int, sizes: Sizes, lanes: int, gpu: Gpu
    ) -> Sizing:
        """Compute how a phase is launched. task: the bytes of one."""
        blocks = super().blocks(schedule, sizes, gpu)
        queue, of_block = queue_of(schedule), takers_in_block(schedule.size, schedule.block)
        if queue is None and not schedule.blocks:  # more would be more to hand tasks to
            half, few = gpu.at_once(schedule.block) // 2, FEW * gpu.multiprocessors // of_block
            blocks = min(blocks, max(half, min(few, gpu.at_once(schedule.block)), 1))
        takers = blocks * of_block
        grids, counts = {"tiles": (blocks, 1), "one": ONE}, {"all_lanes": blocks}
        if queue is not None:
            places = min(max(power_of_two(sizes.num_tiles), LEAST_PLACES), MOST_PLACES)
            room, words, cleared = queue.sizes(places, takers)
            grids["clear"] = (min(ceil_div(cleared, CLEARING), blocks), 1)
            counts |= {PLACES: places, ROOM: room, CLEARED: cleared}
            buffers = [
                Buffer(MADE, places * task),
                Buffer(RESERVED, places * 4, 4, "zeros"),
                Buffer(WORDS, 8 * words, 8),
            ]
        else:
            groups = WARP // min(schedule.size, WARP)
            boxes = takers * (1 + min(schedule.size, WARP))  # as task_mail has them
            buffers = [Buffer(MAIL, boxes * groups * task), Buffer(FLAGS, boxes * 4, 4, "zeros")]
        return Sizing(grids, counts, (*buffers, *partials(blocks, grid_words)))


def queue_of(schedule: Any) -> Ring | Deques | None:
    """Return the queue that a schedule names, if it names one. Raises InputError for one that does not exist."""
    name = getattr(schedule, "queue", None)
    if name is not None and name not in QUEUES:
        raise unknown(f"{type(schedule).__name__}.queue", name, QUEUES)
    return None if name is None else QUEUES[name]


def power_of_two(n: int) -> int:
    """Return the least power of two that is not less than `n`."""
    return 1 << max(n - 1, 0).bit_length()


class Tasks(HandedOut):
    """A kernel that runs tasks. `tile` says what a team does with one; `tasks` hands them out, and takes new ones."""

    # Left alone, the compiler spills registers to have more threads, also of short tasks, which are the slower for it.
    resident = 512

    def __init__(self, unit: Unit, phase: Owned, tasks: ir.TaskCode) -> None:
        self.tasks, self.path, self.queue = tasks, phase.path, queue_of(unit.schedule)
        size = unit.schedule.size
        super().__init__(unit, _of_task(phase, tasks), size, ir.Const(size, POS))

    def tile_function(self) -> None:
        writer, schedule = self.writer, self.unit.schedule
        self.totals.start(writer)
        writer.at = self.phase.at
        writer.block(self.phase.prelude)
        writer.tile = self.phase.tile
        writer.structs += self.structs()
        writer.line(f"const task_set set{{{', '.join(n for _, n in self.members())}}};")
        kind = f"{schedule.size}, {schedule.block}, {self.room()}, {self.converged}"
        if self.queue is None:
            writer.line(f"ev::task_pool<task_set, {kind}> tasks(set);")
        else:
            queue = self.queue.type.format(**vars(schedule) | {"counted": self.counted})
            writer.line(f"ev::queued_tasks<task_set, ev::{queue}, {kind}> tasks(set);")
        head = "const auto tile = [&](const auto& team, const task& given, const bool live)"
        with writer.compound(head):
            for number, load in enumerate(self.tasks.loads):
                self.load(number, load)
            writer.block(self.phase.body)
        writer.lines[-1] += ";"
        writer.line("while (tasks.take()) tasks.each(tile);")
        writer.line("tasks.leave();")
        self.totals.reduce(writer, schedule.block)
        writer.at = None

    def load(self, number: int, load: ir.Assign) -> None:
        """Write that a field of the task gets its value."""
        field = ir.Var("field", self.tasks.types[number])
        self.text.names[field] = f"given.field_{number}"

        def given(e: ir.Expr) -> ir.Expr | None:
            return field if isinstance(e, ir.Element) else None

        self.writer.statement(replace(load, value=walk.map_expr(load.value, given)))

    def members(self) -> list[tuple[str, str]]:
        """Return the members of the task set, each as it is declared, with its value."""
        p = {q.path[-1]: q.printed for q in self.parameters()}
        values = [
            ("long long* pool", p["pool"]),
            ("long long* pushed", p["pushed"]),
            ("long long waiting", f"{p['walked']}[0]"),
            ("long long from", f"{p['walked']}[1]"),
            ("long long to", f"{p['walked']}[2]"),
            ("long long capacity", p["capacity"]),
            ("long long spill", p["spill"]),
            ("long long spilled", f"{p['firsts']} + 2 * {p['capacity']}"),
            *self.own_members(),
        ]
        columns = enumerate(self.tasks.types)
        return values + [(f"ev::out<{ctype(t)}> column_{i}", p[f"column_{i}"]) for i, t in columns]

    def own_members(self) -> list[tuple[str, str]]:
        """Return the members of who hands out tasks."""
        if self.queue is None:
            return [("task* mail", f"(task*){MAIL}"), ("int* flags", FLAGS)]
        return [
            ("task* made", f"(task*){MADE}"),
            ("int* reserved", RESERVED),
            ("int places", PLACES),
            ("int room", ROOM),
            ("long long* words", WORDS),
        ]

    def parameters(self) -> list[Parameter]:
        types = {
            "pool": "long long*",
            "pushed": "long long*",
            "walked": "const long long*",
            **{f"column_{i}": f"{ctype(t)}*" for i, t in enumerate(self.tasks.types)},
        }
        arrays = [
            Parameter("array", t, (*self.path, name), printed=f"tasks_{name}")
            for name, t in types.items()
        ]
        numbers = ("firsts", "capacity", "spill")
        return arrays + [
            Parameter("scalar", "long long", (*self.path, name), printed=f"tasks_{name}")
            for name in numbers
        ]

    def structs(self) -> list[str]:
        fields = range(len(self.tasks.types))
        loaded = ", ".join(f"column_{i}[at]" for i in fields)
        stored = " ".join(f"column_{i}[at] = given.field_{i};" for i in fields)
        return [
            "struct task {",
            *(f"  {ctype(t)} field_{i};" for i, t in enumerate(self.tasks.types)),
            "};",
            "struct task_set {",
            "  using Task = task;",
            f"  static constexpr bool counted = {self.counted};",
            *(f"  {declared};" for declared, _ in self.members()),
            f"  EV_DEVICE task load(long long at) const {{ return {{{loaded}}}; }}",
            f"  EV_DEVICE void store(long long at, const task& given) const {{ {stored} }}",
            "};",
        ]

    def room(self) -> int:
        """Return how many tasks a stack holds. Raises InputError if the tasks of a block are too large."""
        schedule = self.unit.schedule
        size = self.bytes
        takers = takers_in_block(schedule.size, schedule.block)
        room = MOST
        while room > LEAST and takers * room * size > STACKS:
            room //= 2
        if takers * room * size > MOST_STACKS:
            raise InputError(
                "schedule",
                expected=f"a block whose stacks of tasks fit into {MOST_STACKS:,} bytes",
                given=f"{schedule}, for tasks of {size} bytes",
                hint="fewer threads a block, as block=64; or ev.StaticList()",
            )
        return room

    def kernel(self, name: str, parameters: list[Parameter]) -> KernelCode:
        own = [Parameter("buffer", "void*", name=MAIL), Parameter("buffer", "int*", name=FLAGS)]
        if self.queue is not None:
            own = [
                Parameter("buffer", "void*", name=MADE),
                Parameter("buffer", "int*", name=RESERVED),
                QUEUE_WORDS,
                Parameter("blocks", "int", name=PLACES),
                Parameter("blocks", "int", name=ROOM),
            ]
        return super().kernel(name, [*parameters, *own, *self.parameters()])

    def before(self, name: str) -> list[KernelCode]:
        """Emit the kernel that clears the words of a queue."""
        if self.queue is None:
            return []
        text = self.unit.text()
        body = [f"  ev::clear_words({WORDS}, {CLEARED});"]
        own = [QUEUE_WORDS, Parameter("blocks", "int", name=CLEARED)]
        return [
            self.unit.kernel(f"{name}_clear", CLEARING, "clear", text.references, [], body, own)
        ]

    @property
    def counted(self) -> str:
        """Whether workers count, as C++ text."""
        return str(self.unit.schedule.counted).lower()

    @property
    def bytes(self) -> int:
        """The bytes of a task."""
        fields = [(str(i), t.dtype) for i, t in enumerate(self.tasks.types)]
        return int(np.dtype(fields, align=True).itemsize)


def _of_task(phase: Owned, tasks: ir.TaskCode) -> Owned:
    """Return the phase with what is known of a task in place of what is read from the lists."""

    def bare(s: ir.Stmt) -> ir.Block | None:
        return (replace(s, body=()),) if isinstance(s, ir.Push) else None

    body = walk.rewritten(phase.body[len(tasks.loads) :], bare)
    layout = phase.layout
    if tasks.ranged:
        tile = ir.Var("t", POS)
        begin, end = (ir.Inline((tile,), (), (ir.Cast(load.var, POS),)) for load in tasks.loads[:2])
        layout = replace(layout, begin=begin, end=end)
    return replace(phase, body=body, layout=layout)
