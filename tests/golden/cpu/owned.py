# spmv, ThreadMapped(block=256, items=4). Rewritten by `python -m tests.golden`.

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
from evenly.targets.cpu.primitives import sum_of_terms
from evenly.targets.cpu.stack import stack
from evenly.targets.cpu.trials import trial_begins, trial_ends, trial_stages, trial_tiles

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
    shares = pointer(slots, 4, int64)
    a_A_values = pointer(slots, 5, float32)
    a_x = pointer(slots, 6, float32)
    a_A_indices = pointer(slots, 7, int32)
    a_y = pointer(slots, 8, float32)
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
    first_tile = shares[6 * worker + 0]
    first_atom = shares[6 * worker + 1]
    end_tile = shares[6 * worker + 2]
    end_atom = shares[6 * worker + 3]
    first_whole = shares[6 * worker + 4]
    end_whole = shares[6 * worker + 5]
    trial = stack(8, int64)
    v_k_begun = v_k_until = -1
    terms_of_v_total = stack(528, float32)
    piece_begin = first_tile
    if first_tile < end_whole:
        v_of_piece = first_tile
        v_piece_at = int64(a_A_offsets[v_of_piece])
        v_of_piece = end_whole - 1
        v_piece_stop = int64(a_A_offsets[v_of_piece + 1])
        trial_begins(trial, end_whole - first_tile, v_piece_stop - v_piece_at)
    while piece_begin < end_whole:
        piece_end = min(piece_begin + trial_tiles(trial), end_whole)
        v_of_piece_1 = piece_begin
        v_piece_at_1 = int64(a_A_offsets[v_of_piece_1])
        v_of_piece_1 = piece_end - 1
        v_piece_stop_1 = int64(a_A_offsets[v_of_piece_1 + 1])
        if trial_stages(trial):
            v_k_until = -1
            for v_row in range(piece_begin, piece_end):
                v_total = float32(-0.0)
                v_low = int64(a_A_offsets[v_row])
                v_high = int64(a_A_offsets[v_row + 1])
                if v_high > v_k_until:
                    v_k_begun = v_low
                    v_k_until = min(v_low + 512, v_piece_stop_1)
                    if v_high > v_k_until:
                        v_k_until = -1
                    v_k = v_k_begun
                    while v_k + 4 <= v_k_until:
                        as_it_stands()
                        terms_of_v_total[v_k - v_k_begun + 0] = a_A_values[v_k] * a_x[a_A_indices[v_k]]
                        as_it_stands()
                        v_common = v_k + 1
                        terms_of_v_total[v_k - v_k_begun + 1] = a_A_values[v_common] * a_x[a_A_indices[v_common]]
                        as_it_stands()
                        v_common_1 = v_k + 2
                        terms_of_v_total[v_k - v_k_begun + 2] = a_A_values[v_common_1] * a_x[a_A_indices[v_common_1]]
                        as_it_stands()
                        v_common_2 = v_k + 3
                        terms_of_v_total[v_k - v_k_begun + 3] = a_A_values[v_common_2] * a_x[a_A_indices[v_common_2]]
                        v_k += 4
                    while v_k + 1 <= v_k_until:
                        as_it_stands()
                        terms_of_v_total[v_k - v_k_begun + 0] = a_A_values[v_k] * a_x[a_A_indices[v_k]]
                        v_k += 1
                if v_high <= v_k_until:
                    v_of_terms = sum_of_terms(terms_of_v_total, v_low - v_k_begun, v_high - v_k_begun)
                    v_total = v_total + v_of_terms
                else:
                    v_k = v_low
                    if v_k + 1 == v_high:
                        v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                    elif v_k < v_high:
                        if v_k + 4 <= v_high:
                            v_total_1 = float32(-0.0)
                            v_total_2 = float32(-0.0)
                            v_total_3 = float32(-0.0)
                            while v_k + 4 <= v_high:
                                as_it_stands()
                                v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                                v_common_3 = v_k + 1
                                v_total_1 = v_total_1 + a_A_values[v_common_3] * a_x[a_A_indices[v_common_3]]
                                v_common_4 = v_k + 2
                                v_total_2 = v_total_2 + a_A_values[v_common_4] * a_x[a_A_indices[v_common_4]]
                                v_common_5 = v_k + 3
                                v_total_3 = v_total_3 + a_A_values[v_common_5] * a_x[a_A_indices[v_common_5]]
                                v_k += 4
                            v_total = v_total + v_total_1
                            v_total_2 = v_total_2 + v_total_3
                            v_total = v_total + v_total_2
                        if v_k + 2 <= v_high:
                            v_total_1 = float32(-0.0)
                            v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                            v_common_6 = v_k + 1
                            v_total_1 = v_total_1 + a_A_values[v_common_6] * a_x[a_A_indices[v_common_6]]
                            v_k += 2
                            v_total = v_total + v_total_1
                        if v_k + 1 <= v_high:
                            v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                            v_k += 1
                a_y[v_row] = float32(0.0) + v_total
        else:
            for v_row in range(piece_begin, piece_end):
                v_total = float32(-0.0)
                v_low_1 = int64(a_A_offsets[v_row])
                v_high_1 = int64(a_A_offsets[v_row + 1])
                v_k = v_low_1
                if v_k + 1 == v_high_1:
                    v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                elif v_k < v_high_1:
                    if v_k + 4 <= v_high_1:
                        v_total_1_1 = float32(-0.0)
                        v_total_2_1 = float32(-0.0)
                        v_total_3_1 = float32(-0.0)
                        while v_k + 4 <= v_high_1:
                            as_it_stands()
                            v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                            v_common_7 = v_k + 1
                            v_total_1_1 = v_total_1_1 + a_A_values[v_common_7] * a_x[a_A_indices[v_common_7]]
                            v_common_8 = v_k + 2
                            v_total_2_1 = v_total_2_1 + a_A_values[v_common_8] * a_x[a_A_indices[v_common_8]]
                            v_common_9 = v_k + 3
                            v_total_3_1 = v_total_3_1 + a_A_values[v_common_9] * a_x[a_A_indices[v_common_9]]
                            v_k += 4
                        v_total = v_total + v_total_1_1
                        v_total_2_1 = v_total_2_1 + v_total_3_1
                        v_total = v_total + v_total_2_1
                    if v_k + 2 <= v_high_1:
                        v_total_1_1 = float32(-0.0)
                        v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                        v_common_10 = v_k + 1
                        v_total_1_1 = v_total_1_1 + a_A_values[v_common_10] * a_x[a_A_indices[v_common_10]]
                        v_k += 2
                        v_total = v_total + v_total_1_1
                    if v_k + 1 <= v_high_1:
                        v_total = v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]]
                        v_k += 1
                a_y[v_row] = float32(0.0) + v_total
        trial_ends(trial, piece_end - piece_begin, v_piece_stop_1 - v_piece_at_1, 32)
        piece_begin = piece_end
    return 0
