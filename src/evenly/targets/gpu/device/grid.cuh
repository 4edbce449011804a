// Reductions over the whole grid: each block makes a partial result, and a last kernel of one block combines them in a
// fixed tree.
//
//     block_reduce_grid<Phase, T>(grid, partials)    called by every thread of the block; writes partials[block_rank()]
//     final_grid<Phase, T>(partials, n) -> Grid      called by one block of T threads; valid in thread 0 only
//
// There are no atomics. Which thread holds which value, and the order of every sum, depend on the launch alone. So
// every run gives the same bits.
#pragma once
#include "gpu.cuh"
#include "group.cuh"

namespace ev {

// The identities of a phase's grid accumulators. If the phase has none, nothing below is called.
template <class Phase> EV_DEVICE typename Phase::Grid grid_start() {
  if constexpr (Phase::has_grid) return Phase::grid_identity();
  else return typename Phase::Grid{};
}

// Valid in thread 0 only.
template <class Phase, int T> EV_DEVICE typename Phase::Grid block_fold_grid(typename Phase::Grid g) {
  using Grid = typename Phase::Grid;
  constexpr int W = ceil_div(T, 32);
  static_assert(T % 32 == 0, "whole warps");
  EV_SHARED(Grid, of_warp, W);
  auto combine = [](const Grid& a, const Grid& b) { return Phase::grid_combine(a, b); };
  g = lanes_fold<32>(full_warp, lane_rank(), g, combine);
  if (lane_rank() == 0) of_warp[warp_rank()] = g;
  barrier();
  if (thread_rank() == 0)
    for (int w = 1; w < W; ++w) g = Phase::grid_combine(g, of_warp[w]);
  return g;
}

template <class Phase, int T> EV_DEVICE void block_reduce_grid(typename Phase::Grid g, typename Phase::Grid* partials) {
  if constexpr (Phase::has_grid) {
    g = block_fold_grid<Phase, T>(g);
    if (thread_rank() == 0) partials[block_rank()] = g;
  }
}

template <class Phase, int T>
EV_DEVICE typename Phase::Grid final_grid(const typename Phase::Grid* partials, long long n) {
  typename Phase::Grid g = Phase::grid_identity();
  for (long long i = thread_rank(); i < n; i += T) g = Phase::grid_combine(g, partials[i]);
  return block_fold_grid<Phase, T>(g);
}

}  // namespace ev
