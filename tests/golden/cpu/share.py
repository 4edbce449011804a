# spmv, WorkOriented(block=256, items=8). Rewritten by `python -m tests.golden`.

"""spmv, emitted by evenly"""
import math

import numpy as np
from numba import njit, types
from numpy import complex64, complex128, float32, float64, int32, int64, uint8, uint16

from evenly.targets.cpu.atomics import (
    atomic_add, atomic_cas, atomic_exch, atomic_max, atomic_min
)
from evenly.targets.cpu.checks import check_divisor, check_index, check_shift, check_that, record_of
from evenly.targets.cpu.complexes import (
    conjugate, divide_complex, imaginary_part, magnitude, multiply_complex, of_parts, real_part
)
from evenly.targets.cpu.kept import kept_callback
from evenly.targets.cpu.narrow import (
    brain_bits, brain_value, half_bits, half_value, rounded_to_odd
)
from evenly.targets.cpu.primitives import (
    add_in_any_order, add_wrapping, as_float, as_it_stands, cube_root, exp_minus_abs, floor_divide,
    maximum, minimum, multiply_in_any_order, multiply_wrapping, pointer, power_wrapping, subtract_wrapping
)

inf, nan = math.inf, math.nan
signature = types.int64(types.int64, types.int64, types.CPointer(types.int64))
entry = kept_callback(signature, error_model="numpy")
entry_that_packs = kept_callback(signature, packs=True, error_model="numpy")


@entry_that_packs
def phase_0(worker, workers, slots):
    facts = pointer(slots, 0, int64)
    a_A_offsets = pointer(slots, 1, int32)
    a_A_offsets_length = slots[2]
    a_A_indices_length = slots[3]
    piece_tile = pointer(slots, 4, int64)
    a_A_values = pointer(slots, 5, float32)
    a_x = pointer(slots, 6, float32)
    a_A_indices = pointer(slots, 7, int32)
    a_y = pointer(slots, 8, float32)
    piece_v_total_1 = pointer(slots, 9, float32)
    if worker < 0:
        if worker == -2:
            v_asked = workers
            v_its_end = int64(a_A_offsets[v_asked + 1])
            return v_its_end
        v_tiles = a_A_offsets_length - 1
        v_atoms = a_A_indices_length
        facts[0] = (v_tiles + v_atoms)
        facts[1] = v_tiles
        facts[2] = v_atoms
        facts[3] = 1
        return 0
    if worker < workers:
        piece_tile[2 * worker] = -1
        piece_tile[2 * worker + 1] = -1
        carry = -1  # the tile of which an earlier thread has a piece
        from_start = False  # whether this worker has that tile from its start
        v_carried_total = float32(0.0)
        for member in range(1):
            v_index = worker
            v_count = workers
            v_total = a_A_offsets_length - 1 + a_A_indices_length
            v_share = (v_total + v_count - 1) // v_count
            v_start = minimum(v_index * v_share, v_total)
            v_stop = minimum(v_start + v_share, v_total)
            v_low = maximum(v_start - a_A_indices_length, 0)
            v_high = minimum(v_start, a_A_offsets_length - 1)
            v_low_1 = v_low
            v_high_1 = v_high
            while True:
                if not v_low_1 < v_high_1:
                    break
                v_middle = (v_low_1 + v_high_1) // 2
                if int64(a_A_offsets[v_middle + 1]) <= v_start - v_middle - 1:
                    v_low_2 = v_middle + 1
                    v_low_3 = v_low_2
                    v_high_3 = v_high_1
                else:
                    v_high_2 = v_middle
                    v_low_3 = v_low_1
                    v_high_3 = v_high_2
                v_low_1 = v_low_3
                v_high_1 = v_high_3
            v_low_4 = maximum(v_stop - a_A_indices_length, 0)
            v_high_4 = minimum(v_stop, a_A_offsets_length - 1)
            v_low_5 = v_low_4
            v_high_5 = v_high_4
            while True:
                if not v_low_5 < v_high_5:
                    break
                v_middle_1 = (v_low_5 + v_high_5) // 2
                if int64(a_A_offsets[v_middle_1 + 1]) <= v_stop - v_middle_1 - 1:
                    v_low_6 = v_middle_1 + 1
                    v_low_7 = v_low_6
                    v_high_7 = v_high_5
                else:
                    v_high_6 = v_middle_1
                    v_low_7 = v_low_5
                    v_high_7 = v_high_6
                v_low_5 = v_low_7
                v_high_5 = v_high_7
            v_start_1 = v_start - v_low_1
            v_stop_1 = v_stop - v_low_5
            v_truth = v_low_5 < a_A_offsets_length - 1
            if v_truth:
                v_tile = minimum(v_low_5, a_A_offsets_length - 1 - 1)
                v_truth = v_stop_1 > int64(a_A_offsets[v_tile])
            v_partial = v_truth
            v_state = v_low_1
            v_state_1 = v_start_1
            v_state_2 = v_low_5 + (1 if v_partial else 0)
            v_state_3 = v_stop_1
            for v_row in range(v_state, v_state_2):
                v_bound = maximum(int64(a_A_offsets[v_row]), v_state_1)
                v_bound_1 = minimum(int64(a_A_offsets[v_row + 1]), v_state_3)
                v_start_2 = v_bound
                v_stop_2 = v_bound_1
                v_begin = int64(a_A_offsets[v_row])
                v_end = int64(a_A_offsets[v_row + 1])
                v_total_1 = float32(-0.0)
                v_k = v_start_2
                if v_k + 1 == v_stop_2:
                    v_total_1 = v_total_1 + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                elif v_k < v_stop_2:
                    if v_k + 4 <= v_stop_2:
                        v_total_1_1 = float32(-0.0)
                        v_total_2 = float32(-0.0)
                        v_total_3 = float32(-0.0)
                        while v_k + 4 <= v_stop_2:
                            as_it_stands()
                            v_total_1 = v_total_1 + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                            v_common = v_k + 1
                            v_total_1_1 = v_total_1_1 + a_A_values[v_common] * a_x[a_A_indices[v_common]]
                            v_common_1 = v_k + 2
                            v_total_2 = v_total_2 + a_A_values[v_common_1] * a_x[a_A_indices[v_common_1]]
                            v_common_2 = v_k + 3
                            v_total_3 = v_total_3 + a_A_values[v_common_2] * a_x[a_A_indices[v_common_2]]
                            v_k += 4
                        v_total_1 = v_total_1 + v_total_1_1
                        v_total_2 = v_total_2 + v_total_3
                        v_total_1 = v_total_1 + v_total_2
                    if v_k + 2 <= v_stop_2:
                        v_total_1_1 = float32(-0.0)
                        v_total_1 = v_total_1 + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                        v_common_3 = v_k + 1
                        v_total_1_1 = v_total_1_1 + a_A_values[v_common_3] * a_x[a_A_indices[v_common_3]]
                        v_k += 2
                        v_total_1 = v_total_1 + v_total_1_1
                    if v_k + 1 <= v_stop_2:
                        v_total_1 = v_total_1 + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                        v_k += 1
                if carry == v_row:
                    v_total_1 = v_carried_total + v_total_1
                else:
                    from_start = v_start_2 <= v_begin
                if v_begin == v_end or (v_start_2 < v_stop_2 and v_stop_2 >= v_end):
                    if from_start or v_begin == v_end:
                        a_y[v_row] = float32(0.0) + v_total_1
                    else:
                        piece = 2 * worker + 0
                        piece_tile[piece] = v_row
                        piece_v_total_1[piece] = v_total_1
                    carry = -1
                elif v_start_2 < v_stop_2:
                    v_carried_total = v_total_1
                    carry = v_row
        if carry >= 0:
            piece = 2 * worker + 1
            piece_tile[piece] = carry
            piece_v_total_1[piece] = v_carried_total
    else:
        carry = -1
        v_carried_total_1 = float32(0.0)
        for piece in range(2 * workers):
            v_row = piece_tile[piece]
            if v_row < 0:
                continue
            v_total_1 = piece_v_total_1[piece]
            if v_row == carry:
                v_total_1 = v_carried_total_1 + v_total_1
            if piece % 2 == 0:
                a_y[v_row] = float32(0.0) + v_total_1
                carry = -1
            else:
                v_carried_total_1 = v_total_1
                carry = v_row
    return 0
