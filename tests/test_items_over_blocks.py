"""Items that belong to several blocks: teams of blocks (TeamMapped), and all blocks for the largest items (Lrb(grid=))."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.errors import InputError
from evenly.gpus.gpu import Gpu
from tests.emitting import emitted
from tests.items import (
    KERNELS,
    SCHEDULES,
    arguments,
    batches,
    halves,
    handed_over,
    in_scratch,
    residuals,
)
from tests.test_items_by_size import is_reference, sizes

SEVERAL = {n: s for n, s in SCHEDULES.items() if "blocks" in n}
TEAM = ev.Nested(ev.TeamMapped(3, 64), ev.GroupMapped(8))
LARGEST = ev.Nested(ev.Lrb(64, warp=128, grid=256), ev.per_item())
SIZES = "of all sizes"


def batch(name: str = SIZES) -> Any:
    return ev.batch(batches()[name])


def codes(schedule: Any, kernel: Any = residuals) -> Any:
    return emitted(kernel, (batch(), *arguments(kernel, batch()).values()), schedule)


def one_of_many() -> Any:
    """One item of 9,000 nonzeros among small ones, items of 0 rows and of none but empty ones."""
    return sizes([(7, 49)] * 30 + [(200, 9000)] + [(0, 0), (40, 0), (1, 1)] * 9)


@pytest.mark.simt
@pytest.mark.parametrize("name", [n for n in batches() if n != SIZES])
@pytest.mark.parametrize("schedule", [TEAM, LARGEST], ids=["team", "largest"])
def test_nasty_batches(schedule: Any, name: str) -> None:
    for target in ("cpu", "simt"):
        is_reference(residuals, batch(name), schedule, target)


@pytest.mark.simt
@pytest.mark.parametrize("kernel", [residuals, halves, handed_over], ids=lambda k: k.name)
@pytest.mark.parametrize("schedule", [TEAM, LARGEST], ids=["team", "largest"])
def test_one_item_of_many_nonzeros_among_small_ones(kernel: Any, schedule: Any) -> None:
    is_reference(kernel, one_of_many(), schedule)


@pytest.mark.simt
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.slow
def test_every_kernel_on_all_blocks(kernel: Any) -> None:
    for schedule in (ev.TeamMapped(1024, 64), LARGEST):
        is_reference(kernel, one_of_many(), schedule)


@pytest.mark.simt
def test_equal_bits_in_all_orders() -> None:
    """`seeds` compares them; the sums of these numbers round."""
    given = arguments(residuals, batch())
    given["x"], given["b"] = (np.random.default_rng(3).random(len(given["x"])) for _ in "xb")
    for schedule in (TEAM, LARGEST):
        residuals[schedule].on("simt", seeds=range(4))(batch(), *given.values())


@pytest.mark.simt
def test_counters_are_those_of_the_blocks_of_a_run() -> None:
    (found,) = (
        residuals[TEAM].on("simt").plan(batch(), *arguments(residuals, batch()).values()).counters()
    )
    assert len(found.per_block) == 6


@pytest.mark.simt
def test_all_blocks_are_in_flight_at_once_whatever_the_options_say() -> None:
    given = arguments(halves, batch())
    halves[TEAM].on("simt", resident=1)(batch(), *given.values())


def test_the_launch_is_cooperative_and_its_blocks_fit() -> None:
    for schedule in (TEAM, LARGEST):
        main = next(c for c in codes(schedule) if "blocks<" in c.source)
        assert main.cooperative and "EV_KERNEL(64, 2)" in main.source
    (wide,) = codes(ev.TeamMapped(8, 1024))
    assert wide.cooperative and "EV_KERNEL(1024, 1)" in wide.source
    assert not any(c.cooperative for c in codes(ev.BlockMapped(64)))


def test_how_many_blocks_wait_for_each_other() -> None:
    assert [Gpu(132).together(n) for n in (32, 512, 544, 1024)] == [264, 264, 132, 132]
    assert Gpu(40, shared_memory=65_536).together(256) == 40  # two need not fit
    assert Gpu(132, shared_memory=233_472).together(256) == 264


@pytest.mark.simt
@pytest.mark.parametrize(
    ("blocks", "team", "grid"), [(3, 3, 6), (1, 1, 8), (8, 8, 8), (5, 5, 5), (1024, 8, 8)]
)
def test_a_team_has_the_blocks_that_there_are(blocks: int, team: int, grid: int) -> None:
    """Eight blocks run at once; the batch has nine items."""
    schedule = ev.TeamMapped(blocks, 64)
    plan = residuals[schedule].on("simt").plan(batch(), *arguments(residuals, batch()).values())
    (step,) = plan._executable.program.run(plan._binding, Gpu(4)).steps
    assert step.grid[0] == grid
    assert step.sizing.counts["team_blocks"] == team


@pytest.mark.simt
def test_each_block_of_a_team_stages_for_itself() -> None:
    (code,) = codes(TEAM)
    assert "ev::staged<double, 1024, pos>" in code.source
    assert ", team.near);" in code.source


@pytest.mark.simt
def test_scratch_arrays_of_a_team_are_in_memory_that_its_blocks_share() -> None:
    (code,) = codes(TEAM, in_scratch)
    assert "ev::scratch<0, 0, 64>(team" in code.source
    B, given = batch(), arguments(in_scratch, batch())
    plan = in_scratch[TEAM].on("simt").plan(B, *given.values())
    longest = int(np.diff(B.item_tiles).max())
    most = 2 * (longest + 3 + 2 * 3 * 64) * 8  # of two teams; each thread has whole elements
    assert longest * 8 < plan.workspace < most + 4096
    with pytest.raises(InputError, match=r"arrays h, g of 3 blocks of 64 threads take, got 1,000"):
        in_scratch[TEAM].on("simt", max_workspace=1000)(B, *given.values())
    for few in (3500, 6500):  # one team, two
        got, wanted = arguments(in_scratch, B), arguments(in_scratch, B)
        in_scratch.on("python")(B, *wanted.values())
        in_scratch[TEAM].on("simt", max_workspace=few)(B, *got.values())
        for name, array in wanted.items():
            np.testing.assert_array_equal(got[name], array)


# ---- what is refused -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ev.TeamMapped(0), "TeamMapped(blocks=...): expected an integer from 1 to 1024, got 0"),
        (lambda: ev.TeamMapped(8, 33), "TeamMapped(block=...): expected a multiple of 32 from 32 to 1024, got 33"),
        (lambda: ev.Lrb(grid=3000), "Lrb(grid=...): expected 0, or a power of two from 1024 on, which is `warp`, got 3000"),
        (lambda: ev.Lrb(grid=512), "Lrb(grid=...): expected 0, or a power of two from 1024 on, which is `warp`, got 512"),
        (
            lambda: ev.Nested(ev.TeamMapped(), ev.MergePath()),
            "Nested.outer: expected a schedule that gives an item to a block, such as BlockMapped(), got "
            f"TeamMapped(blocks=8, block=1024); hint: {ev.MergePath()} splits tiles among the threads of a block, which "
            "Lrb, DynamicChunks and TeamMapped cannot have it do",
        ),
        (
            lambda: ev.Nested(ev.TeamMapped(2, 64), ev.GroupMapped(5)),
            "Nested.inner: expected groups of a power of two up to 32, or of whole warps, that divide 64, got "
            f"{ev.GroupMapped(5)}; hint: an item may belong to several blocks of 64 threads",
        ),
        (
            lambda: ev.Nested(ev.Lrb(96, warp=1024, grid=4096), ev.GroupMapped(64)),
            "Nested.inner: expected groups of a power of two up to 32, or of whole warps, that divide 96, got "
            f"{ev.GroupMapped(64)}; hint: an item may belong to several blocks of 96 threads",
        ),
        (
            lambda: ev.Nested(ev.BlockMapped(), ev.TeamMapped()),
            "Nested.inner: expected a schedule that owns whole tiles and is one launch, such as BlockMapped(), "
            "GroupMapped(8), ThreadMapped(); or that splits them, such as MergePath(), got TeamMapped(blocks=8, block=1024)",
        ),
    ],
)  # fmt: skip
def test_parameters_that_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("schedule", "hint"),
    [
        (ev.TeamMapped(), "those over items, for item in B.items(), have Nested"),
        (ev.Lrb(grid=4096), "grid= is for those over items, for item in B.items()"),
    ],
    ids=str,
)
@pytest.mark.parametrize("target", ["cpu", "simt"])
def test_loops_over_tiles_are_refused(schedule: Any, hint: str, target: str) -> None:
    A, x = ev.csr(batches()["one item"][0]), np.ones(7)
    with pytest.raises(InputError) as caught:
        rows[schedule].on(target)(A, x, x.copy())
    assert str(caught.value) == (
        f"schedule: expected one that hands out tiles, such as ev.ThreadMapped(), ev.MergePath(), got {schedule}; hint: "
        f"rows has a loop over tiles; {hint}"
    )


@ev.kernel
def rows(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


# ---- what is compiled ----------------------------------------------------------------------------
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_nvrtc_compiles(architecture: str) -> None:
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.bindings.nvrtc")
    for kernel, schedule in ((residuals, TEAM), (halves, LARGEST), (in_scratch, TEAM)):
        for code in codes(schedule, kernel):
            assert compiling.cubin(code.source, code.name, architecture)


@pytest.mark.slow
def test_nvrtc_compiles_every_kernel() -> None:
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.bindings.nvrtc")
    for kernel in KERNELS:
        for schedule in SEVERAL.values():
            for code in codes(schedule, kernel):
                assert compiling.cubin(code.source, code.name, "sm_100")
