"""Importing the package fills the table."""

from . import (
    arithmetic,
    complexes,
    control,
    effects,
    frontiers,
    functions,
    narrow,
    passes,
    reductions,
    rounds,
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
    "narrow",
    "passes",
    "reductions",
    "rounds",
]
