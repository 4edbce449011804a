"""Unbalanced Tree Search: how many nodes an implicit random tree has. No subtree's size is known before it is walked.

A node is a SHA-1 hash. It says how many children the node has, and that of the i-th child is the hash of the parent's
hash and i. Source: Olivier et al., "UTS: An Unbalanced Tree Search Benchmark" (LCPC 2006), with its geometric trees of
fixed shape: T1 has depth 10, T1L depth 13; TREES has the published sizes.

Run it: python examples/tree_search.py
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from place import best, put

import evenly as ev

CHILDREN = 4.0  # the mean
# The seed, the depth, and the numbers of nodes and leaves. The first is small, and counted by `by_hand` below.
TREES = {
    "small": (19, 3, 254, 201),
    "T1": (19, 10, 4_130_071, 3_305_118),
    "T1L": (29, 13, 102_181_082, 81_746_377),
}


@ev.kernel
def search(T, depth, most, totals):
    nodes, leaves, deepest = 0, 0, 0
    for t in T.tiles():
        nodes += 1
        deepest = max(deepest, T.depth(t))
        children = 0
        if T.depth(t) < depth:
            u = np.float64(T.e(t) & np.uint32(0x7FFFFFFF)) / 2147483648.0
            children = math.floor(math.log(1.0 - u) / math.log(1.0 - 1.0 / (1.0 + CHILDREN)))
        if children == 0:
            leaves += 1
        for i in range(min(children, most)):
            w = ev.local(16, np.uint32)  # the block: 24 bytes, a bit, zeros, and the length in bits
            w[0] = T.a(t)
            w[1] = T.b(t)
            w[2] = T.c(t)
            w[3] = T.d(t)
            w[4] = T.e(t)
            w[5] = np.uint32(i)
            w[6] = np.uint32(0x80000000)
            w[15] = np.uint32(192)
            a, b, c = np.uint32(0x67452301), np.uint32(0xEFCDAB89), np.uint32(0x98BADCFE)
            d, e = np.uint32(0x10325476), np.uint32(0xC3D2E1F0)
            for r in range(80):
                if r >= 16:
                    mixed = w[(r - 3) % 16] ^ w[(r - 8) % 16] ^ w[(r - 14) % 16] ^ w[r % 16]
                    w[r % 16] = ev.rotl(mixed, 1)
                if r < 20:
                    f = ((b & c) | (~b & d)) + np.uint32(0x5A827999)
                elif r < 40:
                    f = (b ^ c ^ d) + np.uint32(0x6ED9EBA1)
                elif r < 60:
                    f = ((b & c) | (b & d) | (c & d)) + np.uint32(0x8F1BBCDC)
                else:
                    f = (b ^ c ^ d) + np.uint32(0xCA62C1D6)
                f = f + ev.rotl(a, 5) + e + w[r % 16]
                e, d, c, b, a = d, c, ev.rotl(b, 30), a, f
            T.push(
                T.depth(t) + 1,
                a + np.uint32(0x67452301),
                b + np.uint32(0xEFCDAB89),
                c + np.uint32(0x98BADCFE),
                d + np.uint32(0x10325476),
                e + np.uint32(0xC3D2E1F0),
            )
    totals[0] = nodes
    totals[1] = leaves
    totals[2] = deepest


def root(seed, capacity, like=None):
    """The tasks: the root, whose hash is that of sixteen zeros and the seed."""
    words = np.frombuffer(hashlib.sha1(bytes(16) + seed.to_bytes(4, "big")).digest(), ">u4")
    types = {"depth": np.int32} | dict.fromkeys("abcde", np.uint32)
    return ev.tasks(first=[(0, *words.tolist())], capacity=capacity, like=like, **types)


def by_hand(seed, depth):
    """The numbers of nodes and leaves, by Python's hashlib."""
    todo = [(0, hashlib.sha1(bytes(16) + seed.to_bytes(4, "big")).digest())]
    nodes = leaves = 0
    while todo:
        level, digest = todo.pop()
        u = (int.from_bytes(digest[16:], "big") & 0x7FFFFFFF) / 2**31
        children = math.floor(math.log(1 - u) / math.log(1 - 1 / (1 + CHILDREN)))
        children = children if level < depth else 0
        nodes, leaves = nodes + 1, leaves + (children == 0)
        todo += [
            (level + 1, hashlib.sha1(digest + i.to_bytes(4, "big")).digest())
            for i in range(children)
        ]
    return nodes, leaves


def main(schedule="auto", target=None, tree="small", capacity=10_000):
    target = target or best()
    seed, depth, nodes, leaves = TREES[tree]
    assert tree != "small" or by_hand(seed, depth) == (nodes, leaves)
    T, totals = put(target, root(seed, capacity), np.zeros(3, np.int64))
    search[schedule].on(target)(T, depth, 100, totals)
    assert [int(v) for v in totals] == [nodes, leaves, depth]


if __name__ == "__main__":
    main(tree="T1", capacity=4_000_000)
    print(f"T1 on {best()}: {TREES['T1'][2]:,} nodes, as published")
