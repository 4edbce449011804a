"""Run `evenly fit`: measure, fit, judge, and write the data file of a GPU."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from evenly.cache import replace_file
from evenly.cli.failures import RIGHT, check_range
from evenly.cli.progress import Progress
from evenly.errors import InputError, printable
from evenly.fitting import cases, losses, measuring
from evenly.fitting.cases import Case
from evenly.fitting.fit import Fit
from evenly.fitting.measuring import LARGEST, SPARED, OnGpu
from evenly.fitting.report import (
    HEADS,
    Judged,
    Part,
    changes,
    family_of,
    fold_of,
    judged,
    kernel_of,
    mean,
    table,
    unseen,
)
from evenly.fitting.vector import Numbers, as_text
from evenly.fitting.workers import workers
from evenly.gpus import kept, numbers
from evenly.gpus.gpu import Gpu
from evenly.interop.families import MOST
from evenly.reproduce.tables import aligned

STEPS = 60  # of the fit, at most
LEAST_SECONDS = 5
SHOWN = 20  # of the worst choices
TIE = 0.99  # of what was there: between as few matrices, less is no difference
MEANING = """\
The time of the best schedule over that of the chosen one, in the geometric mean and at worst: by the numbers that were
there, by those found, by a fit without a fourth of the matrices, and by a fit without its family of lengths:"""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `evenly fit`; its `--help` describes them."""

    seconds: int = 120
    seed: int = 1
    largest: int | None = None
    matrices: str | None = None
    times: str | None = None
    source: tuple[str, ...] = ()
    out: str | None = None
    report: bool = False


def run(options: Options) -> int:
    """Measure and fit, print the results, and return the exit status. Raises InputError for bad input."""
    check(options)
    if options.report:
        return reported(options)
    place = None if options.source else OnGpu()
    with Progress("starting") as progress:
        if place is None:
            gpu, found = kept_times(options, progress)
        else:
            gpu, found = place.gpu, measured(place, options, progress)
        before = numbers.every_row(gpu)
        start = time.monotonic()
        fit = Fit(progress.say)
        after = fit.fitted(before, found, STEPS)
        without: dict[Part, Numbers] = {}
        for part_of in (fold_of(found), family_of, kernel_of):
            for part, others in unseen(fit, before, found, part_of):
                progress.say(f"fitted without {part}")
                without[part] = others
    print(f"fitted in {time.monotonic() - start:.0f} s. What was there, what was found:")
    result = judged(found, before, after, without)
    for line in (*changes(before, after), MEANING, *aligned(HEADS, table(result))):
        print(line)
    print(kept_unless_worse(result, gpu, as_text(after, gpu), options.out))
    return RIGHT


def reported(options: Options) -> int:
    """Print where the numbers of today choose badly, and return the exit status."""
    with Progress("starting") as progress:
        gpu, found = kept_times(options, progress)
        made = losses.choices(found, numbers.every_row(gpu))
    for line in aligned(losses.CAUSE_HEADS, losses.causes(made)):
        print(line)
    print()
    for line in aligned(losses.CHOICE_HEADS, losses.worst(made, SHOWN)):
        print(line)
    return RIGHT


def check(options: Options) -> None:
    if options.report and not options.source:
        raise InputError("--report", expected="times, by --from", given="none")
    check_range("--seconds", options.seconds, LEAST_SECONDS)
    check_range("--seed", options.seed, 0)
    if options.largest is not None:
        check_range("--largest", options.largest, 1000, MOST)


# ---- times -----------------------------------------------------------------------------------------
def measured(place: OnGpu, options: Options, progress: Progress) -> list[Case]:
    """Measure the GPU. Raises InputError if nothing could be measured."""
    about = place.gpu
    print(
        f"{about.name}: {about.multiprocessors} multiprocessors, {about.l2 / 2**20:.0f} MiB of L2, "
        f"{about.bandwidth / 1e6:.2f} TB/s"
    )
    print(f"what work costs until now: {numbers.for_gpu(about)['origin']}", flush=True)
    start = time.monotonic()
    with workers() as mapped:
        for text in measuring.compile_all(mapped, place.architecture):
            progress.say(text)
    print(f"compiled in {time.monotonic() - start:.0f} s ({os.cpu_count()} processes)", flush=True)
    start = time.monotonic()
    largest = options.largest or min(LARGEST, place.memory // SPARED)
    drawn = measuring.drawn(options.seed, largest, options.matrices)
    found = []
    for case in measuring.measured(place, drawn, largest, options.seconds, Told(progress)):
        found.append(case)
    if not found:
        raise InputError("--seconds", expected="time for some matrices", given=str(options.seconds))
    count = len({case.matrix for case in found})
    took = time.monotonic() - start
    print(f"measured in {took:.0f} s: {len(found)} cases, a kernel on one of {count} matrices each")
    if options.times is not None:
        keep_times(options.times, found)
    return found


@dataclass(frozen=True, slots=True)
class Told:
    """Shows what is being done, and prints what went wrong."""

    progress: Progress

    def __call__(self, text: str) -> None:
        if "left out" in text:
            print(text, flush=True)
        self.progress.say(text)


def keep_times(path: str, found: list[Case]) -> None:
    if not replace_file(Path(path), cases.written(found)):
        raise InputError("--times", expected="a file that can be written", given=path)
    print(f"times written to {printable(path)}", flush=True)


def kept_times(options: Options, progress: Progress) -> tuple[Gpu, list[Case]]:
    """Read files of times, and make the matrices again. Return the GPU, and what was measured on it."""
    largest = options.largest or LARGEST
    every = [
        case
        for path in options.source
        for case in (cases.of_bench(path, largest) if path.endswith(".csv") else cases.read(path))
    ]
    gpus = {case.gpu for case in every}
    if len(gpus) != 1:
        names = ", ".join(sorted(gpu.name for gpu in gpus)) or "none"
        raise InputError("--from", expected="times of one GPU", given=names)
    found = []
    for name, here in cases.made_again(every, options.matrices):
        progress.say(f"made again: {name}")
        found += here
    left = {case.matrix for case in every} - {case.matrix for case in found}
    if left:
        print(f"left out, since --matrices has no such matrix: {', '.join(sorted(left))}")
    if not found:
        raise InputError("--from", expected="times of matrices that can be made", given="others")
    return gpus.pop(), found


# ---- the data file -----------------------------------------------------------------------------------
def kept_unless_worse(result: list[Judged], gpu: Gpu, text: str, out: str | None) -> str:
    """Write the data file unless what was found chooses worse for new matrices, and say what was done."""
    before, after = mean(result, "before"), mean(result, "matrices")
    if after < TIE * before:
        told = f"({after:.3f}) than what was there ({before:.3f})"
        return f"not written: for matrices that a fit has not seen it chooses worse {told}"
    path = numbers.keep(gpu.name, text) if out is None else str(kept.write(Path(out), text))
    return f"written: {printable(path)}"
