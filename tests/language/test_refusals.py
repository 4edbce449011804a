"""What the language refuses: the message, the hint, and the caret to the column."""

from __future__ import annotations

import re

import pytest

import evenly as ev
from evenly.language.diagnostics import LanguageError

from . import helpers
from .building import lowered, refusal
from .cases.table import f32, rows
from .refusals import ARGUMENTS, CAPTURED, TABLE, Refusal

CALLED = {  # function -> what is refused in it, at which line of its text, and under which caret
    "stores": (
        "a store in stores, which is called for its value",
        "y[0]",
        "store in the kernel itself",
    ),
    "adds": (
        "an atomic in adds, which is called for its value",
        "ev.atomic_add(y, 0, 1.0)",
        "use it in a statement of the kernel itself",
    ),
    "counted": (
        "ev.rank in counted, which is called for its value",
        "ev.rank(v > 0)",
        "use it in a statement of the loop over atoms itself",
    ),
    "endless": (
        "endless calls itself",
        "endless(v)",
        "recursion is not part of the kernel language: write a loop",
    ),
    "ping": (
        "ping calls itself",
        "ping(v)",
        "recursion is not part of the kernel language: write a loop",
    ),
    "returns_in_a_loop": (
        "return inside a loop",
        "return i",
        "assign the result to a variable and break",
    ),
    "sometimes_a_pair": (
        "result is a tuple of 2 on one path and a number (int) on the other",
        "if v > 0:",
        "every path of a function returns the same kind of value",
    ),
    "sometimes_nothing": (
        "result is a number (int) on one path and None on the other",
        "if v > 0:",
        "every path of a function returns the same kind of value",
    ),
    "pushes": (
        "a push in pushes, which is called for its value",
        "F.push(0)",
        "push in a statement of the kernel itself",
    ),
    "appends": (
        "O.append in appends, which is called for its value",
        "out.append(0, 1.0)",
        "append in a statement of the kernel itself",
    ),
    "loops_over_tiles": (
        "a loop over tiles that is not at the top level of the kernel",
        "A.tiles()",
        "one loop over tiles after the other; a while at the top level may stand around them",
    ),
    "starred": (
        "a starred parameter is not part of the kernel language",
        "v",
        "name the parameters one by one",
    ),
    "words": (
        "a string is not part of the kernel language",
        '"text"',
        "kernels compute on numbers",
    ),
}
ARGUMENT = {"stores": "y", "adds": "y", "pushes": "F", "appends": "O", "loops_over_tiles": "A"}
IN_PASSES = {"counted"}


def _name(r: Refusal) -> str:
    return re.sub(r"\W+", "_", f"{r.where} {r.marked}").strip("_")[:60]


@pytest.mark.parametrize("r", TABLE, ids=_name)
def test_refused(r: Refusal) -> None:
    error = refusal(r.text(), ARGUMENTS, **CAPTURED)
    assert error is not None, "it was accepted"
    assert error.message == r.message
    assert error.hint == r.hint
    at = error.location
    assert (at.line, at.column, at.end_column) == r.span(), str(error)


@pytest.mark.parametrize("name", CALLED)
def test_refused_in_a_function(name: str) -> None:
    """The caret stands in the function's own file, not at the call."""
    message, underlined, hint = CALLED[name]
    call = f"{name}({ARGUMENT.get(name, 'x[row]')})"
    store = (
        f"for k in A.atoms(row):\n            x[k] = {call}"
        if name in IN_PASSES
        else f"y[row] = {call}"
    )
    kernel = f"def kernel(A, F, O, x, y):\n    for row in A.tiles():\n        {store}\n"
    error = refusal(kernel, ARGUMENTS, **{n: v for n, v in vars(helpers).items() if n[0] != "_"})
    assert error is not None
    assert (error.message, error.hint) == (message, hint)
    at = error.location
    assert at.file == helpers.__file__
    assert at.text[at.column - 1 : at.end_column - 1] == underlined
    with open(helpers.__file__) as file:
        assert file.read().splitlines()[at.line - 1] == at.text


ACTING = {  # call -> what is refused in the function, under which caret
    "makes_scratch(A, y)": (
        "ev.scratch in a function",
        "ev.scratch(8, float)",
        "make it in the kernel itself, and pass it",
    ),
    "stores_locally(h)": (
        "a store into the local array h in a function",
        "h[0]",
        "store where it is made",
    ),
    "walks_tiles(A)": (
        "a loop over tiles that is not at the top level of the kernel",
        "A.tiles()",
        "write the loop in the kernel itself",
    ),
}


@pytest.mark.parametrize("call", ACTING)
def test_refused_in_a_function_called_as_a_statement(call: str) -> None:
    message, underlined, hint = ACTING[call]
    inside = f"    for row in A.tiles():\n        h = ev.local(4, float)\n        {call}\n"
    outside = "    walks_tiles(A)\n" if call.startswith("walks") else ""
    kernel = f"def kernel(A, x, y):\n{outside or inside}"
    names = {n: v for n, v in vars(helpers).items() if n[0] != "_"}
    error = refusal(kernel, ARGUMENTS, **names)
    assert error is not None
    assert (error.message, error.hint) == (message, hint)
    at = error.location
    assert at.text[at.column - 1 : at.end_column - 1] == underlined


def test_a_function_with_a_value_does_not_store() -> None:
    names = {n: v for n, v in vars(helpers).items() if n[0] != "_"}
    kernel = "def kernel(A, x, y):\n    for row in A.tiles():\n        stores(y)\n"
    error = refusal(kernel, ARGUMENTS, **names)
    assert error is not None
    assert error.message == "a call whose value is not used"


class Indented:
    @staticmethod
    def kernel(A, y):
        for row in A.tiles():
            Δ = 0.0
            y[row] = Δ + unheard  # noqa: F821


def test_the_place_is_that_of_the_users_file() -> None:
    """In a class, behind other text: file, line and column are the file's own."""
    with pytest.raises(LanguageError) as caught:
        lowered(Indented.kernel, {"A": rows([1.0]), "y": f32(0)})
    at = caught.value.location
    assert at.file == __file__
    with open(__file__) as file:
        line = file.read().splitlines()[at.line - 1]
    assert line == at.text
    assert line[at.column - 1 : at.end_column - 1] == "unheard"
    assert str(caught.value).splitlines() == [
        "unheard is not defined here",
        f"  --> {__file__}:{at.line}:{at.column} in Indented.kernel",
        f"   | {line}",
        f"   | {' ' * (at.column - 1)}^^^^^^^",
    ]


def test_the_hint_is_the_last_line() -> None:
    error = refusal(Refusal("tile", "q = rowe", "").text(), ARGUMENTS)
    assert error is not None
    assert str(error).splitlines()[-1] == "   = hint: did you mean row?"


def test_refusals_are_errors_of_the_kernel() -> None:
    assert issubclass(LanguageError, ev.KernelError)
    assert issubclass(LanguageError, ev.EvenlyError)


def test_a_kernel_is_refused_when_it_is_called() -> None:
    @ev.kernel
    def bad(A, y):
        for row in A.tiles():
            y[row] = [1]

    with pytest.raises(LanguageError, match="a list is not part of the kernel language"):
        bad.on("python")(rows([1.0]), f32(0))


def test_functions_without_source() -> None:
    space: dict[str, object] = {}
    exec("def kernel(A, y):\n    for row in A.tiles():\n        y[row] = 1\n", space)
    with pytest.raises(ev.InputError, match="source="):
        lowered(space["kernel"], {"A": rows([1.0]), "y": f32(0)})  # type: ignore[arg-type]
