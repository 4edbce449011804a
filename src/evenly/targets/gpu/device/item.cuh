// Split engines within an item: a block owns the item, and its threads share the item's tiles. No tile crosses blocks.
//
//     split_item<T, I, Rule>(phase) -> Grid
//         As split_block of split.cuh, chunk after chunk.
//     share_item<T, Yields>(phase, sched) -> Grid
//         As share of share.cuh: a schedule's own methods say what each thread walks.
//
// phase: made by item_of. All threads of the block call these. Each gets the totals of the tiles that it has left. Between
// two calls there is a barrier, which also makes the stores of the first visible.
#pragma once
#include "persistent.cuh"
#include "share.cuh"

namespace ev {

// A phase over the tiles of one item, whose tiles and atoms are numbered from 0. Phase: one over those of all items.
template <class Phase> struct of_item : Phase {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  using State = typename Phase::State;
  pos first, tiles, before, atoms;  // the item's first tile, how many it has; the same of atoms

  EV_DEVICE pos num_tiles() const { return tiles; }
  EV_DEVICE pos num_atoms() const { return atoms; }
  EV_DEVICE pos begin(pos tile) const { return Phase::begin(first + tile) - before; }
  EV_DEVICE pos end(pos tile) const { return Phase::end(first + tile) - before; }
  EV_DEVICE State enter(pos tile) const { return Phase::enter(first + tile); }
  EV_DEVICE void step(Value& acc, const State& state, pos tile, pos atom) const {
    Phase::step(acc, state, first + tile, before + atom);
  }
  // A phase that has one of these has both (split.cuh).
  template <class P = Phase> EV_DEVICE typename P::Read read(const State& state, pos tile, pos atom) const {
    return P::read(state, first + tile, before + atom);
  }
  template <class Read> EV_DEVICE void take(Value& acc, const State& state, pos tile, pos atom, Read& read) const {
    Phase::take(acc, state, first + tile, before + atom, read);
  }
  template <class Grid> EV_DEVICE void leave(pos tile, const Value& value, Grid& grid) const {
    Phase::leave(first + tile, value, grid);
  }
};

// The tiles first, ..., last - 1 of a phase over those of all items.
template <class Phase, class P> EV_DEVICE of_item<Phase> item_of(const Phase& phase, P first, P last) {
  const P before = first < last ? phase.begin(first) : 0, end = first < last ? phase.end(last - 1) : 0;
  return {phase, first, last - first, before, end - before};
}

template <int T, int I, class Rule, class Phase> EV_DEVICE typename Phase::Grid split_item(const Phase& phase) {
  using engine = block_split<Phase, T, I, Rule, false>;
  using pos = typename Phase::pos;
  static_assert(T % 32 == 0, "whole warps");
  EV_SPLIT_ENGINE(split);
  auto grid = grid_start<Phase>();
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms();
  const typename engine::Among alone{0, 1};
  no_link link;
  if constexpr (engine::shares_out) split.leave_share(tiles, split.first_of_share(tiles, alone), grid, alone);
  if constexpr (Phase::has_leave && Rule::bounded)
    if (atoms == 0) split.leave_all(tiles, grid, alone);
  walk_chunks(split, 0, chunks_in<engine>(tiles, atoms), tiles, atoms, link, grid);
  return grid;
}

template <int T, bool Yields, class Phase, class Sched>
EV_DEVICE typename Phase::Grid share_item(const Phase& phase, const Sched& sched) {
  using walker = thread_share<Phase, Sched, T, Yields>;
  static_assert(T % 32 == 0, "whole warps");
  auto grid = grid_start<Phase>();
  walker mine;
  mine.walk(phase, sched, sched.setup(), grid);
  if constexpr (walker::folds) {
    const Open<Phase> open = block_scan<Phase, T>(mine.resets, mine.tail, Phase::identity());
    if (mine.head_tile >= 0) phase.leave(mine.head_tile, Phase::combine(open.value, mine.head), grid);
  }
  return grid;
}

}  // namespace ev
