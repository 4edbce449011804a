"""A schedule of schedules: one hands out the items of a batch, another the tiles of each item.

Source: load-balancing primitives that are composed of others (Osama, Porumbescu, Owens, PPoPP 2023); a thread block for
each problem of a batch (Anzt et al., ScalA 2017).
"""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

from evenly.errors import InputError
from evenly.gpus.gpu import WARP
from evenly.language import ir, walk

from .contract import OF_TILES, Schedule, Sizes, check_count, teams_of
from .group_mapped import groups_in_block
from .per_item import PerItem
from .thread_mapped import ThreadMapped
from .within import check_within

STAGE = 8192  # bytes
MOST_STAGED = 40_960  # of the 48 KiB that a block has
SUCH_AS = "such as BlockMapped(), GroupMapped(8), ThreadMapped()"


@dataclasses.dataclass(frozen=True, eq=False)
class Nested(Schedule):
    """For kernels with a loop over items: `outer` gives an item to a processor, `inner` its tiles to threads of it.

    outer: ThreadMapped, GroupMapped, WarpMapped, BlockMapped, TeamMapped, Lrb, DynamicChunks, or a schedule of your
    own that owns whole tiles. Its tiles are the items. To Lrb, the length of an item is its work: its tiles and their
    atoms.

    inner: likewise. Its processors are the threads of one item's owner, numbered from 0. Its `block` does not matter.
    A group of it is as large as its owner, or a power of two up to 32 that divides it; in a block, of any size.
    Where several blocks own an item, the size of a group divides a block.
    Where a block owns an item, it may also be one that splits tiles: MergePath, NonzeroSplit, WorkOriented, or yours.
    Under Lrb it has a power of two of threads, and is as large as the item's owner where that is smaller.

    stage: bytes of shared memory of a block for each array that `ev.stage` copies or `ev.scratch` makes, at most 40,960
    for all of them. The owners of items in a block have equal parts of it. What does not fit is in global memory. Under
    Lrb and DynamicChunks nothing is staged, and scratch arrays have 16,384 bytes together. Those of items that several
    blocks own have none.

    A schedule that is not nested stands for `Nested(schedule, ThreadMapped())`.

    Raises InputError for an outer schedule that splits items, and for an inner one that has launches of its own.
    """

    outer: Schedule
    inner: Schedule = dataclasses.field(default_factory=ThreadMapped)
    stage: int = STAGE

    engine = "nested"

    def __post_init__(self) -> None:
        if not _may_be_outer(self.outer):
            _refuse("outer", f"a schedule that owns whole tiles, {SUCH_AS}", self.outer)
        if not _may_be_inner(self.inner):
            wanted = f"a schedule that owns whole tiles and is one launch, {SUCH_AS}"
            _refuse("inner", f"{wanted}; or that splits them, such as MergePath()", self.inner)
        check_count("Nested", "stage", self.stage, 0, MOST_STAGED)
        size, owner = (_size(s) for s in (self.inner, self.outer))
        whole, equal = owner == self.outer.block, self.outer.engine == "owned"
        if not (self.inner.owns_tiles or (whole and equal)):
            wanted = "a schedule that gives an item to a block, such as BlockMapped()"
            hint = f"{self.inner} splits tiles among the threads of a block"
            hint += ", which Lrb, DynamicChunks and TeamMapped cannot have it do" * (not equal)
            _refuse("outer", wanted, self.outer, hint)
        if spans_blocks(self.outer) and (
            self.outer.block % size or (WARP % size if size <= WARP else size % WARP)
        ):
            block = self.outer.block
            wanted = (
                f"groups of a power of two up to {WARP}, or of whole warps, that divide {block}"
            )
            hint = f"an item may belong to several blocks of {block} threads"
            _refuse("inner", wanted, self.inner, hint)
        if self.outer.engine == "bins":
            check_within(self.inner, size, [threads for _, threads in teams_of(self.outer)])
            return
        if size > owner or not (whole or (size <= WARP and WARP % size == 0 and owner % size == 0)):
            hint = f"an item belongs to {owner} thread{'s' * (owner > 1)} of the outer schedule"
            _refuse("inner", _groups(owner, whole), self.inner, hint)

    @property
    def owner(self) -> Any:
        return self.outer.owner

    @property
    def size(self) -> int:
        return _size(self.outer)

    @property
    def block(self) -> int:
        return self.outer.block

    def launch(self, layout: Sizes) -> tuple[int, int]:
        return self.outer.launch(layout)

    def __eq__(self, other: object) -> bool:
        return type(other) is Nested and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.outer, self.inner, self.stage


def check_loops(schedule: Schedule, program: ir.Program) -> None:
    """Raise InputError for a schedule that hands out tiles where the program has a loop over items, or the reverse.

    Raises LanguageError for a loop over items whose tiles the inner of two nested schedules cannot split.
    """
    error = misfit(schedule, program)
    if error is not None:
        raise error
    if isinstance(schedule, Nested) and not schedule.inner.owns_tiles:
        from evenly.language.item_cutting import check_split  # late: `import evenly` is quick

        check_split(program)


def misfit(schedule: Schedule, program: ir.Program) -> InputError | None:
    """Return what `check_loops` raises; None for a schedule that fits."""
    nested = isinstance(schedule, Nested)
    of_items = nested or isinstance(schedule, PerItem) or spans_blocks(schedule)
    for loop in (x for x in program.pieces if isinstance(x, ir.TileLoop)):
        if loop.tasks and not schedule.owns_tiles:
            return InputError(
                "schedule",
                expected="one that gives a task to a thread or a group, such as ev.StaticList()",
                given=str(schedule),
                hint=f"{program.name} has a loop over tasks, which cannot be split",
            )
        if loop.layout.items and not (nested or _may_be_outer(schedule)):
            return InputError(
                "schedule",
                expected="one that hands out items, such as ev.Nested(ev.BlockMapped(), ev.ThreadMapped())",
                given=str(schedule),
                hint=f"{program.name} has a loop over items",
            )
        walks = any(isinstance(x, ir.Pass) for x in walk.statements(loop.body))
        if walks and not loop.layout.items and of_items:
            such = "those over items, for item in B.items(), have Nested"
            if getattr(schedule, "grid", 0):
                such = "grid= is for those over items, for item in B.items()"
            hint = f"{program.name} has a loop over tiles; {such}"
            return InputError("schedule", expected=OF_TILES, given=str(schedule), hint=hint)
    return None


def levels(schedule: Schedule) -> tuple[Schedule, Schedule]:
    """Return the schedule of items, and that of an item's tiles."""
    if isinstance(schedule, Nested):
        return schedule.outer, schedule.inner
    return schedule, ThreadMapped()


def spans_blocks(schedule: Any) -> bool:
    """Whether it may give an item to several blocks."""
    return schedule.engine == "team" or bool(getattr(schedule, "grid", 0))


def staging(schedule: Schedule, arrays: int, taken: int = 0) -> int:
    """Return the bytes of shared memory that the owner of an item, or of a tile, has for each of so many arrays.

    taken: the bytes of a block that others have.
    """
    outer, _ = levels(schedule)
    size = _size(outer)
    groups = groups_in_block(size, outer.block) if size > 1 else outer.block
    room = (MOST_STAGED - taken) // max(arrays, 1)
    return min(int(getattr(schedule, "stage", STAGE)), room) // groups


def _size(schedule: Schedule) -> int:
    return schedule.size if schedule.owner == "group" else 1


def _may_be_outer(given: Any) -> bool:
    """Whether a schedule may hand out items. per_item has code for the tiles of an item only."""
    known = isinstance(given, Schedule) and given.engine in ("owned", "team", "bins", "dynamic")
    return known and not isinstance(given, PerItem)


def _may_be_inner(given: Any) -> bool:
    return isinstance(given, Schedule) and (given.engine == "owned" or not given.owns_tiles)


def _refuse(level: str, expected: str, given: Any, hint: str = "") -> NoReturn:
    said = str(given) if isinstance(given, Schedule) else repr(given)
    raise InputError(f"Nested.{level}", expected=expected, given=said, hint=hint)


def _groups(owner: int, whole: bool) -> str:
    """Say which inner schedules an owner of so many threads can have."""
    if owner == 1:
        return "a schedule for threads"
    return (
        f"groups of at most {owner} threads"
        if whole
        else f"groups of a power of two that divides {owner}"
    )
