// Prefix sums of a functor's values over all tiles, in three kernels: sums within each block, the scan of their totals,
// and the addition of those. There are no atomics, so every run gives the same bits, and no look-back, so no block
// waits for another.
#pragma once
#include "gpu.cuh"

namespace ev {

// Inclusive scan over the warp's lanes.
template <class V> EV_DEVICE V warp_sums(V v) {
  for (int o = 1; o < 32; o <<= 1) {
    V earlier = shuffle_up(full_warp, v, o);
    if (lane_rank() >= o) v += earlier;
  }
  return v;
}

// Inclusive scan over the block's threads. `total` is valid in every thread. T is a multiple of 32.
template <int T, class V> EV_DEVICE V block_scan(V v, V& total) {
  EV_SHARED(V, of_warp, T / 32);
  v = warp_sums(v);
  if (lane_rank() == 31) of_warp[warp_rank()] = v;
  barrier();
  V before = 0;
  total = 0;
  for (int w = 0; w < T / 32; ++w) {
    if (w < warp_rank()) before += of_warp[w];
    total += of_warp[w];
  }
  barrier();  // the next scan writes of_warp again
  return before + v;
}

// For this block's T * I entries: sums[i + 1] = the sum of size(j) from the block's first entry to i, and
// totals[block] = the sum of all. sums[0] = 0.
template <int T, int I, class V, class F> EV_DEVICE void scan_blocks(F size, long long n, V* sums, V* totals) {
  long long base = (long long)block_rank() * T * I;
  V carried = 0;
  for (int j = 0; j < I; ++j) {
    long long i = base + j * T + thread_rank();
    V total, v = block_scan<T>(i < n ? (V)size(i) : (V)0, total);
    if (i < n) sums[i + 1] = carried + v;
    carried += total;
  }
  if (thread_rank() == 0) {
    totals[block_rank()] = carried;
    if (block_rank() == 0) sums[0] = 0;
  }
}

// One block turns totals into exclusive prefix sums: the sum of all blocks before each block.
template <int T, class V> EV_DEVICE void scan_totals(V* totals, int blocks) {
  V carried = 0;
  for (int base = 0; base < blocks; base += T) {
    int b = base + thread_rank();
    V total, mine = b < blocks ? totals[b] : (V)0, v = block_scan<T>(mine, total);
    if (b < blocks) totals[b] = carried + v - mine;
    carried += total;
  }
}

template <int T, int I, class V> EV_DEVICE void scan_add(long long n, V* sums, const V* totals) {
  V before = totals[block_rank()];
  long long base = (long long)block_rank() * T * I;
  for (int j = 0; j < I; ++j) {
    long long i = base + j * T + thread_rank();
    if (i < n) sums[i + 1] += before;
  }
}

}  // namespace ev
