"""The k greatest or least elements of each list.

Where lists differ much, long ones are cut into parts on a GPU. What is selected of each part is selected from again.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit

EVENLY, SCANNED = ev.MergePath(), ev.NonzeroSplit()  # so that nothing is measured of parts
PART = 4096  # the elements of a part
FEW = 1024  # so many lists keep a GPU busy, if all are long
OF_PARTS = ev.Lrb(warp=512)


@functools.cache
def selecting(T: Any, P: Any, code_of: Any) -> Any:
    """Make the kernel: the next of each list is looked for k times.

    T: the type of codes, which ascend from the first element wanted on. Equal ones come in the order of their
    positions, of type P.
    """
    start = T(np.iinfo(T).min), P(-1)  # before all elements
    end = T(np.iinfo(T).max), P(np.iinfo(P).max)  # after them

    @ev.func
    def before(a, b):
        return a[0] < b[0] or (a[0] == b[0] and a[1] < b[1])

    @ev.func
    def first_of(a, b):
        return b if before(b, a) else a

    @ev.kernel
    def select(S, L, list_of, first, some, data, bits, padding, values, indices):
        """S: the lists. Or parts of them: part s is of list_of[s], whose parts begin at first[t]. Then each tile t of L
        has places in `some` for what is selected of the list's parts; none, if it is one part. What is left of parts
        and places belongs to one list more, which there is not."""
        for s in S.tiles():
            last = start
            t = s if L is None else list_of[s]
            for i in range(values.shape[1]):
                last = ev.reduce(
                    first_of,
                    (
                        (code_of(bits[k]), P(k))
                        for k in S.atoms(s)
                        if before(last, (code_of(bits[k]), P(k)))
                    ),
                    end,
                )
                found = last[1] if last[1] < end[1] else P(-1)
                whole = True
                if L is not None:
                    whole = L.begin(t) == L.end(t)
                if whole and t < values.shape[0]:
                    values[t, i] = data[found] if found >= 0 else padding
                    indices[t, i] = found
                elif L is not None and t < values.shape[0]:
                    some[L.begin(t) + (s - first[t]) * values.shape[1] + i] = found
        if L is not None:
            for t in L.tiles():
                last = start
                if L.begin(t) < L.end(t) and t < values.shape[0]:
                    for i in range(values.shape[1]):
                        last = ev.reduce(
                            first_of,
                            (
                                (code_of(bits[some[k]]), some[k])
                                for k in L.atoms(t)
                                if some[k] >= 0 and before(last, (code_of(bits[some[k]]), some[k]))
                            ),
                            end,
                        )
                        found = last[1] if last[1] < end[1] else P(-1)
                        values[t, i] = data[found] if found >= 0 else padding
                        indices[t, i] = found

    return select


@ev.kernel
def place_parts(W, offsets, size, wanted, parts, places, first, begins):
    """Where the parts of each list begin, of which it has at least one, and the places for what is selected of them.

    A list of one part needs none. Behind the lists is what is left of `parts` and `places`. W: an atom for each list,
    and one more.
    """
    lists = len(offsets) - 1
    for tile in W.tiles():
        first[tile], begins[tile] = 0, 0
        for t in W.atoms(tile):
            length = np.int64(offsets[min(t + 1, lists)] - offsets[t])
            n = max((length + size - 1) // size, 1)
            part, place = ev.scan(n), ev.scan(n * wanted if n > 1 else 0)
            first[t + 1] = part if t < lists else parts
            begins[t + 1] = place if t < lists else places


@ev.kernel
def cut(P, R, size, begins, list_of):
    """P: a tile for each list, an atom for each part; behind the lists what is left, which has no elements."""
    for t in P.tiles():
        for s in P.atoms(t):
            begins[s] = R.num_atoms
            if t < R.num_tiles:
                begins[s] = R.begin(t) + (s - P.begin(t)) * size
            list_of[s] = t
    begins[P.num_atoms] = R.num_atoms


def waits_for_one(R: Any) -> bool:
    """Whether threads would wait for the owner of a long list."""
    return kit.longest(R) > PART and (R.num_tiles < FEW or not kit.alike(R))


class Parts(NamedTuple):
    """Arguments of `select`."""

    parts: Any
    lists: Any
    list_of: Any
    first: Any
    some: Any


def parts_of(R: Any, wanted: int, positions: Any, target: str) -> Parts:
    """Return the lists in parts, and places for `wanted` elements of each. positions: their type.

    There are as many parts and places as such lists can have at most, so that a GPU is not waited for.
    """
    m, n, like = R.num_tiles, R.num_atoms, R.offsets
    parts, places = m + n // PART, 2 * (n // PART) * wanted
    first, begins = (kit.empty(like, (m + 2,), np.int64) for _ in "12")
    sizes = (np.int64(x) for x in (PART, wanted, parts, places))
    place_parts[SCANNED].on(target)(kit.whole(m + 1), like, *sizes, first, begins)
    P, L = (ev.ragged(x, num_atoms=k, check=False) for x, k in ((first, parts), (begins, places)))
    cuts = kit.empty(like, (parts + 1,), kit.dtype(like))
    list_of = kit.empty(like, (parts,), kit.index_type(m))
    cut[EVENLY].on(target)(P, R, np.int64(PART), cuts, list_of)
    S = ev.ragged(cuts, num_atoms=n, check=False)
    return Parts(S, L, list_of, first, kit.empty(like, (places,), positions))


@kit.plannable
def top_k(
    data: Any,
    k: int,
    offsets: Any,
    *,
    largest: bool = True,
    padding_value: Any = 0,
    out: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Return the k greatest elements of each list, the greatest first, and their positions in data: (m, k) both.

    data: (n,), real numbers, the elements of all lists, one list after the other.
    k: how many of each list. A list is looked through k times.
    offsets: as of `ev.ragged.segment_reduce`.
    largest: False: the least ones, the least first.
    padding_value: the values of lists with fewer elements. Their positions are -1.
    out: (values, positions), arrays for the results. Default: new arrays, of the dtype of data and of int64.
    schedule, target: as of `ev.spmv`; the schedule gives whole lists to a thread or a group.

    Of equal elements the first one comes first; nan comes last, as `ev.ragged.segment_sort` has it.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.top_k(np.array([1.0, 3.0, 2.0, 4.0]), 2, np.array([0, 3, 4]))
    (array([[3., 2.],
           [4., 0.]]), array([[ 1,  2],
           [ 3, -1]]))
    """
    data = kit.vector(data, "data")
    kit.check_real(data, "data")
    wanted = kit.count_of(k, "k")
    R = kit.as_lists(offsets, len(data), data)
    padding = kit.number_of(padding_value, kit.held_as(data), "padding_value")
    given = (None, None) if out is None else out
    if not isinstance(given, tuple) or len(given) != 2:
        expected = "a tuple: an array for values, and one for positions"
        raise ev.InputError("out", expected=expected, given=type(out).__name__)
    types = kit.dtype(data), np.dtype(np.int64)
    shape = (R.num_tiles, wanted)
    values, indices = (
        kit.result(x, data, shape, made, "k of each list", exact=True)
        for x, made in zip(given, types, strict=True)
    )
    schedule = kit.of_whole_lists(schedule)
    positions: Any = kit.index_type(len(data)).type
    lists = Parts(R, None, None, None, None)
    less = wanted < PART  # than a part has is left of it
    if schedule == "auto" and less and kit.on_gpu(data) and waits_for_one(R):
        schedule, lists = OF_PARTS, parts_of(R, wanted, positions, target)
    code_of, _ = kit.coding(data, bool(largest))
    kernel = selecting(kit.code_type(data), positions, code_of)[schedule].on(target)
    args = *lists, data, kit.as_integers(data), padding, values, indices
    names = {"S": "offsets", "bits": "data", "values": "out", "indices": "out"}
    return kit.Call(kernel, args, (values, indices), names)
