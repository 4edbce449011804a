"""From source text to the surface tree: places, docstrings, defaults, and odd sources."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import evenly as ev
from evenly.errors import InputError
from evenly.language import syntax as s
from evenly.language.diagnostics import LanguageError
from evenly.language.parse import parse
from evenly.language.source import Source, captured, fetch


def _tree(text: str) -> s.Function:
    return parse(Source("f", textwrap.dedent(text), "file.py", 10, 4, {}))


def test_places_are_those_of_the_file() -> None:
    tree = _tree("def f(a):\n    return a + 1\n")
    (statement,) = tree.body
    assert isinstance(statement, s.Return)
    assert str(statement.at) == "file.py:11:9"
    assert statement.at.text == "        return a + 1"
    value = statement.value
    assert isinstance(value, s.Binary)
    assert (value.at.column, value.at.end_column) == (16, 21)


def test_a_node_over_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    tree = _tree("def f(a):\n    return (a +\n            1)\n")
    (statement,) = tree.body
    assert statement.at.line == 11
    assert statement.at.end_column == len(statement.at.text) + 1


def test_columns_count_characters() -> None:
    tree = _tree("def f(δ, a):\n    return δ + a\n")
    (statement,) = tree.body
    assert isinstance(statement, s.Return)
    assert isinstance(statement.value, s.Binary)
    right = statement.value.right.at
    assert right.text[right.column - 1 : right.end_column - 1] == "a"


def test_docstrings_comments_and_pass_leave_no_trace() -> None:
    assert _tree('def f():\n    """Doc."""\n    # nothing\n    pass\n').body == ()


def test_parameters_and_defaults() -> None:
    tree = _tree("def f(a, /, b, c=1, *, d=2, e):\n    pass\n")
    assert tree.parameters == ("a", "b", "c", "d", "e")
    assert set(tree.defaults) == {"c", "d"}
    assert (tree.only_by_place, tree.by_place) == (1, 3)


def test_decorators_and_annotations_are_ignored() -> None:
    tree = _tree("@ev.kernel\n@other(1)\ndef f(a: int) -> None:\n    b: float = a\n")
    (statement,) = tree.body
    assert isinstance(statement, s.Assign)


@pytest.mark.parametrize("text", ["def f(*a): pass", "def f(**a): pass"])
def test_starred_parameters(text: str) -> None:
    with pytest.raises(LanguageError, match="a starred parameter"):
        _tree(text + "\n")


def test_text_that_is_not_python() -> None:
    with pytest.raises(LanguageError, match="not Python: ") as caught:
        _tree("def f(:\n    pass\n")
    assert caught.value.location.line == 10


def test_a_lambda_is_no_kernel() -> None:
    with pytest.raises(LanguageError, match="expected a function made by def"):
        parse(fetch(lambda A: A))


def test_continue_becomes_an_if_around_the_rest() -> None:
    tree = _tree("def f(a):\n    for k in a:\n        if k:\n            continue\n        g(k)\n")
    loop = tree.body[0]
    assert isinstance(loop, s.For)
    (branch,) = s.without_continue(loop.body)
    assert isinstance(branch, s.If)
    assert branch.then == ()
    assert len(branch.otherwise) == 1


def test_no_source() -> None:
    space: dict[str, object] = {}
    exec("def f(): pass", space)
    with pytest.raises(InputError, match="source="):
        fetch(space["f"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected a Python function, got builtin"):
        fetch(len)
    assert fetch(space["f"], "def f(): pass\n").file == "<source of f>"  # type: ignore[arg-type]


def test_what_no_decorator_takes() -> None:
    import numba

    compiled = numba.njit(lambda a: a)
    for decorator, name in (ev.kernel, "ev.kernel"), (ev.func, "ev.func"):
        with pytest.raises(ev.InputError, match=f"{name}: expected a function, got CPUDispatcher"):
            decorator(compiled)
        with pytest.raises(ev.InputError, match=rf"{name}\(source=...\): expected the text of"):
            decorator(source=3)
    for class_decorator, name in (ev.layout, "ev.layout"), (ev.schedule, "ev.schedule"):
        with pytest.raises(ev.InputError, match=f"{name}: expected a class, got function"):
            class_decorator(lambda: 0)


def test_a_captured_name_without_a_value_yet() -> None:
    def made() -> ev.Kernel:
        @ev.kernel
        def fill(y):
            y[0] = later

        with pytest.raises(ev.LanguageError, match="later is not defined here"):
            fill.on("python")(np.zeros(1))
        later = 3.0
        return fill

    y = np.zeros(1)
    made().on("python")(y)
    assert y[0] == 3


def test_captured_names() -> None:
    inside = 3

    def f():
        return inside

    seen = captured(f)
    assert seen["inside"] == 3
    assert seen["pytest"] is pytest
    assert seen["sum"] is sum
    assert "unheard_of" not in seen
    inside = 4
    assert seen["inside"] == 4  # as it is now
