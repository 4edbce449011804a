"""The tuned numbers of an architecture: one data file each, beside the command that measured them."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any


@functools.cache
def numbers(architecture: str = "sm_90") -> dict[str, Any]:
    """The tuned numbers of an architecture."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{architecture}.toml").read_text())
