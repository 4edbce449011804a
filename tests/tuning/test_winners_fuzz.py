"""Damaged files of winners: evenly reads whatever is in them, and can print and write what it has read."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import pytest

from evenly.tuning import winner, winners
from evenly.tuning.winner import NewerFormat

from .test_winners import won

VALUES = (
    None, True, False, 0, -1, 1.5, 10**399, -(10**25), 1e308, "", "9999-12-31T23:59:59+00:00", "\x1b[31m", "\ud800",
    "a" * 70_000, [], {}, [[]], {"": 1}, {"MergePath": {"block": 10**30}}, {"MergePath()": 1e-300},
    "0001-01-01T00:00:00+14:00", "2025-01-01T00:00:00-14:00", "nan", "‮", "é",
)  # fmt: skip


def mutated(rng: random.Random) -> str:
    lines = winner.written({w.key: w for w in (won(k) for k in range(3))}).decode().splitlines()
    at = rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        lines[at] = json.dumps(changed(rng, json.loads(lines[at])), ensure_ascii=rng.random() < 0.7)
    elif kind == 1:
        where = rng.randrange(len(lines[at]) + 1)
        lines[at] = (
            lines[at][:where]
            + chr(rng.choice((0, 10, 27, 48, 0xD800, 0x2028, 34, 44)))
            + lines[at][where + rng.randrange(3) :]
        )
    elif kind == 2:
        lines.insert(at, rng.choice(lines))
    else:
        where = rng.randrange(len(lines[at]) + 1)
        lines[at] = (
            lines[at][:where]
            + rng.choice(("1" * 5000, "NaN", "Infinity", "-", "\\ud800"))
            + lines[at][where:]
        )
    return "\n".join(lines)


def changed(rng: random.Random, item: object) -> object:
    """With another value somewhere."""
    if isinstance(item, dict) and item and rng.random() < 0.9:
        key = rng.choice(list(item))
        if rng.random() < 0.2:
            value = item.pop(key)
            item[rng.choice(("x", "\x1b", "\ud800", key * 2))] = value
        else:
            item[key] = changed(rng, item[key])
        return item
    return rng.choice(VALUES)


def check(file: Path, content: str) -> None:
    file.write_bytes(content.encode("utf-8", errors="surrogatepass"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = winners.everything()
        except NewerFormat:
            return
    assert all(str(w.message).isprintable() for w in caught)
    for each in found:
        texts = (*each.times, each.date, *(getattr(each.key, part) for part in each.key.__slots__))
        assert all(text.isprintable() for text in texts)
        assert all(0 < us < 1e13 for us in each.times.values())
        assert "2020" <= each.date[:4] < "2100"
        assert "\x1b" not in str(each.tuning(""))
    again, left_out = winner.parsed(winner.written({w.key: w for w in found}).decode(), "")
    assert not left_out
    assert sorted(again.values(), key=repr) == sorted(found, key=repr)


def fuzz(file: Path, seed: int, count: int) -> None:
    rng = random.Random(seed)
    file.parent.mkdir()
    for _ in range(count):
        check(file, mutated(rng))


def test_mutated_files(winners_file: Path) -> None:
    fuzz(winners_file, 1, 500)


@pytest.mark.slow
def test_many_mutated_files(winners_file: Path) -> None:
    fuzz(winners_file, 2, 30_000)
