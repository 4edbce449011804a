"""A kernel's source must be the text of that very function, wherever it comes from. Any other text is refused."""

from __future__ import annotations

import importlib.util
import itertools
import linecache
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.errors import InputError
from evenly.language.own_text import is_own
from evenly.language.source import fetch

_numbers = itertools.count()


def imported(path: Path, text: str) -> Any:
    path.write_text(textwrap.dedent(text))
    linecache.clearcache()
    name = f"own_text_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TEXT = '''\
    """A file."""
    from __future__ import annotations
    import functools
    import evenly as ev

    def decorated(*given):
        return lambda f: f

    @decorated(
        1,
        "text")
    def several_lines(a,
                      b: int = 3, /, *, c=4) -> None:
        """A docstring
            of its own.

        With blank lines.
        """
        x: int = a + b  # a comment
        text = """not
    indented"""
        return sum(a * i for i in range(c) if i) + x

    class Outer:
        __private = 3

        class Inner:
            """Names are mangled."""
            def method(self, __v):
                return self.__private + __v + __v__

            @property
            def number(self): return 1.5

            @staticmethod
            def alone(a): return -0.0, 0.0, 1, 1.0, True, a

    def around(x, y):
        z = 3

        def inner(v, k=y):
            def deeper(): return z
            return [x * i + z for i in range(v)] + [deeper(), inner]

        class Local:
            def method(self):
                return super().__init__, x
        return inner, Local.method

    def asserts(a):
        assert a > 0, f"{a}"
        return a + 1

    one = lambda a: a
    async def coroutine(a): return await a
    def generator(a): yield a; yield from a; a.b[0] += 1; global G; G = {1, 2} if a in {1, 2} else {}
    def same_line(a): return a + 1
    inner, local = around(1, 2)
    def itself(a): return itself(functools.reduce(a))
    FUNCTIONS = [several_lines, Outer.Inner.method, Outer.Inner.number.fget, Outer.Inner.alone, inner, local,
                 asserts, one, coroutine, generator, same_line, around, decorated, itself]
'''


def test_own_texts(tmp_path: Path) -> None:
    for function in imported(tmp_path / "a.py", TEXT).FUNCTIONS:
        fetch(function)


def test_that_text_is_of_this_python_and_this_file() -> None:
    """pytest has written the assertions of this file anew."""

    def kernel(a):
        assert a > 0, "so it is"
        return a + 1.5

    assert is_own(kernel, whole := Path(__file__).read_text())
    for old, new in (("a + 1.5", "a + 2.5"), ("def kernel(a", "def kernel(b")):
        assert not is_own(kernel, whole.replace(old, new))


def test_statements_of_cells_are_compiled_one_by_one() -> None:
    """Then a module that the cell imports is a name like others, whose method is called in another way."""
    text = "import math\ndef f(a):\n    return math.sqrt(a)\n"
    for parts in ([text], [text.splitlines()[0], "\n" + text.partition("\n")[2]]):
        space: dict[str, Any] = {}
        for part in parts:
            exec(part, space)
        assert is_own(space["f"], text)
        assert not is_own(space["f"], text.replace("sqrt", "exp"))


EDITS = [
    ("a + b", "a - b"), ("a * i", "a * 2"), ("range(c) if i", "range(c) if a"), ("def several_lines(a,", "def several_lines(q, a,"),
    ("return sum(a", "return max(a"), ("import functools\n", ""), ("= a + b  # a comment", "= a + b"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_files_edited_since(tmp_path: Path, old: str, new: str) -> None:
    module = imported(path := tmp_path / "a.py", TEXT)
    assert old in TEXT
    path.write_text(textwrap.dedent(TEXT.replace(old, new)))
    if new == "= a + b":  # only a comment
        fetch(module.several_lines)
        return
    with pytest.raises(InputError) as caught:
        fetch(module.several_lines)
    assert str(caught.value) == (
        "several_lines: expected a function whose source can be read, got another text than its own (made by exec, "
        "or was the file edited since?); hint: put it in a file and import that anew, or pass its text as source="
    )


@pytest.mark.parametrize(
    "other", ["a + 1.0", "a + True", "a - 1", "a + 2", "b + 1", "(a, 1)", "a + -1", "a.x"]
)
def test_numbers_are_told_apart(other: str) -> None:
    space: dict[str, Any] = {}
    exec("def f(a): return a + 1", space)
    assert is_own(space["f"], "def f(a):\n    # the same\n    return (a + 1)\n")
    assert is_own(space["f"], "@decorator\ndef f(a: int = 3) -> int:\n    return (a + 1)\n")
    assert not is_own(space["f"], "\ndef f(a): return a + 1")
    assert not is_own(space["f"], f"def f(a): return {other}")


def test_a_function_in_place_of_the_decorated_one() -> None:
    def doubled(f: Any) -> Any:
        import functools

        @functools.wraps(f)
        def other(A, y):
            f(A, y)
            f(A, y)

        return other

    @ev.kernel
    @doubled
    def k(A, y):
        for t in A.tiles():
            y[t] = 1.0

    A = ev.ragged(np.array([0, 1]))
    with pytest.raises(ev.LanguageError, match="k is a plain Python function"):
        k(A, np.zeros(1))


PROGRAM = '''
import evenly as ev, numpy as np
text = """
def k(A, y):
    for t in A.tiles():
        y[t] = 1.0
"""
exec(text)
try:
    ev.kernel(k)(ev.ragged(np.array([0, 1])), np.zeros(1))
except ev.InputError as error:
    print(error)
y = np.zeros(1)
ev.kernel(k, source=text).on("python")(ev.ragged(np.array([0, 1])), y)
print(y)
'''


def test_made_by_exec_in_a_program_of_a_command_line() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.startswith("k: expected a function whose source can be read, got ")
    assert done.stdout.endswith("or pass its text as source=\n[1.]\n")
