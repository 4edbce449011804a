"""What is nested too deeply is refused with its line, on every target, whatever pass gave up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language.diagnostics import LanguageError

A = ev.csr((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
HEAD = "def k(A, x, y):\n    v = 1.0 + 2.0 * (3.0 - 1.0)\n    for t in A.tiles():\n"
MANY = {
    "a sum": "        y[t] = " + " + ".join(["x[t]"] * 900) + "\n",
    "signs": "        y[t] = " + "-" * 900 + "x[t]\n",
    "a conjunction": "        y[t] = 1.0 if " + " and ".join(["x[t] > 0"] * 900) + " else 0.0\n",
    "conditional expressions": "        y[t] = " + "".join(f"{i}.0 if x[t] > {i} else " for i in range(900)) + "v\n",
    "comparisons": "        y[t] = 1.0 if " + " <= ".join(["x[t]"] * 900) + " else 0.0\n",
    "a call": "        y[t] = min(" + ", ".join(["x[t]"] * 900) + ")\n",
}  # fmt: skip
BRANCHES = "        if x[t] < 0:\n            v = 1.0\n"
for i in range(450):
    BRANCHES += f"        elif x[t] > {i}:\n            v = {i}.0\n"


def kernel(body: str) -> Any:
    space: dict[str, Any] = {"ev": ev}
    exec(HEAD + body, space)
    return ev.kernel(source=HEAD + body)(space["k"])


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("what", MANY)
def test_many_terms(what: str, target: str) -> None:
    x, y = np.array([1.0, 2.0]), np.zeros(2)
    call = kernel(MANY[what])["thread_mapped"].on(target)
    refused = None
    try:
        call(A, x, y)
    except LanguageError as error:
        refused = error
    if refused is None:  # so much the better
        assert (y == (x if what != "a sum" else 900 * x)).all()
        return
    assert refused.message.startswith("nested too deeply")
    assert refused.location.line == 4
    assert refused.hint == "assign parts of it to variables on lines of their own"


def test_many_branches() -> None:
    with pytest.raises(LanguageError, match="nested too deeply") as caught:
        kernel(BRANCHES)(A, np.ones(2), np.zeros(2))
    assert caught.value.location.line > 100
    assert (
        caught.value.hint == "do parts of it in functions (@ev.func), or look values up in an array"
    )


def test_levels_of_emitted_text() -> None:
    """Python's own end, of 100, that an operand of a comparison comes to sooner on `cpu` than in the kernel."""
    body = "        y[t] = 1.0 if " + " <= ".join(["x[t]"] * 120) + " else 0.0\n"
    x, y = np.ones(2), np.zeros(2)
    with pytest.raises(LanguageError, match="nested too deeply for target 'cpu'"):
        kernel(body).on("cpu")(A, x, y)
    kernel(body).on("python")(A, x, y)
    assert (y == 1).all()


def test_a_deep_function_is_told_apart_from_its_kernel() -> None:
    text = "def f(v):\n    w = v\n    return " + " + ".join(["w"] * 900) + "\n"
    space: dict[str, Any] = {}
    exec(text, space)
    space["f"] = ev.func(source=text)(space["f"])
    exec(HEAD + "        y[t] = f(x[t])\n", space)
    deep = ev.kernel(source=HEAD + "        y[t] = f(x[t])\n")(space["k"])
    with pytest.raises(LanguageError, match="nested too deeply") as caught:
        deep(A, np.ones(2), np.zeros(2))
    assert (caught.value.location.function, caught.value.location.line) == ("f", 3)
