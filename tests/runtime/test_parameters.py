"""Arguments by position and by name, and defaults, work as in Python; errors say what does not fit."""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.runtime.call_cache import CallCache
from evenly.runtime.kernel import Kernel

A = ev.csr((np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1]), np.array([0, 1, 3])), shape=(2, 2))
SUMS = np.array([1.0, 5.0])


@ev.kernel
def scaled(A, y, /, alpha=2.0, beta=None, *, shift=0.0, by):
    for t in A.tiles():
        y[t] = sum(A.value(k) for k in A.atoms(t)) * alpha + shift * by


def of(call: Any, *args: Any, **named: Any) -> list[float]:
    y = np.zeros(2)
    call(A, y, *args, **named)
    return list(y)


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_calls(target: str) -> None:
    bound = scaled["thread_mapped"].on(target)
    for call in (scaled, bound, bound.plan(A, np.zeros(2), by=1.0)):
        for _ in range(3):
            assert of(call, by=1.0) == list(2 * SUMS)
            assert of(call, 3.0, by=1.0) == list(3 * SUMS)
            assert of(call, shift=4.0, by=2.0, alpha=3.0) == list(3 * SUMS + 8)


def test_calls_with_defaults_are_known_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, y = scaled.copy(), np.zeros(2)
    plan = kernel.plan(A, y, by=1.0)
    calls = [lambda: kernel(A, y, by=1.0), lambda: plan(A, y, by=1.0)]
    for call in calls * 3:
        call()
    monkeypatch.setattr(CallCache, "remember", None)
    for call in calls:
        y[:] = 0
        call()
        assert list(y) == list(2 * SUMS)


def test_defaults_are_those_of_the_moment_and_a_plans_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = scaled.plan(A, np.zeros(2), by=1.0, target="cpu")
    monkeypatch.setattr(scaled.function, "__defaults__", (5.0, None))
    assert of(scaled, by=1.0) == list(5 * SUMS)
    assert of(plan, by=1.0) == list(2 * SUMS)


def test_a_parameter_called_self_or_schedule() -> None:
    @ev.kernel
    def k(self, y, schedule=2.0):
        for t in self.tiles():
            y[t] = schedule

    y = np.zeros(2)
    k(self=A, y=y, schedule=3.0)
    assert list(y) == [3, 3]
    k.plan(self=A, y=y, schedule="merge_path")(y=y, self=A)
    assert list(y) == [2, 2]
    k["merge_path"].plan(self=A, y=y, schedule=4.0)(y=y, self=A, schedule=5.0)
    assert list(y) == [5, 5]


def test_keyword_only_is_so_also_where_calls_are_remembered() -> None:
    @ev.kernel
    def k(A, y, *, by=2.0):
        for t in A.tiles():
            y[t] = by

    y = np.zeros(2)
    plan, bound = k.plan(A, y, target="cpu"), k["merge_path"].on("cpu")
    for call in (plan, bound, k) * 3:
        call(A, y)
        call(A, y, by=2.0)
        with pytest.raises(ev.InputError, match="k: expected 2 to 3 arguments"):
            call(A, y, 2.0)


LISTED = "A, y, /, alpha=2.0, beta=None, *, shift=0.0, by"
Y = np.zeros(2)
REFUSED = [
    ((A,), {}, f"scaled: expected 3 to 6 arguments ({LISTED}), got 1, without y and by"),
    ((A, Y), {}, f"scaled: expected 3 to 6 arguments ({LISTED}), got 2, without by"),
    ((A, Y, 1.0, None, 0.0), {"by": 1.0}, f"scaled: expected 3 to 6 arguments ({LISTED}), got 5"),
    ((A, Y), {"by": 1.0, "alfa": 1.0}, "argument of scaled: expected one of A, alpha, beta, by, shift, y, got 'alfa'; hint: did you mean 'alpha'?"),
    ((A, Y, 1.0), {"by": 1.0, "alpha": 1.0}, "alpha: expected one value, got one by place, and alpha="),
    ((A,), {"by": 1.0, "y": Y}, "y: expected a value by place: the parameter stands before the /, got y="),
]  # fmt: skip


@pytest.mark.parametrize(("args", "named", "said"), REFUSED)
def test_what_does_not_fit(args: Any, named: Any, said: str) -> None:
    plan = scaled.plan(A, Y, by=1.0, target="cpu")
    for call in (scaled, scaled["merge_path"].on("cpu"), scaled.plan, plan):
        with pytest.raises(ev.InputError) as caught:
            call(*args, **named)
        assert str(caught.value) == said


def test_plain_parameters_are_counted() -> None:
    @ev.kernel
    def k(A, y):
        for t in A.tiles():
            y[t] = 1.0

    with pytest.raises(ev.InputError) as caught:
        k(A)
    assert str(caught.value) == "k: expected 2 arguments (A, y), got 1, without y"


@pytest.mark.parametrize("stars", ["*y", "**y"])
def test_starred_parameters_are_refused_with_their_line(stars: str) -> None:
    text = f"def k(A, {stars}):\n    for t in A.tiles():\n        pass\n"
    space: dict[str, Any] = {}
    exec(text, space)
    kernel = ev.kernel(source=text)(space["k"])
    for call in (kernel, kernel.plan, kernel["merge_path"].on("python")):
        for args, named in (((A,), {}), ((A, Y, Y), {}), ((A,), {"y": Y}), ((A, Y), {})):
            with pytest.raises(ev.LanguageError, match="a starred parameter is not part of"):
                call(*args, **named)


def test_any_call_is_bound_as_python_binds_it() -> None:
    """A call that Python refuses is refused."""
    draw = random.Random(0)
    for _ in range(300):
        parts = [draw.choice(["a", "a=1"]), draw.choice(["b=2", "b=2", "b"]), "c=3", "d", "e=5"]
        if "=" in parts[0]:
            parts[1] = "b=2"
        for mark, place in (("/", draw.randrange(1, 4)), ("*", 4 if draw.random() < 0.5 else None)):
            if place is not None and mark not in parts:
                parts.insert(place, mark)
        if "*" not in parts:
            parts[parts.index("d")] = "d=4"
        names: dict[str, Any] = {}
        exec(f"def f({', '.join(parts)}):\n    return a, b, c, d, e\n", names)
        kernel = Kernel(names["f"])
        args = tuple(range(10, 10 + draw.randrange(6)))
        named = {n: 20 for n in "abcdez" if draw.random() < 0.25}
        try:
            expected = names["f"](*args, **named)
        except TypeError:
            with pytest.raises(ev.InputError):
                kernel.arranged(args, named)
        else:
            assert kernel.arranged(args, named) == expected


@ev.func
def placed(a, /, b, *, c=3.0):
    return a + 10 * b + 100 * c


CALLS = ["placed(1.0, 2.0)", "placed(1.0, b=2.0, c=4.0)", "placed(1.0, 2.0, 3.0)", "placed(a=1.0, b=2.0)",
         "placed(1.0)", "placed(1.0, 2.0, b=3.0)", "placed(1.0, 2.0, d=3.0)"]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_functions_take_arguments_as_python_does(call: str) -> None:
    text = f"def k(A, y):\n    for t in A.tiles():\n        y[t] = {call}\n"
    space: dict[str, Any] = {"placed": placed}
    exec(text, space)
    kernel = ev.kernel(source=text)(space["k"])
    try:
        expected = eval(call, space)
    except TypeError:
        with pytest.raises(ev.LanguageError, match="placed (takes|needs|got)"):
            kernel(A, Y)
    else:
        for target, _ in itertools.product(("python", "cpu"), range(2)):
            kernel.on(target)(A, Y)
            assert (expected == Y).all()


@pytest.mark.parametrize("thing", [len, functools.partial(max), int, object(), staticmethod(max)])
def test_kernels_and_functions_are_made_of_functions(thing: Any) -> None:
    for make, name in ((ev.kernel, "ev.kernel"), (ev.func, "ev.func")):
        with pytest.raises(ev.InputError) as caught:
            make(thing)
        assert str(caught.value) == f"{name}: expected a function, got {type(thing).__name__}"


def test_long_defaults_are_not_shown() -> None:
    @ev.kernel
    def k(A, y, big=10**5000, data=Y, text="a" * 100):
        pass

    with pytest.raises(ev.InputError) as caught:
        k(A)
    assert "(A, y, big=..., data=..., text=...), got 1, without y" in str(caught.value)


@pytest.mark.parametrize("target", ["cpu", "python", pytest.param("simt", marks=pytest.mark.simt)])
def test_kernels_that_do_nothing(target: str) -> None:
    @ev.kernel
    def nothing():
        pass

    @ev.kernel
    def nothing_with(A, y):
        pass

    for call in (nothing.on(target), nothing.plan(target=target)):
        for _ in range(3):
            call()
    for call in (nothing_with.on(target), nothing_with.plan(A, Y, target=target)):
        for _ in range(3):
            call(A, Y)
