"""`plan.profile()`: numbers, sketch and pictures."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import evenly as ev
from evenly.balance import pictures
from evenly.balance.sketch import percent, sketch, times
from evenly.schedules import TABLE
from tests.batteries import layout_batteries, matrices, names, vector
from tests.kernels import spmv, two_loops


def planned(name="power law", schedule="merge_path", target="python"):
    matrix = matrices()[name]
    A, y = ev.csr(matrix), np.zeros(matrix.shape[0], np.float32)
    return spmv.plan(A, vector(matrix.shape[1]), y, schedule=schedule, target=target)


def by_label(balance) -> dict:
    return {load.label: load for load in balance.loads}


@ev.kernel
def total(L, out):
    for tile in L.tiles():
        out[tile] = sum(1.0 for k in L.atoms(tile))


def of_sizes(sizes, **options):
    """Return the balance of one thread for each tile, for tiles of these sizes."""
    A = ev.ragged(np.concatenate([[0], np.cumsum(sizes)]))
    plan = total.plan(A, np.zeros(len(sizes)), schedule="thread_mapped", target="python")
    return plan.profile(**options)


# ---- numbers ----------------------------------------------------------------------------------------
def test_one_long_tile_by_hand() -> None:
    """127 tiles of 2 atoms and one of 66. One thread, one block of 64 threads, or one warp walks the long one."""
    sizes = np.full(128, 2)
    sizes[5] = 66
    found = by_label(of_sizes(sizes, against=[ev.ThreadMapped(64), ev.BlockMapped(64)]))
    alone = found["thread_mapped block=64"]
    assert (alone.threads.number, alone.warps.number, alone.blocks.number) == (128, 4, 2)
    assert (alone.threads.most, alone.threads.mean) == (66, 320 / 128)
    assert alone.blocks.time.tolist() == [66, 2]
    assert alone.idle_lanes == pytest.approx(1 - 320 / (32 * (66 + 2 + 2 + 2)))
    assert alone.idle_warps == pytest.approx(1 - (66 + 2 + 2 + 2) / (2 * (66 + 2)))
    assert alone.idle_blocks == pytest.approx(1 - (66 + 2) / (2 * 66))
    assert alone.idle == pytest.approx(1 - 320 / (64 * 68))
    blocks = found["block_mapped block=64"].blocks
    assert (blocks.most, blocks.number, blocks.held) == (2, 128, 129)


@pytest.mark.parametrize("name", layout_batteries())
def test_losses_are_factors_of_the_whole(name) -> None:
    for load in of_sizes(np.diff(layout_batteries()[name])).loads:
        atoms = int(layout_batteries()[name][-1])
        for level in (load.threads, load.warps, load.blocks):
            assert int(level.atoms @ level.count) == atoms
            assert level.number * level.lanes == load.threads.number
        shares = load.idle_lanes, load.idle_warps, load.idle_blocks
        assert all(0 <= share < 1 for share in (*shares, load.idle))
        if atoms:
            kept = np.prod([1 - share for share in shares])
            assert kept == pytest.approx(atoms / (load.threads.number * load.threads.most))
            assert load.idle == pytest.approx(1 - (1 - load.idle_lanes) * (1 - load.idle_warps))


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_the_plans_own_schedule_comes_first_and_others_once(target) -> None:
    balance = planned(schedule=ev.MergePath(), target=target).profile()
    labels = [load.label for load in balance.loads]
    assert labels[0] == "merge_path"
    assert len(set(labels)) == len(labels) == len(TABLE)
    assert (balance.tiles, balance.atoms) == (400, matrices()["power law"].nnz)
    assert balance.chosen.schedule == ev.MergePath()


def test_against() -> None:
    plan = planned()
    assert len(plan.profile(against=[]).loads) == 1
    for one in ("thread_mapped", ev.ThreadMapped, ev.ThreadMapped()):
        assert plan.profile(against=one).loads[1].schedule == ev.ThreadMapped()
    assert plan.profile(against=[ev.MergePath(items=7)]).loads[1].label == "merge_path items=7"
    with pytest.raises(ev.InputError, match="schedule: expected one of .* got 'merge'"):
        plan.profile(against=["merge"])


def test_a_kernel_that_needs_whole_tiles_is_compared_with_their_owners() -> None:
    @ev.kernel
    def halved(A, y):
        for row in A.tiles():
            total = sum(A.value(k) for k in A.atoms(row))
            while total > 10.0:
                total = total - sum(A.value(k) for k in A.atoms(row))
            y[row] = total

    plan = halved.plan(ev.csr(matrices()["all equal"]), np.zeros(300, np.float32), target="python")
    assert all(load.schedule.owns_tiles for load in plan.profile().loads)


def test_which_layout() -> None:
    @ev.kernel
    def both(A, B, y):
        for row in A.tiles():
            y[row] = 0.0
        for row in B.tiles():
            y[row] = sum(1.0 for k in B.atoms(row))

    A, B = ev.ragged(np.array([0, 1, 2])), ev.ragged(np.array([0, 5, 9, 9]))
    plan = both.plan(A, B, np.zeros(3), target="python")
    assert (plan.profile().layout, plan.profile().atoms) == ("B (Ragged)", 9)
    assert plan.profile(layout="A").tiles == 2
    with pytest.raises(ev.InputError, match="layout: expected one of the kernel's: A, B, got 'y'"):
        plan.profile(layout="y")


def test_several_loops_and_layouts_that_are_not_offsets() -> None:
    matrix = matrices()["power law"]
    x, y = vector(matrix.shape[1]), np.zeros(matrix.shape[0], np.float32)
    for A in (ev.csr(matrix), ev.ell(matrix), ev.bcsr(matrix, block=(2, 2)), ev.dia(matrix)):
        balance = spmv.plan(A, x, y, target="python").profile(against=[])
        assert (balance.tiles, balance.atoms) == (A.num_tiles, A.num_atoms)
    assert two_loops.plan(ev.csr(matrix), x, y, y.copy(), target="python").profile().tiles == 400


@pytest.mark.gpu
def test_on_a_gpu_it_is_the_same() -> None:
    cupy = pytest.importorskip("cupy")
    matrix = matrices()["power law"]
    A, y = ev.csr(matrix).to("cuda"), cupy.zeros(matrix.shape[0], np.float32)
    there = spmv.plan(A, cupy.asarray(vector(matrix.shape[1])), y, schedule="merge_path")
    assert (there.target, str(there.profile())) == ("cuda", str(planned().profile()))


# ---- the sketch ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("plain", [False, True])
def test_the_sketch_fits_80_columns(name, plain) -> None:
    text = sketch(planned(name).profile(against=[*TABLE, ev.GroupMapped(24, 512, True)]), plain)
    assert text.isascii() or not plain
    assert all(len(line) <= 80 and line == line.rstrip() for line in text.splitlines())


def test_the_sketch_of_one_long_tile() -> None:
    lines = str(of_sizes([2000] + [1] * 255, against=["nonzero_split"])).splitlines()
    assert lines[0] == "total, L (Ragged): 256 tiles, 2,255 atoms"
    chosen, other = (line for line in lines if "_mapped" in line or "_split" in line)
    assert chosen == "> thread_mapped  >99%  227x █▁▁▁▁▁▁▁▁▁▁   96% ██▁▁▁▁▁▁▁▁▁  1.0x ███████████"
    # Three blocks of 1024, 1024 and 207 atoms: 4 steps each; the last one has 2 warps at work.
    assert other == "  nonzero_split   27%  1.4x ████████▆      1% ████████▆    1.0x ███████████"


def test_where_output_is_ascii_the_curves_are_too() -> None:
    balance = of_sizes([2000] + [1] * 255, against=[])
    marks = str.maketrans("▁▂▃▄▅▆▇█", "_.:-=+*#")
    assert sketch(balance, plain=True) == str(balance).translate(marks)


def test_numbers_in_a_few_characters() -> None:
    shares = 0.0, 0.001, 0.0049, 0.0051, 0.5, 0.9949, 0.996, 0.99999, 1.0
    assert [percent(share) for share in shares] == [
        "0%", "<1%", "<1%", "1%", "50%", "99%", ">99%", ">99%", "100%",
    ]  # fmt: skip
    ratios = 1.0, 12.34, 99.94, 99.96, 2500, 9999.4, 9999.6, 22_000, 3.2e6, 4e9
    assert [times(ratio) for ratio in ratios] == [
        "1.0x", "12.3x", "99.9x", "100x", "2500x", "9999x", "10kx", "22kx", "3200kx", "4000Mx",
    ]  # fmt: skip


# ---- pictures -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["no tiles", "one atom", "power law", "stencil"])
def test_pictures(name, tmp_path) -> None:
    plan = planned(name)
    plan.profile(path=tmp_path / "a.png").save(str(tmp_path / "a.SVG"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    ElementTree.fromstring((tmp_path / "a.SVG").read_text())
    ElementTree.fromstring(plan.profile()._repr_svg_())


def test_no_text_of_a_picture_is_cut_off() -> None:
    sizes = np.zeros(300_000, np.int64)
    sizes[1000] = 3_000_000
    balance = of_sizes(sizes, against=[*TABLE, ev.GroupMapped(24, 512, True)])
    drawn = pictures.figure(balance)
    drawn.draw_without_rendering()
    for ax in drawn.axes:
        for text in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label):
            box = text.get_window_extent()
            if text.get_text():
                assert drawn.bbox.x0 <= box.x0 and box.x1 <= drawn.bbox.x1, text.get_text()
                assert drawn.bbox.y0 <= box.y0 and box.y1 <= drawn.bbox.y1, text.get_text()


def test_pictures_show_the_longest_whatever_the_size() -> None:
    sizes = np.ones(100_000, np.int64)
    sizes[77_777] = 5000
    blocks = of_sizes(sizes, against=[]).chosen.blocks
    time, busy = pictures.in_launch_order(blocks)
    place = 77_777 / 256 / blocks.number * len(time)
    assert time.max() == 5000
    assert abs(int(time.argmax()) - place) <= 1
    assert (busy <= time).all()
    assert blocks.sampled(7)[0].tolist() == [5000, 1, 1, 1, 1, 1, 1]


def test_files_that_cannot_be_drawn_to(tmp_path) -> None:
    plan = planned()
    with pytest.raises(
        ev.InputError, match=r"path: expected a file that ends in .png or .svg, got 'a.pdf'"
    ):
        plan.profile(path="a.pdf")
    with pytest.raises(ev.InputError, match="path: expected the path of a file, got int"):
        plan.profile(path=3)
    with pytest.raises(ev.InputError, match="path: expected a file in a folder that exists"):
        plan.profile(path=tmp_path / "none" / "a.svg")


def test_without_matplotlib(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(pictures, "available", lambda: False)
    balance = planned().profile()
    assert balance._repr_svg_() is None
    with pytest.raises(
        ev.UnavailableError,
        match=r"a picture of the balance: Matplotlib is not installed; to get it: pip install 'evenly\[plots\]'",
    ):
        balance.save(tmp_path / "a.svg")


def test_large_matrices_take_no_time_to_speak_of() -> None:
    """Operations are counted for 16 M atoms: no array may be as large as the number of threads."""
    import tracemalloc

    plan = total.plan(ev.ragged(np.arange(0, 16_000_001, 16)), np.zeros(1_000_000), target="python")
    tracemalloc.start()
    plan.profile()  # under block_mapped there are 256 M threads
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()
