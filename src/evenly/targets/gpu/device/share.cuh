// The share engine: each thread takes consecutive atoms, as a user's schedule says.
// Signatures and terms: split.cuh.
#pragma once
#include "carry.cuh"
#include "running.cuh"

namespace ev {

// ---- share: a user's schedule says which atoms each thread walks ----------------------------------------------------
//
//     struct Sched {
//       struct State { ... };  struct range { pos start, stop, step; };
//       State setup() const;                        // run by each thread; a search, for example
//       range tiles(const State&) const;            // step 1. If the schedule Yields: tiles(const State&, each),
//                                                   // which calls each(tile) in ascending order
//       range atoms(const State&, pos tile) const;  // step 1
//     };
//
// In the order of threads, their atoms are consecutive. An empty tile is in exactly one thread's tiles. Only a thread's
// first and last tile can be partial. If a thread's part of a nonempty tile is empty, it is ignored. The thread whose
// part reaches a tile's end leaves the tile. If the tile began in an earlier thread, the scan provides the earlier
// parts. If it began in an earlier block, the finish kernel leaves it.
template <class Phase, class Sched, int T, bool Yields> struct thread_share {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  using State = typename Sched::State;
  static constexpr bool folds = Phase::has_value && Phase::has_leave, scans = scan_of<Phase>::value;

  Value head, tail;              // part of the tile that was open before this thread and ends in it; of the open tile
  pos head_tile = -1;            // -1: no such tile
  pos open_tile = carry_nothing; // as Carries::out_tile
  bool resets = false;           // the tile open at the end is not the one that was open before
  typename scan_of<Phase>::type running;  // of the open tile, if the phase scans (running.cuh)

  // Returns what this thread's atoms leave open. A template, since only phases that scan have segments.
  template <class P> EV_DEVICE segment_of<P> survey(const P& phase, const Sched& sched, const State& state) const {
    segment_of<P> open = no_atoms<P>();
    each_tile(sched, state, [&](pos tile) {
      if (phase.begin(tile) == phase.end(tile)) return;
      const auto part = sched.atoms(state, tile);
      if (part.start >= part.stop) return;
      if (part.start == phase.begin(tile)) open = {P::scan_identity(), 1};
      const auto entered = phase.enter(tile);
      for (pos k = part.start; k < part.stop; ++k) open.value = P::Scan::combine(open.value, phase.scanned(entered, tile, k));
    });
    return open;
  }

  template <class Grid> EV_DEVICE void walk(const Phase& phase, const Sched& sched, const State& state, Grid& grid) {
    if constexpr (folds) head = tail = Phase::identity();
    each_tile(sched, state, [&](pos tile) {
      pos begin = phase.begin(tile), end = phase.end(tile);
      if (begin == end) { close(phase, tile, true, start(), grid); return; }
      const auto part = sched.atoms(state, tile);
      if (part.start >= part.stop) return;
      bool whole = part.start == begin;
      if constexpr (scans)
        if (whole) running = Phase::scan_identity();
      Value v = fold(phase, tile, part.start, part.stop);
      if (part.stop == end) close(phase, tile, whole, v, grid);
      else if constexpr (folds) { tail = v; open_tile = tile; resets = resets || whole; }
    });
  }

private:
  template <class F> static EV_DEVICE void each_tile(const Sched& sched, const State& state, F each) {
    if constexpr (Yields) sched.tiles(state, each);
    else {
      const auto tiles = sched.tiles(state);
      for (pos tile = tiles.start; tile < tiles.stop; tile += tiles.step) {
        each(tile);
      }
    }
  }
  EV_DEVICE Value start() const {
    if constexpr (Phase::has_value) return Phase::identity();
    else return Value{};
  }
  EV_DEVICE Value fold(const Phase& phase, pos tile, pos from, pos to) {
    Value v = start();
    if constexpr (scans) {
      const auto state = phase.enter(tile);
      for (pos k = from; k < to; ++k) {
        const auto own = phase.scanned(state, tile, k);
        phase.step_scanned(v, state, tile, k, running);
        running = Phase::Scan::combine(running, own);
      }
    } else if constexpr (folds || Phase::has_effects) {
      typename Phase::State state{};
      if constexpr (Phase::needs_tile) state = phase.enter(tile);
      for (pos k = from; k < to; ++k) phase.step(v, state, tile, k);
    }
    return v;
  }
  template <class Grid> EV_DEVICE void close(const Phase& phase, pos tile, bool whole, const Value& v, Grid& grid) {
    if (whole || !folds) {
      if constexpr (Phase::has_leave) phase.leave(tile, v, grid);
    } else if constexpr (folds) { head = v; head_tile = tile; }
    if constexpr (folds) {
      if (phase.begin(tile) != phase.end(tile)) { tail = Phase::identity(); open_tile = -1; resets = true; }
    }
  }
};

template <class Phase, class Sched, int T, bool Yields = false>
EV_DEVICE void share(const Phase& phase, const Sched& sched, const Carries<Phase>& carries, typename Phase::Grid* grid_partials) {
  using walker = thread_share<Phase, Sched, T, Yields>;
  static_assert(T % 32 == 0, "whole warps");
  auto grid = grid_start<Phase>();
  walker mine;
  if (walker::folds && thread_rank() == 0) carries.head_tile[block_rank()] = -1;
  const auto state = sched.setup();
  if constexpr (walker::scans) mine.running = open_before_thread<Phase, T>(phase, mine.survey(phase, sched, state));
  mine.walk(phase, sched, state, grid);
  if constexpr (walker::folds) {
    Open<Phase> open = block_scan<Phase, T>(mine.resets, mine.tail, Phase::identity());  // its barrier orders the -1 above
    if (mine.head_tile >= 0) {
      auto v = Phase::combine(open.value, mine.head);
      if (open.since) phase.leave(mine.head_tile, v, grid);
      else carry_head(carries, mine.head_tile, v);
    }
    auto out = mine.resets ? mine.tail : Phase::combine(open.value, mine.tail);
    auto open_tile = block_last<T>(mine.open_tile);
    if (thread_rank() == T - 1) carry_out(carries, open_tile, out);
  }
  block_reduce_grid<Phase, T>(grid, grid_partials);
}

}  // namespace ev
