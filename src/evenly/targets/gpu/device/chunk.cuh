// A chunk: the consecutive tiles and atoms that a block of threads takes at a time (split.cuh).
//
// One chunk holds tile ends [t0, t1) and atoms [z0, z1). Each atom has a slot, and `ids` says which tile ends in a
// slot. A warp has 32 * I consecutive slots, which its lanes load in turn. If no tile ends among them, each lane folds
// the values that it has loaded. Otherwise the lanes first exchange their values. Then each folds I consecutive ones,
// without a search, and leaves the tiles that end there. The tiles of a warp are contiguous, so their stores coalesce.
// Only two bytes for each atom need to be in shared memory; the rest of it remains L1 cache for gathered data.
#pragma once
#include "chunk_atoms.cuh"
#include "grid.cuh"
#include "links.cuh"

namespace ev {

template <class Phase, int T, int I, class Rule, bool Early> struct block_split : chunk_atoms<Phase, T, I, Rule> {
  using base = chunk_atoms<Phase, T, I, Rule>;
  using typename base::pos, typename base::Value, typename base::Grid, typename base::Bounds, typename base::Ends;
  using typename base::local, typename base::Head;
  using base::phase, base::ids, base::slots, base::first_tile, base::head;
  using base::folds, base::steps, base::needs_tile, base::scans, base::stages, base::no_head, base::near_head, base::far_head;
  using base::load_slot, base::own_slot, base::own_ends, base::lowest, base::tile_at, base::is_wide, base::mark;
  using base::mark_tiles, base::expand_tiles, base::start, base::load, base::load_first, base::load_dependent;
  using base::step_loaded, base::load_scanned;

  // ---- the fold: I slots a thread, then across threads ----
  // Rearranges the values that the warp's lanes have loaded: afterwards each lane has the values that it folds.
  EV_DEVICE void exchange(Value* v) const {
    if constexpr (!stages) {
      lanes_exchange<I>(v);
    } else {
      #pragma unroll
      for (int k = 0; k < I; ++k) slots[load_slot() + k * 32] = v[k];
      sync_warp(full_warp);
      #pragma unroll
      for (int k = 0; k < I; ++k) v[k] = slots[own_slot() + k];
    }
  }
  // Leaves the tiles that end here. Returns the value of the tile that is open after them, valid in the last thread.
  template <class Work> EV_DEVICE Value fold(const Bounds& b, Value* v, const Ends own, Work& work) const {
    const bool some = any(full_warp, own != 0);
    if (some) exchange(v);
    Value tail = Phase::identity();
    if (Rule::bounded || some) {
      #pragma unroll
      for (int k = 0; k < I; ++k) {
        v[k] = tail = Phase::then(tail, v[k]);
        if (own >> k & 1) {
          if constexpr (stages) slots[own_slot() + k] = tail;  // or all of v would sit in registers until tiles are left
          tail = Phase::identity();
        }
      }
    } else {  // the same without a tile end, which pays where most warps have none, as under an unbounded rule
      #pragma unroll
      for (int k = 0; k < I; ++k) tail = Phase::then(tail, v[k]);
    }
    // If a tile ended where the chunk begins, it has already taken the open value.
    const Value into = first_tile->over ? Phase::identity() : work.carried;
    const Open<Phase> before = block_scan<Phase, T>(own != 0, tail, into);
    // `then` would be wrong here: if no tile ends in the warp, the atoms of its lanes are interleaved.
    const Value rest = own != 0 ? tail : Phase::combine(before.value, tail);
    work.link.found_open(phase, b.t1, b.z1, rest);
    leave_tiles(b, v, own, before.value, work);
    return rest;
  }
  template <class Work>
  EV_DEVICE void leave_tiles(const Bounds& b, const Value* v, const Ends own, const Value& before, Work& work) const {
    Ends left = own;
    auto take = [&]() {  // the next one's slot and value: the first may have begun before this thread
      const int k = lowest(left);
      Value value = stages ? slots[own_slot() + k] : v[0];
      #pragma unroll
      for (int j = 1; j < I; ++j)
        if (!stages && j == k) value = v[j];
      if (left == own) value = Phase::then(before, value);
      left &= left - 1;
      return value;
    };
    const Head where = first_tile->head;
    if (where == far_head || (where == near_head && warp_rank() == 0)) {
      if (own != 0 && ids[own_slot() + lowest(own)] == 1) {
        const Value part = take();
        *head = part;
      }
      if (where == far_head) barrier();
      else sync_warp(full_warp);
      if (thread_rank() == 0) work.link.found_head(b.t0, *head);
    }
    #pragma unroll 1
    while (left != 0) {
      const pos tile = tile_at(b, own_slot() + lowest(left));
      phase.leave(tile, take(), work.grid);
    }
  }

  // Processes one chunk. `carried` is the value that the block's earlier chunks left open. Returns the value that this
  // chunk leaves open, valid in the last thread.
  template <class Link> struct Work {
    const Value& carried;
    const pos& block_z0;
    Link& link;
    Grid& grid;
  };
  template <class Link>
  EV_DEVICE Value chunk(const Bounds& b, const Value& carried, const pos& block_z0, Link& link, Grid& grid) const {
    Work<Link> work{carried, block_z0, link, grid};
    Value v[I];
    if constexpr (scans) {
      const Ends own = load_scanned(b, v, work);
      if constexpr (folds) return fold(b, v, own, work);
    } else if constexpr (needs_tile) {
      const bool ends = b.t0 < b.t1;
      if (thread_rank() == 0) mark(b, 0, ends, ends ? phase.begin(b.t0) : 0, ends ? phase.end(b.t0) : 0, work);
      mark_tiles(b, 1, work);
      barrier();
      const Ends own = own_ends();
      if (!is_wide(b)) expand_tiles(b, own);
      load(b, v);
      if constexpr (folds) return fold(b, v, own, work);
    } else if constexpr (folds) {
      // The tile ends of the first round are loaded together with the atoms and used after them, which hides their
      // latency. If there is only one round, no branch stands between these loads and those of the atoms: loads before
      // a branch would not be in flight together with loads after it. Further rounds, in chunks with more tiles than
      // threads, come first under a bounded rule. Under an unbounded one they come last, since the atoms of full chunks
      // have a branch of their own anyway.
      const local i = thread_rank();
      const bool ends = i < b.t1 - b.t0 && (i == 0 || !is_wide(b));
      const pos begin = ends ? phase.begin(b.t0 + i) : 0, end = ends ? phase.end(b.t0 + i) : 0;
      if constexpr (Rule::bounded) mark_tiles(b, T, work);
      if constexpr (Early) {
        typename Phase::Loads loads[I];
        load_first(b, loads);
        // So many loads are in flight that a branch costs nothing here. It spares most warps the work of one or two.
        work.link.located(phase, b.t0, b.t1, false);
        if (ends || i == 0) mark(b, i, ends, begin, end, work);
        load_dependent(b, loads);
        barrier();
        const Ends own = own_ends();
        step_loaded(b, loads, v);
        return fold(b, v, own, work);
      } else {
        load(b, v);
        if constexpr (!Rule::bounded) mark_tiles(b, T, work);
        mark(b, i, ends, begin, end, work);
        barrier();
        return fold(b, v, own_ends(), work);
      }
    } else if constexpr (steps) {
      load(b, v);
    }
    if constexpr (Phase::has_leave && Rule::bounded)
      for (int i = thread_rank(); i < b.t1 - b.t0; i += T) phase.leave(b.t0 + i, start(), grid);
    return start();
  }

  // Which of how many blocks this one is, where blocks share tiles by number.
  struct Among { int rank, count; };
  static EV_DEVICE Among of_grid() { return {(int)block_rank(), (int)block_count()}; }

  // Leaves all tiles of a layout without atoms.
  EV_DEVICE void leave_all(pos tiles, Grid& grid, Among among = of_grid()) const {
    #pragma unroll 1
    for (long long i = (long long)among.rank * T + thread_rank(); i < tiles; i += (long long)among.count * T) phase.leave((pos)i, start(), grid);
  }
  // Under an unbounded rule, empty tiles belong to no chunk, so blocks divide the tiles evenly by number. If the phase
  // has no value, all tiles are left this way. A block's tiles are contiguous, as those of its chunk are, and often the
  // same.
  using Share = tile_share<pos>;
  using number = typename Share::number;
  // Where the atoms of a tile begin and end. For the first tile of each thread, this is loaded long before it is
  // needed, and compared only then.
  struct Extent { pos begin, end; };
  EV_DEVICE Extent extent(number tile) const { return {phase.begin((pos)tile), phase.end((pos)tile)}; }
  EV_DEVICE Extent first_of_share(pos tiles, Among among = of_grid()) const {
    const Share own(tiles, among.rank, among.count);
    const number first = own.from + thread_rank();
    return folds && first < own.to ? extent(first) : Extent{0, 0};
  }
  EV_DEVICE void leave_share(pos tiles, const Extent& of_first, Grid& grid, Among among = of_grid()) const {
    const Share own(tiles, among.rank, among.count);
    number i = own.from + thread_rank();
    if (i < own.to && of_first.begin == of_first.end) phase.leave((pos)i, start(), grid);
    for (i += T; i < own.to; i += T) {
      const Extent of = folds ? extent(i) : Extent{0, 0};
      if (of.begin == of.end) phase.leave((pos)i, start(), grid);
    }
  }
};

}  // namespace ev
