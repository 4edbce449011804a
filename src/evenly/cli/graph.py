"""Run `evenly graph ALGORITHM FILE`: an algorithm of `ev.graph` on the matrix in a file, timed and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import evenly as ev
from evenly import targets
from evenly.bench import graph_references as references
from evenly.cli import dtypes, levels
from evenly.cli.csv_file import CsvFile, Row
from evenly.cli.failures import RIGHT, WRONG, check_range
from evenly.cli.progress import Progress
from evenly.cli.spmv import dataset_of
from evenly.cli.timing import host_clock, medians
from evenly.errors import InputError, printable, unknown
from evenly.interop.transfer import to_numpy, wait_for
from evenly.schedules import TABLE as SCHEDULES


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly graph`; its `--help` describes them."""

    algorithm: str
    file: str
    source: int | None = None
    schedule: str = "auto"
    target: str = "auto"
    repeat: int | None = None
    csv: str | None = None
    validate: bool = False
    picture: bool = False


@dataclass(frozen=True, slots=True)
class Algorithm:
    """run: the call, with a layout and other arguments. says: a line about the result, as a NumPy array.

    errors: how many entries of it are wrong, for a csr_array and the source. picture: of a search,
    which takes a source.
    """

    run: Callable[..., Any]
    says: Callable[[Any], str]
    errors: Callable[[Any, int, Any], int]
    picture: Callable[[Any], Iterator[str]] | None = None

    @property
    def from_source(self) -> bool:
        return self.picture is not None


def reached(found: Any) -> str:
    return f"Reached: {(found >= 0).sum()} vertices, the farthest on level {found.max()}"


def distances(found: Any) -> str:
    near = found[np.isfinite(found)]
    return f"Reached: {len(near)} vertices, the farthest at {near.max():g}"


def highest(ranks: Any) -> str:
    if not len(ranks):
        return "Highest: none"
    return f"Highest: vertex {ranks.argmax()} with {ranks.max():.6f}"


def components(labels: Any) -> str:
    sizes = np.bincount(labels)
    return f"Components: {(sizes > 0).sum()}, the largest of {sizes.max(initial=0)} vertices"


def triangles(counts: Any) -> str:
    return f"Triangles: {counts.sum() // 3}"


def cores(numbers: Any) -> str:
    most = numbers.max(initial=0)
    return f"Greatest core number: {most}, of {(numbers == most).sum()} vertices"


TABLE = {
    "bfs": Algorithm(ev.graph.bfs, reached, references.bfs, levels.of_levels),
    "sssp": Algorithm(ev.graph.sssp, distances, references.sssp, levels.of_distances),
    "pagerank": Algorithm(ev.graph.pagerank, highest, references.pagerank),
    "components": Algorithm(ev.graph.connected_components, components, references.components),
    "triangles": Algorithm(ev.graph.triangles, triangles, references.triangles),
    "cores": Algorithm(ev.graph.core_numbers, cores, references.cores),
}


def run(options: Options) -> int:
    """Run the command, print the results, and return the exit status. Raises InputError for bad input."""
    for option, name, known in (
        ("ALGORITHM", options.algorithm, [*TABLE]),
        ("--schedule", options.schedule, [*SCHEDULES, "auto"]),
        ("--target", options.target, [*targets.TABLE, "auto"]),
    ):
        if name not in known:
            raise unknown(option, name, known)
    if options.repeat is not None:
        check_range("--repeat", options.repeat, 1)
    algorithm, source = TABLE[options.algorithm], options.source or 0
    if options.source is not None and not algorithm.from_source:
        expected = f"none: {options.algorithm} has no source"
        raise InputError("--source", expected=expected, given=str(options.source))
    if options.picture and algorithm.picture is None:
        expected = f"none: {options.algorithm} has no levels"
        raise InputError("--picture", expected=expected, given="it")
    given = {"source": source} if algorithm.from_source else {}
    csv = CsvFile(options.csv) if options.csv is not None else None
    with Progress(f"reading {printable(options.file)}") as progress:
        target = targets.working(options.target)
        matrix = _read(options.file)
        G = ev.csr(matrix).to(target.place)
        repeat = options.repeat or (10 if target.clock else 1)

        def call() -> Any:
            found = algorithm.run(G, **given, schedule=options.schedule, target=target.name)
            wait_for(found)
            return found

        progress.say(f"compiling {options.algorithm}")
        found = to_numpy(_named(call, options.file))
        progress.say("measuring")
        elapsed = medians({options.algorithm: host_clock(call)}, repeat)[options.algorithm]
        progress.say("checking")
        wrong = algorithm.errors(matrix, source, found) if options.validate else None
    print(f"Elapsed (ms): {elapsed:.6f}")
    print(f"Graph: {printable(Path(options.file).name)}")
    print(f"Size: {matrix.shape[0]} vertices, {matrix.nnz} stored edges")
    print(algorithm.says(found))
    if options.picture and algorithm.picture is not None:
        for text in algorithm.picture(found):
            print(text)
    if wrong is not None:
        print(f"Errors: {wrong}")
    if csv is not None:
        rows, columns = matrix.shape
        dataset = dataset_of(options.file)
        csv.append([Row(options.algorithm, dataset, rows, columns, matrix.nnz, elapsed)])
    return WRONG if wrong else RIGHT


def _read(file: str) -> Any:
    try:
        return dtypes.read(file, "float64")
    except InputError as error:
        if "--dtype" in error.hint:  # which this command does not have
            error.hint = ""
        raise


def _named(call: Callable[[], Any], file: str) -> Any:
    """Run a call whose errors name the arguments as the command line does."""
    try:
        return call()
    except InputError as error:
        error.argument = {"G": file, "source": "--source"}.get(error.argument, error.argument)
        if "weighted=" in error.hint:  # which this command does not have
            error.hint = ""
        raise
