"""Items of very different sizes in one launch: sorted by their work, or taken as threads become free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.gpus.gpu import Gpu
from tests.emitting import emitted
from tests.items import BINS, KERNELS, SCHEDULES, arguments, batches, halves, residuals

BY_SIZE = {n: s for n, s in SCHEDULES.items() if n.startswith(("items by work", "items as"))}


def sizes(shapes: list[tuple[int, int]]) -> Any:
    """A batch of square matrices of so many rows, each with so many nonzeros, in as few rows as can have them."""
    made = []
    for rows, nonzeros in shapes:
        m = np.zeros((rows, rows))
        m.reshape(-1)[:nonzeros] = np.arange(nonzeros) % 5 - 2.0
        indptr = np.minimum(np.arange(rows + 1) * rows, nonzeros)
        made.append(
            sp.csr_array(
                (m.reshape(-1)[:nonzeros], np.arange(nonzeros) % max(rows, 1), indptr), m.shape
            )
        )
    return ev.batch(made)


@ev.kernel
def products(B, x, y):
    for item in B.items():
        for row in B.tiles(item):
            y[row] = sum(B.value(k) * x[B.column(k)] for k in B.atoms(row))


def is_reference(kernel: Any, B: Any, schedule: Any, target: str = "simt") -> None:
    wanted, got = arguments(kernel, B), arguments(kernel, B)
    kernel.on("python")(B, *wanted.values())
    kernel[schedule].on(target)(B, *got.values())
    for n, a in wanted.items():
        np.testing.assert_array_equal(got[n], a, err_msg=n)


@pytest.mark.simt
@pytest.mark.parametrize(
    "name", ["no items", "items without nonzeros", "a dense one among small ones"]
)
@pytest.mark.parametrize("schedule", BY_SIZE)
def test_nasty_batches(schedule: str, name: str) -> None:
    is_reference(residuals, ev.batch(batches()[name]), BY_SIZE[schedule])


@pytest.mark.simt
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_one_item_of_many_nonzeros_among_small_ones(kernel: Any) -> None:
    B = sizes([(7, 49)] * 40 + [(100, 9000)] + [(0, 0), (40, 0), (1, 1)] * 20)
    is_reference(kernel, B, ev.Nested(ev.Lrb(64), ev.per_item()))


@pytest.mark.simt
def test_items_are_in_the_order_of_their_work() -> None:
    """Work is tiles and atoms: an item of many empty rows is large, and one of a single empty row is not empty."""
    shapes = [(0, 0), (1, 0), (100, 0), (9, 81), (2, 3), (0, 0), (1, 1), (300, 20), (60, 3600)]
    B = sizes(shapes)
    given = arguments(residuals, B)
    plan = residuals[BINS].on("simt").plan(B, *given.values())
    (memory,) = plan._stored.values()
    found = memory.view(np.int32)
    counts, empties, order = found[:32], found[32], found[33 + 32 * 8 :]
    bits = np.array([sum(shape).bit_length() for shape in shapes])
    np.testing.assert_array_equal(counts, np.bincount(31 - bits, minlength=32))
    np.testing.assert_array_equal(order[:7], np.argsort(-bits, kind="stable")[:7])
    assert empties == 0b100001
    plan.check()


@pytest.mark.simt
def test_a_plan_sorts_once() -> None:
    B = ev.batch(batches()["of all sizes"])
    plan = halves[BINS].on("simt").plan(B, *arguments(halves, B).values())
    program, binding = plan._executable.program, plan._binding
    for stored, count in ((plan._stored, 1), ((), 4)):
        assert len(program.run(binding, Gpu(4), stored).steps) == count


@pytest.mark.simt
def test_equal_bits_in_all_orders() -> None:
    """`seeds` compares them; the sums of these numbers round."""
    B = ev.batch(batches()["of all sizes"])
    given = arguments(residuals, B)
    given["x"], given["b"] = (np.random.default_rng(3).random(len(given["x"])) for _ in "xb")
    for schedule in ("items by work, groups by item", "items as warps become free"):
        residuals[BY_SIZE[schedule]].on("simt", seeds=range(4))(B, *given.values())


def one_of_many() -> Any:
    return sizes([(7, 49)] * 3000 + [(400, 100_000)] + [(0, 0), (40, 0), (1, 1)] * 500)


@pytest.mark.parametrize("schedule", [ev.Lrb(), ev.DynamicChunks(size=32)], ids=str)
@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_one_item_of_100_000_nonzeros(target: str, schedule: Any) -> None:
    B = one_of_many()
    x, y = np.arange(B.num_columns) % 7.0, np.full(B.num_tiles, -7.0)
    products[ev.Nested(schedule, ev.GroupMapped(4))].on(target)(B, x, y)
    np.testing.assert_array_equal(y, ev.spmv(B, x))


def test_groups_are_at_most_as_large_as_the_owner_of_an_item() -> None:
    B = ev.batch(batches()["of all sizes"])
    (code, *_) = emitted(
        residuals, (B, *arguments(residuals, B).values()), ev.Nested(BINS, ev.WarpMapped())
    )
    assert "const ev::group<4, 64> team;" in code.source
    whole = "const ev::group<32, 64, true> team;"
    assert code.source.count(whole) == 2  # of a warp, and of the block


def test_nvrtc_compiles() -> None:
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.bindings.nvrtc")
    B = ev.batch(batches()["of all sizes"])
    for kernel, schedule in zip(KERNELS, BY_SIZE.values(), strict=False):
        for code in emitted(kernel, (B, *arguments(kernel, B).values()), schedule):
            assert compiling.cubin(code.source, code.name, "sm_90")
