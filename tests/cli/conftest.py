"""Running command lines in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evenly.cli import main


@dataclass(frozen=True)
class Ran:
    """The status and output of a command line."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture
def evenly(capsys) -> Callable[..., Ran]:
    """evenly("spmv", file, ...) as a user would type it."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        status = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return run


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    """A file small.mtx of 40 x 30 with 117 nonzeros."""
    path = tmp_path_factory.mktemp("matrices") / "small.mtx"
    rng = np.random.default_rng(5)
    matrix = sp.random_array((40, 30), density=0.0975, rng=rng, format="coo")
    scipy.io.mmwrite(path, matrix)
    return path
