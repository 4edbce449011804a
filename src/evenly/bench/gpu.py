"""A GPU as a place, through CuPy: its memory, one stream, and clocks with GPU events around replayed graphs."""

from __future__ import annotations

import contextlib
import importlib.util
import statistics
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import resources
from itertools import chain
from typing import Any

import numpy as np

from evenly.errors import UnavailableError
from evenly.layouts import csr
from evenly.timing.calls import LOOKS, CallClock
from evenly.timing.graphs import MOST, RESOLVED, WANTED
from evenly.timing.rounds import Clock, far_more, runs_for

from . import hardwired
from .case import Case
from .contender import CALL, KERNELS, Contender, LeftOut
from .cpu import versions_of
from .peers import gpu_peers, pytorch_on
from .place import Live, Rates

FLUSHING = 1 << 28  # bytes read to empty the L2 cache: several times its size on any GPU
COPIED = 1 << 30  # bytes copied to measure the memory's rate
GATHERED_BITS = 21  # gathers read from 2**21 floats: 8 MiB fit into any L2 and into no L1
HELD = 100_000  # nanoseconds that the GPU is kept busy while the host launches ahead
FLUSHED_RUNS = 4


class GpuBench:
    """The current device. Raises UnavailableError without CuPy."""

    target = "cuda"
    clock = KERNELS

    def __init__(self) -> None:
        if importlib.util.find_spec("cupy") is None:
            remedy = "pip install cupy-cuda13x (or cupy-cuda12x)"
            raise UnavailableError("measuring on a GPU", "CuPy is not installed", remedy)
        import cupy

        self.cupy = cupy
        self.stream = cupy.cuda.Stream(non_blocking=True)
        code = resources.files(__package__).joinpath("instruments.cu").read_text()
        self.instruments = cupy.RawModule(code=code, options=("-std=c++17",))
        self.never = cupy.zeros(1, cupy.float32)
        self.flushing = cupy.zeros(FLUSHING // 4, cupy.float32)
        self.blocks = 16 * cupy.cuda.Device().attributes["MultiProcessorCount"]
        cupy.cuda.Device().synchronize()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """A context in which this stream is current, for CuPy and PyTorch."""
        with self.stream, pytorch_on(self.stream):
            yield

    def machine(self) -> tuple[str, str]:
        cp = self.cupy
        name = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)["name"].decode()
        versions = versions_of("numpy", "cupy-cuda13x", "cupy-cuda12x", "torch", "nvidia-cusparse")
        driver, runtime = cp.cuda.runtime.driverGetVersion(), cp.cuda.runtime.runtimeGetVersion()
        return name, f"{versions}, CUDA driver {driver}, CUDA runtime {runtime}"

    def rates(self) -> Rates:
        cp = self.cupy
        source, target = cp.ones(COPIED, cp.uint8), cp.empty(COPIED, cp.uint8)
        through = self.instruments.get_function("copy_all")
        both = source, target, np.int32(COPIED // 16)
        copy = self.graph([lambda: through((self.blocks,), (256,), both)])
        kernel = self.instruments.get_function("gather")
        arguments = (self.flushing, np.int32(GATHERED_BITS), self.never)
        gather = self.graph([lambda: kernel((self.blocks,), (256,), arguments)])
        copied, gathered = (self.typical(graph) for graph in (copy, gather))
        return Rates(2 * COPIED / copied * 1e6, self.blocks * 256 * 64 * 32 / gathered * 1e6)

    # ---- arrays ----------------------------------------------------------------------------------
    def load(self, case: Case) -> Live:
        put, matrix = self.cupy.asarray, case.matrix
        sets = tuple((put(values), put(x)) for values, x in case.sets)
        values, x = (array.copy() for array in sets[-1])
        offsets, indices = put(matrix.indptr), put(matrix.indices)
        y = self.cupy.empty(matrix.shape[0], values.dtype)
        A = csr((values, indices, offsets), shape=matrix.shape)
        return Live(A, offsets, indices, values, x, y, sets)

    def rewrite(self, live: Live, turn: int) -> None:
        for array, new in zip((live.values, live.x), live.sets[turn % len(live.sets)], strict=True):
            array.data.copy_from_device_async(new.data, new.nbytes, self.stream)

    def peers(self, live: Live, by_hand: bool) -> Iterator[Contender | LeftOut]:
        return chain(gpu_peers(live), hardwired.contenders(live) if by_hand else ())

    # ---- clocks ----------------------------------------------------------------------------------
    def clock_of(self, contender: Contender) -> Clock:
        if contender.clock == CALL:
            return CallClock(contender.launch, self.stream.synchronize)
        return KernelClock(self, contender.launch)

    def flush(self) -> None:
        """Evict the contents of the L2 cache by reading other memory."""
        kernel = self.instruments.get_function("read_all")
        kernel((self.blocks,), (256,), (self.flushing, np.int32(FLUSHING // 16), self.never))

    def hold(self) -> None:
        """Keep the GPU busy for HELD nanoseconds, so that the host can launch ahead."""
        self.instruments.get_function("hold")((1,), (1,), (np.int64(HELD),))

    def graph(self, launches: list[Callable[[], Any]]) -> Any:
        """Capture the launches as a graph, in sequence."""
        self.stream.begin_capture()
        try:
            for launch in launches:
                launch()
        except BaseException:
            with contextlib.suppress(Exception):  # the stream must not stay in capture
                self.stream.end_capture()
            raise
        return self.stream.end_capture()

    def span(self, work: Callable[[], Any]) -> float:
        """Time what `work` launches with GPU events, in microseconds."""
        start, stop = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        start.record(self.stream)
        work()
        stop.record(self.stream)
        stop.synchronize()
        return float(self.cupy.cuda.get_elapsed_time(start, stop)) * 1e3

    def replay(self, graph: Any, before: Callable[[], Any] = lambda: None) -> float:
        """Time a replay of the graph that starts when `before` ends, in microseconds."""
        self.hold()
        before()
        return self.span(lambda: graph.launch(self.stream))

    def typical(self, graph: Any) -> float:
        """Return the median of ten replays in microseconds, after one to warm up."""
        return statistics.median([self.replay(graph) for _ in range(11)][1:])

    @cached_property
    def flushes(self) -> Any:
        """A graph of FLUSHED_RUNS flushes, whose time is subtracted from that of flushed launches."""
        return self.brought(self.graph([self.flush] * FLUSHED_RUNS))

    def brought(self, graph: Any) -> Any:
        """Replay a graph once and return it. The first replay takes longer, since it uploads the graph to the GPU."""
        self.replay(graph)
        return graph


class KernelClock:
    """A clock of launches in replayed graphs. It times the kernels without Python's time."""

    def __init__(self, gpu: GpuBench, launch: Callable[[], Any]) -> None:
        self.gpu, self.launch = gpu, launch
        launch()
        self.estimate = min(self._looked() for _ in range(LOOKS))
        self.runs = runs_for(self.estimate, WANTED, MOST)
        self.after_others = self._graph()
        # Looks are too long where the host launches late, so that the graph would time its own launch.
        while far_more(runs := runs_for(self.warm(), WANTED, MOST), self.runs):
            self.runs = runs
            self.after_others = self._graph()

    def _graph(self) -> Any:
        return self.gpu.brought(self.gpu.graph([self.launch] * self.runs))

    def _looked(self) -> float:
        self.gpu.hold()
        return self.gpu.span(self.launch)

    @cached_property
    def after_flushes(self) -> Any:
        return self.gpu.brought(self.gpu.graph([self.gpu.flush, self.launch] * FLUSHED_RUNS))

    def warm(self) -> float:
        return self.gpu.replay(self.after_others, before=self.launch) / self.runs

    def flushed(self) -> float:
        """Time flushes with launches, and subtract the time of the flushes."""
        both = self.gpu.replay(self.after_flushes, before=self.gpu.flush)
        alone = self.gpu.replay(self.gpu.flushes, before=self.gpu.flush)
        return max(both - alone, RESOLVED) / FLUSHED_RUNS
