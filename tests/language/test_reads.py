"""The values that code reads from outside: exactly those are tracked, to any depth, and compared exactly."""

from __future__ import annotations

import linecache
import math
import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.arguments import spec_of
from evenly.language import reads
from evenly.runtime.kernel import Kernel

NAN = float("nan")
APART = [
    0, 1, True, False, 0.0, -0.0, 1.0, NAN, math.inf, 0j, complex(0.0, -0.0), complex(-0.0, 0.0), 1 + 0j,
    complex(NAN, 1), np.float32(1), np.float64(1), np.int32(1), np.int64(1), np.bool_(True), np.float32(-0.0),
    np.float32(0), np.complex64(1), (), (1,), (1.0,), (0.0,), (-0.0,), (1, (2, 3)), (1, (2, 3.0)), None, sum, max,
]  # fmt: skip
A = ev.csr((np.array([1.0, 2.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
SPECS = tuple(spec_of(v, n) for v, n in ((A, "A"), (np.zeros(2), "y")))


def test_numbers_of_one_type_are_compared_exactly() -> None:
    for i, a in enumerate(APART):
        for j, b in enumerate(APART):
            assert reads.alike(a, b) is (i == j), (a, b)
    assert reads.alike(float("nan"), -float("nan"))
    assert reads.alike((1.0, float("nan")), (1.0, float("nan")))
    assert reads.alike(np.float32("nan"), np.float32("nan"))


def test_a_number_is_what_it_is_not_how_it_is_shown_or_compared() -> None:
    class Odd(float):
        __repr__ = lambda self: "odd"  # noqa: E731
        __eq__ = lambda self, other: True  # noqa: E731
        __hash__ = float.__hash__

    assert not reads.alike(Odd(1.5), Odd(2.5))
    assert reads.alike(Odd(1.5), Odd(1.5))


def test_integers_too_long_to_be_written() -> None:
    long = 10**5000
    assert not reads.alike(long, 1) and not reads.alike((1, long), (1, 2))
    assert reads.alike(long, 10**5000)


def follows(kernel: Kernel, change: Callable[[], Any]) -> bool:
    """Whether a kernel is compiled again, with the right result, after a change, and not before."""
    before = kernel.program(SPECS)
    assert kernel.program(SPECS) is before
    change()
    after = kernel.program(SPECS)
    assert repr(after) == repr(kernel.copy().program(SPECS))
    return after is not before


def module(**values: Any) -> Any:
    made = types.ModuleType("some")
    vars(made).update(values)
    return made


FACTOR, UNUSED = 2.0, 5
mod = module(
    number=2.0, pair=(1, 2.0), inner=module(number=1j, inner=module(f=ev.func(lambda v: v)))
)


@ev.func
def scaled(v, by=3.0, *, plus=1.0):
    return v * by + plus


def scaled_anew(w, by=3.0, *, plus=1.0):
    return w * by + plus + 4.0


@ev.func
def other_scaled(v):
    return v


@ev.kernel
def names(A, y):
    for t in A.tiles():
        y[t] = FACTOR


@ev.kernel
def attributes(A, y):
    for t in A.tiles():
        y[t] = mod.number + mod.pair[1] + mod.inner.number.imag


@ev.kernel
def builtin(A, y):
    for t in A.tiles():
        y[t] = sum(A.value(k) for k in A.atoms(t))


@ev.kernel
def calls(A, y):
    for t in A.tiles():
        y[t] = scaled(1.0)


@ev.kernel
def through_a_local(A, y):
    m = mod.inner
    for t in A.tiles():
        y[t] = m.number.imag


@pytest.mark.parametrize("value", [1j, 3.0, np.float32(2), 2])
def test_globals(monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    storable = value if not isinstance(value, complex) else value.imag
    assert follows(names, lambda: monkeypatch.setitem(globals(), "FACTOR", storable))
    assert not follows(names, lambda: monkeypatch.setitem(globals(), "UNUSED", value))


def test_attributes_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for where, name, value in (
        (mod, "number", 3.0),
        (mod, "pair", (1, 3.0)),
        (mod.inner, "number", 2j),
        (mod, "inner", module(number=5j)),
    ):
        assert follows(attributes, lambda w=where, n=name, v=value: monkeypatch.setattr(w, n, v))
    assert not follows(attributes, lambda: monkeypatch.setattr(mod, "pair", (1, 3.0)))
    assert not follows(attributes, lambda: monkeypatch.setattr(mod, "f", 1, raising=False))
    assert follows(through_a_local, lambda: monkeypatch.setattr(mod.inner, "number", 7j))


def test_a_module_that_gives_names_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = module()
    lazy.__getattr__ = lambda name: {"number": 4.0}[name]  # type: ignore[method-assign]
    monkeypatch.setitem(globals(), "mod", lazy)

    @ev.kernel
    def asks(A, y):
        for t in A.tiles():
            y[t] = mod.number

    assert follows(asks, lambda: monkeypatch.setattr(lazy, "__getattr__", lambda name: 5.0))
    assert follows(asks, lambda: setattr(lazy, "number", 6.0))


def test_a_new_global_that_shadows_a_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    before = builtin.program(SPECS)
    monkeypatch.setitem(globals(), "sum", ev.func(other_scaled.function))
    with pytest.raises(ev.LanguageError):
        builtin.program(SPECS)
    monkeypatch.delitem(globals(), "sum")
    assert builtin.program(SPECS) is before


def test_functions_and_their_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    function = scaled.function
    monkeypatch.setattr(function, "__defaults__", function.__defaults__)
    monkeypatch.setattr(function, "__kwdefaults__", dict(function.__kwdefaults__))
    assert follows(calls, lambda: setattr(function, "__defaults__", (4.0,)))
    assert follows(calls, lambda: function.__kwdefaults__.update(plus=2.0))
    assert follows(calls, lambda: setattr(function, "__kwdefaults__", {"plus": 3.0}))
    assert follows(calls, lambda: monkeypatch.setitem(globals(), "scaled", other_scaled))


def test_a_function_that_is_given_another_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks that reload modules replace a function's code."""
    function = scaled.function
    monkeypatch.setattr(function, "__code__", function.__code__)
    assert follows(calls, lambda: setattr(function, "__code__", scaled_anew.__code__))
    assert "8.0" in repr(calls.program(SPECS))


def test_defaults_are_what_they_were_where_the_function_was_made() -> None:
    by = 3.0

    @ev.func
    def f(v, by=by):
        return v * by

    @ev.kernel
    def k(A, y):
        for t in A.tiles():
            y[t] = f(2.0)

    by = 10.0
    y = np.zeros(2)
    for target in ("python", "cpu"):
        k["thread_mapped"].on(target)(A, y)
        assert (y == 6).all()


def test_functions_of_one_text_are_several_functions() -> None:
    """A closure over a function of the same text calls another, not itself."""

    def by(factor: float, inner: Any) -> Any:
        @ev.func
        def f(v):
            return inner(v) * factor

        return f

    times = by(3.0, by(2.0, ev.func(other_scaled.function)))

    @ev.kernel
    def k(A, y):
        for t in A.tiles():
            y[t] = times(1.0)

    y = np.zeros(2)
    for target in ("python", "cpu"):
        k["thread_mapped"].on(target)(A, y)
        assert (y == 6).all()


def test_a_function_made_anew_under_its_name() -> None:
    """The old function is gone, and the new one may have its address."""
    space: dict[str, Any] = {"ev": ev}
    text = "def k(A, y):\n    for t in A.tiles():\n        y[t] = f(1.0)\n"
    exec(text, space)
    kernel = ev.kernel(source=text)(space["k"])
    for number in range(60):
        inner = f"def f(v):\n    return v * {number}.0\n"
        exec(inner, space)
        space["f"] = ev.func(source=inner)(space["f"])
        assert repr(kernel.program(SPECS)) == repr(kernel.copy().program(SPECS))


def test_what_is_changed_while_it_is_read_is_read_once() -> None:
    seen = {"a": 1}
    noted = reads.Reads()
    assert noted.item(seen, seen, "a") == 1
    seen["a"] = 2
    assert noted.item(seen, seen, "a") == 1
    assert not noted.hold()
    seen["a"] = 1
    assert noted.hold()


# ---- any graph of modules and functions --------------------------------------------------------------
VALUES = [
    1,
    2,
    True,
    1.0,
    0.0,
    -0.0,
    NAN,
    np.float32(1),
    np.float64(1),
    np.int64(7),
    2j,
    np.complex64(1j),
]


LAYOUT = """
@ev.layout
class Rows:
    data: ev.Array
    num_tiles: int

    @property
    def num_atoms(self):
        return self.num_tiles

    def begin(self, tile):
        return tile

    def end(self, tile):
        return tile + 1

    def value(self, k):
        return self.data[k] + {total}
"""


class Graph:
    """A kernel, functions (by name and by module, with defaults and closures) and modules that read each other."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.modules = [module() for _ in range(3)]
        self.space: dict[str, Any] = {"ev": ev, "m": self.modules[0], "__name__": "graph"}
        vars(self.modules[0])["m"] = self.modules[1]
        vars(self.modules[1])["m"] = self.modules[2]
        self.places = [self.space, *map(vars, self.modules)]
        self.paths = ["", "m.", "m.m.", "m.m.m."]
        self.functions: list[Any] = []
        for place in self.places:
            for name in ("a", "b"):
                place[name] = self.value()
            place["p"] = (self.value(), self.value())
        for number in range(4):
            self.places[self.random.randrange(4)][f"f{number}"] = self.function(number)
        self.layout = self.layout_of(self.terms(4))
        self.kernel = ev.kernel(source=(text := self.text("k", "A, y", self.terms(4))))(
            self.made(text, "k")
        )

    def value(self) -> Any:
        return self.random.choice(VALUES)

    def reading(self) -> str:
        path = self.random.choice(self.paths)
        return path + self.random.choice(["a", "b", "p[0]", "p[1]"])

    def terms(self, functions: int) -> list[str]:
        """Readings, and calls of functions made before; by whichever way leads to them."""
        out = [f"complex({self.reading()}).real" for _ in range(3)]
        for number in range(functions):
            for path, place in zip(self.paths, self.places, strict=True):
                if f"f{number}" in place and self.random.random() < 0.7:
                    out.append(f"{path}f{number}()")
        return out

    def text(self, name: str, parameters: str, terms: list[str]) -> str:
        total = " + ".join(terms)
        if name != "k":
            return f"def {name}({parameters}):\n    return {total}\n"
        return f"def k(A, y):\n    for t in A.tiles():\n        y[t] = {total} + A.value(t)\n"

    def made(self, text: str, name: str) -> Any:
        """The function of a text, with a cell `c` around it."""
        body = "".join(f"    {line}\n" for line in text.splitlines())
        exec(f"def outer(c):\n{body}    return {name}\n", self.space)
        return self.space["outer"](self.value())

    def function(self, number: int) -> Any:
        terms = [*self.terms(number), *(f"complex({name}).real" for name in "cde")]
        text = self.text(f"f{number}", "d=0, *, e=0", terms)
        made = self.made(text, f"f{number}")
        made.__defaults__, made.__kwdefaults__ = (self.value(),), {"e": self.value()}
        self.functions.append(made)
        return ev.func(source=text)(made)

    def layout_of(self, terms: list[str]) -> Any:
        """A layout whose methods read, too."""
        text = LAYOUT.format(total=" + ".join(terms))
        file = f"<layout of a graph {id(self)}>"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        exec(compile(text, file, "exec", dont_inherit=True), self.space)
        return self.space["Rows"]

    def mutate(self) -> None:
        what = self.random.randrange(7)
        function = self.random.choice(self.functions)
        if what == 0:
            function.__defaults__ = (self.value(),)
        elif what == 1:
            function.__kwdefaults__["e"] = self.value()
        elif what == 2:
            function.__closure__[0].cell_contents = self.value()
        elif what == 3:
            self.layout.value = self.layout_of(self.terms(4)).value
        elif what == 4:
            number = self.random.randrange(4)
            place = next(p for p in self.places if f"f{number}" in p)
            place[f"f{number}"] = self.function(number)
        else:
            place = self.random.choice(self.places)
            place[self.random.choice("ab")] = self.value()
            place["p"] = (self.value(), self.value())

    def check(self, rounds: int) -> None:
        specs = spec_of(self.layout(np.ones(2), 2), "A"), SPECS[1]
        for _ in range(rounds):
            held = self.kernel.program(specs)
            assert repr(held) == repr(self.kernel.copy().program(specs))
            self.mutate()


@pytest.mark.parametrize("seed", range(8))
def test_any_graph(seed: int) -> None:
    Graph(seed).check(12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 200))
def test_any_graph_at_length(seed: int) -> None:
    Graph(seed).check(60)
