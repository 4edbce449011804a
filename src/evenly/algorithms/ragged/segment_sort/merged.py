"""Sort lists element by element, under any schedule: runs by counting, then by merges of all lists at once.

Runs of some elements are sorted by counting those that come before each. Then neighbouring runs of a list are merged,
until the longest list is one run. Each element finds its place by a binary search in the other run, so that all threads
have equal work, and no element waits for another. Source: the merge sort of Satish, Harris, Garland, "Designing
Efficient Sorting Algorithms for Manycore GPUs" (2009).
"""

from __future__ import annotations

import functools
from typing import Any

import evenly as ev

RUN = 64  # elements that are sorted by counting
SHORT = 2**29  # of so many elements three runs are numbered in 32 bits


@functools.cache
def comparing(descending: bool) -> Any:
    @ev.func
    def comes(a, b, with_equals):
        """Whether key a comes before key b, or with it, if `with_equals`; nan is last in both orders.

        All of it is computed, since a branch for each comparison would take longer.
        """
        before = (a > b if descending else a < b) | ((a == a) & (b != b))
        not_after = (a >= b if descending else a <= b) | (b != b)
        return not_after if with_equals else before

    return comes


@functools.cache
def placing(descending: bool) -> Any:
    comes = comparing(descending)

    @ev.func
    def place_in_run(keys, first, last, at):
        """Where keys[at] goes when keys[first:last] is sorted."""
        key = keys[at]
        i, place = first, first
        while i < last:
            place += 1 if comes(keys[i], key, i < at) else 0
            i += 1
        return place

    return place_in_run


@functools.cache
def merging(descending: bool, position: Any) -> Any:
    """Make the kernel that sorts lists of any length. position: the integers in which places are computed."""
    comes, place_in_run = comparing(descending), placing(descending)

    @ev.func
    def further(keys, first, last, n, step, key, with_equals):
        """If n of the sorted keys[first:last] come before `key`: n + step, if so many do, else n."""
        at = first + n + step
        found = comes(keys[min(at, last) - 1], key, with_equals)
        return n + step if (at <= last) & found else n

    @ev.func
    def place_among(keys, begin, end, k, width):
        """Where keys[k] goes when the sorted runs of `width`, a power of two, in keys[begin:end] are merged by twos."""
        if width >= end - begin:
            return k
        own = begin + ((k - begin) & -width)
        other = begin + ((own - begin) ^ width)
        before, key, step = position(0), keys[k], width
        while step > 0:
            before = further(keys, other, min(other + width, end), before, step, key, other < own)
            step //= 2
        first = begin + ((k - begin) & -(2 * width))
        return first + (k - own) + before

    @ev.func
    def merge_by_twos(R, t, width, keys, order, merged, merged_order):
        """Store what the runs of list t in `keys` and `order` are, when they are merged by twos."""
        for k in R.atoms(t):
            begin, end = position(R.begin(t)), position(R.end(t))
            place = place_among(keys, begin, end, position(k), width)
            merged[place] = keys[k]
            merged_order[place] = order[k]

    @ev.kernel
    def sort(R, keys, run, sorted_, order, sorted_too, order_too):
        longest = 0
        for t in R.tiles():
            longest = max(longest, R.end(t) - R.begin(t))
        for t in R.tiles():
            for k in R.atoms(t):
                begin, end, at = position(R.begin(t)), position(R.end(t)), position(k)
                first = begin + ((at - begin) & -run)
                place = place_in_run(keys, first, min(first + run, end), at)
                sorted_[place] = keys[k]
                order[place] = k
        width = run
        while width < longest:
            for t in R.tiles():
                merge_by_twos(R, t, width, sorted_, order, sorted_too, order_too)
            width *= 2
            for t in R.tiles():
                merge_by_twos(R, t, width, sorted_too, order_too, sorted_, order)
            width *= 2

    return sort
