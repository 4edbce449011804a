"""Importing the package fills the table."""

from . import arithmetic, control, effects, functions, passes, reductions
from .table import CASES, Case

__all__ = ["CASES", "Case", "arithmetic", "control", "effects", "functions", "passes", "reductions"]
