// Places in a list that many threads append to.
#pragma once
#include "gpu.cuh"

namespace ev {

// Adds one to a counter for each calling thread, and returns the thread's place: what the counter was before. The lanes
// of a warp that are here together share one atomic addition. All of them give the same counter. Source: Adinetz,
// "Optimized Filtering with Warp-Aggregated Atomics" (NVIDIA, 2014).
EV_DEVICE long long atomic_place(long long* counter) {
  const unsigned here = lanes_here();
  const int leader = lowest_bit(here);
  long long first = 0;
  if (lane_rank() == leader) first = atomic_add(counter, (long long)count_bits(here));
  return shuffle_from(here, first, leader) + count_bits(here & lanes_below(lane_rank()));
}

}  // namespace ev
