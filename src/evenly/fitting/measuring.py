"""Measure every schedule that may be the fastest, on matrices that are drawn by families, and on those of files."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import scipy.sparse

from evenly import targets
from evenly.bench.families import of_families
from evenly.bench.matrices import Source, in_type, sources
from evenly.choosing.statistics import statistics
from evenly.errors import EvenlyError, one_line
from evenly.gpus.gpu import Gpu
from evenly.interop.device_array import DeviceArray
from evenly.interop.families import LENGTHS
from evenly.layouts import csr
from evenly.targets.cuda.place import current_device, gpu_of
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import WARM, measure

from .cases import Case, looked_at
from .tasks import SCHEDULES, SPMVS, TASKS, Named, arguments, compiled, tried
from .workers import Mapped

ROUNDS = 5  # the least time of which counts
LARGEST = 40_000_000  # nonzeros
SPARED = 128  # bytes of a GPU's memory for each nonzero: two types, and what plans store
SEEDS = 3  # that are drawn at most, one after the other


class Place(Protocol):
    """Where schedules are timed. gpu: its properties. memory: bytes. architecture: such as "sm_90"."""

    gpu: Gpu
    memory: int
    architecture: str

    def layout(self, matrix: Any) -> Any:
        """Return the layout of a csr_array there."""
        ...

    def times(self, A: Any, task: Named) -> dict[str, float]:
        """Return the microseconds of a kernel on such a layout under each schedule that may be the fastest."""
        ...


class OnGpu:
    """The current GPU. Raises UnavailableError where there is none."""

    def __init__(self) -> None:
        targets.get("cuda")
        from cuda.bindings import driver

        device = current_device(None)
        self.gpu = gpu_of(device.device_id)
        self.memory = int(driver.cuMemGetInfo()[2])
        major, minor = device.compute_capability
        self.architecture = f"sm_{major}{minor}"
        self.refused: set[tuple[Named, Any]] = set()  # what cannot be compiled

    def layout(self, matrix: Any) -> Any:
        return csr(matrix).to("cuda")

    def times(self, A: Any, task: Named) -> dict[str, float]:
        kernel, given = arguments(task.kernel, A, DeviceArray.from_numpy)
        clocks = {}
        for schedule in tried(statistics(A)):
            if (task, schedule) not in self.refused:
                try:
                    launches = kernel[schedule].plan_as_auto(*given).launches
                except EvenlyError:  # compilers have mistakes, too
                    self.refused.add((task, schedule))
                    continue
                clocks[str(schedule)] = GraphClock(launches)
        samples = measure(clocks, rounds=ROUNDS, flushed=False)
        return {name: min(samples[name, WARM].times) for name in clocks}


def compile_all(mapped: Mapped, architecture: str) -> Iterator[str]:
    """Compile everything that is measured, and yield how far it is."""
    jobs = [(task, schedule, architecture) for task in TASKS for schedule in SCHEDULES]
    for at, _ in enumerate(mapped(compiled, jobs)):
        yield f"compiling: {at + 1} of {len(jobs)}"


def drawn(seed: int, largest: int, folder: str | None) -> Iterator[Source]:
    """Yield the matrices of a seed and of those that follow, each twelve of which have all lengths, and of a folder."""
    for n in range(SEEDS):
        yield from of_families(seed + n, largest)
        if n == 0 and folder is not None:
            yield from sources(folder)


def measured(
    place: Place, found: Iterable[Source], largest: int, seconds: float, say: Callable[[str], None]
) -> Iterator[Case]:
    """Measure until the time is over, and yield the cases. A matrix that cannot be measured is left out, and said."""
    start = time.monotonic()
    for at, source in enumerate(found):
        took = time.monotonic() - start
        if took > seconds:
            break
        say(f"measuring: {at} matrices, {took:.0f} of {seconds:.0f} s; {source.name}")
        tasks = TASKS if at < len(LENGTHS) else SPMVS
        try:
            yield from _of(place, source, largest, tasks)
        except Exception as error:  # as no memory: the others are measured
            say(f"{source.name} is left out: {type(error).__name__}: {one_line(str(error))}")


def _of(place: Place, source: Source, largest: int, tasks: tuple[Named, ...]) -> Iterator[Case]:
    matrix = scipy.sparse.csr_array(source.make())
    about = place.gpu, largest, source.name, source.lengths, source.columns
    for dtype, same in itertools.groupby(sorted(tasks, key=lambda t: t.dtype), lambda t: t.dtype):
        A = place.layout(in_type(matrix, dtype))
        size = int(A.num_tiles), int(A.num_atoms)
        for task in same:
            yield Case(*about, size, task, place.times(A, task), looked_at(A, task))
