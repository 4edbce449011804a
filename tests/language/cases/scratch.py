"""Scratch arrays: `ev.scratch`, changed by atoms and beside them."""

import numpy as np

import evenly as ev

from .table import case, i32, out, rows

A3 = rows([1, 2, 3, 1], [], [4])


@case(owned_only=True, A=A3, m=3, y=out("int32", [3, 0, 1], start=9))
def a_hash_set_of_each_row(A, m, y):
    for row in A.tiles():
        h = ev.scratch(2 * sum(1 for k in A.atoms(row)), np.int32)
        for k in A.atoms(row):
            key = A.column(k) % m + 1
            at = 7 * key % len(h)
            while True:
                old = ev.atomic_cas(h, at, 0, key)
                if old == 0 or old == key:
                    break
                at = (at + 1) % h.size
        found = 0
        for i in range(h.shape[0]):
            if h[i] != 0:
                found += 1
        y[row] = found


@case(
    owned_only=True,
    A=rows([3, 1, 2], [], [9, 9], [5]),
    y=out("float32", [1, 2, 3, 9, 9, 5]),
    z=out("float64", [3, 0, 2, 1], start=7),
)
def an_insertion_sort_and_a_second_array(A, y, z):
    for row in A.tiles():
        n = A.end(row) - A.begin(row)
        sorted_ = ev.scratch(n, np.float32)
        for i in range(n):
            v = A.value(A.begin(row) + i)
            j = i
            while j > 0 and sorted_[max(j - 1, 0)] > v:
                sorted_[j] = sorted_[j - 1]
                j -= 1
            sorted_[j] = v
        ones = ev.scratch(n, float)
        for i in range(n):
            ones[i] += 1
        for k in A.atoms(row):
            y[k] = sorted_[k - A.begin(row)]
        z[row] = sum(ones[k - A.begin(row)] for k in A.atoms(row))


@case(
    owned_only=True,
    A=A3,
    bins=i32(2, 1, 3),
    counts=out("int32", [[2, 2, 0], [0, 0, 0], [0, 1, 0]]),
    turns=out("int64", [[8, 4], [0, 0], [2, 1]], start=9),
    seen=out("bool", [1, 0, 1]),
)
def bins_of_each_row(A, bins, counts, turns, seen):
    for row in A.tiles():
        begin = A.begin(row)
        h = ev.scratch(bins[row], np.uint32)
        flags = ev.scratch(A.end(row) - begin, bool)
        for k in A.atoms(row):
            ev.atomic_add(h, (A.column(k) + 1) % len(h), 1)
            flags[k - begin] = True
        for j in ev.lanes(len(h)):
            counts[row, j] = h[j]
        for turn in range(2):
            sums = ev.scratch(turn + 1, np.int64)
            for _ in A.atoms(row):
                ev.atomic_add(sums, turn, 1)
            turns[row, turn] = sums[turn] + sums[0]
        seen[row] = len(flags) > 0 and flags[0]


@case(
    owned_only=True,
    A=rows([1, 1], [1, 1], [1], [1], columns=[[1, 2], [0, 3], [2], [0]]),
    y=out("float32", [[1, 0, 1, 1], [1, 1, 1, 0], [0, 0, 1, 0], [0, 1, 1, 0]], start=9),
)
def two_steps_in_an_array_of_constant_length(A, y):
    for row in A.tiles():
        h = ev.scratch(4, np.float32)
        for k in range(A.begin(row), A.end(row)):
            first = A.begin(A.column(k))
            for j in ev.lanes(A.end(A.column(k)) - first):
                h[ev.distinct(A.column(first + j))] += 1
        for j in ev.lanes(4):
            y[row, j] = h[j]


@case(owned_only=True, A=A3, y=out("float32", [[1231, 2462], [0, 0], [4, 8]], start=9))
def an_array_of_each_lane(A, y):
    for row in A.tiles():
        begin = A.begin(row)
        for j in ev.lanes(2):
            h = ev.scratch(A.end(row) - begin, np.float32)
            for k in A.atoms(row):
                h[k - begin] = A.value(k) * (j + 1)
            digits = 0.0
            for i in range(len(h)):
                digits = 10 * digits + h[i]
            y[row, j] = digits
