"""Run the code of the docs' pages, and compare what it prints: the site is built of examples that work.

`python site/examples.py PAGE` runs one page, and exits with 1 if its code fails or prints something else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def check(docs: Path = ROOT / "docs") -> list[str]:
    """Run every page of a folder, each in a process of its own, and return a line for each that fails."""
    pages = sorted(docs.rglob("*.md"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for line in pool.map(failure, pages) if line]


def failure(page: Path) -> str:
    """Return what is wrong with the code of a page; "" if nothing is."""
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT, ROOT / "examples")))
    command = [sys.executable, __file__, str(page)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}
    )
    return "" if done.returncode == 0 else f"{page.name}: {done.stderr.strip()}"


def main(page: Path) -> int:
    from tests.examples import pages

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")  # whose matrix pages read
        os.chdir(folder)
        try:
            pages.run(page, Path(folder))
        except Exception:
            traceback.print_exc(limit=-1)
            return 1
        finally:
            os.chdir(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
