"""ev.ragged.segment_sort: lists of every bin, on every way to sort them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenly as ev
from evenly import kit
from evenly.algorithms.arrays.sort_by_key import _order
from evenly.algorithms.ragged.segment_sort.bins import SHORT, TEAMS, Bins
from evenly.algorithms.ragged.segment_sort.blocks import Teams, parts_of, passes_of, sorting
from evenly.algorithms.ragged.segment_sort.merged import merging
from evenly.algorithms.ragged.segment_sort.on_gpu import schedule_of, sort_on_gpu
from evenly.algorithms.ragged.segment_sort.passes import merging as merging_parts
from evenly.algorithms.ragged.segment_sort.passes import runs_around
from evenly.algorithms.ragged.segment_sort.threads import LISTS, sorting_short
from evenly.runtime.bound import Bound
from tests.algorithms.cases import FLOATS, keys
from tests.algorithms.conftest import by_kernels
from tests.batteries import array, layout_batteries
from tests.emitting import emitted

# Small teams, so that short lists fill every bin: at most 4 elements, 6, 9, ..., 96, and parts of 96.
SMALL = ((2, 3), (3, 3), (4, 3), (4, 5), (8, 3), (16, 3), (24, 3), (32, 3))
LENGTHS = [0, 1, 4, 5, 6, 7, 9, 10, 20, 21, 24, 47, 48, 49, 72, 73, 96, 97, 192, 193, 500, 0]


@pytest.fixture
def as_on_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays in CPU memory take the way of those on a GPU, on `simt`."""
    by_kernels(monkeypatch)
    monkeypatch.setattr(Bound, "_target", lambda self, binding: "simt")


def lists_of(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def sort_small(x: np.ndarray, offsets: np.ndarray, descending: bool = False) -> Any:
    """Sort by the kernels for GPUs, with small teams."""
    found, order = np.zeros_like(x), np.zeros(len(x), np.int32)
    sort_on_gpu(x, ev.ragged(offsets), found, order, descending, "auto", SMALL, short=4)
    return found, order


def check(found: Any, x: np.ndarray, offsets: np.ndarray, descending: bool = False) -> None:
    """Hold the bits against NumPy's stable sort of each list."""
    pieces = [a + _order(kit.numbers(x[a:b]), descending) for a, b in itertools.pairwise(offsets)]
    order = np.concatenate([np.zeros(0, np.int64), *pieces])
    assert found[1].tolist() == order.tolist()
    assert found[0].tobytes() == x[order].tobytes()


def nasty(dtype: str, count: int) -> np.ndarray:
    if dtype not in ("uint8", "int8", "uint32", "uint64"):
        return keys(dtype, count)
    ends = np.iinfo(dtype)
    few = np.array([ends.min, 1, ends.max, ends.max // 2 + 1], dtype)
    return np.random.default_rng(0).choice(few, count)


OTHERS = "int64", "uint8", "bool", "float16", "bfloat16", "int8", "uint32", "uint64", "float64"


@pytest.mark.simt
@pytest.mark.usefixtures("as_on_gpus")
@pytest.mark.parametrize(
    ("dtype", "descending"),
    [
        ("float32", False),
        *(pytest.param(x, down, marks=pytest.mark.slow) for x in OTHERS for down in (False, True)),
    ],
)
def test_every_bin(dtype: str, descending: bool) -> None:
    offsets = lists_of(np.random.default_rng(0).permutation(LENGTHS))
    x = nasty(dtype, int(offsets[-1]))
    check(sort_small(x, offsets, descending), x, offsets, descending)


@pytest.mark.simt
@pytest.mark.usefixtures("as_on_gpus")
def test_nasty_lengths() -> None:
    for offsets in layout_batteries().values():
        x = keys("float32", int(offsets[-1]))
        check(sort_small(x, offsets.astype(np.int32)), x, offsets)


@pytest.mark.simt
def test_every_order_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    by_kernels(monkeypatch)
    on = Bound.on
    monkeypatch.setattr(Bound, "on", lambda self, target, **_: on(self, "simt", seeds=range(5)))
    offsets = lists_of([300, 5, 30, 97, 47, 0, 9, 193])
    x = keys("float32", int(offsets[-1]))
    check(sort_small(x, offsets), x, offsets)


@pytest.mark.simt
@pytest.mark.usefixtures("as_on_gpus")
@pytest.mark.parametrize("length", [3, 48, 96, 97])
def test_all_lists_in_one_bin(length: int) -> None:
    offsets = lists_of([length] * 5)
    x = keys("float32", 5 * length)
    check(sort_small(x, offsets), x, offsets)


@pytest.mark.simt
@given(st.lists(st.integers(0, 120), max_size=9), st.data())
def test_any_lists(lengths: list[int], data: st.DataObject) -> None:
    offsets = lists_of(lengths)
    few = st.lists(st.sampled_from(FLOATS), min_size=int(offsets[-1]), max_size=int(offsets[-1]))
    x = array("float32", np.array(data.draw(few)))
    with pytest.MonkeyPatch.context() as patch:
        by_kernels(patch)
        patch.setattr(Bound, "_target", lambda self, binding: "simt")
        check(sort_small(x, offsets), x, offsets)


def test_the_reference_of_every_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    by_kernels(monkeypatch)
    monkeypatch.setattr(Bound, "_target", lambda self, binding: "python")
    offsets = lists_of([0, 1, 4, 5, 8, 11, 30, 96, 97, 200])
    x = keys("float64", int(offsets[-1]))
    check(sort_small(x, offsets, True), x, offsets, True)


@pytest.mark.parametrize("dtype", ["float32", *OTHERS])
def test_codes_have_the_order_of_keys(dtype: str) -> None:
    x = nasty(dtype, 60)
    bits, T = kit.as_integers(x), kit.code_type(x)
    for descending in False, True:
        code_of, bits_of = kit.coding(x, descending)
        with np.errstate(over="ignore"):
            codes = [T(code_of(b)) for b in bits]
            again = [bits_of(c, bits, k) for k, c in enumerate(codes)]
        order = sorted(range(len(x)), key=lambda k: (codes[k], k))
        assert order == _order(kit.numbers(x), descending).tolist()
        assert np.array(again).astype(bits.dtype).tobytes() == bits.tobytes()
        kept = [T(c) for c in np.array(codes).astype(bits.dtype)]  # by passes over parts
        assert sorted(range(len(x)), key=lambda k, kept=kept: (kept[k], k)) == order


@pytest.mark.parametrize(
    ("dtype", "descending"),
    [
        ("float32", False),
        ("uint32", True),
        *(pytest.param(x, down, marks=pytest.mark.slow) for x in OTHERS for down in (False, True)),
    ],
)
def test_on_a_cpu_long_lists_are_sorted_by_digits(dtype: str, descending: bool) -> None:
    offsets = lists_of([0, 64, 65, 1, 3000, 0, 200, 63])
    x = nasty(dtype, int(offsets[-1]))
    found = ev.ragged.segment_sort(x, offsets, descending=descending, target="cpu")
    check(found, x, offsets, descending)
    one = np.array([0, len(x)])
    check(ev.ragged.segment_sort(x, one, descending=descending), x, one, descending)


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize(("descending", "position"), [(False, np.int32), (True, np.int64)])
def test_element_by_element(descending: bool, position: Any, target: str) -> None:
    offsets = lists_of([3, 0, 37, 360])
    x = np.random.default_rng(0).integers(0, 9, 400).astype(np.float32)
    found, order, *spare = (np.empty(400, t) for t in (np.float32, np.int32) * 2)
    sort = merging(descending, position).on(target)
    sort(ev.ragged(offsets), x, position(16), found, order, *spare)
    check((found, order), x, offsets, descending)


@pytest.mark.parametrize(("P", "stop"), [(np.int32, 2**31 - 1), (np.int64, 5 * 10**9)])
def test_places_of_parts_do_not_overflow(P: Any, stop: int) -> None:
    room = 3328
    parts = int(parts_of(P(0), P(stop), room))
    assert parts == -(-stop // room)
    with np.errstate(over="raise"):
        for passes in range(int(passes_of(np.int32(parts)))):
            part, runs = P(parts - 1), P(1) << P(passes)
            begin, middle, end = runs_around(P(0), P(stop), part, room, runs)
            assert 0 <= begin < stop and begin <= middle <= end == stop


@pytest.mark.parametrize(("P", "stop"), [(np.int32, 2**31 - 1), (np.int64, 5 * 10**9)])
def test_a_list_of_very_many_elements_has_its_parts(P: Any, stop: int) -> None:
    """Offsets alone: what is looked at is how many elements lists have."""
    limits = *range(1, 9), 2**22
    lists = ev.ragged(np.array([0, 3, stop], P), num_atoms=stop, check=False)
    bins = Bins(lists, limits, "cpu")
    assert bins.survey.parts == -(-(stop - 3) // limits[-1])
    list_of, part_of = bins.parts()
    assert list_of.tolist() == [1] * bins.survey.parts
    assert part_of.tolist() == [*range(bins.survey.parts)]
    assert part_of.dtype == P  # so that it can be multiplied by the length of a part


@pytest.mark.simt
@pytest.mark.parametrize("empty", [0.0, 0.9])
def test_bins_have_the_lists_of_their_lengths(
    empty: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more lists than a team numbers."""
    by_kernels(monkeypatch)
    on = Bound.on
    monkeypatch.setattr(Bound, "on", lambda self, target, **_: on(self, "simt", seeds=range(2)))
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 20, 5000) * (rng.random(5000) >= empty)
    limits = 3, 4, 6, 8, 9, 11, 12, 15, 17
    bins = Bins(ev.ragged(lists_of(lengths)), limits, "simt")
    for i, (least, most) in enumerate(itertools.pairwise((0, *limits, 99))):
        wanted = np.flatnonzero((least < lengths) & (lengths <= most))
        assert bins.survey.lists[i] == len(wanted)
        assert sorted(bins.lists(i).tolist()) == wanted.tolist()
    assert bins.survey.greatest == 19
    assert bins.survey.parts == 2 * bins.survey.lists[-1]


@pytest.mark.simt
def test_what_memory_has_to_do() -> None:
    """Of a thousand elements, each: bytes once, and what shared memory is asked for (benchmarks/notes/ragged.md)."""
    n, (size, each) = 1000, TEAMS[4][5]
    x = np.random.default_rng(0).random(2 * n).astype(np.float32)
    given_ = kit.as_integers(x), np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    kernel = sorting(size, each, kit.code_type(x), kit.coding(x, False))
    args = Teams(2, size), None, None, lists_of([n, n]), *given_, None, None
    plan = kernel.plan(*args, schedule=schedule_of(size), target="simt")
    (counted,) = plan.counters()
    found = {name: total / (2 * n) for name, total in counted.totals.items()}
    assert found["global_load_sectors"] < 1.1 / 8
    assert found["global_store_sectors"] == 2 / 8
    assert 32 * found["shared_load_wavefronts"] < 75
    assert 32 * found["shared_store_wavefronts"] < 26
    assert counted.totals["syncs"] <= 14 * len(counted.per_warp)


# ---- what is compiled ------------------------------------------------------------------------------
def kernels_of(dtype: str, size: int, each: int) -> dict[str, tuple[Any, tuple[Any, ...], Any]]:
    """The kernels of a team: what is launched, for arrays of this type."""
    x, offsets, which = np.zeros(9, dtype), lists_of([4, 5]), np.zeros(2, np.int32)
    bits, order = kit.as_integers(x), np.zeros(9, np.int32)
    given_ = size, each, kit.code_type(x), kit.coding(x, False)
    own, spare = (which, which, offsets), (bits.copy(), order.copy())
    team, items = schedule_of(size), Teams(2, size)
    sort, merge = sorting(*given_), merging_parts(*given_, np.int32)
    parts = items, *own, bits, bits, order, *spare
    short = sorting_short(each, *given_[2:], np.int32)
    return {
        "short": (short, (Teams(1, LISTS), which, 2, offsets, bits, bits, order), team),
        "lists": (sort, (items, which, None, offsets, bits, bits, order, None, None), team),
        "parts": (sort, parts, team),
        "merge": (merge, (*parts, kit.each(2), which[:1].copy(), which), team),
    }


COMPILED = [
    ("float32", (LISTS, SHORT[4]), "short"),
    ("float32", TEAMS[4][-2], "lists"),
    ("float32", TEAMS[4][-1], "merge"),
    ("float64", TEAMS[8][-1], "parts"),
]
MORE = [("float32", t, "lists") for t in TEAMS[4]] + [("float64", t, "lists") for t in TEAMS[8]]
MORE += [
    (x, TEAMS[n][-1], what)
    for x, n in (("float32", 4), ("float64", 8))
    for what in ("parts", "merge")
]
MORE += [("float64", (LISTS, SHORT[8]), "short")]
REGISTERS = {"float32": 72, "float64": 96}


@pytest.mark.parametrize(
    ("dtype", "team", "what"),
    [*COMPILED, *(pytest.param(*x, marks=pytest.mark.slow) for x in MORE)],
)
def test_nvrtc_compiles_it(dtype: str, team: tuple[int, int], what: str) -> None:
    """Local arrays lie in registers, scratch arrays in shared memory."""
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    kernel, args, schedule = kernels_of(dtype, *team)[what]
    every = emitted(kernel, args, schedule)
    (code,) = (code for code in every if "ev::scratch<" in code.source)
    found = compiling.resources(code.source, code.name, "sm_90")
    assert found["code"] > 0
    assert found["registers"] <= REGISTERS[dtype]
    assert (found["spills"], found["stack"]) == (0, 0)
    scratch = code.source.count("ev::scratch<")
    assert scratch == 3 if what == "merge" else 4
    assert (
        code.source.count(", true, false>(team") == scratch
    )  # all of them always in shared memory
    assert "store_contended(&a_a" not in code.source
