// Tiles that cross threads, and tiles that cross blocks.
//
// In the split engines every thread folds consecutive atoms, so only the first and the last tile that it touches can be
// partial. (Or a whole warp folds atoms of one tile that does not end among them.) Inside a block, a segmented scan
// gives each thread the values that the threads before it left open. Between blocks, four arrays with one entry for
// each block (`Carries`) do the same, and a second kernel joins them (`finish`). This is the carry-out of Merrill and
// Garland, "Merge-Based Parallel SpMV" (SC 2016). No atomics add values, and the order of all combinations depends on
// the partition alone. So every run gives the same bits.
#pragma once
#include "gpu.cuh"
#include "group.cuh"
#include "grid.cuh"

namespace ev {

// The arrays have one entry for each block of the main kernel.
//   out_tile, out_value: the tile that is open at the block's end, and the block's part of it. If the block ended at a
//     boundary between tiles, the value is the identity, and the tile is the next one or one that no block looks for.
//     carry_nothing: the block had no atoms at all, so the tile that is open before it stays open.
//   head_tile, head_value: the tile that was open when the block started and that ends in it, and the block's part of
//     it. -1: there is none.
template <class Phase> struct Carries {
  typename Phase::pos* out_tile;
  typename Phase::Value* out_value;
  typename Phase::pos* head_tile;
  typename Phase::Value* head_value;
};
static constexpr int carry_nothing = -2;

template <class Phase> EV_DEVICE void carry_out(const Carries<Phase>& c, typename Phase::pos tile, const typename Phase::Value& v) {
  c.out_tile[block_rank()] = tile;
  c.out_value[block_rank()] = v;
}
template <class Phase> EV_DEVICE void carry_head(const Carries<Phase>& c, typename Phase::pos tile, const typename Phase::Value& v) {
  c.head_tile[block_rank()] = tile;
  c.head_value[block_rank()] = v;
}

// ---- inside a block -------------------------------------------------------------------------------------------------

// Inclusive segmented scan of a warp. A lane with `resets` begins a segment: no value before it belongs to its own.
// The ballot tells each lane its distance to the start of its segment, so the keys need not be shuffled.
// Stops: once all segments are combined, as where they are short; for values that take longer to combine than to ask.
template <bool Stops = false, class V, class F> EV_DEVICE V warp_scan(unsigned resets, V v, F combine) {
  int lane = lane_rank(), start = highest_bit(resets & lanes_through(lane));
  int reach = start < 0 ? lane : lane - start;
  unsigned reaching = ~resets & ~1u;  // the lanes of which `reach` is at least o
  #pragma unroll
  for (int o = 1; o < 32; o <<= 1, reaching &= reaching << o / 2) {
    if (Stops && reaching == 0) break;
    V earlier = value_up(full_warp, v, o);
    if (o <= reach) v = combine(earlier, v);
  }
  return v;
}

// The value that the threads before this one left open, and whether the open tile began in this block (`since`).
template <class Phase> struct Open {
  typename Phase::Value value;
  bool since;
};

// Scans the open values of a block. tail: this thread's part of the tile that is open at its end (the identity if none
// is). resets: whether that tile is another one than was open before the thread. carried: the value that was open
// before thread 0, if the block itself knows it. It has one barrier; before another call there must be another barrier.
template <class Phase, int T, bool Stops = false>
EV_DEVICE Open<Phase> block_scan(bool resets, const typename Phase::Value& tail, const typename Phase::Value& carried) {
  using Value = typename Phase::Value;
  EV_SHARED(Value, warp_tail, T / 32);
  EV_SHARED(bool, warp_resets, T / 32);
  auto combine = [](const Value& a, const Value& b) { return Phase::combine(a, b); };
  int lane = lane_rank();
  unsigned reset_lanes = ballot(full_warp, resets);
  Value through = warp_scan<Stops>(reset_lanes, tail, combine);
  if (lane == 31) {
    warp_tail[warp_rank()] = through;
    warp_resets[warp_rank()] = reset_lanes != 0;
  }
  Value before = value_up(full_warp, through, 1);
  if (lane == 0) before = Phase::identity();
  bool since = (reset_lanes & lanes_below(lane)) != 0;
  barrier();
  if (!since) {  // add what earlier warps left: walk back to the warp where the tile began, most often the first
    for (int w = warp_rank() - 1; w >= 0 && !since; --w) {
      before = Phase::combine(warp_tail[w], before);
      since = warp_resets[w];
    }
    if (!since) before = Phase::combine(carried, before);
  }
  return {before, since};
}

// The last key of the block that is not `carry_nothing`; valid in the last thread. It has one barrier.
template <int T, class P> EV_DEVICE P block_last(P key) {
  EV_SHARED(P, warp_last, T / 32);
  int source = highest_bit(ballot(full_warp, key != carry_nothing));
  P last = shuffle_from(full_warp, key, source < 0 ? 0 : source);
  if (lane_rank() == 31) warp_last[warp_rank()] = last;
  barrier();
  for (int w = warp_rank() - 1; w >= 0 && last == carry_nothing; --w) last = warp_last[w];
  return last;
}

// ---- between blocks: the finish kernel ------------------------------------------------------------------------------
//
// A tile that ends in block b was left open by a run of blocks b-1, b-2, ... The run may have any length, up to all
// blocks (one dense row). There are three tiers, so that a long run is not the work of one thread or one warp. A lane
// looks back over the last `run_batch` blocks of its own run, with independent loads. If the run is longer, the lane's
// whole warp takes over, and if it is longer still, the whole block.

static constexpr int run_batch = 8;         // blocks that a thread looks at in one step
static constexpr int run_warp_steps = 16;   // steps of 32 batches before the warp hands over: 4,096 blocks

// total = the parts of blocks [high - run_batch, high) that belong to the run of `tile`, in order. Returns whether all
// of them do, in which case the run may go on before them. A run is contiguous, except for blocks that had no atoms.
template <class Phase>
EV_DEVICE bool thread_fold_run(const Carries<Phase>& c, int high, typename Phase::pos tile, typename Phase::Value& total) {
  using Value = typename Phase::Value;
  typename Phase::pos key[run_batch];
  Value part[run_batch];
  #pragma unroll
  for (int j = 0; j < run_batch; ++j) {
    int q = high - run_batch + j, safe = q < 0 ? 0 : q;
    key[j] = c.out_tile[safe];
    part[j] = c.out_value[safe];
    if (q < 0) key[j] = -1;
  }
  bool whole = true;
  total = Phase::identity();
  #pragma unroll
  for (int j = 0; j < run_batch; ++j) {
    bool member = key[j] == tile || key[j] == carry_nothing;
    if (member) total = Phase::combine(total, part[j]);
    whole = whole && member;
  }
  return whole;
}

// The same for a whole warp and blocks [high - 32 * run_batch, high). `total` is valid in lane 0.
template <class Phase>
EV_DEVICE bool warp_fold_run(const Carries<Phase>& c, int high, typename Phase::pos tile, typename Phase::Value& total) {
  using Value = typename Phase::Value;
  bool whole = thread_fold_run(c, high - (31 - lane_rank()) * run_batch, tile, total);
  total = lanes_fold<32>(full_warp, lane_rank(), total, [](const Value& a, const Value& b) { return Phase::combine(a, b); });
  return all(full_warp, whole);
}

// The same for a whole block, which walks the run back from `high` to its start. Valid in thread 0.
template <class Phase, int T>
EV_DEVICE typename Phase::Value block_fold_run(const Carries<Phase>& c, int high, typename Phase::pos tile) {
  using Value = typename Phase::Value;
  constexpr int W = T / 32;
  EV_SHARED(Value, warp_total, W);
  EV_SHARED(bool, warp_whole, W);
  Value total = Phase::identity();
  for (bool more = true; more; high -= T * run_batch) {
    Value part;
    bool whole = warp_fold_run(c, high - (W - 1 - warp_rank()) * 32 * run_batch, tile, part);
    if (lane_rank() == 0) { warp_total[warp_rank()] = part; warp_whole[warp_rank()] = whole; }
    barrier();
    for (int w = W - 1; w >= 0; --w) {
      more = more && warp_whole[w];
      if (thread_rank() == 0) total = Phase::combine(warp_total[w], total);
    }
    barrier();
  }
  return total;
}

// Leaves the tiles that cross blocks. This kernel has ceil(main_blocks / T) blocks of T threads, and runs after the
// main kernel. Its grid partials follow those of the main kernel: pass partials + main_blocks.
template <class Phase, int T>
EV_DEVICE void finish(const Phase& phase, const Carries<Phase>& c, int main_blocks, typename Phase::Grid* partials) {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  static_assert(T <= 32 * run_batch * run_warp_steps, "at most one run a block may be too long for a warp");
  EV_SHARED(pos, long_tile, 1);
  EV_SHARED(int, long_high, 1);
  EV_SHARED(Value, long_rest, 1);
  auto grid = grid_start<Phase>();
  if (thread_rank() == 0) long_tile[0] = -1;
  barrier();

  int b = block_rank() * T + thread_rank();
  pos tile = b < main_blocks ? c.head_tile[b] : (pos)-1;
  bool more = false;
  Value total = Phase::identity();
  if (tile >= 0) {
    more = thread_fold_run(c, b, tile, total);
    total = Phase::combine(total, c.head_value[b]);
    if (!more) phase.leave(tile, total, grid);
  }
  for (unsigned runs = ballot(full_warp, more); runs; runs &= runs - 1) {
    int owner = lowest_bit(runs), high = shuffle_from(full_warp, b, owner) - run_batch;
    pos run = shuffle_from(full_warp, tile, owner);
    Value rest = value_from(full_warp, total, owner);
    bool going = true;
    for (int step = 0; going && step < run_warp_steps; ++step, high -= 32 * run_batch) {
      Value part;
      going = warp_fold_run(c, high, run, part);
      rest = Phase::combine(part, rest);
    }
    if (lane_rank() == 0) {
      if (!going) phase.leave(run, rest, grid);
      else { long_tile[0] = run; long_high[0] = high; long_rest[0] = rest; }  // two such runs would not fit in T candidates
    }
  }
  barrier();
  if (long_tile[0] >= 0) {
    Value before = block_fold_run<Phase, T>(c, long_high[0], long_tile[0]);
    if (thread_rank() == 0) phase.leave(long_tile[0], Phase::combine(before, long_rest[0]), grid);
  }
  block_reduce_grid<Phase, T>(grid, partials);
}

}  // namespace ev
