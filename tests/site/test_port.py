"""The site's port of layouts, partitions and balances to JavaScript gives what Python gives."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import evenly as ev
from evenly.balance.profile import load, offsets_of
from evenly.balance.shares import shares
from evenly.balance.steps import steps, steps_of_partition
from evenly.layouts import TABLE as LAYOUT_TABLE
from evenly.layouts import convert
from evenly.layouts.contract import masks
from evenly.schedules import TABLE
from evenly.schedules.contract import Sizes
from tests.batteries import matrices
from tests.kernels import SCHEDULES

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(
    NODE is None, reason="no node here, which runs the site's JavaScript"
)
PORT = Path(__file__).with_name("port.mjs")
FILLED = 20_000  # atoms of a layout that fills in zeros, where more would only take time


def named(schedule: Any) -> list[Any]:
    """A schedule as (text, name, parameters)."""
    name = next(n for n, entry in TABLE.items() if entry.make is type(schedule))
    given = {f.name: int(getattr(schedule, f.name)) for f in dataclasses.fields(schedule)}
    return [str(schedule), name, given]


def every_third(A: Any) -> Any:
    return ev.subset(A, np.arange(0, A.num_tiles, 3, dtype=np.int32))


# (label, name in JavaScript, its options, the same in Python)
LAYOUTS: list[tuple[str, str, dict[str, int], Any]] = [
    ("csr", "csr", {}, ev.csr),
    ("csc", "csc", {}, ev.csc),
    ("coo", "coo", {}, lambda M: ev.coo(M.tocoo())),
    ("ell", "ell", {}, ev.ell),
    ("sell", "sell", {}, ev.sell),
    ("sell sorted", "sell", {"slice_height": 4, "sigma": 16}, lambda M: ev.sell(M, slice_height=4, sigma=16)),
    ("bcsr", "bcsr", {}, lambda M: convert(M, "bcsr", block=(2, 2))),
    ("bcsr 3 x 4", "bcsr", {"rows": 3, "columns": 4}, lambda M: convert(M, "bcsr", block=(3, 4))),
    ("dia", "dia", {}, ev.dia),
    ("ragged", "ragged", {}, lambda M: ev.ragged(M.indptr)),
    ("uniform", "uniform", {}, lambda M: ev.uniform(4, ev.csr(M))),
    ("subset", "subset", {"every": 3}, lambda M: every_third(ev.csr(M))),
    ("batch", "batch", {"items": 3}, lambda M: ev.batch([M] * 3)),
]  # fmt: skip
# What has no port: its name, and why. The explorer does not offer it.
NO_PORT: dict[str, str] = {}
PORTED = {text: s for text, s in SCHEDULES.items() if named(s)[1] not in NO_PORT}
QUICK = ("csr", "sell sorted", "bcsr 3 x 4", "uniform")


def asked(
    layouts: Any,
    schedules: Any,
    processors: Any,
    verbose: bool = False,
    only: Any = None,
    of: Any = None,
) -> Any:
    """What the port answers about matrices by name: those of the battery, if none are given."""
    patterns = {
        name: {
            "rows": M.shape[0],
            "columns": M.shape[1],
            "offsets": M.indptr.tolist(),
            "indices": M.indices.tolist(),
        }
        for name, M in (of or matrices()).items()
        if only in (None, name)
    }
    question = {
        "patterns": patterns,
        "layouts": [entry[:3] for entry in layouts],
        "schedules": [named(schedule) for schedule in schedules],
        "processors": processors,
        "verbose": verbose,
    }
    assert NODE
    done = subprocess.run(
        [NODE, str(PORT)], input=json.dumps(question), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def digest(*parts: Any) -> str:
    return hashlib.sha1(
        b"".join(np.asarray(part, np.int32).tobytes() for part in parts)
    ).hexdigest()


def seen(A: Any, layout: str) -> list[np.ndarray]:
    """Offsets, padding, and the column and row of each atom: -1 for padding, and for lists, which have no columns."""
    offsets = offsets_of(A)
    pairs = [(t, k) for t in range(len(offsets) - 1) for k in range(offsets[t], offsets[t + 1])]
    masked = [not A.valid(t, k) for t, k in pairs] if masks(A) else [False] * len(pairs)
    shown = []
    for (t, k), padding in zip(pairs, masked, strict=True):
        if layout == "ragged":
            shown += [-1, t]
            continue
        shown += [-1 if padding else accessed(A, "column", t, k), accessed(A, "row", t, k)]
    return [offsets, np.array(masked, bool), np.array(shown)]


def accessed(A: Any, name: str, tile: int, position: int) -> int:
    """What a kernel reads at a position: the accessors of subsets and uniform tiles are their base's."""
    k, where = A.atom_id(tile, position), A.tile_id(tile)
    if hasattr(A, "_owner"):
        where = A._owner(position)
    while not hasattr(A, name):
        A = A.base
    method = getattr(A, name)
    return int(method(where, k) if "tile" in inspect.signature(method).parameters else method(k))


def compare(layouts: Any, schedules: Any, of: Any = None) -> int:
    of = of or matrices()
    answers, compared = asked(layouts, schedules, [], of=of), 0
    for name, M in of.items():
        for label, layout, _, make in layouts:
            A = make(M)
            if A.num_atoms > FILLED:
                continue
            found = answers["layouts"][f"{name}/{label}"]
            assert found == digest(*seen(A, layout)), (name, label)
            offsets, sizes = offsets_of(A), Sizes(int(A.num_tiles), int(A.num_atoms))
            for schedule in schedules:
                where = f"{name}/{label}/{schedule}"
                s = steps(schedule, A, offsets, sizes)
                expected = digest([s.blocks, s.block], s.worker, s.step)
                assert answers["launches"][where] == expected, where
                b = load(schedule, shares(schedule, A, offsets, sizes))
                numbers = [b.idle, b.idle_lanes, b.idle_warps, b.idle_blocks, b.threads.most]
                assert answers["balances"][where] == pytest.approx(numbers, abs=1e-12), where
                compared += 1
    return compared


def test_launches_and_balances_are_those_of_python() -> None:
    assert compare([entry for entry in LAYOUTS if entry[0] in QUICK], list(PORTED.values())) > 1500


@pytest.mark.slow
def test_all_launches_and_balances_are_those_of_python() -> None:
    assert compare(LAYOUTS, list(PORTED.values())) > 5000


def walked(schedule: Any, A: Any, n: int) -> list[int]:
    """The pieces of each processor and rank, as `Partition` walks them."""
    size = schedule.size if schedule.owner == "group" else 1
    whole, pieces = schedule.partition(A, n).keeping(), []
    for p in range(n):
        for rank in range(size):
            pieces += [p, rank]
            for tile in whole.tiles(p, rank):
                atoms = whole.atoms(p, tile, rank)
                pieces += [tile, atoms.start, atoms.stop, atoms.step]
    return pieces


def compare_walks(label: str, processors: list[int], of: Any = None) -> None:
    of = of or matrices()
    layouts = [entry for entry in LAYOUTS if entry[0] == label]
    few = [s for s in PORTED.values() if s.owner != "group" or s.size <= 8]
    answers = asked(layouts, few, processors, of=of)
    for name, M in of.items():
        A = layouts[0][3](M)
        for schedule in few if A.num_atoms <= FILLED else ():
            for n in processors:
                where = f"{name}/{label}/{schedule}/{n}"
                assert answers["walks"][where] == digest(walked(schedule, A, n)), where
                s = steps_of_partition(schedule, A, offsets_of(A), n)
                expected = digest([s.blocks, s.block], s.worker, s.step)
                assert answers["partitions"][where] == expected, where


def test_partitions_are_those_of_python() -> None:
    compare_walks("csr", [7])


@pytest.mark.slow
@pytest.mark.parametrize("label", [entry[0] for entry in LAYOUTS])
def test_all_partitions_are_those_of_python(label: str) -> None:
    compare_walks(label, [1, 3, 64])


def drawn(seed: int) -> dict[str, Any]:
    """Matrices that no preset has: rows of a few lengths, some of them empty, some of a hundred times the mean."""
    rng, made = np.random.default_rng(seed), {}
    for number in range(6):
        rows, columns = (int(n) for n in rng.integers(1, 300, 2))
        lengths = rng.geometric(rng.uniform(0.05, 0.9), rows) * (rng.random(rows) < rng.random())
        lengths = np.minimum(np.where(rng.random(rows) < 0.02, 100 * lengths, lengths), columns)
        indices = [np.sort(rng.choice(columns, n, replace=False)) for n in lengths]
        entries = np.concatenate([*indices, np.zeros(0, int)]).astype(np.int32)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        shape = rows, columns
        made[f"{seed}.{number}"] = csr_array(
            (np.ones(len(entries), np.float32), entries, offsets), shape=shape
        )
    return made


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_matrices_that_nobody_chose_are_divided_as_by_python(seed: int) -> None:
    of = drawn(seed)
    assert compare(LAYOUTS[:1], list(PORTED.values()), of) > 60
    compare_walks("csr", [1 + seed, 13], of)


def test_parameters_start_where_those_of_python_do() -> None:
    found = asked([], [], [], only="one atom")["parameters"]
    assert set(found) == set(TABLE) - set(NO_PORT)
    for name, parameters in found.items():
        schedule = TABLE[name].make()
        assert parameters == {key: int(getattr(schedule, key)) for key in parameters}


def test_the_explorer_offers_every_layout() -> None:
    assert set(asked([], [], [], only="one atom")["known"]) == set(LAYOUT_TABLE) - set(NO_PORT)


def test_levels_are_those_of_a_search() -> None:
    found = asked([], [], [])["levels"]
    for name, M in matrices().items():
        levels, seen = [], {0}
        now = [0] if M.shape[0] else []
        while now:
            levels.append(now)
            reached = {int(c) for row in now for c in M.indices[M.indptr[row] : M.indptr[row + 1]]}
            now = sorted(c for c in reached - seen if c < M.shape[0])
            seen |= set(now)
        assert found[name] == levels, name


def test_parts_that_need_no_browser() -> None:
    assert NODE
    done = subprocess.run(
        [NODE, "--test", str(PORT.with_name("parts.test.mjs"))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
