"""Unbalanced Tree Search: how many nodes an implicit random tree has. No subtree's size is known before it is walked.

A node is a SHA-1 hash. It says how many children the node has, and that of the i-th child is the hash of the parent's
hash and i. Source: Olivier et al., "UTS: An Unbalanced Tree Search Benchmark" (LCPC 2006); TREES has the sizes that are
published with it. Its geometric trees have 4 children a node in the mean, and end at a depth. In its binomial ones each
node but the root has `width` children or none: many small subtrees, and few that are very deep.

Run it: python examples/tree_search.py
"""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np
from place import best, put

import evenly as ev

CHILDREN = 4.0  # the mean of a geometric tree
MOST = 100  # the most children, but of the root of a binomial tree


class Tree(NamedTuple):
    """A tree. depth: of its deepest node, at which a geometric tree ends. The rest is of binomial trees, else 0.

    roots: children of the root. chance: that another node has `width` children.
    """

    seed: int
    depth: int
    nodes: int
    leaves: int
    roots: int = 0
    chance: float = 0.0
    width: int = 0

    @property
    def shape(self):
        """What `search` takes."""
        return self.depth, self.roots, self.chance, self.width


TREES = {  # the first two are small, and counted by `by_hand` below
    "small": Tree(19, 3, 254, 201),
    "small, binomial": Tree(6, 10, 213, 174, 60, 0.24, 4),
    "T1": Tree(19, 10, 4_130_071, 3_305_118),
    "T3": Tree(42, 1572, 4_112_897, 3_599_034, 2000, 0.124875, 8),
    "T1L": Tree(29, 13, 102_181_082, 81_746_377),
    "T3L": Tree(7, 17_844, 111_345_631, 89_076_904, 2000, 0.200014, 5),
}


@ev.kernel
def search(T, depth, roots, chance, width, totals):
    nodes, leaves, deepest = 0, 0, 0
    for t in T.tiles():
        nodes += 1
        deepest = max(deepest, T.depth(t))
        u = np.float64(T.e(t) & np.uint32(0x7FFFFFFF)) / 2147483648.0
        children = 0
        if roots > 0:
            children = roots if T.depth(t) == 0 else (width if u < chance else 0)
        elif T.depth(t) < depth:
            drawn = math.floor(math.log(1.0 - u) / math.log(1.0 - 1.0 / (1.0 + CHILDREN)))
            children = min(drawn, MOST)
        if children == 0:
            leaves += 1
        for i in range(children):
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


def by_hand(tree):
    """The depth, and the numbers of nodes and leaves, by Python's hashlib."""
    todo = [(0, hashlib.sha1(bytes(16) + tree.seed.to_bytes(4, "big")).digest())]
    nodes = leaves = deepest = 0
    while todo:
        level, digest = todo.pop()
        u = (int.from_bytes(digest[16:], "big") & 0x7FFFFFFF) / 2**31
        children = math.floor(math.log(1 - u) / math.log(1 - 1 / (1 + CHILDREN)))
        children = min(children, MOST) if level < tree.depth else 0
        if tree.roots:
            children = (tree.width if u < tree.chance else 0) if level else tree.roots
        nodes, leaves, deepest = nodes + 1, leaves + (children == 0), max(deepest, level)
        todo += [
            (level + 1, hashlib.sha1(digest + i.to_bytes(4, "big")).digest())
            for i in range(children)
        ]
    return deepest, nodes, leaves


def main(schedule="auto", target=None, name=None, capacity=10_000):
    target = target or best()
    for chosen in ["small", "small, binomial"] if name is None else [name]:
        tree = TREES[chosen]
        assert name or by_hand(tree) == (tree.depth, tree.nodes, tree.leaves)
        T, totals = put(target, root(tree.seed, capacity), np.zeros(3, np.int64))
        search[schedule].on(target)(T, *tree.shape, totals)
        assert [int(v) for v in totals] == [tree.nodes, tree.leaves, tree.depth]


if __name__ == "__main__":
    for name in ("T1", "T3"):
        main(name=name, capacity=4_000_000)
        print(f"{name} on {best()}: {TREES[name].nodes:,} nodes, as published")
