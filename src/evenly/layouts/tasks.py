"""tasks: tiles that are made while they are walked.

`for t in T.tiles():` in a kernel runs every task: the first ones, and those that tasks push, until none is left. Tasks
lie in columns, one for each field. A round walks one list of them, and appends what is pushed to another; then the
lists change places. An atomic addition to a counter gives each pushed task its place, so the host reads nothing.

Source: the in-array and the out-array of the static task list, Cederman, Tsigas, "On Dynamic Load Balancing on Graphics
Processors" (Graphics Hardware 2008), section 4.1.
"""

from __future__ import annotations

import cmath
import contextlib
import functools
import keyword
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_where
from evenly.language.members import Growing, column_names
from evenly.language.types import TYPES, from_dtype
from evenly.layouts.arguments import count_of, size_of
from evenly.layouts.contract import Array, is_layout, layout
from evenly.layouts.moving import an_array
from evenly.layouts.task_results import BY_TASKS, CALL, COUNTERS, MOST_CALLS, PARTS, Results

MOST_SPILLED = 1 << 22  # the places of a spill, unless the user asks for more
SPILLED = 8  # and for small capacities, so many times as many
MOST_PLACES = 2**31 - 2**21  # which positions of 32 bits count


class TaskSet(Results):
    """Tasks (`ev.tasks`). As a layout, the tiles are the tasks of the list that is walked.

    The columns have places for the first tasks, for each of the two lists, and for the spill, in this order. The spill
    takes the tasks for which the list that is pushed to has no room. Then the run ends after the round.
    """

    firsts: int  # the number of first tasks
    capacity: int  # the places of a list
    spill: int
    # (5,) int64: tasks and first place of the list that is walked; first place of the other; tasks run; most waiting
    walked: Any
    pushed: Any  # (1,) int64: tasks that were pushed to the other list
    full: Any  # (1,) int64: whether there was no room for them, and nobody has been told yet
    pool: Any  # (COUNTERS,) int64: for tasks that are handed out while they are made (targets/gpu/device/taker.cuh)

    # What users named them, in order, with the column of each; and the fields that are a task's range of atoms, if any.
    names: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    ranged: tuple[str, ...] = ()

    tasks = True
    growing = Growing(
        swap="_swap",
        push="push",
        length="_waiting",
        hidden=frozenset({"firsts", "capacity", "spill", "walked", "pushed", "full", "pool"}),
    )
    host_methods = frozenset(
        {"check", "counts", "forget", "launched", "remaining", "most_waiting", "tasks_run"}
    )

    @property
    def num_tiles(self):
        return self.walked[0]

    @property
    def num_atoms(self):
        return 0

    @property
    def max_tiles(self) -> int:
        return max(self.firsts, self.capacity)

    @property
    def max_atoms(self) -> int:
        return 0

    def begin(self, tile):
        return 0

    def end(self, tile):
        return 0

    # ---- in kernels ------------------------------------------------------------------------------
    def _begin(self):
        """Make the first tasks the list that is walked."""
        if self.full[0] == 0:  # else an earlier loop of this call has tasks left
            self.walked[0] = self.firsts
            self.walked[1] = 0
            self.walked[2] = self.firsts
            self.walked[3] = 0
            self.walked[4] = self.firsts
            self.pushed[0] = 0
            for i in range(13):  # the counters, which are 16 apart
                self.pool[16 * i] = 0
            for i in range(BY_TASKS, PARTS):
                self.pool[i] = 0
            if self.pool[CALL] == MOST_CALLS:
                for i in range(PARTS, COUNTERS):
                    self.pool[i] = 0
                self.pool[CALL] = 0
            self.pool[CALL] = self.pool[CALL] + 1

    @property
    def _waiting(self):
        """The number of tasks that are walked next."""
        return self.walked[0]

    def _swap(self):
        """Make the list that was pushed to the one that is walked. If it has spilled, none is."""
        count = self.pushed[0]
        ran = self.pool[64] if self.pool[64] > 0 else self.walked[0]
        self.walked[3] = self.walked[3] + ran
        self.walked[4] = max(self.walked[4], count)
        if count > self.capacity:
            self.walked[0] = 0
            self.full[0] = 1
        else:
            self.walked[0] = count
            self.walked[1] = self.walked[2]
            self.walked[2] = 2 * self.firsts + self.capacity - self.walked[2]
            self.pushed[0] = 0
        for i in range(6):  # the others count over all rounds
            self.pool[16 * i] = 0

    def _held(self, tile):
        """The place of a task of the list that is walked."""
        return self.walked[1] + tile

    def _spot(self, place):
        """The place of a pushed task: in its list or, beyond that, in the spill."""
        if place < self.capacity:
            return self.walked[2] + place
        return self.firsts + self.capacity + place

    # ---- on the host -----------------------------------------------------------------------------
    may_overflow = True

    def __reduce__(self) -> Any:
        values = tuple(getattr(self, name) for name in type(self).__fields__)  # type: ignore[attr-defined]
        return _again, (self.names, self.ranged, values)

    def __repr__(self) -> str:
        parts: dict[str, Any] = {n: arrays.dtype_of(getattr(self, c)) for n, c in self._columns()}
        if self.ranged:
            parts["atoms"] = self.ranged
        parts |= {"firsts": self.firsts, "capacity": self.capacity, "spill": self.spill}
        return f"Tasks({', '.join(f'{name}={value}' for name, value in parts.items())})"


class RangedTaskSet(TaskSet):
    """Tasks that have atoms. The first two columns say which."""

    if TYPE_CHECKING:
        column_0: Any
        column_1: Any

    @property
    def max_atoms(self) -> int:
        """As many as positions of 32 bits can count, or of 64 if the fields need them: tasks may say any."""
        columns = (self.column_0, self.column_1)
        wide = any(
            arrays.dtype_of(c).itemsize > 4 or arrays.dtype_of(c) == np.uint32 for c in columns
        )
        return 2**40 if wide else 2**31 - 2**22 - self.max_tiles

    def begin(self, tile):
        return self.column_0[self.walked[1] + tile]

    def end(self, tile):
        return self.column_1[self.walked[1] + tile]

    def atom_id(self, tile, position):  # of its own, so that no array need be as long as all atoms
        return position


def tasks(
    *,
    first: Any,
    capacity: int,
    atoms: tuple[str, str] | None = None,
    spill: int | None = None,
    like: Any = None,
    **fields: Any,
) -> Any:
    """Make a set of tasks: tiles that are made while they are walked.

        T = ev.tasks(begin=np.int32, end=np.int32, atoms=("begin", "end"), first=[(0, 100)], capacity=1000)
        for t in T.tiles():      in a kernel: run every task, until none is left
        T.begin(t)               a field of the loop's task
        T.push(begin, end)       in that loop: make a task, with a value for each field
        for k in T.atoms(t):     walk the task's atoms, if tasks have any: T.begin(t), ..., T.end(t) - 1

    fields: a type for each field: `begin=np.int32`. A field may not have the name of a parameter here, or of something
      that the result has anyway, such as `tiles` and `push`.
    first: the tasks that every call begins with: a tuple of values for each, or an array of records or (tasks, fields).
    capacity: the most tasks that may wait at a time, beside those that run.
    atoms: the fields (begin, end) that are a task's range of atoms.
    spill: how many more tasks are kept, if too many wait. Default: 4,096, and 8 times the capacity or 2**22.
    like: an array or a layout; the tasks lie in arrays of its library, on its device. Default: NumPy's.
      `T.to("cuda")` has copies on a GPU.

    If more tasks wait than there is room for, the call ends with an InputError when the tasks that run are done, and
    `T.remaining` has those that are left. `T.tasks_run` and `T.most_waiting` tell of the latest call.

    Raises InputError for fields, first tasks and numbers that do not fit together.

    >>> import numpy as np, evenly as ev
    >>> @ev.kernel
    ... def count_down(T, leaves):
    ...     for t in T.tiles():
    ...         if T.n(t) > 1:
    ...             T.push(T.n(t) - 1)
    ...             T.push(T.n(t) - 2)
    ...         else:
    ...             leaves.append(T.n(t))
    >>> T = ev.tasks(n=np.int32, first=[5], capacity=100)
    >>> leaves = ev.output(np.int32, capacity=100)
    >>> count_down(T, leaves)
    >>> len(leaves), T.tasks_run
    (8, 15)
    """
    types = {name: _type_of(name, t) for name, t in fields.items()}
    if not types:
        raise InputError("tasks", expected="a field, such as begin=np.int32", given="none")
    for name in types:
        _check_name(name)
    ranged = () if atoms is None else _checked_range(atoms, types)
    rows = _rows(first, types)
    room = size_of(capacity, "capacity")
    least = min(SPILLED * max(room, len(rows)), MOST_SPILLED) + 4096
    more = least if spill is None else count_of(spill, "spill")
    places = len(rows) + 2 * room + more
    if places > MOST_PLACES:
        expected = f"2 * capacity + spill + the first tasks to be at most {MOST_PLACES}"
        raise InputError("capacity", expected=expected, given=str(places))
    beside = an_array(like) if is_layout(like) else like
    beside = np.empty(0) if beside is None else beside
    cls = _class(tuple(types), ranged)
    columns = {}
    for name, column in zip(cls.names, cls.placed, strict=True):
        given = np.ascontiguousarray(rows[name])
        columns[column] = _column(beside, given, places)
    counts = (arrays.zeros(beside, (n,), np.dtype(np.int64)) for n in (5, 1, 1, COUNTERS))
    return cls(len(rows), room, more, *counts, **columns)


def _column(beside: Any, rows: npt.NDArray[Any], places: int) -> Any:
    """Return an array (places,) beside another one, which begins with these rows."""
    made = arrays.zeros(beside, (places,), rows.dtype)
    if arrays.kind(made) == "device":
        whole = np.zeros(places, rows.dtype)
        whole[: len(rows)] = rows
        return to_where(beside, whole)
    if len(rows):
        made[: len(rows)] = to_where(beside, rows)
    return made


def _type_of(name: str, given: Any) -> np.dtype[Any]:
    found: np.dtype[Any] | None = None
    with contextlib.suppress(TypeError):
        found = np.dtype(given)
    if given is None or found is None or not found.isnative or from_dtype(found) is None:
        raise InputError(name, expected=f"a type of {TYPES}", given=repr(given))
    return found


def _check_name(name: str) -> None:
    taken = hasattr(RangedTaskSet, name) and name not in ("begin", "end")
    contract = ("tiles", "atoms", "items", "push", "to", "slice", "tile_id", "valid", "tile_of")
    own = ("firsts", "walked", "pushed", "full", "pool")
    if taken or name in contract or name in own or name.startswith(("_", "column_")):
        hint = "a task set has that name already"
        raise InputError("tasks", expected="another name for the field", given=name, hint=hint)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError("tasks", expected="a name of Python", given=repr(name))


def _checked_range(atoms: Any, types: dict[str, np.dtype[Any]]) -> tuple[str, ...]:
    found = tuple(atoms) if isinstance(atoms, tuple | list) else ()
    if len(set(found)) != 2 or any(name not in types for name in found):
        expected = f"two of the fields {', '.join(types)}: where a task's atoms begin and end"
        raise InputError("atoms", expected=expected, given=repr(atoms))
    for name in found:
        if types[name].kind not in "iu" or types[name] == np.uint64:
            expected = "a field of integers up to int64"
            raise InputError(f"atoms: {name}", expected=expected, given=str(types[name]))
    return found


def _rows(first: Any, types: dict[str, np.dtype[Any]]) -> npt.NDArray[Any]:
    """Return the first tasks as an array of records."""
    wanted = np.dtype(list(types.items()))
    if isinstance(first, np.ndarray) and first.dtype.names is not None:
        if first.dtype.names != wanted.names or first.ndim != 1:
            expected = f"records with the fields {', '.join(types)}"
            raise InputError("first", expected=expected, given=str(first.dtype.names))
        if first.dtype == wanted:
            return first
        first = first.tolist()
    elif isinstance(first, np.ndarray) and first.ndim == 2:
        first = first.tolist()
    try:
        given = [tuple(row) if isinstance(row, tuple | list) else (row,) for row in first]
    except TypeError:
        raise InputError("first", expected="a list of tasks", given=repr(first)) from None
    found = np.zeros(len(given), wanted)
    for number, row in enumerate(given):
        where = f"first[{number}]"
        if len(row) != len(types):
            expected = f"a value for each of {', '.join(types)}"
            raise InputError(where, expected=expected, given=repr(row))
        for name, value in zip(types, row, strict=True):
            found[name][number] = _value(value, types[name], f"{where}: {name}")
    return found


def _value(value: Any, dtype: np.dtype[Any], where: str) -> Any:
    """Return a value as the field's type. Raises InputError for one that it does not hold."""
    try:
        given = np.array(value)
        number = from_dtype(given.dtype) is not None or isinstance(value, int)
        held = given.shape == () and number and (given.dtype.kind != "c" or dtype.kind == "c")
        with np.errstate(all="ignore"):
            made = given.astype(dtype) if held else given
        if held and dtype.kind in "iub":
            held = made == given
        elif held:
            held = cmath.isfinite(complex(made)) == cmath.isfinite(complex(value))
    except (TypeError, ValueError, OverflowError):
        held = False
    if not held:
        raise InputError(where, expected=f"a number of {dtype}", given=repr(value))
    return made


@functools.cache
def _class(names: tuple[str, ...], ranged: tuple[str, ...]) -> Any:
    """Return the class of task sets with these fields. The columns of a range of atoms come first."""
    columns = column_names(len(names))
    order = [*ranged, *(name for name in names if name not in ranged)]
    own = dict(zip(order, columns, strict=True))
    annotations: dict[str, Any] = {"firsts": int, "capacity": int, "spill": int}
    annotations |= dict.fromkeys(("walked", "pushed", "full", "pool"), Array) | dict.fromkeys(
        columns, Array
    )
    body = {
        "__annotations__": annotations,
        "__module__": __name__,
        "names": names,
        "placed": tuple(own[name] for name in names),
        "ranged": ranged,
    }
    return layout(type("Tasks", (RangedTaskSet if ranged else TaskSet,), body))


def _again(names: tuple[str, ...], ranged: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Make a pickled set again."""
    return _class(names, ranged)(*values)
