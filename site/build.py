"""Build the site: `python site/build.py OUT`. It needs the extra `site`, and no network.

The code of the docs' pages is run first, and fails the build where it fails or prints something else (examples.py).
`python site/build.py OUT --pages` makes our own pages alone; `--explorer` leaves out the front page, so that nothing
but evenly is needed.

Where PYODIDE names the folder of a release of Pyodide, python.html runs target `python` with it (in_browser.py).

Where VERSIONS names a folder of sites that were built of earlier versions, they are served, too (versions.py).

Pages of their own (pages/, css/, js/) get what they show of evenly from data.py. Sphinx makes the pages of docs/.
"""

from __future__ import annotations

import shutil
import string
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
for folder in HERE, ROOT, ROOT / "src":
    sys.path.insert(0, str(folder))

import accessible  # noqa: E402
import data  # noqa: E402
import front  # noqa: E402
import in_browser  # noqa: E402
import links  # noqa: E402
import versions  # noqa: E402

import evenly  # noqa: E402
import examples  # noqa: E402

NAV = (
    ("index.html", "What it is"),
    ("explorer.html", "Explorer"),
    ("views.html", "Views"),
    ("python.html", "Try it"),
    ("docs/index.html", "Docs"),
)
PAGES = ("index.html", "explorer.html", "views.html", "python.html")
PLAYER = """  <fieldset class="player">
    <legend>Steps</legend>
    <button type="button" id="first" aria-label="To the first step">|◀</button>
    <button type="button" id="back" aria-label="One step back">◀</button>
    <button type="button" id="play" aria-label="Play" class="main">▶ Play</button>
    <button type="button" id="next" aria-label="One step on">▶</button>
    <button type="button" id="last" aria-label="To the end">▶|</button>
    <label>Step <output for="step" id="step-out"></output>
      <input type="range" id="step" min="0" value="0" max="1"></label>
  </fieldset>"""
HEAD = """<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="site.css">
<script src="js/theme.js"></script>"""
HEADER = """<header class="site"><div><a class="name" href="index.html">evenly</a><nav aria-label="Site">{links}</nav>
<button type="button" id="theme" aria-label="Light or dark">◐</button></div></header>"""
FOOTER = """<footer><div>evenly {version}, Apache License 2.0.
This site loads nothing from elsewhere and counts nobody.</div></footer>"""


def main(out: Path) -> int:
    """Run the docs' examples, build everything into `out`, check its links, and return the exit status."""
    if out.exists():
        shutil.rmtree(out)
    failed = examples.check()
    for line in failed:
        print(f"site: {line}", file=sys.stderr)
    if failed or not docs(out):
        return 1
    accessible.repair(out)
    pages(out)
    for earlier in versions.kept():
        shutil.copytree(earlier, out / "versions" / earlier.name)
    broken = links.check(out)
    for line in broken:
        print(f"site: {line}", file=sys.stderr)
    print(f"site: {len(list(out.rglob('*.html')))} pages in {out}, {len(broken)} broken links")
    return 1 if broken else 0


def docs(out: Path) -> bool:
    """Make the pages of docs/ with Sphinx; a warning is a failure."""
    doctrees = out.parent / "site-doctrees"
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run([*command, "-c", str(HERE), "-d", str(doctrees), str(ROOT), str(out)])
    return done.returncode == 0


def pages(out: Path, only: tuple[str, ...] = PAGES) -> None:
    """Make pages of our own: all of them, or some."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.copytree(HERE / "js", out / "js", dirs_exist_ok=True)
    shutil.copytree(HERE / "css", out, dirs_exist_ok=True)
    data.write(out)
    in_browser.write(out)
    for page in only:
        text = string.Template((HERE / "pages" / page).read_text())
        parts = front.parts() if page == "index.html" else {}
        parts |= {"head": HEAD, "header": header(page), "footer": footer(), "player": PLAYER}
        filled = text.substitute(parts)
        (out / page).write_text(filled)


def header(page: str) -> str:
    named = (
        f'<a href="{to}"{" aria-current=page" if to == page else ""}>{said}</a>'
        for to, said in NAV
        if to != "python.html" or not in_browser.found(in_browser.given())[1]
    )
    return HEADER.format(links="".join(named))


def footer() -> str:
    return FOOTER.format(version=evenly.__version__)


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    part = sys.argv[2:]
    if part:
        pages(target, PAGES[1:] if part == ["--explorer"] else PAGES)
    else:
        sys.exit(main(target))
