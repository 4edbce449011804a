// Lanes of a warp that add to one number at the same time, as they do for places in a list: one atomic for all of them.
//
//     add_together(to, value) -> T           as atomic_add(to, value), which returns what was there before
//     add_of(lanes, to, value) -> T          the same, for the lanes that call it together
//
// All lanes that run together must give the same address. The sum is of integers, so it has the same bits in any order;
// each lane gets the number that it would have got had the lanes added one after the other, in order.
//
// Source: the warp-aggregated atomics of Adinets, "CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics".
#pragma once
#include "gpu.cuh"

namespace ev {

template <class T> EV_DEVICE T add_of(unsigned lanes, T* to, T value) {
  T through = value;                                               // of this lane and those before it
  int before = highest_bit(lanes & lanes_below(lane_rank()));      // the last lane that is not yet in it; -1: none
  for (int n = count_bits(lanes); n > 1; n = (n + 1) / 2) {        // it doubles the lanes that are
    const int source = before < 0 ? lane_rank() : before;
    const T more = shuffle_from(lanes, through, source);
    const int next = shuffle_from(lanes, before, source);
    if (before >= 0) through += more;
    before = next;
  }
  const int last = highest_bit(lanes);
  T start = 0;
  if (lane_rank() == last) start = atomic_add(to, through);
  return shuffle_from(lanes, start, last) + (through - value);
}

template <class T> EV_DEVICE T add_together(T* to, T value) { return add_of(active_lanes(), to, value); }

}  // namespace ev
