"""The figures: which there are, and what is on them."""

from __future__ import annotations

import pytest

import evenly as ev
from evenly.bench import plots
from evenly.schedules import TABLE as SCHEDULES

from .conftest import row

pytest.importorskip("matplotlib")

ROWS = [
    made
    for i, nnz in enumerate((200, 30_000, 4_000_000))
    for made in (
        row(f"m{i}", "auto", "auto", 2.0, nnz=nnz),
        row(f"m{i}", "cuSPARSE CSR ALG1", "csr", 3.0, nnz=nnz),
        row(f"m{i}", "cuSPARSE COO ALG1", "coo", 1.0 + i, nnz=nnz),
        row(f"m{i}", "ThreadMapped(block=256, items=5)", "ours", 2.1, nnz=nnz),
        row(f"m{i}", "MergePath(block=128, items=7)", "ours", 2.0, nnz=nnz),
        row(f"m{i}", "hand: ThreadMapped(block=256, items=5)", "hand", 2.0, nnz=nnz),
    )
]


def figure(name):
    return dict(plots.figures(ROWS))[name]


def test_points_of_the_speedup():
    (ax,) = figure("speedup").axes
    (dots,) = ax.collections
    assert dots.get_offsets().tolist() == [[200, 0.5], [30_000, 1.0], [4_000_000, 1.5]]
    assert "slower on 1 of 3" in ax.get_title(loc="left")


def test_points_of_the_overhead():
    (ax,) = figure("overhead").axes
    assert ax.collections[0].get_offsets()[:, 1].tolist() == pytest.approx([1.05] * 3)
    assert "1.050" in ax.get_title(loc="left")


def test_the_landscape_has_a_panel_a_schedule_with_its_own_parameters():
    (ax,) = figure("landscape").axes
    others, mine = ax.collections
    assert mine.get_offsets()[:, 1].tolist() == pytest.approx([2.1] * 3)
    assert others.get_offsets()[:, 1].tolist() == pytest.approx([1.0, 2.0, 3.0])


def texts(figure):
    """Return the boxes of a figure's titles, labels and legends, in pixels, by their text."""
    figure.draw_without_rendering()
    found = [text for ax in figure.axes if ax.get_visible() for text in (ax.title, ax._left_title)]
    found += [figure._supxlabel, figure._supylabel, *figure.legends]
    return [
        (getattr(text, "get_text", lambda: "legend")(), text.get_window_extent())
        for text in found
        if not hasattr(text, "get_text") or text.get_text()
    ]


def fits(figure):
    """Check that nothing is cut off, and that no text overlaps another."""
    boxes = texts(figure)
    width, height = figure.bbox.width, figure.bbox.height
    for at, (said, box) in enumerate(boxes):
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, said
        for other, beside in boxes[at + 1 :]:
            assert not box.overlaps(beside), (said, other)


def test_every_text_can_be_read():
    """With all schedules, and all kernels by hand that there are."""
    schedules = [str(entry.make()) for entry in SCHEDULES.values()]
    rows = [
        row(f"m{i}", contender, family, 2.0 + i, nnz=nnz)
        for i, nnz in enumerate((200, 30_000, 4_000_000))
        for contender, family in (
            *((name, "ours") for name in schedules),
            *((f"hand: {name}", "hand") for name in schedules),
            ("auto", "auto"),
            ("cuSPARSE CSR ALG1", "csr"),
        )
    ]
    drawn = dict(plots.figures(rows))
    assert set(drawn) == {"overhead", "landscape", "speedup"}
    assert len(drawn["landscape"].axes) >= len(schedules)
    for figure in drawn.values():
        fits(figure)


def test_files_are_svg_on_white_and_the_same_every_time(tmp_path):
    for name in "one", "two":
        made = plots.save(ROWS, tmp_path / name)
        assert [p.name for p in made] == ["overhead.svg", "landscape.svg", "speedup.svg"]
    text = (tmp_path / "one" / "speedup.svg").read_text()
    assert "fill: #ffffff" in text
    assert text == (tmp_path / "two" / "speedup.svg").read_text()


def test_no_figure_of_nothing(tmp_path):
    only = [row("m", "auto", "auto", 1.0)]
    assert plots.save(only, tmp_path) == []


def test_a_place_for_figures(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ev.InputError, match="expected a folder for figures"):
        plots.save(ROWS, tmp_path / "file")
