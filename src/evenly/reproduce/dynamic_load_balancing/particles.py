"""The paper's two distributions of particles in the unit cube."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SEED = 0


def uniform(n: int) -> Any:
    """Return points anywhere in the cube: (n, 3) float32."""
    return np.random.default_rng(SEED).random((n, 3), np.float32)


def tube(n: int) -> Any:
    """Return points in a cylinder's shell, of radius 0.4 and thickness 0.05, upright in the cube: (n, 3) float32."""
    rng = np.random.default_rng(SEED)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.375, 0.425, n)
    flat = 0.5 + radius * np.array([np.cos(angle), np.sin(angle)])
    return np.column_stack([*flat, rng.random(n)]).astype(np.float32)


UNIFORM, TUBE = "uniform", "tube"
DISTRIBUTIONS: dict[str, Callable[[int], Any]] = {UNIFORM: uniform, TUBE: tube}
