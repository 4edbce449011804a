// Several blocks that own an item together. They meet through global memory, so all of them have to run at once: the
// launch is cooperative, and its grid as small as that needs.
//
//     const ev::blocks<T, W> team(n, cells, parts);     // blocks 0 to n-1 of the grid, n to 2n-1, and so on
//     for (pos t = team.index(); t < tiles; t += team.count()) { ... }     // as of a group (group.cuh)
//     team.leave();                                     // once, after everything else
//
// n divides the blocks of the grid. T: threads of a block. W: 64-bit words of the widest value that is reduced.
// cells: a counter for each team. It is zero between launches: the last block of a team to leave puts it back.
// parts: two values for each block.
//
// A reduction folds the blocks' values in their order, in a tree that depends on n alone: every run gives the same bits.
//
// Source: the barrier of a grid of resident blocks is that of Xiao, Feng, "Inter-Block GPU Communication via Fast Barrier
// Synchronization" (IPDPS 2010), in its form with one counter.
#pragma once
#include "group.cuh"

namespace ev {

template <int T, int W> struct blocks {
  static constexpr bool in_one_block = false;
  static constexpr int per_block = 1;  // a block has a part of one team only
  const group<T, T> near;              // the threads of this block, which have its shared memory

  EV_DEVICE blocks(int n, long long* cells, void* parts)
      : n(n), cell(cells + block_rank() / n), parts((long long*)parts + (long long)(block_rank() / n) * 2 * n * words) {}

  EV_DEVICE bool present() const { return true; }
  EV_DEVICE bool active() const { return true; }
  static EV_DEVICE bool walks() { return true; }
  EV_DEVICE int rank() const { return block_rank() % n * T + thread_rank(); }
  EV_DEVICE int size() const { return n * T; }
  EV_DEVICE int local() const { return 0; }
  EV_DEVICE bool leader() const { return rank() == 0; }
  EV_DEVICE long long index() const { return block_rank() / n; }
  EV_DEVICE long long count() const { return block_count() / n; }

  // A barrier of all threads. What any of them has written before it is visible to all after it.
  EV_DEVICE void sync() const {
    due += n;
    barrier();
    if (thread_rank() == 0) {
      fence_device();  // what this block has written is there before it is counted
      atomic_add(cell, 1LL);
      while (atomic_load(cell) < due) {}
      fence_device();  // what others have written is read after they have been counted
    }
    barrier();
  }
  EV_DEVICE void leave() const {
    if (thread_rank() == 0 && atomic_add(cell, 1LL) == due + n - 1) atomic_store(cell, 0LL);
  }

  // Valid in every thread. There is one barrier of the blocks: the two halves of `parts` alternate, as in group.cuh.
  template <class V> EV_DEVICE V reduce(const V& v) const {
    static_assert(sizeof(V) <= 8 * words, "W words hold it");
    const V own = near.reduce_to_leader(v);
    turn ^= 1;
    if (thread_rank() == 0) *part<V>(block_rank() % n) = own;
    sync();
    return gather<V>();
  }
  template <class V> EV_DEVICE V reduce_to_leader(const V& v) const { return reduce(v); }
  template <class V> EV_DEVICE V from_leader(const V& v) const {
    static_assert(sizeof(V) <= 8 * words, "W words hold it");
    turn ^= 1;
    if (leader()) *part<V>(0) = v;
    sync();
    return *part<V>(0);
  }

private:
  static constexpr int words = (W + 1) / 2 * 2;  // so that each part begins at a multiple of 16 bytes
  const int n;
  long long *cell, *parts;
  mutable long long due = 0;  // the count at which all have come to the latest barrier
  mutable int turn = 0;

  template <class V> EV_DEVICE V* part(int block) const { return (V*)(parts + (long long)(turn * n + block) * words); }
  // Each warp folds all parts: a lane those of a few consecutive blocks, then the lanes in order.
  template <class V> EV_DEVICE V gather() const {
    const int each = ceil_div(n, 32), lanes = ceil_div(n, each), first = lane_rank() * each;
    V total = *part<V>(first < n ? first : 0);
    for (int b = first + 1; b < first + each && b < n; ++b) total = V::combine(total, *part<V>(b));
    #pragma unroll
    for (int o = 1; o < 32; o *= 2) {
      const V later = value_down(full_warp, total, o);
      if (lane_rank() + o < lanes) total = V::combine(total, later);
    }
    return value_from(full_warp, total, 0);
  }
};

}  // namespace ev
