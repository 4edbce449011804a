"""Earlier versions of the docs: sites that were built of them, kept in a folder, one a version, as `0.1.0`.

VERSIONS names that folder when the site is built. The sites are copied to versions/, and the docs' pages link to them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path


def kept() -> list[Path]:
    """Return the folders of earlier versions, the newest first. Raises ValueError for one without the docs."""
    folder = os.environ.get("VERSIONS", "")
    found = [path for path in Path(folder).iterdir() if path.is_dir()] if folder else []
    for path in found:
        if not (path / "docs" / "index.html").is_file():
            raise ValueError(
                f"VERSIONS: {path} has no docs/index.html: it is no site that was built"
            )
    return sorted(found, key=_order, reverse=True)


def _order(path: Path) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", path.name)]
