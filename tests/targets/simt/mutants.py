"""The device headers with one mistake each, and programs that exercise the place."""

from __future__ import annotations

import contextlib
import functools
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from tests.dense import outer, sddmm
from tests.golden.kernel import shares
from tests.items import KERNELS, arguments, residuals
from tests.kernels import CASES
from tests.schedules import exchanges

import evenly as ev
from evenly.layouts.batch import batch
from evenly.targets.gpu import headers
from evenly.targets.gpu.engines.split_launch import cells
from evenly.targets.simt.program import SimtProgram

DEVICE = headers.FOLDER
FIXTURES = Path(__file__).parent / "fixtures"
MAIL, QUEUES = FIXTURES / "mail.cu", FIXTURES / "queues.cu"
SYNC = re.compile(r"(?<!EV_DEVICE void )\b(?:\w+\.)?(?:barrier|sync|sync_warp)\([^;]*\);")
SHARED = re.compile(r"EV_SHARED\((.*, \w+), (?!1\);)([^;]*)\);")


class Alone:
    """The kernels of a fixture, each compiled by itself, and when it is needed: a mistake is planted for one of them."""

    def __init__(self, path: Path) -> None:
        self.source = path.read_text()

    def launch(self, kernel: str, *given: Any, **options: Any) -> Any:
        return self.only(kernel).launch(kernel, *given, **options)

    def explore(self, kernel: str, *given: Any, **options: Any) -> Any:
        return self.only(kernel).explore(kernel, *given, **options)

    @functools.cached_property
    def only(self) -> Callable[[str], SimtProgram]:
        return functools.cache(lambda kernel: SimtProgram(self.without_others(kernel)))

    def without_others(self, kernel: str) -> str:
        """The source, with empty lines for those of other kernels."""
        parts = re.split(r"^(?=EV_KERNEL)", self.source, flags=re.MULTILINE)
        (_,) = (part for part in parts if name_of(part) == kernel)
        return "".join(p if name_of(p) in ("", kernel) else without_kernel(p) for p in parts)


Program = SimtProgram | Alone


def name_of(part: str) -> str:
    """The kernel with which a part of a source begins."""
    found = re.match(r"EV_KERNEL\(\d+\) (\w+)", part)
    return found[1] if found else ""


def without_kernel(part: str) -> str:
    """What follows the kernel with which a part begins."""
    head = part.split("\n", 1)[0]
    end = len(head) if head.endswith("}") else part.index("\n}\n") + 2
    return "\n" * part[:end].count("\n") + part[end:]


class Place(NamedTuple):
    """The nth line (from 0) of a header whose code is this."""

    header: str
    code: str
    nth: int = 0


@contextlib.contextmanager
def planted(folder: Path, place: Place, change: Callable[[str], str]) -> Iterator[None]:
    """Kernels are compiled with the headers in which that line is changed."""
    shutil.copytree(DEVICE, folder, dirs_exist_ok=True)
    path = folder / place.header
    lines = path.read_text().splitlines()
    number = [i for i, line in enumerate(lines) if code_of(line) == place.code][place.nth]
    changed = change(lines[number])
    assert changed != lines[number], f"{place}: the change finds nothing to change"
    path.write_text("\n".join([*lines[:number], changed, *lines[number + 1 :]]) + "\n")
    try:
        headers.FOLDER = folder
        headers.text.cache_clear()
        yield
    finally:
        headers.FOLDER = DEVICE
        headers.text.cache_clear()


def sync_places() -> list[Place]:
    """Every line of the engines that synchronises."""
    return places(SYNC)


def shared_places() -> list[Place]:
    """Every shared array of the engines that has more than one element."""
    return places(SHARED)


def places(pattern: re.Pattern[str]) -> list[Place]:
    found = []
    for path in sorted(DEVICE.glob("*.cuh")):
        if path.name == "gpu.cuh":  # the primitives themselves
            continue
        codes = [code_of(line) for line in path.read_text().splitlines()]
        hits = [code for code in codes if pattern.search(code)]
        found += [Place(path.name, c, hits[:i].count(c)) for i, c in enumerate(hits)]
    return found


def code_of(line: str) -> str:
    return line.split("//")[0].strip()


def without_sync(line: str) -> str:
    return SYNC.sub(";", line, count=1)


def one_less(line: str) -> str:
    return SHARED.sub(r"EV_SHARED(\1, (\2) - 1);", line)


# ---- programs ---------------------------------------------------------------------------------------
def run_kernel(
    case: str,
    schedule: Any,
    matrix: Any,
    stored: bool = False,
    counted: bool = False,
    **options: Any,
) -> None:
    """A kernel of tests/kernels.py on a CSR matrix, afresh: kernels keep what they have compiled.

    counted: only the device knows how many rows there are, so blocks are few and persist.
    options: of the target.
    """
    known = CASES[case]
    kernel = type(known.kernel)(known.kernel.function)
    layout = ev.csr(matrix)
    if counted:
        rows = matrix.shape[0]
        layout = ev.subset(
            layout, np.arange(rows, dtype=np.int32), count=np.array([rows], np.int32)
        )
    arguments = known.arguments(layout, matrix, np.float32)
    if stored:
        kernel.plan(*arguments, schedule=schedule, target="simt").store()(*arguments)
    else:
        kernel[schedule].on("simt", **options)(*arguments)


def rows(sizes: list[int]) -> Any:
    """A matrix of ones with so many entries a row."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    columns = np.arange(offsets[-1], dtype=np.int32) % 8
    entries = np.ones(len(columns), np.float32)
    return sp.csr_array((entries, columns, offsets), shape=(len(sizes), 8))


LONG = rows([150, 150, 0, 700, 0, 3])
SHORT = rows([3, 1, 0, 2, 5] * 60)


def merge(
    case: str = "spmv", matrix: Any = LONG, items: int = 3, min_blocks: int = 16, **how: Any
) -> None:
    run_kernel(case, ev.MergePath(block=64, items=items, min_blocks=min_blocks), matrix, **how)


def nonzero(case: str = "spmv", matrix: Any = LONG, **how: Any) -> None:
    run_kernel(case, ev.NonzeroSplit(block=64, items=3), matrix, **how)


def streams(matrix: Any = LONG, **how: Any) -> None:
    run_kernel("spmv", ev.NonzeroSplit(block=64, items=4, run=4), matrix, **how)


@ev.kernel
def located(A, out):
    """What an atom contributes, a number and its place, takes more than what is read of it."""
    for row in A.tiles():
        out[row] = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)


def streams_of_pairs(matrix: Any = LONG) -> None:
    layout = ev.csr(matrix)
    out = np.full(layout.num_tiles, -9, np.int64)
    made = type(located)(located.function)
    made[ev.NonzeroSplit(block=64, items=8, run=4)].on("simt")(layout, out)


@ev.kernel
def bounded(A, out):
    """A tile leaves more than it was reduced to."""
    for row in A.tiles():
        total = sum(A.value(k) for k in A.atoms(row))
        low, high = total - 1.0, total + 1.0
        for k in A.atoms(row):
            out[k] = min(max(A.value(k), low), high)


def follows(kernel: Any = shares, matrix: Any = SHORT) -> None:
    """A pass that follows at once where a tile lies within a block."""
    made = type(kernel)(kernel.function)
    layout = ev.csr(matrix)
    out = np.full(layout.num_atoms, np.nan, np.float32)
    made[ev.NonzeroSplit(block=64, items=8, run=2)].on("simt")(layout, out)


def persistent() -> None:
    """Several chunks a block."""
    run_kernel("spmv", ev.MergePath(block=64, items=1), rows([700, 0, 1500, 3, 2500]), counted=True)


def persistent_over_empty_tiles() -> None:
    """Several chunks a block, with so many empty tiles that each atom looks for its own."""
    matrix = rows(([1] * 20 + [0] * 300) * 120)
    run_kernel("spmv", ev.NonzeroSplit(block=32, items=1), matrix, counted=True)


def flat(size: int) -> None:
    run_kernel("spmv", ev.GroupMapped(size, block=64, flatten=True), LONG)


def flat_rounds(size: int) -> None:
    """Several rounds a group: there are more tiles than the blocks take at once."""
    schedule = ev.GroupMapped(size, block=64, flatten=True)
    run_kernel("spmv", schedule, rows([1, 2, 0, 3] * 1200), counted=True)


def group(size: int, seed: int = 0, case: str = "softmax") -> None:
    matrix = rows([70, 0, 3, 150, 48, 1, 420])
    run_kernel(case, ev.GroupMapped(size, block=128), matrix, seed=seed)


def along(size: int = 64, lanes: int = 8) -> None:
    """Groups that lie along a dense axis; there are more tiles than the blocks take at once."""
    schedule = ev.GroupMapped(size, block=128, lanes=lanes, vector=2)
    run_kernel("spmm", schedule, rows([70, 0, 3, 150, 48, 1]))


def along_split(schedule: Any, matrix: Any = LONG, **how: Any) -> None:
    """Teams along a dense axis that split tiles."""
    run_kernel("spmm", schedule(block=64, items=3, lanes=2, vector=2), matrix, **how)


def inside(size: int = 8, items: int = 4, columns: int = 9) -> None:
    """Threads of an atom that reduce its lanes, in teams of so many, for so many atoms at once."""
    A = ev.csr(rows([70, 0, 3, 150, 48, 1]))
    x = np.ones((6, columns), np.float32)
    z = np.ones((A.num_columns, columns), np.float32)
    kernel = type(sddmm)(sddmm.function)
    schedule = ev.GroupMapped(size, block=64, items=items, lanes=4, vector=2)
    kernel[schedule].on("simt")(A, x, z, np.empty(272))


@ev.kernel
def weighed_places(A, V, weights, at, out):
    for row in A.tiles():
        for j in ev.lanes(V.shape[1]):
            total = 0
            for k in A.atoms(row):
                dot = sum(V[A.column(k), i] for i in ev.lanes(V.shape[1]))
                total += weights[at[k]] * V[A.column(k), j] + dot - dot
            out[row, j] = total


def told_again() -> None:
    """Lanes that tell each other places of weights and then ids of columns, which are of the same type."""
    A = ev.csr(rows([70, 0, 3]))
    V = np.ones((A.num_columns, 8), np.int32)
    weights, at = np.ones(73, np.int32), np.arange(73, dtype=np.int32)
    schedule = ev.GroupMapped(8, block=64, items=8, lanes=4, vector=2)
    weighed_places.copy()[schedule].on("simt")(A, V, weights, at, np.empty((3, 8), np.int32))


def apart(schedule: Any) -> None:
    """Teams share tiles whose atoms are rows that are moved."""
    A = ev.csr(rows([0, 0, 70, 0, 3, 150, 48, 1, 0]))
    x, out = np.ones((A.num_columns, 9), np.float32), np.empty((A.num_atoms, 9), np.float32)
    made = schedule(block=64, items=3, lanes=4, vector=2)
    type(outer)(outer.function)[made].on("simt")(A, x, out)
    assert (out == 2).all()


def exchange(schedule: str, seed: int = 0) -> None:
    """Groups of a user's schedule tell each other numbers."""
    run_kernel("row_norms", exchanges.SCHEDULES[schedule], rows([3, 0, 70, 1] * 30), seed=seed)


def share() -> None:
    run_kernel("spmv", ev.WorkOriented(block=64, items=3), LONG)


def items(inner: Any) -> None:
    """A block shares the atoms of one item after the other. The first has no rows, and another several chunks."""
    sizes = [[], [3, 0, 150, 1], [0, 0], [2] * 70, []]
    B = ev.batch([rows(n) for n in sizes])
    kernel = type(residuals)(residuals.function)  # afresh, as in run_kernel
    x, b, norm = np.ones(B.shape[1]), np.zeros(B.num_tiles), np.zeros(len(sizes))
    kernel[ev.Nested(ev.BlockMapped(64), inner)].on("simt")(B, x, b, b.copy(), norm)
    np.testing.assert_array_equal(norm, [sum(k * k for k in n) for n in sizes])


def team(case: str = "halves", sizes: tuple[int, ...] = (70, 0, 5, 40), **options: Any) -> None:
    """Teams of two blocks, each of which takes several items."""
    known = next(k for k in KERNELS if k.name == case)
    kernel = type(known)(known.function)  # afresh, as in run_kernel
    B = batch([sp.csr_array(np.eye(n, k=n // 2) + np.eye(n)) for n in sizes])
    given, wanted = arguments(known, B), arguments(known, B)
    known.on("python")(B, *wanted.values())
    schedule = ev.Nested(ev.TeamMapped(2, 64), ev.GroupMapped(4))
    kernel[schedule].on("simt", **options)(B, *given.values())
    for name, array in wanted.items():
        np.testing.assert_array_equal(given[name], array)


@ev.kernel
def numbered(R, made, out):
    """All members of a group compute with what the leader's atomics return."""
    for t in R.tiles():
        number = ev.atomic_add(made, 0, 1)
        again = ev.atomic_max(made, 1, number)
        last = ev.atomic_max(made, 2, again)
        for k in R.atoms(t):
            out[k] = number + again + last


@ev.kernel
def numbered_items(B, made, out):
    """The same for several blocks."""
    for item in B.items():
        number = ev.atomic_add(made, 0, 1)
        for row in B.tiles(item):
            out[row] = number


def told() -> None:
    R = ev.ragged(np.array([0, 70, 70, 73, 223, 271, 272]))
    kernel = type(numbered)(numbered.function)  # afresh, as in run_kernel
    kernel[ev.GroupMapped(48, block=128)].on("simt")(R, np.zeros(3, np.int64), np.zeros(272))


def told_to_blocks() -> None:
    B = batch([sp.csr_array(np.eye(n)) for n in (70, 0, 5, 40)])
    kernel = type(numbered_items)(numbered_items.function)
    schedule = ev.Nested(ev.TeamMapped(2, 64), ev.GroupMapped(4))
    kernel[schedule].on("simt")(B, np.zeros(1, np.int64), np.zeros(115))


FOLD = """
struct Affine {  // x -> times x + plus: one after another is associative and not commutative
  unsigned long long times, plus;
  template <class F> EV_DEVICE Affine each(F f) const { return {f(times), f(plus)}; }
  static EV_DEVICE Affine combine(const Affine& a, const Affine& b) { return {a.times * b.times, a.plus * b.times + b.plus}; }
};
EV_KERNEL(32) fold(unsigned long long* y, int n, int rounds, long long* cells, void* parts) {
  const ev::blocks<32, 2> team(n, cells, parts);
  for (int i = 0; i < rounds; ++i) {
    const unsigned long long own = ev::thread_rank() == 0 ? ev::block_rank() + i + 1 : 0;
    const Affine all = team.reduce(Affine{own != 0 ? 3ull : 1ull, own});
    if (ev::lane_rank() == 31) y[i * ev::block_count() + ev::block_rank()] = all.plus;
  }
  team.leave();
}
"""


def fold(n: int = 3, teams: int = 2, rounds: int = 3, **options: Any) -> None:
    """Reductions of teams of `n` blocks, one after another, of what has an order."""
    blocks = n * teams
    y, made = np.zeros((rounds, blocks), np.uint64), np.zeros(teams, np.int64)
    parts = np.zeros(2 * blocks * 2, np.int64)
    options |= {"resident": blocks}
    SimtProgram(FOLD).launch("fold", blocks, 32, y, n, rounds, made, parts, **options)
    wanted = np.zeros((rounds, teams), np.uint64)
    for block in range(n):  # numbers wrap
        first = np.arange(teams) * n + block + 1
        wanted = wanted * np.uint64(3) + (first + np.arange(rounds)[:, None]).astype(np.uint64)
    np.testing.assert_array_equal(y, wanted.repeat(n, axis=1))
    np.testing.assert_array_equal(made, 0)


def totals() -> None:
    run_kernel("spmv_dot", ev.ThreadMapped(block=64), SHORT)


SUM = """
struct Phase {
  using pos = int;
  struct State {};
  struct Value { float s; template <class F> EV_DEVICE Value each(F f) const { return {f(s)}; } };
  struct Grid {};
  static constexpr bool has_grid = false;
  float* y;
  static EV_DEVICE Value identity() { return {0}; }
  static EV_DEVICE Value combine(const Value& a, const Value& b) { return {a.s + b.s}; }
  EV_DEVICE void leave(pos tile, const Value& v, Grid&) const { y[tile] = v.s; }
};
EV_KERNEL(64) finish(int* out_tile, float* out_value, int* head_tile, float* head_value, float* y, int blocks) {
  const ev::Carries<Phase> carries{out_tile, (Phase::Value*)out_value, head_tile, (Phase::Value*)head_value};
  ev::finish<Phase, 64>({y}, carries, blocks, nullptr);
}
"""


def long_run(blocks: int = 6000) -> None:
    """The finish kernel alone: one tile is open over all blocks, and ends in the last."""
    head = np.full(blocks, -1, np.int32)
    head[-1] = 0
    ones, y = np.ones(blocks, np.float32), np.zeros(1, np.float32)
    arrays = np.zeros(blocks, np.int32), ones, head, ones, y
    SimtProgram(SUM).launch("finish", -(-blocks // 64), 64, *arrays, blocks)
    assert y[0] == blocks


JOIN = """
struct Phase {
  using pos = int;
  struct State {};
  struct Value {
    float s;
    template <class F> EV_DEVICE Value each(F f) const { return {f(s)}; }
    static EV_DEVICE Value combine(const Value& a, const Value& b) { return {a.s + b.s}; }
  };
  struct Grid {};
  static constexpr bool needs_tile = false, has_value = true, has_effects = false, has_leave = true, has_grid = false;
  const int* offsets;
  const float* x;
  float* y;
  int tiles;
  static EV_DEVICE Value identity() { return {0}; }
  static EV_DEVICE Value combine(const Value& a, const Value& b) { return Value::combine(a, b); }
  static EV_DEVICE Value then(const Value& a, const Value& b) { return combine(a, b); }
  EV_DEVICE pos num_tiles() const { return tiles; }
  EV_DEVICE pos num_atoms() const { return offsets[tiles]; }
  EV_DEVICE pos begin(pos tile) const { return offsets[tile]; }
  EV_DEVICE pos end(pos tile) const { return offsets[tile + 1]; }
  EV_DEVICE State enter(pos) const { return {}; }
  EV_DEVICE void step(Value& v, const State&, pos, pos atom) const { v.s += x[atom]; }
  EV_DEVICE void leave(pos tile, const Value& v, Grid&) const { y[tile] = v.s; }
  static EV_DEVICE Grid grid_identity() { return {}; }
};
EV_KERNEL(64) join(const int* offsets, const float* x, float* y, int tiles, long long* cells) {
  ev::split_block<Phase, 64, 1, ev::merge_rule>({offsets, x, y, tiles}, ev::Meeting<Phase>{cells}, nullptr);
}
"""


def meeting(
    launches: int = 1,
    sizes: Sequence[int] = (70, 160 * 64 - 30, 3, 0, 40),
    number: str = "float",
    **options: Any,
) -> None:
    """Blocks that join tiles: by default one of two of them, and one of 161, a group of 128 and one of 33.

    Every launch has other atoms and another order, and the cells as the one before left them.
    """
    dtype = np.dtype({"float": np.float32, "double": np.float64}[number])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    blocks = -(-(len(sizes) + int(offsets[-1])) // 64)
    made = np.zeros((1 + dtype.itemsize // 2) * cells(blocks), np.int64)
    program = SimtProgram(JOIN.replace("float", number))
    for launch in range(launches):
        x = (np.arange(offsets[-1]) % 7 + launch).astype(dtype)
        y = np.full(len(sizes), -1, dtype)
        arguments = offsets, x, y, len(sizes), made
        program.launch("join", blocks, 64, *arguments, seed=launch, **options)
        np.testing.assert_array_equal(made, 0)
        sums = np.diff(np.concatenate([[0], np.cumsum(x)])[offsets])
        np.testing.assert_array_equal(y, sums)


PAIR = (
    JOIN.replace("float", "double").split("EV_KERNEL")[0]
    + """
EV_KERNEL(1) pair(const int* offsets, const double* x, double* y, long long* cells) {
  const Phase phase{offsets, x, y, 1};
  Phase::Grid grid;
  ev::shared_tile<Phase, 32, ev::merge_rule, 4> tile{cells};
  tile.look(phase, 0);
  tile.bring(0, {x[ev::block_rank()]});
  if (tile.meet_one(0)) phase.leave(0, tile.part, grid);
}
"""
)


def pair() -> None:
    """Two threads of two blocks that join a tile, whose parts have two words, in every order of what they do."""
    y, made = np.zeros(1), np.zeros(3 * 5, np.int64)
    x, offsets = np.array([1 / 3, 2 / 7]), np.array([0, 40], np.int32)
    found = SimtProgram(PAIR).explore("pair", 2, 1, offsets, x, y, made)
    assert found.complete
    for outcome in found.outcomes:
        *_, sums, left = outcome.arrays
        np.testing.assert_array_equal(sums, x.sum())
        np.testing.assert_array_equal(left, 0)


EFFECTS = """
struct Phase {
  using pos = int;
  struct State {};
  struct Value { template <class F> EV_DEVICE Value each(F) const { return {}; } };
  struct Grid {};
  static constexpr bool needs_tile = false, has_value = false, has_effects = true, has_leave = false, has_grid = false;
  const int* offsets;
  int* counts;
  int tiles;
  EV_DEVICE pos num_tiles() const { return tiles; }
  EV_DEVICE pos num_atoms() const { return offsets[tiles]; }
  EV_DEVICE pos begin(pos tile) const { return offsets[tile]; }
  EV_DEVICE pos end(pos tile) const { return offsets[tile + 1]; }
  EV_DEVICE State enter(pos) const { return {}; }
  EV_DEVICE void step(Value&, const State&, pos, pos atom) const { counts[atom] += 1; }
  static EV_DEVICE Grid grid_identity() { return {}; }
};
EV_KERNEL(64) visit(const int* offsets, int* counts, int tiles) {
  ev::split_persistent<Phase, 64, 1, ev::merge_rule>({offsets, counts, tiles}, {}, nullptr);
}
"""


def persistent_effects() -> None:
    """Several chunks a block, and nothing to fold: what stands between two chunks is the barrier at the end of one."""
    offsets = np.array([0, 300, 301, 700], np.int32)
    counts = np.zeros(offsets[-1], np.int32)
    SimtProgram(EFFECTS).launch("visit", 2, 64, offsets, counts, 3)
    assert (counts == 1).all()


REDUCE = """
struct Value {
  float s;
  template <class F> EV_DEVICE Value each(F f) const { return {f(s)}; }
  static EV_DEVICE Value combine(const Value& a, const Value& b) { return {a.s + b.s}; }
};
EV_KERNEL(128) rounds(float* y, int n) {
  const ev::group<48, 128> g;
  for (int t = (int)g.index(); t < n; t += (int)g.count()) {
    const Value sum = g.reduce_to_leader(Value{g.active() ? 1.0f : 0.0f});
    if (g.leader()) y[t] = sum.s;
  }
}
"""


def reductions(n: int = 20) -> None:
    """One reduction after another by each group, with nothing in between."""
    y = np.zeros(n, np.float32)
    SimtProgram(REDUCE).launch("rounds", 2, 128, y, n)
    assert (y == 48).all()


SCAN = """
EV_KERNEL(64) sums(const int* sizes, int n, int* sums, int* totals) {
  ev::scan_blocks<64, 3>([&](long long i) { return sizes[i]; }, (long long)n, sums, totals);
}
EV_KERNEL(64) of_totals(int* totals, int blocks) { ev::scan_totals<64>(totals, blocks); }
EV_KERNEL(64) rest(int n, int* sums, const int* totals) { ev::scan_add<64, 3>((long long)n, sums, totals); }
"""


def scan(n: int = 20_000) -> None:
    sizes = np.random.default_rng(0).integers(0, 5, n).astype(np.int32)
    blocks = -(-n // (64 * 3))
    sums, before = np.zeros(n + 1, np.int32), np.zeros(blocks, np.int32)
    program = SimtProgram(SCAN)
    program.launch("sums", blocks, 64, sizes, n, sums, before)
    program.launch("of_totals", 1, 64, before, blocks)
    program.launch("rest", blocks, 64, n, sums, before)
    np.testing.assert_array_equal(sums, np.concatenate([[0], np.cumsum(sizes)]))


TAKE = """
EV_KERNEL(128) by_warp(int* left, int tiles, long long* taken) {
  auto tile = [&](const auto& team, const int which, const bool live) { if (team.leader() && live) left[which] += 1; };
  ev::chunks<int, 8, 128, 5, true> chunks(taken, tiles);
  while (chunks.take()) chunks.each(tile);
}
EV_KERNEL(128) by_group(int* left, int tiles, long long* taken) {
  auto tile = [&](const auto& team, const int which, bool) { if (team.leader()) left[which] += 1; };
  ev::chunks<int, 48, 128, 5, false> chunks(taken, tiles);
  while (chunks.take()) chunks.each(tile);
}
"""


def chunks(kernel: str = "by_warp") -> None:
    """Chunks of tiles, twice: the second launch finds the counter as the first one leaves it."""
    program, taken, tiles = SimtProgram(TAKE), np.zeros(1, np.int64), 100
    for seed in range(2):
        left = np.zeros(tiles, np.int32)
        program.launch(kernel, 3, 128, left, tiles, taken, seed=seed)
        np.testing.assert_array_equal(left, 1)


@ev.kernel
def counted(A, n, y):
    for row in A.tiles():
        h = ev.scratch(n, np.int32)
        for k in A.atoms(row):
            ev.atomic_add(h, A.column(k) % n, 1)
        total = 0
        for i in range(n):
            total += h[i]
        y[row] = total


def scratch(schedule: Any, n: int, few: int = 1 << 20) -> None:
    """Scratch arrays of `n` elements, with memory for a few blocks, each of which walks several tiles."""
    kernel, matrix = type(counted)(counted.function), rows([30, 2, 0, 60] * 6)
    y = np.zeros(matrix.shape[0], np.int32)
    kernel[schedule].on("simt", max_workspace=few)(ev.csr(matrix), n, y)
    np.testing.assert_array_equal(y, np.diff(matrix.indptr))


@ev.schedule
class TwoBlocks(ev.BlockMapped):
    """Each of two blocks has several items."""

    block: int = 64

    def launch(self, layout):
        return 2, self.block


def staged() -> None:
    """Items whose vectors are staged, and whose results other threads read."""
    B = batch([sp.csr_array(np.eye(n)[::-1]) for n in (70, 3, 100, 8, 90)])
    x, y, last = np.arange(271.0), np.zeros(271), np.zeros(5)
    kernel = type(turned)(turned.function)
    kernel[TwoBlocks()].on("simt")(B, x, y, np.zeros(271), last)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(last, [69, 72, 172, 180, 270])


@ev.kernel
def turned(B, x, y, z, last):
    """Rows read what other threads copy, and what other threads store. The last read is after all loops."""
    for item in B.items():
        xs = ev.stage(x, B.columns(item))
        for row in B.tiles(item):
            z[row] = sum(B.value(k) * xs[B.column(k)] for k in B.atoms(row))
        both = B.item_begin(item) + B.item_end(item) - 1
        for row in B.tiles(item):
            y[row] = z[both - row]
        last[item] = xs[B.item_end(item) - 1]


def dynamic(size: int) -> None:
    run_kernel("spmv_dot", ev.DynamicChunks(chunk=3, size=size, block=64), SHORT)


def tasks(kernel: str, nodes: int = 900, seeds: int = 12, kept: int = 1000) -> None:
    """A tree of tasks, which three blocks run; what one stores for its children is read by them. At most `kept` are left."""
    program = Alone(MAIL)
    for seed in range(seeds):
        pool, pushed, flags = np.zeros(256, np.int64), np.zeros(1, np.int64), np.zeros(99, np.int32)
        mail, items = np.zeros(384, np.int32), np.ones(1001, np.int32)
        data, total = np.zeros(nodes + 1, np.int32), np.zeros(1, np.int32)
        data[1] = 1
        program.launch(kernel, 3, 32 if kernel in ("by_group", "by_warp") else 64, pool, pushed, mail, flags, items, data, total, nodes, seed=seed)  # fmt: skip
        left = items[1 : 1 + pushed[0]]
        assert not flags.any() and pool[64] + len(left) > 0
        assert len(left) <= kept
        if len(left) == 0:
            assert total[0] == nodes * (nodes + 1) // 2 and pool[64] == nodes


def mails_of_two(mails: int = 5, seeds: int = 20) -> None:
    """Mails of two lanes, in two boxes, which are used again."""
    program = Alone(MAIL)
    for seed in range(seeds):
        pool, mail, flags = np.zeros(256, np.int64), np.zeros(4, np.int32), np.zeros(2, np.int32)
        pool[0] = 5
        found = np.full(2 * mails, -1, np.int32)
        program.launch("mails_of_two", 2, 2, pool, mail, flags, found, mails, seed=seed)
        assert found.tolist() == list(range(2 * mails)) and not flags.any()


def queued(kernel: str, nodes: int = 900, places: int = 64, seeds: int = 6) -> None:
    """The same tree from queues, whose room is for few tasks; the rest of them is left in the list."""
    program, block = Alone(QUEUES), 32 if "group" in kernel else 64
    for seed in range(seeds):
        pool, pushed, made = np.zeros(256, np.int64), np.zeros(1, np.int64), np.zeros(places, np.int32)  # fmt: skip
        words, reserved = np.zeros(6 * 16 + 6 * places, np.int64), np.zeros(places, np.int32)
        items, data, total = np.ones(1001, np.int32), np.zeros(nodes + 1, np.int32), np.zeros(1, np.int32)  # fmt: skip
        data[1] = 1
        program.launch(kernel, 3, block, pool, pushed, made, reserved, words, items, data, total, places, places, nodes, seed=seed)  # fmt: skip
        left = items[1 : 1 + pushed[0]]
        assert not reserved.any() and pool[64] + len(left) > 0
        assert pool[0] + 1 == 0
        if len(left) == 0:
            assert total[0] == nodes * (nodes + 1) // 2 and pool[64] == nodes


def put_by_lanes(program: Program | None = None) -> None:
    """All executions of a deque's owner of two lanes, which puts an item of each at once, and of a thief."""
    program = program or Alone(QUEUES)
    words = np.zeros(2 * (16 + 4), np.int64)
    data, found = np.zeros(3, np.int32), np.zeros(2, np.int32)
    explored = program.explore("put_by_lanes", 2, 2, words, data, found, 4)
    assert explored.complete, explored.reason
    stolen = {tuple(outcome.arrays[2].tolist()) for outcome in explored.outcomes}
    assert stolen == {(0, 0), (0, 1), (1, 2)}  # both are seen at once


BINS = """
struct Tiles {
  using pos = int;
  const int* offsets;
  int count;
  EV_DEVICE pos num_tiles() const { return count; }
  EV_DEVICE pos begin(pos tile) const { return offsets[tile]; }
  EV_DEVICE pos end(pos tile) const { return offsets[tile + 1]; }
};
EV_KERNEL(64) count(const int* offsets, int tiles, int* memory) { ev::bins_count(Tiles{offsets, tiles}, memory); }
EV_KERNEL(1024) scan(const int* offsets, int tiles, int* memory, int warps) {
  ev::bins_scan(Tiles{offsets, tiles}, memory, warps);
}
EV_KERNEL(64) place(const int* offsets, int tiles, int* memory) { ev::bins_place(Tiles{offsets, tiles}, memory); }
EV_KERNEL(32) bins(const long long* sizes, int n, int* found) {
  if (ev::thread_rank() < n) found[ev::thread_rank()] = ev::bin_of(sizes[ev::thread_rank()]);
}
"""


def sorted_tiles(offsets: np.ndarray, blocks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tiles in each bin, those with atoms in their order, and the empty ones, as so many blocks of two warps find them."""
    tiles, warps, program = len(offsets) - 1, 2 * blocks, SimtProgram(BINS)
    filled = int((np.diff(offsets) > 0).sum())
    order = 32 + -(-tiles // 32) + 32 * warps
    memory = np.full(order + filled, -1, np.int32)
    program.launch("count", blocks, 64, offsets, tiles, memory)
    program.launch("scan", 1, 1024, offsets, tiles, memory, warps)
    program.launch("place", blocks, 64, offsets, tiles, memory)
    bits = memory[32 : 32 + -(-tiles // 32)].view(np.uint8)
    empty = np.unpackbits(bits, bitorder="little")[:tiles]
    return memory[:32], memory[order:], np.flatnonzero(empty)


def binned_in_place() -> None:
    """A tile whose result was there to read before."""

    @ev.kernel
    def added(A, y):
        for row in A.tiles():
            old = y[row]
            y[row] = old + sum(A.value(k) for k in A.atoms(row))

    y = np.zeros(6, np.float32)
    schedule = ev.Lrb(block=64, lanes=4, thread=4, group=16, warp=64)
    added[schedule].on("simt")(ev.csr(rows([150, 5, 0, 20, 9, 3])), y)


def sorting() -> None:
    """By a kernel whose memory is the emulator's, so that what nobody wrote shows."""
    run_kernel("spmv", ev.Lrb(), rows([3, 0, 70, 1] * 100))


def binned(case: str = "spmv_dot", matrix: Any = LONG, **how: Any) -> None:
    """Several units a block, of every class."""
    run_kernel(case, ev.Lrb(block=64, lanes=4, thread=4, group=16, warp=64), matrix, **how)
