"""The counters of an emulated launch, like those of a GPU profiler: coalescing, divergence, bank conflicts, atomics.

The traces of warps are replayed in lockstep; host/lockstep.hpp explains how, and which assumptions
that makes. The names in brackets are the same counters in Nsight Compute.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenly.errors import InternalError
from evenly.gpus.gpu import WARP

SECTOR = 32  # bytes

# EV_WARP_COUNTERS of host/lockstep.hpp, in the same order: what each counts, and the metric of ncu.
MEANING = {
    "block": "the warp's block in the grid",
    "warp": "the warp's place in its block",
    "instructions": "accesses to memory and collectives [a part of smsp__inst_executed.sum]",
    "syncs": "barriers, shuffles and votes, of these",
    "blocks_executed": "basic blocks executed",
    "active_lanes": "lanes that took part, summed over these "
    "[as smsp__thread_inst_executed.sum is to smsp__inst_executed.sum]",
    "branches": "ways from a basic block into the next [smsp__sass_branch_targets.sum]",
    "divergent_branches": "of these, those on which lanes of a warp part "
    "[smsp__sass_branch_targets_threads_divergent.sum]",
    "global_load_requests": "reads of global memory [l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum]",
    "global_load_sectors": "32-byte sectors read [l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum]",
    "global_load_bytes": "different bytes that a read asked for, summed over reads",
    "global_store_requests": "writes to global memory [l1tex__t_requests_pipe_lsu_mem_global_op_st.sum]",
    "global_store_sectors": "32-byte sectors written [l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum]",
    "global_store_bytes": "different bytes that a write wrote, summed over writes",
    "shared_load_requests": "reads of shared memory [smsp__sass_inst_executed_op_shared_ld.sum]",
    "shared_load_wavefronts": "passes over the banks that they took "
    "[smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum]",
    "shared_load_conflicts": "of these, those for bank conflicts "
    "[as l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum, but without passes lost to others]",
    "shared_store_requests": "writes to shared memory [smsp__sass_inst_executed_op_shared_st.sum]",
    "shared_store_wavefronts": "passes over the banks that they took "
    "[smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum]",
    "shared_store_conflicts": "of these, those for bank conflicts "
    "[as l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum, but without passes lost to others]",
    "global_atomic_requests": "atomic instructions on global memory "
    "[l1tex__t_requests_pipe_lsu_mem_global_op_red.sum and _atom.sum]",
    "global_atomic_sectors": "32-byte sectors that they touched "
    "[l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum and _atom.sum]",
    "global_atomics": "atomic operations on global memory, a lane each",
    "global_atomic_collisions": "of these, those on an address that an earlier lane of the instruction has",
    "shared_atomic_requests": "atomic instructions on shared memory "
    "[smsp__inst_executed_op_shared_atom.sum]",
    "shared_atomics": "atomic operations on shared memory, a lane each",
    "shared_atomic_collisions": "of these, those on an address that an earlier lane of the instruction has",
}
FIELDS = tuple(MEANING)
DTYPE = np.dtype([(name, np.uint64) for name in FIELDS])
PLACES = ("block", "warp")


@dataclass(frozen=True, eq=False)
class Counters:
    """The counters of a launch, or of several.

    per_warp: a record for each warp, (warps,) of DTYPE; `MEANING` explains the fields.
    kernel: the emitted kernel's name.
    Raises InternalError for records of another type.
    """

    per_warp: np.ndarray[Any, Any] = field(repr=False)
    kernel: str = ""

    def __post_init__(self) -> None:
        if self.per_warp.dtype != DTYPE or self.per_warp.ndim != 1:
            raise InternalError(
                f"counters: expected a row of {len(FIELDS)} uint64 fields a warp, "
                f"got {self.per_warp.dtype} of shape {self.per_warp.shape}"
            )

    @functools.cached_property
    def totals(self) -> dict[str, int]:
        """All counters, summed over the warps."""
        return {name: int(self.per_warp[name].sum()) for name in FIELDS if name not in PLACES}

    @functools.cached_property
    def per_block(self) -> np.ndarray[Any, Any]:
        """A record for each block, (blocks,) of DTYPE, in order of blocks; `warp` is the number of its warps."""
        numbers, of_block = np.unique(self.per_warp["block"], return_inverse=True)
        made = np.zeros(len(numbers), DTYPE)
        for name in self.totals:
            np.add.at(made[name], of_block, self.per_warp[name])
        np.add.at(made["warp"], of_block, np.uint64(1))
        made["block"] = numbers
        return made

    @property
    def load_coalescing(self) -> float:
        """The bytes that reads of global memory requested, divided by the bytes of the sectors moved. 1 is best.

        [smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct, but that counts a byte which
        several lanes read once for each lane.]
        """
        return self._share("global_load_bytes", "global_load_sectors", SECTOR)

    @property
    def store_coalescing(self) -> float:
        """The same for writes. [smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct]"""
        return self._share("global_store_bytes", "global_store_sectors", SECTOR)

    @property
    def divergence(self) -> float:
        """The share of branches at which the lanes of a warp diverge. 0 is best.

        [smsp__sass_branch_targets_threads_divergent.sum over smsp__sass_branch_targets.sum]
        """
        return self._share("divergent_branches", "branches")

    @property
    def idle_lanes(self) -> float:
        """The share of lanes that wait while others of their warp execute. 0 is best.

        [1 - smsp__thread_inst_executed_per_inst_executed.ratio / 32]
        """
        if not self.totals["blocks_executed"]:
            return 0.0
        return 1 - self._share("active_lanes", "blocks_executed", WARP)

    @property
    def bank_conflicts(self) -> int:
        """The extra passes over the banks of shared memory that conflicts caused, for reads and writes.

        [memory_l1_wavefronts_shared less memory_l1_wavefronts_shared_ideal]
        """
        return self.totals["shared_load_conflicts"] + self.totals["shared_store_conflicts"]

    @property
    def atomics(self) -> int:
        """The number of atomic operations on global and shared memory. Each lane counts."""
        return self.totals["global_atomics"] + self.totals["shared_atomics"]

    @property
    def atomic_collisions(self) -> int:
        """The number of atomic operations that wait for another lane of their instruction, at the same address."""
        return self.totals["global_atomic_collisions"] + self.totals["shared_atomic_collisions"]

    def _share(self, part: str, whole: str, each: int = 1) -> float:
        out_of = self.totals[whole] * each
        return self.totals[part] / out_of if out_of else 0.0

    def __str__(self) -> str:
        """Return a table with an explained number in each line, without memory that was not accessed."""
        lines = list(self._lines())
        label, value = (max(len(line[i]) for line in lines) for i in (0, 1))
        return "\n".join(f"{a:{label}}  {b:>{value}}  {c}" for a, b, c in lines)

    def _lines(self) -> Iterator[tuple[str, str, str]]:
        t = self.totals
        yield "warps", f"{len(self.per_warp):,}", "of 32 lanes"
        yield "idle lanes", f"{self.idle_lanes:.1%}", "wait while others of their warp execute"
        yield (
            "divergent branches",
            f"{self.divergence:.1%}",
            f"of {t['branches']:,}: lanes of a warp part",
        )
        for op, what, share in (
            ("load", "read", self.load_coalescing),
            ("store", "written", self.store_coalescing),
        ):
            if requests := t[f"global_{op}_requests"]:
                sectors = t[f"global_{op}_sectors"]
                yield f"global {op}s", f"{requests:,}", "instructions of warps"
                average = f"{sectors / requests:.1f} an instruction"
                yield f"  sectors {what}", f"{sectors:,}", f"of {SECTOR} bytes, {average}"
                yield "  coalescing", f"{share:.1%}", "of the bytes of these sectors are used"
        for op in ("load", "store"):
            if requests := t[f"shared_{op}_requests"]:
                yield f"shared {op}s", f"{requests:,}", "instructions of warps"
                yield "  wavefronts", f"{t[f'shared_{op}_wavefronts']:,}", "passes over the banks"
                conflicts = t[f"shared_{op}_conflicts"]
                yield "  bank conflicts", f"{conflicts:,}", "passes more than without conflicts"
        if self.atomics:
            yield "atomics", f"{self.atomics:,}", "operations, a lane each"
            collisions = f"{self.atomic_collisions:,}"
            yield "  collisions", collisions, "wait for another lane at the same address"
