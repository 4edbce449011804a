"""Sort lists on a CPU: short ones by counting, long ones by their digits, a list by a worker.

A long list is sorted digit by digit from the lowest one, each time stably by counting (Knuth, TAOCP 3, 5.2.5). All
digits are counted in one walk. A digit that all elements have in common is left out.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

from .merged import RUN, SHORT, placing

BITS = 8
DIGITS = 1 << BITS
BY_LIST = ev.ThreadMapped()  # a thread sorts each
SCRATCH = 1 << 30  # bytes that scratch arrays may take by default; more, if a list needs more


@functools.cache
def counting(descending: bool, position: Any) -> Any:
    """Make the kernel that sorts lists of at most `most` elements, and leaves longer ones alone.

    position: the integers in which places are computed.
    """
    place_in_run = placing(descending)

    @ev.kernel
    def sort_short(R, keys, most, sorted_, order):
        for t in R.tiles():
            first, last = position(R.begin(t)), position(R.end(t))
            for k in R.atoms(t):
                if last - first <= most:
                    place = place_in_run(keys, first, last, position(k))
                    sorted_[place] = keys[k]
                    order[place] = k

    return sort_short


@functools.cache
def by_digits(code_of: Any, T: Any, position: Any) -> Any:
    """Make the kernel that sorts lists of more than `least` elements, and leaves others alone.

    code_of: the code of a key's bits, an integer of the type T (`kit.coding`). position: of an element in its list.
    """
    passes = np.dtype(T).itemsize * 8 // BITS

    @ev.func
    def digit(code, p):
        """Where digit p of a code is counted. The sign is in the last digit."""
        found = int(code >> (BITS * p)) & (DIGITS - 1)
        return DIGITS * p + (found ^ (DIGITS // 2 if p == passes - 1 else 0))

    @ev.kernel
    def sort_long(R, bits, keys, least, sorted_, order):
        for t in R.tiles():
            first, n = R.begin(t), R.end(t) - R.begin(t)
            room = n if n > least else 0
            codes = ev.scratch(2 * room, T, zeros=False)
            places = ev.scratch(2 * room, position, zeros=False)
            counts = ev.scratch(passes * DIGITS if n > least else 0, position)
            if n > least:
                for i in range(n):
                    code = code_of(bits[first + i])
                    codes[i] = code
                    places[i] = i
                    for p in range(passes):
                        counts[digit(code, p)] += 1
                here = 0
                for p in range(passes):
                    if counts[digit(codes[here], p)] < n:
                        before = position(0)
                        for d in range(DIGITS * p, DIGITS * (p + 1)):
                            count = counts[d]
                            counts[d] = before
                            before += count
                        there = n - here
                        for i in range(n):
                            code = codes[here + i]
                            d = digit(code, p)
                            at = there + counts[d]
                            counts[d] += 1
                            codes[at] = code
                            places[at] = places[here + i]
                        here = there
                for i in range(n):
                    k = first + places[here + i]
                    sorted_[first + i] = keys[k]
                    order[first + i] = k

    return sort_long


def sort_on_host(
    keys: Any, R: Any, sorted_: Any, order: Any, descending: bool, target: str
) -> None:
    """Sort the lists of R, in CPU memory: store the keys in order, and the order."""
    n, lengths = len(keys), np.diff(kit.to_numpy(R.offsets))
    longest = int(lengths.max(initial=0))
    if longest < n or longest <= RUN:
        position = np.int32 if n <= SHORT else np.int64
        sort = counting(descending, position).on(target)
        sort(R, keys, position(RUN), sorted_, order)
    if longest > RUN:
        code_of, _ = kit.coding(keys, descending)
        T, position = kit.code_type(keys), np.int32 if longest < 2**31 else np.int64
        each = 2 * longest * (np.dtype(T).itemsize + np.dtype(position).itemsize) + (1 << 15)
        more = {"max_workspace": each} if each > SCRATCH else {}
        sort = by_digits(code_of, T, position)[BY_LIST].on(target, **more)
        sort(R, kit.as_integers(keys), keys, RUN, sorted_, order)
