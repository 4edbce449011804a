"""The build of the site: its link checker, what it takes from evenly, and, where Sphinx is installed, the whole."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.generators import rmat
from evenly.schedules import TABLE
from tests.batteries import names
from tests.site.browser import FOUND, Browser
from tests.site.test_explorer import AXE, served
from tests.site.test_explorer import browser as browser
from tests.site.test_explorer import started as started

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of site/."""
    monkeypatch.syspath_prepend(ROOT / "site")
    return importlib.import_module


def test_what_leads_nowhere_is_found(part: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">A</h1><a href="b/">b</a> <a href="#here">here</a> <a href="b/#there">there</a>'
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<a id="there" href="../a.html#here"></a>')
    assert part("links").check(tmp_path) == []
    (tmp_path / "c.html").write_text(
        '<a href="no.html">1</a><a href="a.html#no">2</a><script src="https://cdn.example/x.js"></script>'
        '<a href="https://doi.org/10.1145/3572848.3577434">fine</a><img src="no.png">'
    )
    assert part("links").check(tmp_path) == [
        "c.html: no.html: no such file",
        "c.html: a.html#no: no such place in it",
        "c.html: <script> loads https://cdn.example/x.js from elsewhere",
        "c.html: no.png: no such file",
    ]


def test_examples_that_fail_or_print_something_else_are_found(part: Any, tmp_path: Path) -> None:
    (tmp_path / "right.md").write_text("```python\nprint(1)\n```\n\n```text\n1\n```\n")
    (tmp_path / "other.md").write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n")
    (tmp_path / "fails.md").write_text("```python\nimport evenly as ev\nev.nosuch\n```\n")
    fails, other = part("examples").check(tmp_path)
    assert fails.startswith("fails.md: ")
    assert "has no attribute 'nosuch'" in fails
    assert "other.md:1 prints\n1" in other


def test_the_explorer_has_the_battery_and_the_code_of_every_schedule(part: Any) -> None:
    held = part("data").everything()
    assert {p["title"] for p in held["presets"]} >= set(names())
    assert len({p["name"] for p in held["presets"]}) == len(held["presets"])
    assert set(held["code"]) == {*TABLE, "flatten"}
    assert "def merge_search(layout, diagonal):" in held["code"]["merge_path"]


def test_earlier_versions_are_found_the_newest_first(
    part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VERSIONS", raising=False)
    assert part("versions").kept() == []
    monkeypatch.setenv("VERSIONS", str(tmp_path))
    for name in "0.9.0", "0.10.1", "0.10.0":
        (tmp_path / name / "docs").mkdir(parents=True)
        (tmp_path / name / "docs" / "index.html").touch()
    assert [path.name for path in part("versions").kept()] == ["0.10.1", "0.10.0", "0.9.0"]
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="VERSIONS: .*other has no docs/index.html"):
        part("versions").kept()


def test_the_kernels_of_the_views_are_kernels(part: Any, tmp_path: Path) -> None:
    kernels = part("data").KERNELS
    file = tmp_path / "shown.py"
    file.write_text("import evenly as ev\n\n" + "\n\n".join(kernels.values()))
    spec = importlib.util.spec_from_file_location("shown", file)
    assert spec is not None
    assert spec.loader is not None
    shown = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shown)
    M = rmat(4)
    x, dense = np.ones(16, np.float32), np.ones((16, 3), np.float32)
    y, Y = np.zeros(16, np.float32), np.zeros((16, 3), np.float32)
    shown.batched.on("python")(ev.batch([M]), x, y)
    np.testing.assert_allclose(y, M @ x)
    shown.spmm.on("python")(ev.csr(M), dense, Y)
    np.testing.assert_allclose(Y, M @ dense)
    level = np.full(16, -1, np.int32)
    shown.search.on("python")(ev.frontier(ev.csr(M)), level, 1)
    near = M.indices[M.indptr[1] : M.indptr[2]]
    assert len(near) > 1
    assert level[1] == 0
    assert set(level[near[near != 1]]) == {1}
    T = ev.tasks(begin=np.int32, end=np.int32, atoms=("begin", "end"), first=[(0, 99)], capacity=99)
    leaves = ev.output((np.int32, np.int32), capacity=99)
    shown.halves.on("python")(T, leaves)
    assert len(leaves) == 8
    assert set(kernels) == {"items", "axes", "levels", "queues"}


def test_the_front_page_names_the_functions_of_every_namespace(part: Any) -> None:
    made = part("front").ready_made()
    for name in "bfs", "spgemm", "segment_softmax", "sddmm", "evenly.torch_operators":
        assert f"<code>{name}</code>" in made
    for folder in (ROOT / "src" / "evenly" / "algorithms").iterdir():
        if folder.is_dir() and hasattr(ev, folder.name):
            assert f"<code>ev.{folder.name}</code>" in made


def test_the_front_page_has_the_results_of_the_docs(part: Any) -> None:
    found = part("data").families()
    assert len(found) == 13
    assert found[-1][0] == "all 60"
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    for name, numbers in found:
        assert f"| {name} | {' | '.join(f'{n:.2f}' for n in numbers)} |" in page
    front = part("front")
    assert "in float32" in front.losses()
    assert f"One {front.measured_on()} and seed 83" in page
    drawn = ElementTree.fromstring(front.chart())
    right = float(drawn.attrib["viewBox"].split()[2])
    dots = [float(dot.attrib["cx"]) + float(dot.attrib["r"]) for dot in drawn.iter("circle")]
    assert len(dots) == 13
    assert max(dots) <= right  # the fastest is in the picture, too


def test_every_page_of_the_docs_has_its_place(part: Any) -> None:
    docs = ROOT / "docs"
    pages = {str(page.relative_to(docs).with_suffix("")) for page in docs.rglob("*.md")}
    listed = {page for listed in part("api").CONTENTS.values() for page in listed}
    assert {page for page in listed if page[0] != "/"} == pages - {"index"}
    index = (docs / "index.md").read_text()
    assert {page for page in pages if f"| [{page}.md]({page}.md) |" in index} == pages - {"index"}


def test_sources_are_cited_as_in_the_citation_file(part: Any) -> None:
    pytest.importorskip("yaml", reason="the extra `site` is not installed")
    text = part("data").bibtex()
    assert text.count("@") == 3
    for said in (
        "@inproceedings{osama2023,",
        "Merrill, Duane and Garland, Michael",
        "10.1109/SC.2016.57",
    ):
        assert said in text


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built without a warning."""
    for module in "sphinx", "furo", "myst_parser":
        pytest.importorskip(module, reason="the extra `site` is not installed")
    out = tmp_path_factory.mktemp("whole") / "site"
    build = [sys.executable, str(ROOT / "site" / "build.py"), str(out)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("0 broken links\n")
    return out


@pytest.mark.slow
def test_every_page_has_a_title_and_the_docs_are_there(whole: Path) -> None:
    pages = list(whole.rglob("*.html"))
    assert {"index.html", "explorer.html", "views.html", "search.html"} <= {p.name for p in pages}
    assert all("<title>" in page.read_text() for page in pages)


@pytest.mark.slow
@pytest.mark.skipif(not (AXE and FOUND), reason="no EVENLY_AXE, or no Chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_axe_finds_nothing_on_any_page(
    scheme: str, width: int, whole: Path, browser: Browser
) -> None:
    browser.size(width)
    browser.scheme(scheme)
    with served(whole) as address:
        for page in sorted(whole.rglob("*.html")):
            browser.ask("Page.navigate", url=f"{address}/{page.relative_to(whole).as_posix()}")
            browser.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
            browser.run(Path(str(AXE)).read_text() + ";0")
            found = browser.run("axe.run().then(r => r.violations.map(v => v.id))")
            assert found == [], page
            assert browser.run("document.documentElement.scrollWidth") <= width, page
