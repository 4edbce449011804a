"""Each hook that a lower floor declares is connected with a function of a higher one."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenly import hooks, wiring

SRC = Path(__file__).resolve().parents[1] / "src"


def declared() -> set[str]:
    """The functions with `@hook` in the sources, as "module:name"."""
    return {
        f"{'.'.join(path.relative_to(SRC).with_suffix('').parts)}:{node.name}"
        for path in (SRC / "evenly").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator) == "hook" for decorator in node.decorator_list)
    }


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def test_every_hook_is_connected() -> None:
    assert set(wiring.TABLE) == declared()


@pytest.mark.parametrize(("hook", "place"), wiring.TABLE.items())
def test_the_function_takes_what_the_hook_says(hook: str, place: str) -> None:
    module, _, name = hook.partition(":")
    wanted = parameters(getattr(importlib.import_module(module), name))
    given = parameters(hooks.function_at(place))
    assert given[: len(wanted)] == wanted
    assert all(p.default is not p.empty for p in given[len(wanted) :])


def test_a_hook_calls_what_it_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    @hooks.hook
    def length(of: str) -> int:
        raise NotImplementedError

    monkeypatch.setitem(hooks._places, hooks.name_of(length), "builtins:len")
    assert length("four") == 4
