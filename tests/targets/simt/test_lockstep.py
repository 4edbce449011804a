"""The replay of a warp's traces (targets/simt/host/lockstep.hpp) against counts worked out by hand.

The programs are fixtures/lockstep_kernels.cpp; lane i of a warp runs with lane = i. `trips` are
the numbers that loops take their lengths from: STEPS gives lane i i + 1 rounds.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from evenly.targets.simt import compiler
from evenly.targets.simt.counters import FIELDS

FIXTURES = Path(__file__).parent / "fixtures"
HOST = Path(__file__).resolve().parents[3] / "src" / "evenly" / "targets" / "simt" / "host"
INCLUDES = ("-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{HOST}", f"-I{FIXTURES}")
TRACED = (*compiler.TRACED, *compiler.GCC)
STEPS = tuple(range(1, 33))
MIXED = (3, 1, 2, 5) * 16

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[:5000]
    return done.stdout


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("lockstep") / "lockstep.o"
    run(["g++", *INCLUDES, "-O2", "-c", str(FIXTURES / "lockstep.cpp"), "-o", str(to)])
    return to


def linked(harness: Path, to: Path, *flags: str) -> Path:
    code = to.with_suffix(".o")
    source = str(FIXTURES / "lockstep_kernels.cpp")
    run(["g++", *INCLUDES, *TRACED, *flags, "-c", source, "-o", str(code)])
    run(["g++", "-no-pie", str(code), str(harness), "-o", str(to)])  # addresses below 4 GiB
    return to


@pytest.fixture(scope="session")
def program(harness: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked(harness, tmp_path_factory.mktemp("traced") / "program")


def counted(program: Path, name: str, trips: tuple[int, ...] = (0,)) -> dict[str, int]:
    lines = run([str(program), name, *map(str, trips)]).splitlines()
    return {key: int(value) for key, value in (line.split() for line in lines)}


def rounds_of_search(length: int) -> int:
    """Of a binary search for each of 0 .. 31 among 0 .. length - 1, the most."""
    most = 0
    for lane in range(32):
        low, high, rounds = 0, length, 0
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if middle < lane else (low, middle)
            rounds += 1
        most = max(most, rounds)
    return most


# fmt: off
STRAIGHT = {
    "straight": {
        "instructions": 2, "blocks_executed": 1, "active_lanes": 32, "divergent_branches": 0, "branches": 0,
        "global_load_requests": 1, "global_load_sectors": 4, "global_load_bytes": 128,
        "global_store_requests": 1, "global_store_sectors": 4, "global_store_bytes": 128},
    "strided": {  # reads every second word, writes every eighth: a sector a lane
        "global_load_sectors": 8, "global_load_bytes": 128, "global_store_sectors": 32, "global_store_bytes": 128},
    "broadcast": {"global_load_requests": 1, "global_load_sectors": 1, "global_load_bytes": 4},
    # the store behind if and else is one instruction: the halves have met
    "if_else": {
        "blocks_executed": 4, "active_lanes": 32 + 16 + 16 + 32, "divergent_branches": 1,
        "global_load_requests": 2, "global_load_sectors": 8, "global_load_bytes": 128, "global_store_requests": 3},
    "early_exit": {"divergent_branches": 1, "global_load_requests": 1, "global_load_sectors": 3, "global_load_bytes": 80},
    "either": {"global_load_requests": 1, "global_load_bytes": 64, "global_store_requests": 2},
    "cases": {"global_store_requests": 5, "global_store_bytes": 256},
    # wavefronts: 1, 2 and 32 for 1, 2 and 32 lanes a bank; 8 bytes a lane: 2 half warps, 1 each, then 2 each
    "shared_words": {
        "shared_load_requests": 1, "shared_load_wavefronts": 1, "shared_load_conflicts": 0,
        "shared_store_requests": 5, "shared_store_wavefronts": 1 + 2 + 32 + 2 + 4, "shared_store_conflicts": 1 + 31 + 2},
    # 16 bytes a lane, aligned: one instruction, a wavefront a quarter warp
    "four_in_a_row": {"shared_load_requests": 1, "shared_load_wavefronts": 4, "shared_load_conflicts": 0},
    "three_in_a_row": {"shared_load_requests": 3, "shared_load_wavefronts": 3, "shared_load_conflicts": 0},
    # stores in between: words, and 4 lanes a bank
    "four_interrupted": {"shared_load_requests": 4, "shared_load_wavefronts": 16, "shared_load_conflicts": 12},
    "atomics": {
        # 8 addresses, 4 lanes each: 4 rounds over one sector
        "global_atomic_requests": 1, "global_atomics": 32, "global_atomic_sectors": 4, "global_atomic_collisions": 24,
        "shared_atomic_requests": 1, "shared_atomics": 32, "shared_atomic_collisions": 30},
}

LOOPS = {
    # all lanes enter, 32 rounds lose a lane each, all leave; round i reads the sectors of lanes i to 31
    "loop": (STEPS, {
        "blocks_executed": 34, "active_lanes": 32 + sum(STEPS) + 32, "divergent_branches": 31,
        "global_load_requests": 1 + 32, "global_load_sectors": 4 + 8 * (4 + 3 + 2 + 1),
        "global_load_bytes": 4 * (32 + sum(STEPS)), "global_store_requests": 1}),
    # five outer rounds; the longest inner loop of their lanes: 5, 5, 2, 2, 5. A store a round and one behind.
    # The lengths: of the outer loop once and again each round, of the inner one each round.
    "nested": (MIXED, {
        "global_load_requests": (5 + 5 + 2 + 2 + 5) + (1 + 5) + 5, "global_store_requests": 5 + 1}),
    # in the last round one lane is left, so one side of the branch; `trips` is read again each round
    "if_in_loop": (STEPS, {
        "global_store_requests": 3 * 31 + 2 + 1, "global_load_requests": 2 * 31 + 1 + 33,
        "divergent_branches": 31 + 31}),
    # both sides of the branch go back to the head of the loop on their own
    "search": ((1024,), {"global_load_requests": 1 + rounds_of_search(1024), "global_store_requests": 1}),
    "breaks": (STEPS, {"global_load_requests": 33 + 32, "global_store_requests": 32 + 1}),
    # lanes that leave by another way than the last round wait for the others all the same
    "found_and_left": (STEPS, {"global_store_requests": 32 + 1 + 1}),
    "returns_in_loop": (STEPS, {"global_load_requests": 33, "global_store_requests": 32, "divergent_branches": 31}),
    "do_while": (STEPS, {"global_store_requests": 32 + 1, "global_load_requests": 32, "divergent_branches": 31}),
    # three outer rounds of at most 5 inner ones, through lambdas and a template
    "lambdas": (MIXED, {"global_load_requests": 3 * 5 + 3, "global_store_requests": 1}),
    # groups of 8 lanes go 3, 1, 2 and 5 rounds, each with a collective of its own, and meet behind
    "groups": ((3, 1, 2, 5), {
        "syncs": 5 + 1, "global_store_requests": 5 + 1, "global_store_sectors": 3 + 1 + 2 + 5 + 4}),
    # the even lanes wait; from then on the odd ones are a round ahead
    "late": ((4,), {"syncs": 4, "global_store_requests": 5}),
}
# fmt: on


@pytest.mark.parametrize("name", STRAIGHT)
def test_straight_code_and_branches(program: Path, name: str) -> None:
    found = counted(program, name)
    assert {key: found[key] for key in STRAIGHT[name]} == STRAIGHT[name]


@pytest.mark.parametrize("name", LOOPS)
def test_loops(program: Path, name: str) -> None:
    trips, expected = LOOPS[name]
    found = counted(program, name, trips)
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("flag", ["-fno-reorder-blocks", "-fno-guess-branch-probability"])
def test_it_does_not_matter_where_the_compiler_puts_blocks(
    harness: Path, program: Path, tmp_path: Path, flag: str
) -> None:
    other = linked(harness, tmp_path / "program", flag)
    assert other.read_bytes() != program.read_bytes()
    for name, (trips, _) in LOOPS.items():
        ours, theirs = (counted(p, name, trips) for p in (program, other))
        assert {k: ours[k] for k in FIELDS} == {k: theirs[k] for k in FIELDS}, name


def test_python_knows_every_field_in_order(program: Path) -> None:
    assert tuple(counted(program, "straight"))[:-1] == FIELDS


def test_ten_million_events_a_second(program: Path) -> None:
    assert counted(program, "sum_of_many")["events_per_second"] > 10_000_000
