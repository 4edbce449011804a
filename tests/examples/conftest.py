"""Makes the examples importable as their users run them: from their own folder."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(FOLDER))
