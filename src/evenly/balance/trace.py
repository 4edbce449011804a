"""Write which worker takes which atom at which step to a file, for `plan.trace()`. docs/trace.md has the format."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.language.phases import Once, Owned, Phase, Phases
from evenly.language.source import Source
from evenly.layouts.contract import masks
from evenly.layouts.moving import move
from evenly.schedules.contract import Sizes, is_integer
from evenly.targets.python.tasks import Ran
from evenly.version import __version__

from .balance import Numbers, label_of
from .items import ItemSteps, steps_of_items
from .profile import offsets_of
from .steps import Steps, steps, steps_of_partition
from .tasks import check_tasks, steps_of_tasks

FORMAT, VERSION = "evenly-trace", 1
SUFFIXES = (".json", ".json.gz")
MOST = 5_000_000  # tiles and atoms that a browser takes in a few seconds
AT_ONCE = 1 << 16  # numbers that become text at a time


def trace(
    source: Source,
    binding: Binding,
    phases: Phases,
    schedule: Any,
    path: Any,
    processors: int | None,
    run: Callable[[], list[Ran]],
) -> None:
    """Write a trace of each of a kernel's passes, in a launch, or in a partition for so many processors.

    run: runs the kernel, and returns what its loops over tasks have run.

    Raises InputError for a path, a number or a size that is refused.
    """
    check_path(path)
    if processors is not None:
        check_processors(processors)
    of_tasks = [p for p in phases.phases if _has_tasks(p)]
    for _ in of_tasks:
        check_tasks(source.name, schedule, processors)
    walked = [
        p for p in phases.phases if not isinstance(p, Once) and (_has_tasks(p) or _has_atoms(p))
    ]
    if not walked:
        expected = "a kernel with a loop over atoms"
        raise InputError(f"{source.name}: trace", expected=expected, given="one without")
    ran = iter(_ran(source, run, len(of_tasks)) if of_tasks else ())
    made = [
        _head(phase, binding, schedule, source, processors)
        | (
            steps_of_tasks(schedule, next(ran), processors or 1)
            if _has_tasks(phase)
            else _phase(phase, binding, schedule, processors)
        )
        for phase in walked
    ]
    head = {
        "format": FORMAT,
        "version": VERSION,
        "evenly": __version__,
        "kernel": source.name,
        "source": source.text,
    }
    with _opened(Path(path)) as file:
        _write(file, head | {"phases": made})
        file.write("\n")


def check_path(path: Any, name: str = "path") -> None:
    """Refuse a path that no trace can be written to, before anything is computed."""
    if not isinstance(path, str | PathLike):
        raise InputError(name, expected="the path of a file", given=type(path).__name__)
    if not str(path).endswith(SUFFIXES):
        expected = "a file that ends in .json or .json.gz"
        raise InputError(name, expected=expected, given=repr(str(path)))
    if not Path(path).absolute().parent.is_dir():
        raise InputError(name, expected="a file in a folder that exists", given=repr(str(path)))


def _has_atoms(phase: Phase) -> bool:
    return not isinstance(phase, Owned) or phase.has_pass


def _has_tasks(phase: Phase) -> bool:
    return isinstance(phase, Owned) and phase.tasks is not None


def _ran(source: Source, run: Callable[[], list[Ran]], loops: int) -> list[Ran]:
    """Return what each loop over tasks has run."""
    ran, what = run(), f"{source.name}: trace of tasks"
    if len(ran) != loops:
        expected = f"each of {loops} loops over tasks to run once"
        raise InputError(what, expected=expected, given=f"{len(ran)} runs")
    most = max(len(loop.rounds) for loop in ran)
    if most > MOST:
        raise InputError(what, expected=f"at most {MOST:,} tasks", given=f"{most:,}")
    return ran


def check_processors(given: Any, name: str = "processors") -> None:
    if not is_integer(given) or given < 1:
        raise InputError(name, expected="a number of processors, 1 or more", given=repr(given))


def _head(
    phase: Any, binding: Binding, schedule: Any, source: Source, processors: int | None
) -> dict[str, Any]:
    """Return what the entry of any phase begins with."""
    return {
        "layout": ".".join(phase.path),
        "kind": type(binding.layout(phase.path)).__name__,
        "line": 0 if phase.at is None else phase.at.line - source.first_line + 1,
        "schedule": label_of(schedule),
        "processors": processors,
    }


def _phase(phase: Any, binding: Binding, schedule: Any, processors: int | None) -> dict[str, Any]:
    """Return who takes the atoms of one phase. Its arrays are NumPy's."""
    whole, name = binding.layout(phase.path), ".".join(phase.path)
    sizes = Sizes(int(whole.max_tiles), int(whole.max_atoms))
    if sizes.num_tiles + sizes.num_atoms > MOST:
        raise InputError(
            f"the trace of {name}",
            expected=f"at most {MOST:,} tiles and atoms, which a browser can show",
            given=f"{sizes.num_tiles + sizes.num_atoms:,}",
            hint=f"trace some of the tiles: {name}.slice(range(1000))",
        )
    here = move(whole, "cpu")
    offsets = offsets_of(here)
    of_items = phase.layout.items
    if of_items and processors is not None:
        raise InputError(
            "processors",
            expected="none, of a kernel with a loop over items",
            given=str(processors),
            hint="without it, a launch is written",
        )
    if of_items:
        found: Steps = steps_of_items(schedule, here, offsets)
    elif processors is None:
        found = steps(schedule, here, offsets, sizes)
    else:
        found = steps_of_partition(schedule, here, offsets, processors)
    return {
        "blocks": found.blocks,
        "block": found.block,
        "offsets": offsets,
        "worker": found.worker,
        "step": found.step,
        "masked": _masked(here, offsets),
    } | _items(found)


def _items(found: Steps) -> dict[str, Numbers]:
    """Return what the phase of a loop over items has beside the others."""
    if not isinstance(found, ItemSteps):
        return {}
    return {"items": found.items, "owner": found.owner, "size": found.size, "width": found.width}


def _masked(layout: Any, offsets: Numbers) -> Numbers:
    """Return the positions of padding, ascending."""
    if not masks(layout):
        return np.zeros(0, np.int64)
    positions = np.arange(int(offsets[-1]))
    tiles = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    try:
        valid = np.asarray(layout.valid(tiles, positions), bool)
    except (TypeError, ValueError):  # it branches, or needs an integer
        pairs = zip(tiles.tolist(), positions.tolist(), strict=True)
        valid = np.fromiter((bool(layout.valid(t, p)) for t, p in pairs), bool, len(positions))
    return np.flatnonzero(~valid)


# ---- text -------------------------------------------------------------------------------------------
def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":  # the same trace is the same bytes: no time of writing
        packed = gzip.GzipFile(path, "wb", compresslevel=6, mtime=0)
        return io.TextIOWrapper(packed, encoding="ascii")
    return path.open("w", encoding="ascii")


def _write(file: TextIO, value: Any) -> None:
    """Write JSON, in which the members of an array become text piece by piece."""
    if isinstance(value, np.ndarray):
        file.write("[")
        file.writelines(_numbers(value))
        file.write("]")
    elif isinstance(value, dict):
        for i, (key, member) in enumerate(value.items()):
            file.write(f"{',' if i else '{'}{json.dumps(key)}:")
            _write(file, member)
        file.write("}")
    elif isinstance(value, list):
        for i, member in enumerate(value):
            file.write("," if i else "[")
            _write(file, member)
        file.write("]" if value else "[]")
    else:
        file.write(json.dumps(value))


def _numbers(values: Numbers) -> Iterator[str]:
    for first in range(0, len(values), AT_ONCE):
        text = ",".join(map(str, values[first : first + AT_ONCE].tolist()))
        yield f",{text}" if first else text
