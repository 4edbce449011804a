"""The schedule contract: what a schedule class has, and which rules it keeps.

A schedule is a small frozen class, made by the decorator :func:`schedule`. It has parameters (annotated
numbers with defaults) and methods. `launch` runs on the host. The other methods are written in the
kernel language, and every processor runs them.

    owner = "thread" | "group" | "share"    who a tile belongs to (see below)
    launch(layout) -> (blocks, block)       the number of blocks, and the threads of a block, two
                                            integers; `layout` has num_tiles and num_atoms (or the
                                            host's upper bounds of them).
                                            blocks: 1 or more if there are tiles
                                            block: a multiple of 32, the same for all layouts
    setup(layout) -> state                  optional; runs once for each processor, for example
                                            to search. The state is a tuple; without setup it is
                                            the layout
    tiles(state) -> range                   the tiles that this processor walks
    atoms(state, tile) -> range             the atoms of `tile` that this processor takes

In `setup` the members of a group may exchange integers: g.sum, g.scan, g.broadcast, g.gather (language/names.py).

`tiles` and `atoms` may also be generators: they `yield` positions, or `yield from` ranges, in one place. `atoms` of
owner "share" may not.

The methods find out which processor they run on with `ev.thread_index()`, `ev.thread_count()`, and
`g = ev.group(size)` with g.index, g.count, g.rank. A schedule must be right for any number of
processors, not only for the number that `launch` returns: the CPU runs it with few.

owner "thread": one thread walks a whole tile.
owner "group": a group of `size` threads (a parameter of that name) walks a tile. Its members get
    equal tiles, and their atoms together are those of the tile.
owner "share": consecutive threads may share a tile. In the order of the threads, the ranges are
    consecutive. A tile with atoms is left by the thread whose nonempty range reaches
    `layout.end(tile)`. A tile without atoms is in exactly one thread's tiles, and that thread
    leaves it. `setup` may return the layout in its state.

items: an optional parameter of owners "thread" and "group", 1 to 32: how many atoms of a tile a processor loads at
    once on `cuda` and `simt`, if the step of `atoms` is a positive constant. Default: 1.
run: an optional parameter of owner "group", 1, 2, 4 or 8, a divisor of `items`: how many of these atoms are
    adjacent. One instruction then loads 16 bytes of an array. If it is more than 1, only the other targets
    use `atoms`.

lanes: an optional parameter of owner "group", 1, 2, 4, 8, 16 or 32, a divisor of `size`: how many threads of a group
    lie along a dense axis (`ev.lanes` around passes) on `cuda` and `simt`; the others share a tile's atoms. Default: 1.
vector: an optional parameter of owners "thread" and "group", 1 to 32: how many columns of the axis a thread has at a
    time. If both are 1, an axis is walked column by column. Otherwise only other targets use `atoms` there.
    Schedules of the engines "merge" and "nonzero" may have both, too: `lanes` threads of a block are then a team.

engine: the code that runs the schedule on `cuda` and `simt`, if not the default one of its owner. Engines are in
    targets/gpu/engines, and say which parameters they need. "dynamic": warps, or groups of several warps, take
    chunks of `chunk` tiles from a counter, and give each tile to a thread or to a group of `size`, up to the
    whole block. "bins": tiles are sorted by length, for threads, groups of `lanes`, warps and blocks, as the
    parameters of Lrb say. With either, only the other targets use `tiles` and `atoms`.

`evenly.verify(schedule, layout)` checks the contract by a run that counts.

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
    """The sizes of a layout, for `launch`: its counts, or the host's upper bounds of them."""

    num_tiles: int
    num_atoms: int


class Schedule:
    """The base class of every schedule. `engine` names what runs it (targets/gpu/engines)."""

    if TYPE_CHECKING:  # class constants, parameters, or properties that follow from these
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

        @property
        def owner(self) -> Owner: ...
        @property
        def engine(self) -> str: ...
        @property
        def block(self) -> int: ...
        @property
        def size(self) -> int: ...  # if owner is "group"

    else:
        engine = "owned"
    covers: Any = False  # whether `launch` gives every tile a thread or group of its own

    def __init_subclass__(cls) -> None:
        """Reset `covers` in a subclass that overrides a method of the contract: it is about the base's methods."""
        super().__init_subclass__()
        said = next(i for i, base in enumerate(cls.__mro__) if "covers" in vars(base))
        if any(name in vars(base) for base in cls.__mro__[:said] for name in _METHODS):
            cls.covers = False

    def launch(self, layout: Sizes) -> tuple[int, int]:
        """Return (blocks, threads a block) for a layout of these counts."""
        raise NotImplementedError

    def partition(self, layout: Any, n: int) -> Any:
        """Apply this schedule to `layout` for `n` processors, in NumPy. Returns an `evenly.Partition`."""
        from .partition import partition

        return partition(self, layout, n)

    @property
    def owns_tiles(self) -> bool:
        """Whether a tile belongs to one thread or group (passes then fuse into one launch)."""
        return self.owner != "share"


@dataclass_transform(frozen_default=True)
def schedule(cls: type) -> Any:
    """Make a schedule of a class with the methods above. Raises InputError if one is missing or wrong."""
    if not isinstance(cls, type):
        raise InputError("ev.schedule", expected="a class", given=type(cls).__name__)
    if not issubclass(cls, Schedule):
        body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
        body["__qualname__"] = cls.__qualname__  # pickle finds the class by it
        cls = type(cls.__name__, (*(b for b in cls.__bases__ if b is not object), Schedule), body)
    for name in inspect.get_annotations(cls):
        check_field_name(cls, name)
    _check(cls)
    shown = vars(cls).get("__repr__", _shown)
    made: Any = dataclasses.dataclass(frozen=True, repr=False)(cls)
    made.__eq__, made.__repr__ = _equal, shown
    _check_parameters(made)
    if made.owner == "share" and made.engine == "owned":
        made.engine = "share"  # the default engine of this owner
    # A test checks evenly's own schedules instead, so that `import evenly` loads no engine.
    if not (isinstance(made.engine, property) or made.__module__.startswith(__package__)):
        check_engine(made)
    if not hasattr(made, "block"):
        made.block = property(_block)
    return made


def _equal(self: Any, other: Any) -> Any:
    """Whether code compiled for one is right for the other: 1, 1.0 and True are different parameters."""
    if type(self) is not type(other):
        return NotImplemented
    names = [f.name for f in dataclasses.fields(self)]
    return all(alike(getattr(self, name), getattr(other, name)) for name in names)


# Parameters of a dense axis, of items that all blocks walk, of a list of tiles, and of few blocks: what they are where
# there is none.
OPTIONAL = {"lanes": 1, "vector": 1, "grid": 0, "hypersparse": False, "blocks": 0, "counted": False}


def _shown(self: Any) -> str:
    """Return the call that makes a schedule, without OPTIONAL parameters that say that it has none."""
    values = {f.name: (getattr(self, f.name), f.default) for f in dataclasses.fields(self)}
    none = {name for name, without in OPTIONAL.items() if values.get(name) == (without, without)}
    given = ", ".join(f"{name}={v!r}" for name, (v, _) in values.items() if name not in none)
    return f"{type(self).__qualname__}({given})"


def _block(self: Any) -> int:
    """The threads of a block, for a schedule without such a parameter: what `launch` returns."""
    return _launched(self, Sizes(1, 1))[1]


MOST_BLOCKS_LAUNCHED = 2**31 - 1


def launch_of(schedule: Any, sizes: Sizes) -> tuple[int, int]:
    """Return (blocks, threads a block) for a launch. Raises InputError if no GPU can run it, or it does nothing."""
    blocks, block = _launched(schedule, sizes)
    if block != schedule.block:
        raise InputError(
            f"{type(schedule).__name__}.launch",
            expected=f"blocks of {schedule.block} threads, as for other layouts and in `block`",
            given=str(block),
        )
    least = 1 if sizes.num_tiles else 0  # without tiles there is nothing to do
    if not least <= blocks <= MOST_BLOCKS_LAUNCHED:
        raise InputError(
            f"{type(schedule).__name__}.launch",
            expected=f"from {least} to {MOST_BLOCKS_LAUNCHED:,} blocks for {sizes.num_tiles:,} tiles and "
            f"{sizes.num_atoms:,} atoms",
            given=str(blocks),
        )
    return blocks, block


def teams_of(schedule: Any) -> tuple[tuple[int, int], ...]:
    """Return the teams that run whole tiles of a schedule: for each size of a team, the fewest atoms of its tiles.

    In pairs (atoms, threads), ascending; the first is for 0 atoms.
    """
    if schedule.engine != "bins":
        return ((0, getattr(schedule, "size", 1)),)
    sizes = (
        (schedule.thread, schedule.lanes),
        (schedule.group, WARP),
        (schedule.warp, schedule.block),
    )
    return ((0, 1), *((1 << atoms.bit_length() - 1, threads) for atoms, threads in sizes))


# What is expected where a schedule of items is given.
OF_TILES = "one that hands out tiles, such as ev.ThreadMapped(), ev.MergePath()"
MOST_GATHERED = 24 * 1024  # bytes of a block's shared memory; the rest is left to the kernel


def check_groups(
    schedule: Any,
    asked: Iterable[int],
    exchanging: Iterable[int] = (),
    gathers: int = 0,
    owner: int = 0,
) -> None:
    """Raise InputError for groups that would straddle blocks, and for exchanges that a block cannot make.

    asked: the sizes of `ev.group` in its methods. exchanging: those of groups that exchange numbers. gathers: how many
    arrays of such numbers there are. owner: for the inner of two nested schedules, the threads that own an item.
    """
    name, own, threads = type(schedule).__name__, 1, owner or schedule.block
    if schedule.owner == "group":
        check_count(name, "size", schedule.size, 1, threads)
        own = schedule.size
    for size in sorted(asked):
        if size != own and threads % size:
            raise InputError(
                f"{name}: ev.group({size})",
                expected=f"a size that divides the {threads} threads {'that own an item' if owner else 'of a block'}"
                + (f", or {own}, the size of its own groups" if own > 1 else ""),
                given=str(size),
            )

    for size in sorted(exchanging):
        if schedule.owner == "group" and size != own:
            raise InputError(
                f"{name}.setup",
                expected=f"exchanges in groups of {own}, the size of its own groups",
                given=f"ev.group({size})",
            )
    if gathers * threads * 8 > MOST_GATHERED:
        raise InputError(
            f"{name}.setup",
            expected=f"at most {MOST_GATHERED // 8 // threads} gathers, for blocks of {threads} threads",
            given=str(gathers),
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
    """Whether `x` is an integer of Python or NumPy; bool is not."""
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
    """Raise InputError for a class whose engine does not exist, or that lacks a parameter of its engine."""


def check_block(name: str, block: Any, least: int = WARP) -> None:
    """Raise InputError for a block size that no GPU runs."""
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
    """Raise InputError unless `value` is a number of atoms that a thread can load at once."""
    check_count(name, "items", value, 1, MOST_ITEMS)


def items_of(schedule: Any) -> int:
    """Return how many atoms a thread loads at once, for a schedule that owns tiles (default 1). Raises InputError."""
    items = getattr(schedule, "items", 1)
    check_items(type(schedule).__name__, items)
    return int(items)


RUNS = (1, 2, 4, 8)


def check_run(name: str, value: Any, items: int) -> None:
    """Raise InputError unless `value` is a number of adjacent atoms that `items` can be divided into."""
    able = [n for n in RUNS if items % n == 0]
    if not isinstance(value, int) or isinstance(value, bool) or value not in able:
        expected = f"one of {', '.join(map(str, able))}, a divisor of items={items}"
        raise InputError(f"{name}(run=...)", expected=expected, given=repr(value))


def run_of(schedule: Any) -> int:
    """Return how many atoms of a thread are adjacent, for a schedule that owns tiles: 1 unless a group has `run`.

    Raises InputError.
    """
    run = getattr(schedule, "run", 1)
    check_run(type(schedule).__name__, run, items_of(schedule))
    return int(run) if schedule.owner == "group" else 1


LANES = (1, 2, 4, 8, 16, 32)
MOST_VECTOR = 32


def check_lanes(name: str, lanes: Any, size: int) -> None:
    """Raise InputError unless `lanes` threads of a group of `size` can lie along a dense axis."""
    able = [n for n in LANES if size % n == 0 and (n == 1 or size <= WARP or size % WARP == 0)]
    if not isinstance(lanes, int) or isinstance(lanes, bool) or lanes not in able:
        expected = f"one of {', '.join(map(str, able))}, for groups of {size} threads"
        raise InputError(f"{name}(lanes=...)", expected=expected, given=repr(lanes))


def check_vector(name: str, value: Any) -> None:
    """Raise InputError unless `value` is a number of columns that a thread can have at a time."""
    check_count(name, "vector", value, 1, MOST_VECTOR)


def lanes_of(schedule: Any) -> tuple[int, int]:
    """Return how many threads lie along a dense axis, and how many columns each has at a time. Raises InputError."""
    name, vector = type(schedule).__name__, getattr(schedule, "vector", 1)
    if schedule.engine == "bins":  # whose `lanes` are the threads of a team already
        return (schedule.lanes, vector) if vector > 1 else (1, 1)
    splits = schedule.engine in ("merge", "nonzero")  # teams of a block's threads
    lanes = getattr(schedule, "lanes", 1) if splits or schedule.owner == "group" else 1
    check_lanes(name, lanes, schedule.block if splits else getattr(schedule, "size", 1))
    check_vector(name, vector)
    return int(lanes), int(vector)


def check_min_blocks(name: str, value: Any, block: int) -> None:
    """Check the least number of blocks of `block` threads on a multiprocessor. 0: the number is not prescribed."""
    check_count(name, "min_blocks", value, 0, min(LARGEST.at_once(block), LARGEST.blocks))


def ceil_div(a: int, b: int) -> int:
    """Return the quotient, rounded up."""
    return -(-a // b)
