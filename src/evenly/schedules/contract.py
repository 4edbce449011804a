"""The schedule contract: who does what?

A schedule is a small frozen class, made by the decorator :func:`schedule`, of parameters
(annotated numbers with defaults) and of methods. `launch` runs on the host; the others are
in the kernel language, and run by each processor.

    owner = "thread" | "group" | "share"    who a tile belongs to (see below)
    launch(layout) -> (blocks, block)       blocks, and threads a block, two integers; `layout` gives
                                            num_tiles and num_atoms (host bounds of them).
                                            blocks: 1 or more where there are tiles
                                            block: a multiple of 32, the same for all layouts
    setup(layout) -> state                  optional, once a processor: a search, say. The
                                            state is a tuple; without setup it is the layout
    tiles(state) -> range                   the tiles that this processor walks
    atoms(state, tile) -> range             the atoms of `tile` that this processor takes

Processors ask who they are: `ev.thread_index()`, `ev.thread_count()`, and
`g = ev.group(size)` with g.index, g.count, g.rank. A schedule must be right for any
number of processors, not only for the one that `launch` asks for: the CPU runs it with few.

owner "thread": a tile is walked whole by one thread.
owner "group": by a group of `size` threads (a parameter of that name): its members see
    equal tiles, and their atoms together are the tile's.
owner "share": a tile may be shared by consecutive threads. In the order of the threads,
    the ranges are consecutive; a tile with atoms is left by the thread whose range, not
    empty, reaches `layout.end(tile)`; a tile without atoms is in exactly one thread's
    tiles, and that thread leaves it. `setup` may return the layout in its state.

items: an optional parameter of owners "thread" and "group", 1 to 32: how many of its atoms a processor asks for
    at once on `cuda` and `simt`, where the step of `atoms` is a positive constant. Without it: one.
run: an optional parameter of owner "group", 1, 2, 4 or 8, a divisor of `items`: so many of them lie side by side, and
    one instruction loads 16 bytes of what an array has there. Where it is more than 1, `atoms` speaks for the other
    targets only.

engine: what runs it on `cuda` and `simt`, where that is not the plain one of its owner: one of those in
    targets/gpu/engines, which say what parameters they need. "dynamic": takers
    take chunks of `chunk` tiles from a counter, and give each tile to a thread or to a group of
    `size`, all of `block`. "bins": tiles are sorted by length, for
    threads, groups of `lanes`, warps and blocks, as the parameters of Lrb say. With either,
    `tiles` and `atoms` speak for the other targets only.

`evenly.verify(schedule, layout)` proves it by a counting run.

Source: the schedule API of Osama, Porumbescu, Owens, "A Programming Model for GPU Load
Balancing" (PPoPP 2023), section 4.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform, get_args

import numpy as np

from evenly.errors import EvenlyError, InputError, check_field_name
from evenly.gpus.gpu import LARGEST, MAX_BLOCK, WARP
from evenly.hooks import hook
from evenly.language.reads import alike

Owner = Literal["thread", "group", "share"]
OWNERS = get_args(Owner)
MOST_ITEMS = 32


@dataclasses.dataclass(frozen=True, slots=True)
class Sizes:
    """What `launch` sees of a layout: its counts, or the host's bounds of them."""

    num_tiles: int
    num_atoms: int


class Schedule:
    """The base of every schedule. `engine` names what executes it (targets/gpu/engines)."""

    if TYPE_CHECKING:  # constants of a class, its parameters, or properties that follow from these
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

        @property
        def owner(self) -> Owner: ...
        @property
        def engine(self) -> str: ...
        @property
        def block(self) -> int: ...
        @property
        def size(self) -> int: ...  # of owner "group"

    else:
        engine = "owned"
    covers: ClassVar[bool] = False  # whether `launch` gives every tile a thread or group of its own

    def __init_subclass__(cls) -> None:
        """What a class says it `covers` holds for its own methods, not for others in their place."""
        super().__init_subclass__()
        said = next(i for i, base in enumerate(cls.__mro__) if "covers" in vars(base))
        if any(name in vars(base) for base in cls.__mro__[:said] for name in _METHODS):
            cls.covers = False

    def launch(self, layout: Sizes) -> tuple[int, int]:
        """(blocks, threads a block) for a layout of these counts."""
        raise NotImplementedError

    def partition(self, layout: Any, n: int) -> Any:
        """This schedule applied to `layout` for `n` processors, in NumPy: an `evenly.Partition`."""
        from .partition import partition

        return partition(self, layout, n)

    @property
    def owns_tiles(self) -> bool:
        """Whether a tile belongs to one thread or group (so that passes fuse into one launch)."""
        return self.owner != "share"


@dataclass_transform(frozen_default=True)
def schedule(cls: type) -> Any:
    """Make a schedule of a class with the methods above. Raises InputError where one is missing or wrong."""
    if not isinstance(cls, type):
        raise InputError("ev.schedule", expected="a class", given=type(cls).__name__)
    if not issubclass(cls, Schedule):
        body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
        body["__qualname__"] = cls.__qualname__  # by which pickle finds it
        cls = type(cls.__name__, (*(b for b in cls.__bases__ if b is not object), Schedule), body)
    for name in inspect.get_annotations(cls):
        check_field_name(cls, name)
    _check(cls)
    made: Any = dataclasses.dataclass(frozen=True)(cls)
    made.__eq__ = _equal
    _check_parameters(made)
    if made.owner == "share" and made.engine == "owned":
        made.engine = "share"  # what runs a schedule that says no more than who shares
    # Ours are held to it by a test: `import evenly` loads no engine.
    if not (isinstance(made.engine, property) or made.__module__.startswith(__package__)):
        check_engine(made)
    if not hasattr(made, "block"):
        made.block = property(_block)
    return made


def _equal(self: Any, other: Any) -> Any:
    """Whether code compiled for one of them is right for the other: 1, 1.0 and True are different parameters."""
    if type(self) is not type(other):
        return NotImplemented
    names = [f.name for f in dataclasses.fields(self)]
    return all(alike(getattr(self, name), getattr(other, name)) for name in names)


def _block(self: Any) -> int:
    """The threads a block of a schedule that has no such parameter: what it launches."""
    return _launched(self, Sizes(1, 1))[1]


MOST_BLOCKS_LAUNCHED = 2**31 - 1


def launch_of(schedule: Any, sizes: Sizes) -> tuple[int, int]:
    """(blocks, threads a block) that `schedule` launches. Raises InputError where no GPU can, or it does nothing."""
    blocks, block = _launched(schedule, sizes)
    if block != schedule.block:
        raise InputError(
            f"{type(schedule).__name__}.launch",
            expected=f"blocks of {schedule.block} threads, as for other layouts and in `block`",
            given=str(block),
        )
    least = 1 if sizes.num_tiles else 0  # of nothing, nobody need do anything
    if not least <= blocks <= MOST_BLOCKS_LAUNCHED:
        raise InputError(
            f"{type(schedule).__name__}.launch",
            expected=f"from {least} to {MOST_BLOCKS_LAUNCHED:,} blocks for {sizes.num_tiles:,} tiles and "
            f"{sizes.num_atoms:,} atoms",
            given=str(blocks),
        )
    return blocks, block


def check_groups(schedule: Any, asked: Iterable[int]) -> None:
    """Refuse groups that its blocks do not hold whole. asked: the sizes of `ev.group` in its methods."""
    name, own = type(schedule).__name__, 1
    if schedule.owner == "group":
        check_count(name, "size", schedule.size, 1, schedule.block)
        own = schedule.size
    for size in sorted(asked):
        if size != own and schedule.block % size:
            raise InputError(
                f"{name}: ev.group({size})",
                expected=f"a size that divides the {schedule.block} threads of a block"
                + (f", or {own}, the size of its own groups" if own > 1 else ""),
                given=str(size),
            )


def _launched(schedule: Any, sizes: Sizes) -> tuple[int, int]:
    name = f"{type(schedule).__name__}.launch"
    try:
        made = schedule.launch(sizes)
    except EvenlyError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise InputError(name, expected="(blocks, threads a block)", given=said) from error
    if not (isinstance(made, tuple) and len(made) == 2 and all(map(is_integer, made))):
        expected = "(blocks, threads a block), two integers"
        raise InputError(name, expected=expected, given=repr(made))
    blocks, block = map(int, made)
    check_block(name, block)
    return blocks, block


def is_integer(x: Any) -> bool:
    """An integer of Python's or NumPy's; a truth value is none."""
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


_METHODS = {"launch": (1, True), "setup": (1, False), "tiles": (1, True), "atoms": (2, True)}


def _check(cls: type) -> None:
    owner = getattr(cls, "owner", None)
    if owner not in OWNERS and not isinstance(owner, property):
        raise InputError(
            f"{cls.__name__}.owner", expected=f"one of {', '.join(OWNERS)}", given=repr(owner)
        )
    for name, (count, required) in _METHODS.items():
        member = getattr(cls, name, None)
        missing = member is None or member is Schedule.launch
        if missing and required:
            raise InputError(
                f"{cls.__name__}.{name}",
                expected=f"a method {name}(self, {'layout' if name == 'launch' else 'state' + ', tile' * (count - 1)})",
                given="nothing",
            )
        if (
            member is not None
            and inspect.isfunction(member)
            and len(inspect.signature(member).parameters) != count + 1
        ):
            raise InputError(
                f"{cls.__name__}.{name}",
                expected=f"{count} parameter{'s' * (count > 1)} after self",
                given=f"{name}{inspect.signature(member)}",
            )


def _check_parameters(cls: Any) -> None:
    for f in dataclasses.fields(cls):
        if f.default is dataclasses.MISSING:
            continue
        if not isinstance(f.default, bool | int | float):
            raise InputError(
                f"{cls.__name__}.{f.name}", expected="a number as default", given=repr(f.default)
            )
    if cls.owner == "group" and not hasattr(cls, "size"):
        raise InputError(
            f"{cls.__name__}.size",
            expected="a parameter `size: int = ...`, the threads of a group",
            given="nothing",
        )


@hook
def check_engine(cls: Any) -> None:
    """Refuse a class whose engine there is not, or that lacks what its engine asks for."""


def check_block(name: str, block: Any, least: int = WARP) -> None:
    """Refuse a block size that no GPU runs."""
    if (
        not isinstance(block, int)
        or isinstance(block, bool)
        or not least <= block <= MAX_BLOCK
        or block % WARP
    ):
        raise InputError(
            f"{name}(block=...)",
            expected=f"a multiple of {WARP} from {least} to {MAX_BLOCK}",
            given=repr(block),
        )


def check_count(name: str, parameter: str, value: Any, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(
            f"{name}({parameter}=...)",
            expected=f"an integer from {least} to {most}",
            given=repr(value),
        )


def check_items(name: str, value: Any) -> None:
    """Of a thread's atoms, how many it asks for at once."""
    check_count(name, "items", value, 1, MOST_ITEMS)


def items_of(schedule: Any) -> int:
    """Of a schedule that owns tiles: one without the parameter asks for one at a time. Raises InputError."""
    items = getattr(schedule, "items", 1)
    check_items(type(schedule).__name__, items)
    return int(items)


RUNS = (1, 2, 4, 8)


def check_run(name: str, value: Any, items: int) -> None:
    """Of `items` atoms, how many lie side by side."""
    able = [n for n in RUNS if items % n == 0]
    if not isinstance(value, int) or isinstance(value, bool) or value not in able:
        expected = f"one of {', '.join(map(str, able))}, a divisor of items={items}"
        raise InputError(f"{name}(run=...)", expected=expected, given=repr(value))


def run_of(schedule: Any) -> int:
    """Of a schedule that owns tiles: without the parameter, or a group, 1. Raises InputError."""
    run = getattr(schedule, "run", 1)
    check_run(type(schedule).__name__, run, items_of(schedule))
    return int(run) if schedule.owner == "group" else 1


def check_min_blocks(name: str, value: Any, block: int) -> None:
    """Blocks of `block` threads that a multiprocessor must hold: 0 for as many as it comes to."""
    check_count(name, "min_blocks", value, 0, min(LARGEST.at_once(block), LARGEST.blocks))


def ceil_div(a: int, b: int) -> int:
    """The quotient, rounded up."""
    return -(-a // b)
