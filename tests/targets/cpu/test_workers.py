"""Several workers: Numba's setting, several Python threads, a fork, helpers that come late or never."""

from __future__ import annotations

import ctypes
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pytest
from tests.targets.cpu.programs import compiled, csr_of, run

import evenly as ev
from evenly.arguments import Binding
from evenly.targets.cpu import crew, driver, pool, workers
from evenly.targets.cpu.calls import QUEUE
from evenly.targets.cpu.kept import kept_callback
from evenly.targets.cpu.pointers import integers
from evenly.targets.cpu.words import add, give_way, load


def sums(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def large() -> dict[str, Any]:
    A = csr_of(np.arange(0, 90_001, 3))
    A.values[:] = np.random.default_rng(0).standard_normal(A.num_atoms)
    return {
        "A": A,
        "x": np.random.default_rng(1).standard_normal(50).astype(np.float32),
        "y": np.zeros(A.num_tiles, np.float32),
    }


def expected(given: dict[str, Any]) -> np.ndarray:
    A = given["A"]
    return np.add.reduceat(A.values * given["x"][A.indices], A.offsets[:-1])


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many workers run each phase; debug mode shows it to Python."""
    seen: list[int] = []
    plain = workers.run_workers

    def run_workers(function: int, count: int, *rest: int) -> None:
        seen.append(count)
        plain(function, count, *rest)

    monkeypatch.setattr(workers, "run_workers", run_workers)
    return seen


@pytest.fixture
def setting() -> Iterator[Callable[[int], None]]:
    """numba.set_num_threads, for one test."""
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)


def test_numbas_setting_is_honoured(counted: list[int], setting: Callable[[int], None]) -> None:
    given = large()
    executable = compiled(sums, given, ev.MergePath(), debug=True)
    for n in range(1, numba.config.NUMBA_NUM_THREADS + 1):
        setting(n)
        run(executable, given)
        np.testing.assert_allclose(given["y"], expected(given), rtol=1e-4, atol=1e-5)
    assert counted[0] == 1
    assert all(count % n == 0 for n, count in enumerate(counted, 1))


def test_one_native_call_does_what_its_steps_do(setting: Callable[[int], None]) -> None:
    """Results have equal bits. They depend on the shares, so both use the same number of workers."""
    given = few_tiles()
    executable = compiled(sums, given, ev.MergePath())
    size, seen = given["A"].num_tiles + given["A"].num_atoms, set()
    threads = range(1, min(numba.config.NUMBA_NUM_THREADS, 4) + 1)  # 5 have as many workers as 2
    for n in threads:
        setting(n)
        run(executable, given)
        natively = given["y"].tobytes()
        run(executable, given, driver.worker_count(size, n))
        assert given["y"].tobytes() == natively
        seen.add(natively)
    assert len(seen) == len(threads)


def few_tiles() -> dict[str, Any]:
    """Three tiles, each of which is cut by every division into shares."""
    given = large()
    A = csr_of(np.array([0, 40_000, 70_001, 90_000]))
    A.values[:] = given["A"].values
    return given | {"A": A, "y": np.zeros(3, np.float32)}


def test_little_work_has_one_worker(counted: list[int]) -> None:
    given = {
        "A": csr_of(np.array([0, 3, 5])),
        "x": np.ones(50, np.float32),
        "y": np.zeros(2, np.float32),
    }
    run(compiled(sums, given, ev.MergePath(), debug=True), given)
    assert counted == [1]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_worker_is_a_worthwhile_share(threads: int) -> None:
    assert driver.worker_count(driver.SMALL - 1, threads) == 1
    assert driver.worker_count(10**9, threads) == (threads * driver.EACH if threads > 1 else 1)
    for size in (driver.SMALL, 100_000, 1_000_000):
        count = driver.worker_count(size, threads)
        assert count in (1, threads) or size // count >= driver.WORTH


def test_lanes_count_as_work(counted: list[int]) -> None:
    def products(A, X, Y):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))

    A = csr_of(np.arange(0, 901, 3))
    given = {"A": A, "X": np.ones((50, 64), np.float32), "Y": np.zeros((300, 64), np.float32)}
    run(compiled(products, given, ev.MergePath(), debug=True), given)
    assert counted == [driver.worker_count(64 * 1200, numba.get_num_threads())]
    assert counted[0] >= numba.get_num_threads()


def test_room_for_lanes_grows() -> None:
    """Workers allocate the memory for their results when needed, by the lengths of the arguments."""

    def products(A, X, Y):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))

    A = few_tiles()["A"]
    executable = None
    for lanes in (3, 8, 0, 1):
        X = np.random.default_rng(lanes).standard_normal((50, lanes)).astype(np.float32)
        given = {"A": A, "X": X, "Y": np.zeros((3, lanes), np.float32)}
        executable = executable or compiled(products, given, ev.MergePath())
        prepared = executable.prepare(Binding(given))
        for _ in range(2):
            given["Y"][:] = 0
            prepared()
            wanted = np.add.reduceat(A.values[:, None] * X[A.indices], A.offsets[:-1])
            np.testing.assert_allclose(given["Y"], wanted, rtol=1e-3, atol=1e-3)


def test_fewer_lanes_than_none_are_none() -> None:
    def products(A, X, n, Y):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1] - n):
                Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))

    A = few_tiles()["A"]
    given = {"A": A, "X": np.ones((50, 2)), "n": 5, "Y": np.zeros((3, 2))}
    run(compiled(products, given, ev.MergePath()), given)
    assert not given["Y"].any()


def test_much_that_workers_leave_is_not_kept() -> None:
    given = few_tiles()

    def products(A, X, Y):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                Y[row, j] = sum(A.value(k) * X[A.column(k), j] for k in A.atoms(row))

    kept = []
    for lanes in (4, 40_000):
        given |= {"X": np.ones((50, lanes), np.float32), "Y": np.zeros((3, lanes), np.float32)}
        arguments = {name: given[name] for name in ("A", "X", "Y")}
        prepared = compiled(products, arguments, ev.MergePath()).prepare(Binding(arguments))
        for _ in range(2):
            prepared()
        wanted = np.add.reduceat(given["A"].values, given["A"].offsets[:-1])
        np.testing.assert_allclose(given["Y"][:, -1], wanted, rtol=1e-3, atol=1e-3)
        (idle,) = prepared._idle
        kept.append(sum(array.nbytes for array in idle.kept.values()))
    assert kept[1] <= kept[0]


def at_once(function: Callable[[Any], None], arguments: list[Any]) -> None:
    """Call the function with each of these, in threads of their own."""
    threads = [threading.Thread(target=function, args=(a,)) for a in arguments]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_several_python_threads_at_once() -> None:
    """They may share a prepared call: each run has its own memory."""
    given = few_tiles()
    executable = compiled(sums, given, ev.MergePath())
    results = [dict(given, y=np.zeros_like(given["y"])) for _ in range(4)]
    shared = executable.prepare(Binding(given))

    def often(mine: dict[str, Any]) -> None:
        own = executable.prepare(Binding(mine))
        for _ in range(50):
            own()
            shared()

    at_once(often, results)
    bits = given["y"].tobytes()
    run(executable, given)
    assert given["y"].tobytes() == bits
    for r in results:
        assert r["y"].tobytes() == bits


def test_more_calls_at_once_than_there_are_doors() -> None:
    given = few_tiles()
    executable = compiled(sums, given, ev.MergePath())
    run(executable, given)
    bits = given["y"].tobytes()
    results = [dict(given, y=np.zeros_like(given["y"])) for _ in range(2 * pool.DOORS)]
    calls = [executable.prepare(Binding(mine)) for mine in results]
    begin = threading.Barrier(len(calls))

    def often(call: Callable[[], None]) -> None:
        begin.wait()
        for _ in range(200):
            call()

    at_once(often, calls)
    assert all(mine["y"].tobytes() == bits for mine in results)


def test_helpers_that_sleep_are_woken() -> None:
    """Between the calls they fall asleep, or are about to."""
    given = few_tiles()
    prepared = compiled(sums, given, ev.MergePath()).prepare(Binding(given))
    prepared()
    bits = given["y"].tobytes()
    for i in range(300):
        given["y"][:] = 0
        time.sleep(pool.AWAKE / 1e9 * (i % 3) / 2)
        prepared()
        assert given["y"].tobytes() == bits


@numba.njit("int64(int64, int64)")
def needed(at, asleep):
    return pool.pool_needs(integers(at), asleep)


@pytest.mark.parametrize(
    ("asleep", "places", "inside", "number"),
    [
        (63, [1], [0], 1),
        (62, [1], [0], 0),  # one is awake, which suffices
        (1, [63], [0], 1),
        (40, [63], [0], 40),
        (56, [0, 7], [7, 0], 7),  # those that are awake are inside another call
        (49, [0, 7], [7, 7], 7),
        (30, [0, 0], [2, 3], 0),
    ],
)
def test_a_call_wakes_no_more_helpers_than_it_takes(
    asleep: int, places: list[int], inside: list[int], number: int
) -> None:
    """There are 63, and these calls are open."""
    words = np.zeros(pool.SIZE, np.int64)
    words[pool.HELPERS] = 63
    for i, (more, there) in enumerate(zip(places, inside, strict=True)):
        words[pool.FIRST + pool.LINE * i] = pool.TAKEN + pool.PLACE * more + there
    assert needed(words.ctypes.data, asleep) == number


@numba.njit("int64(int64, int64)")
def awake_from(at, found):
    return pool.pool_awake_from(integers(at), found)


@pytest.mark.parametrize(
    ("asleep", "takes", "counts"), [(0, 63, False), (0, 1, True), (61, 1, True), (62, 1, False)]
)
def test_a_stream_of_calls_keeps_no_more_helpers_awake_than_it_takes(
    asleep: int, takes: int, counts: bool
) -> None:
    """There are 63. Those that the calls do not take sleep, though the last call is new."""
    words = np.zeros(pool.SIZE, np.int64)
    words[pool.HELPERS], words[pool.ASLEEP], words[pool.TAKES] = 63, asleep, takes
    assert (awake_from(words.ctypes.data, 5) == 5) == counts


@kept_callback("int64(int64, int64, CPointer(int64))")
def meet(worker, workers, met):
    """Wait until the other worker is there, too, or for half a minute."""
    began = crew.crew_now()
    add(met, 0, 1)
    while load(met, 0) < 2 and crew.crew_now() - began < 30_000_000_000:
        give_way()
    return 0


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread")
def test_two_threads_run_workers_at_the_same_time() -> None:
    met, queues = np.zeros(1, np.int64), np.zeros(2 * QUEUE, np.int64)
    began = time.perf_counter()
    pool.drive(workers.pool(), 2, 2, meet.address, met.ctypes.data, queues.ctypes.data)
    assert met[0] == 2
    assert time.perf_counter() - began < 30


def words() -> np.ndarray:
    """The words of this process's pool."""
    place = (ctypes.c_int64 * pool.SIZE).from_address(workers.pool())
    return np.frombuffer(place, np.int64)


def test_a_call_waits_for_no_helper_that_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here none ever does: the pool has no threads."""
    given = few_tiles()
    prepared = compiled(sums, given, ev.MergePath()).prepare(Binding(given))
    prepared()
    bits, nobodys = given["y"].tobytes(), np.zeros(pool.SIZE, np.int64)
    monkeypatch.setattr(workers, "pool", lambda: nobodys.ctypes.data)
    given["y"][:] = 0
    prepared()
    assert given["y"].tobytes() == bits
    assert nobodys[pool.OPENED] == (1 if numba.get_num_threads() > 1 else 0)
    assert not nobodys[pool.FIRST :: pool.LINE].any()  # all doors are free again


def test_without_posix_threads_the_caller_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    given = few_tiles()
    prepared = compiled(sums, given, ev.MergePath()).prepare(Binding(given))
    prepared()
    bits = given["y"].tobytes()
    monkeypatch.setattr(workers, "pool", lambda: 0)
    given["y"][:] = 0
    prepared()
    assert given["y"].tobytes() == bits


@pytest.mark.parametrize(
    "name",
    ["lock", "unlock", "wake_one", "wake_all", "wait_for_call", "wait_until_left"],
)
def test_without_posix_threads_no_code_names_them(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A name that the linker does not find would end the process."""
    operation = getattr(pool, name)

    def used(words):
        return operation(words)

    monkeypatch.setattr(pool, "POSIX", False)
    compiled_without = numba.njit("int32(CPointer(int64))")(used)
    (text,) = compiled_without.inspect_llvm().values()
    assert "pthread" not in text


def test_doors_are_free_after_calls() -> None:
    given = few_tiles()
    run(compiled(sums, given, ev.MergePath()), given)
    assert not words()[pool.FIRST :: pool.LINE].any()


def _in_a_child(executable: Any, given: dict[str, Any], queue: Any) -> None:
    run(executable, given)
    queue.put(given["y"].tobytes())


forks = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork here"
)


def from_a_child(function: Callable[..., None], *arguments: Any) -> Any:
    """Return what `function` puts into a queue in a forked process, which must exit normally."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=function, args=(*arguments, queue))
    child.start()
    found = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    return found


@forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    given = few_tiles()
    executable = compiled(sums, given, ev.MergePath())
    run(executable, given)
    bits = given["y"].tobytes()
    given["y"][:] = 0
    assert from_a_child(_in_a_child, executable, given) == bits
