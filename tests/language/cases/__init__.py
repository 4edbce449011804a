"""Importing the package fills the table."""

from . import (
    arithmetic,
    complexes,
    control,
    effects,
    frontiers,
    functions,
    local_arrays,
    narrow,
    passes,
    reductions,
    rounds,
    scratch,
)
from .table import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "arithmetic",
    "complexes",
    "control",
    "effects",
    "frontiers",
    "functions",
    "local_arrays",
    "narrow",
    "passes",
    "reductions",
    "rounds",
    "scratch",
]
