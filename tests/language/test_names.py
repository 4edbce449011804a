"""No two names clash: kernels in which every name is nasty give the reference's results, on all targets."""

from __future__ import annotations

import importlib.util
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.targets.python.layouts import LayoutView, Walk

from .nasty_names import BUILTINS, NASTY, ours, plain_text, text_of

POOLS = {"nasty": NASTY, "builtins": BUILTINS, "ours": ours()}
SCHEDULES = ("own", "thread_mapped", "group_mapped", "merge_path")


def _module(chosen: dict[str, str], seed: int, folder: Path) -> Any:
    path = folder / f"names_{seed}.py"
    path.write_text(chosen[""], encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(module: Any, chosen: dict[str, str], schedule: str, target: str) -> list[np.ndarray]:
    def named(place: str) -> Any:
        return vars(module)[unicodedata.normalize("NFKC", chosen[place])]

    offsets, indices = np.int32([0, 2, 2, 5, 6]), np.int32([0, 3, 1, 1, 2, 0])
    A = named("Layout")(offsets, indices, np.int32([1, 2, 3, 4, 5, 6]))
    out = [np.zeros(4, np.int64), np.zeros((4, 2), np.int64), np.zeros(1, np.int64)]
    chosen_schedule = named("Schedule")() if schedule == "own" else schedule
    named("kernel")[chosen_schedule].on(target)(A, np.int32([5, -1, 2, 7]), 3, np.int32(9), *out)
    return out


def _agree(pool: str, seed: int, folder: Path, *cases: tuple[str, str]) -> None:
    chosen = text_of(seed, POOLS[pool])
    module = _module(chosen, seed, folder)
    plain = plain_text()
    expected = _run(_module(plain, -1, folder), plain, "own", "python")
    for schedule, target in (("own", "python"), *cases):
        got = _run(module, chosen, schedule, target)
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{target}, {schedule}: {chosen['']}")


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("seed", range(3))
def test_names_do_not_meet(pool: str, seed: int, tmp_path: Path) -> None:
    _agree(pool, seed, tmp_path, (SCHEDULES[seed % 4], "cpu"))


@pytest.mark.simt
@pytest.mark.parametrize("pool", POOLS)
def test_names_do_not_meet_in_cpp(pool: str, tmp_path: Path) -> None:
    _agree(pool, 0, tmp_path, ("own", "simt"))


@pytest.mark.slow
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("seed", range(100))
def test_names_do_not_meet_at_length(pool: str, seed: int, tmp_path: Path) -> None:
    cases = [
        (schedule, target) for schedule in SCHEDULES[:: 1 + seed % 2] for target in ("cpu", "simt")
    ]
    _agree(pool, 100 + seed, tmp_path, *cases)


@pytest.mark.parametrize("pool", POOLS)
def test_names_do_not_meet_in_the_reference(pool: str, tmp_path: Path) -> None:
    for seed in range(20):
        _agree(pool, seed, tmp_path)


PRIVATE = """
import evenly as ev


@ev.layout
class _Windows:
    num_tiles: int
    __width: int

    @property
    def num_atoms(self):
        return self.num_tiles * self.__width

    def begin(self, tile):
        return tile * self.__width

    def end(self, tile):
        return self.begin(tile) + self.__width

    def __twice(self, __k):
        __twofold = 2 * __k
        return __twofold

    def value(self, k):
        return self.__twice(k)


@ev.schedule
class Schedule:
    __block: int = 64
    owner = "thread"

    def launch(self, layout):
        return -(-layout.num_tiles // self.__block), self.__block

    def tiles(self, layout):
        return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


class Kernels:
    def made(self):
        __shift = 3

        @ev.func
        def shifted(__v):
            return __v + __shift

        @ev.kernel
        def kernel(A, out, *, __scale=1):
            for t in A.tiles():
                out[t] = __scale * sum(shifted(__v=A.value(k)) for k in A.atoms(t))

        return kernel
"""


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_private_names_of_classes(target: str, tmp_path: Path) -> None:
    """`__width` in a class is `_Windows__width`: for fields, methods, parameters, locals, and in functions made there."""
    module = _module({"": PRIVATE}, 0, tmp_path)
    out = np.zeros(2, np.int64)
    kernel = module.Kernels().made()[module.Schedule()].on(target)
    kernel(module._Windows(2, 2), out)
    assert list(out) == [8, 16]
    kernel(module._Windows(2, 2), out, _Kernels__scale=10)
    assert list(out) == [80, 160]


OF_THE_REFERENCE = sorted(
    {
        n
        for n in (*vars(LayoutView), *vars(LayoutView(ev.ragged(np.int32([0])), "A", Walk(str))))
        if n[:2] != "__"
    }
    - {"tiles", "atoms"}
    | {"_module", "_replace"}
)


@pytest.mark.parametrize("name", OF_THE_REFERENCE)
def test_the_reference_leaves_names_to_layouts_and_modules(name: str, tmp_path: Path) -> None:
    text = f"""
import types
import evenly as ev

here = types.ModuleType("here")
here.{name} = 3

@ev.layout
class Singles:
    num_tiles: int
    {name}: int

    @property
    def num_atoms(self):
        return self.num_tiles

    def begin(self, tile):
        return tile

    def end(self, tile):
        return tile + 1

@ev.kernel
def kernel(A, out):
    for t in A.tiles():
        out[t] = A.{name} * here.{name}
"""
    module = _module({"": text}, 0, tmp_path)
    out = np.zeros(2, np.int64)
    module.kernel.on("python")(module.Singles(2, 7), out)
    assert list(out) == [21, 21]
