"""`print` and `assert` in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language.diagnostics import LanguageError
from evenly.targets.python import AssertionFailed

SCHEDULES = ("thread_mapped", "group_mapped", "merge_path", "nonzero_split", "work_oriented")
LOUD = [
    ("python", {}, "thread_mapped"),
    *(("cpu", {"debug": True}, s) for s in SCHEDULES),
    *(pytest.param("simt", {}, s, marks=pytest.mark.simt) for s in SCHEDULES),
]
QUIET = [("cpu", s) for s in SCHEDULES]


def _arguments() -> tuple[Any, ...]:
    A = ev.csr(
        (np.float64([1, 2, 3, 0.5]), np.int32([0, 2, 1, 0]), np.int32([0, 2, 2, 4])), shape=(3, 3)
    )
    return A, np.float64([1.5, -2, 7]), np.zeros(3)


@ev.kernel
def says(A, x, y):
    print("start", len(x))
    for row in A.tiles():
        print("row", row, x[row], x[row] > 0, 'é"\\?')
        total = 0.0
        for k in A.atoms(row):
            if A.value(k) > 1:
                print("atom", k, A.value(k))
            total += A.value(k)
        print()
        print("sum", row, total)
        y[row] = total


SAID = [
    "start 3", "row 0 1.5 True é\"\\?", "row 1 -2.0 False é\"\\?", "row 2 7.0 True é\"\\?",
    "atom 1 2.0", "atom 2 3.0", "", "", "", "sum 0 3.0", "sum 1 0.0", "sum 2 3.5",
]  # fmt: skip


@pytest.mark.parametrize(("target", "options", "schedule"), LOUD)
def test_print(target: str, options: Any, schedule: str, capfd: Any) -> None:
    args = _arguments()
    says[schedule].on(target, **options)(*args)
    out = capfd.readouterr().out
    assert sorted(out.splitlines()) == sorted(SAID)
    assert out.startswith("start 3\n")
    assert args[2].tolist() == [3, 0, 3.5]


@ev.kernel
def types(A, b, i, f, c, s):
    for row in A.tiles():
        print(b[row], i[row], f[row], f[row] * 2.0, c[row], 1 + 2j, s, row / 4, (row + 1) / 3)


@pytest.mark.simt
def test_numbers_are_printed_alike(capsys: Any) -> None:
    A, _, _ = _arguments()
    said = {}
    for target in ("python", "simt"):
        types.on(target)(A, np.array([True, False, True]), np.int32([1, -2, 3]), np.float32([0.1, 1e30, np.nan]),
                         np.complex64([0.1j, 1, 2]), np.int64(2**40))  # fmt: skip
        said[target] = sorted(capsys.readouterr().out.splitlines())
    assert said["python"] == said["simt"]
    assert len(said["python"]) == 3


@ev.kernel
def checks(A, x, y):
    for row in A.tiles():
        assert 0 <= A.begin(row) <= len(A.indices)
        for k in A.atoms(row):
            assert A.value(k) > 0, "no negative weights"
        y[row] = x[row]
        assert x[row] > -2 and y[row] == x[row]


@pytest.mark.parametrize(("target", "options", "schedule"), LOUD)
def test_assertions_are_checked(target: str, options: Any, schedule: str) -> None:
    A, x, y = _arguments()
    x[1] = 3
    checks[schedule].on(target, **options)(A, x, y)
    assert y.tolist() == [1.5, 3, 7]
    A.values[3] = -1
    with pytest.raises(ev.errors.EvenlyError) as caught:
        checks[schedule].on(target, **options)(A, x, y)
    said = str(caught.value)
    assert "assert A.value(k) > 0, 'no negative weights': expected it to hold, got False" in said
    assert "test_remarks.py:" in said
    assert said.count("\n") == 0 or target == "simt"


def test_the_reference_names_the_tile() -> None:
    A, x, y = _arguments()
    with pytest.raises(AssertionFailed, match=r"got False in tile 1") as caught:
        checks.on("python")(A, x, y)
    assert isinstance(caught.value, AssertionError | ev.InputError)
    assert ":" in caught.value.where


@pytest.mark.parametrize(("target", "schedule"), QUIET)
def test_assertions_are_nothing_elsewhere(target: str, schedule: str) -> None:
    A, x, y = _arguments()
    A.values[3] = -1
    checks[schedule].on(target)(A, x, y)
    assert y.tolist() == x.tolist()


def test_assertions_ask_for_no_lengths() -> None:
    """What plain targets do not read need not be there."""

    @ev.kernel
    def short(A, x, y):
        for row in A.tiles():
            assert x[row] > 0
            y[row] = row

    A, _, y = _arguments()
    short.on("cpu")(A, np.ones(0), y)
    assert y.tolist() == [0, 1, 2]
    with pytest.raises(IndexError):
        short.on("python")(A, np.ones(0), y)


def test_print_is_refused_where_nobody_listens() -> None:
    A, x, y = _arguments()
    with pytest.raises(LanguageError, match="print on target 'cpu'") as caught:
        says.on("cpu")(A, x, y)
    assert caught.value.hint == "run it on target 'python' or 'simt', or on 'cpu' with debug=True"
    assert caught.value.location.text.strip() == 'print("start", len(x))'


def test_a_function_called_print() -> None:
    text = "def kernel(A, x, y):\n    for row in A.tiles():\n        print(x[row])\n        y[row] = print2(x[row])\n"
    space: dict[str, Any] = {
        "print2": ev.func(_double, source="def _double(v):\n    return 2 * v\n")
    }
    space["print"] = space["print2"]
    exec(text, space)
    A, x, y = _arguments()
    with pytest.raises(LanguageError, match="a call whose value is not used"):
        ev.kernel(space["kernel"], source=text).on("cpu")(A, x, y)


def _double(v: Any) -> Any:
    return 2 * v
