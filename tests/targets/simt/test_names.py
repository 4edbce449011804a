"""Arguments may be called what emitted code, C++ and the engines have names for."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices
from tests.emitting import codes
from tests.kernels import CASES, ENGINES

import evenly as ev
from evenly.targets.gpu import headers
from evenly.targets.printing.names import ARGUMENT, VARIABLE

pytestmark = pytest.mark.simt


@ev.kernel
def awkward(A, new, bound, state, value, team, begin, grid, live, found, part, step, y, whole):
    total = 0.0
    for row in A.tiles():
        near = sum(A.value(k) + new[k] + value[k] + state[k] + begin[k] for k in A.atoms(row))
        far = min((k + team[k] + live[k] + found[k] for k in A.atoms(row)), default=part)
        y[row] = near + far + bound[row] + step[row]
        total += grid[row]
    whole[0] = total


@ev.kernel
def named_as_structs(A, Loads, State, Value, Grid, Phase, y):
    for row in A.tiles():
        y[row] = sum(Loads[A.column(k)] * State[k] + Value[k] for k in A.atoms(row)) + Grid[row]
        y[row] += Phase[row]


@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_so_will_those_of_structs(schedule: Any) -> None:
    matrix = matrices()["power law"]
    A, m = ev.csr(matrix), matrix.shape[0]
    x, per_atom, per_row = np.arange(matrix.shape[1]) % 3, np.arange(matrix.nnz) % 5, np.arange(m)
    results = {target: np.zeros(m, np.int64) for target in ("simt", "python")}
    for target, y in results.items():
        given = (A, x, per_atom, per_atom, per_row, per_row, y)
        named_as_structs[schedule].on(target)(*given)
    np.testing.assert_array_equal(results["simt"], results["python"])


@ev.kernel
def variables(A, load_dependent, then, y):
    for state in A.tiles():
        y[state] = (
            sum(A.value(acc) * load_dependent[A.column(acc)] for acc in A.atoms(state))
            + then[state]
        )


@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_so_will_those_of_tiles_and_atoms(schedule: Any) -> None:
    matrix = matrices()["power law"]
    A, (m, n) = ev.csr(matrix), matrix.shape
    results = {target: np.zeros(m) for target in ("simt", "python")}
    for target, y in results.items():
        variables[schedule].on(target)(A, np.arange(n) % 3, np.arange(m), y)
    np.testing.assert_array_equal(results["simt"], results["python"])


def test_nothing_of_ours_begins_as_names_of_users_do() -> None:
    """Or an argument could be declared twice."""
    apart = ev.MergePath(64, items=2)
    members = set(re.findall(r"\b[A-Za-z_]\w*", headers.text()))
    for case, schedule in itertools.product(CASES.values(), (*ENGINES, apart)):
        for code in codes(case, schedule):
            for struct in re.findall(r"^struct Phase \{\n(.*?)^\};", code.source, re.S | re.M):
                members |= set(re.findall(r"^  (?:static )?EV_DEVICE .*?(\w+)\(", struct, re.M))
                kinds = r"^  (?:struct|using|static constexpr bool) (\w+)"
                members |= set(re.findall(kinds, struct, re.M))
    assert {
        "load_first",
        "load_dependent",
        "step_loaded",
        "step",
        "then",
        "State",
        "has_value",
    } <= members
    assert not [name for name in members if name.startswith((VARIABLE, ARGUMENT))]


@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_any_name_will_do(schedule: Any) -> None:
    matrix = matrices()["power law"]
    A, n, m = ev.csr(matrix), matrix.nnz, matrix.shape[0]
    per_atom, per_row = np.arange(n) % 5, np.arange(m) % 7.0
    given = {
        name: (
            per_atom
            if name in ("new", "state", "value", "team", "begin", "live", "found")
            else per_row
        )
        for name in awkward.parameters[1:]
    } | {"part": 3}
    results = []
    for target in "simt", "python":
        outputs = {"y": np.zeros(m), "whole": np.zeros(1)}
        awkward[schedule].on(target)(A, *(given | outputs).values())
        results.append(outputs)
    for name in ("y", "whole"):
        np.testing.assert_array_equal(results[0][name], results[1][name])
