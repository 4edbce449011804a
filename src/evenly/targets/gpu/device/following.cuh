// The pass that follows at once where a tile lies within a block (language/following.py), after that of stream.cuh.
//
//     following<Stream>
//         What a block does when it has left its tiles: each atom gets what its tile left (`Phase::after`), and stores
//         (`Phase::put`). Elements that both passes read are still in registers.
//     follow_shared<Phase, T, I>(phase, first_tile, main_blocks)
//         The kernel that then runs for tiles that blocks share. The shares of atoms, and the partition, are those of the
//         first kernel, of main_blocks blocks. A warp takes a share, since most have little left, the last ones first: L2
//         may still hold what they read. Number of blocks: at least ceil(main_blocks / (T / 32)).
//
// Phase has, beside what stream.cuh asks for, what emit/following.py emits.
#pragma once
#include "stream_shares.cuh"

namespace ev {

template <class Phase, bool GoesOn> struct after_of { struct type {}; };
template <class Phase> struct after_of<Phase, true> { using type = typename Phase::After; };

template <class Stream> struct following {
  using pos = typename Stream::pos;
  using Phase = typename Stream::Of;
  using After = typename Stream::After;
  using Ends = typename Stream::Ends;
  static constexpr int T = Stream::threads, S = Stream::S, I = S / T, R = Stream::R, W = T / 32;
  struct Ending { Ends own; int next; };  // where tiles end in a thread's slots, and the next end in its warp; S: there is none

  const Stream& stream;
  Ending* endings;  // of each thread
  int* firsts;      // of each warp: the first end in it, or S. Then: how many slots the tile has that began before the block

  // Before the block's tiles are left. head: that number of slots; thread 0 has it.
  EV_DEVICE void note(Ends own, int head) const {
    const unsigned with = ballot(full_warp, own != 0), later = with & lanes_above(lane_rank());
    const int first = own != 0 ? Stream::own_slot() + lowest_bit(own) : S;
    const int next = shuffle_from(full_warp, first, later != 0 ? lowest_bit(later) : lane_rank());
    endings[thread_rank()] = {own, later != 0 ? next : S};
    if (lane_rank() == (with != 0 ? lowest_bit(with) : 0)) firsts[warp_rank()] = first;
    if (thread_rank() == 0) firsts[W] = head;
  }
  EV_DEVICE int head() const { return firsts[W]; }
  // After all are left.
  EV_DEVICE void store(pos z0, pos z1, const typename Stream::Loaded& loaded) const {
    if (!loaded.whole || !stream.phase.stores_are_aligned()) return store_each(z0, (int)(z1 - z0));
    const int before = head(), beyond = first_after(warp_rank());
    unsigned partly = 0;  // runs of which some atoms are stored, and some are left to the later kernel
    static_assert(I / R <= 32, "a bit each");
    #pragma unroll
    for (int j = 0; j < I / R; ++j) {
      const int slot = Stream::run_slot(j);
      const Ending in = endings[slot / I];
      const Ends ends = in.own >> (slot % I);
      const int last = end_of(in, slot + R - 1, beyond);
      typename Phase::Stored found[R];
      After after = {};
      if (last < S) after = stream.after_at(last);
      int first = last;
      #pragma unroll
      for (int k = R - 1; k >= 0; --k) {  // backwards, since most share their tile with the next
        if (k < R - 1 && (ends >> k & 1)) {
          after = stream.after_in_run(j, k);
          first = slot + k;
        }
        stream.phase.put(found[k], z0 + slot + k, loaded.runs[j], k, after);
      }
      if (first >= before && last < S) stream.phase.store_run(z0 + slot, found);
      else if (first < S && last >= before) partly |= 1u << j;
    }
    #pragma unroll 1
    for (; partly != 0; partly &= partly - 1) {  // at most two runs of a block
      const int slot = Stream::run_slot(lowest_bit(partly));
      for (int k = 0; k < R; ++k) {
        const int end = end_of(endings[slot / I], slot + k, beyond);
        if (end >= before && end < S) stream.phase.put_one(z0 + slot + k, stream.after_at(end));
      }
    }
  }

private:
  // The slot in which the tile of a slot ends, S if that is in a later block.
  static EV_DEVICE int end_of(const Ending& in, int slot, int beyond) {
    const Ends rest = in.own >> (slot % I);
    return rest != 0 ? slot + lowest_bit(rest) : in.next < S ? in.next : beyond;
  }
  EV_DEVICE int first_after(int warp) const {
    int first = S;
    #pragma unroll
    for (int w = W - 1; w > 0; --w)
      if (w > warp && firsts[w] < S) first = firsts[w];
    return first;
  }
  // The same where runs are not whole: at the last atoms, and for arrays that are not aligned.
  EV_DEVICE void store_each(pos z0, int count) const {
    #pragma unroll 1
    for (int slot = thread_rank(); slot < count; slot += T) {
      const int end = end_of(endings[slot / I], slot, first_after(slot / (32 * I)));
      if (slot >= head() && end < S) stream.phase.put_one(z0 + slot, stream.after_at(end));
    }
  }
};

// A warp's walk over atoms of one tile.
template <class Phase> struct follower {
  using pos = typename Phase::pos;
  using After = typename Phase::After;
  using Run = typename Phase::Run;
  static constexpr int R = Phase::run, batch = 4;  // runs that a lane has under way

  const Phase& phase;
  const bool aligned = phase.runs_are_aligned() && phase.stores_are_aligned();

  EV_DEVICE follower(const Phase& phase) : phase(phase) {}
  EV_DEVICE void walk(pos start, pos stop, const After& after) const {
    pos first = (start & -R) + lane_rank() * R;
    #pragma unroll 1
    for (; aligned && first - lane_rank() * R >= start && first + ((batch - 1) * 32 + 1) * R <= stop; first += batch * 32 * R) {
      Run runs[batch];
      #pragma unroll
      for (int j = 0; j < batch; ++j) load(runs[j], first + j * 32 * R);
      #pragma unroll
      for (int j = 0; j < batch; ++j) runs[j].pin();  // or each would be asked for where it is used
      #pragma unroll
      for (int j = 0; j < batch; ++j) store(runs[j], first + j * 32 * R, after);
    }
    #pragma unroll 1
    for (; first < stop; first += 32 * R) {
      if (aligned && first >= start && first + R <= stop) {
        Run run;
        load(run, first);
        store(run, first, after);
      } else {
        for (int k = 0; k < R; ++k)
          if (first + k >= start && first + k < stop) phase.put_one(first + k, after);
      }
    }
  }

private:
  template <int array = 0> EV_DEVICE void load(Run& run, pos first) const {
    if constexpr (array < Phase::run_arrays) {
      phase.template load_run<array>(run, first);
      load<array + 1>(run, first);
    }
  }
  EV_DEVICE void store(const Run& run, pos first, const After& after) const {
    typename Phase::Stored found[R];
    #pragma unroll
    for (int k = 0; k < R; ++k) phase.put(found[k], first + k, run, k, after);
    phase.store_run(first, found);
  }
};

template <class Phase, int T, int I> EV_DEVICE void follow_shared(const Phase& phase, const typename Phase::pos* first_tile, int main_blocks) {
  using pos = typename Phase::pos;
  const stream_shares<Phase, T, I> shares(phase);
  const int share = main_blocks - 1 - (block_rank() * (T / 32) + warp_rank());
  if (share < 0 || shares.atoms == 0) return;
  const pos z0 = shares.cut(share), z1 = shares.cut(share + 1);
  const pos t0 = shares.tile(load_cached(first_tile + share)), t1 = shares.tile(load_cached(first_tile + share + 1));
  const follower<Phase> follows(phase);
  if (t0 < t1 && phase.begin(t0) < z0) follows.walk(z0, phase.end(t0), phase.enter(t0));
  if (t1 < shares.tiles) {
    const pos begin = phase.begin(t1);
    if (begin < z1) follows.walk(begin > z0 ? begin : z0, z1, phase.enter(t1));
  }
}

}  // namespace ev
