"""Run the experiments of the papers that evenly comes from, and print what they found beside what is measured here.

`evenly reproduce NAME` runs one. An experiment is a module with an `EXPERIMENT` (see experiment.py), and a
line in TABLE.
"""

from __future__ import annotations

import importlib

from evenly.errors import unknown

from .experiment import Experiment

TABLE = {
    "dynamic-load-balancing": "evenly.reproduce.dynamic_load_balancing",
    "flexible-batched": "evenly.reproduce.flexible_batched",
    "load-balancing": "evenly.reproduce.load_balancing",
}


def find(name: str) -> Experiment:
    """Return the experiment of this name. Raises InputError for a name that is none."""
    if name not in TABLE:
        raise unknown("NAME", name, TABLE)
    found: Experiment = importlib.import_module(TABLE[name]).EXPERIMENT
    return found
