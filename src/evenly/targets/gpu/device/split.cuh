// Split engines: each processor takes consecutive atoms, so its first and its last tile may be partial.
//
//     split_block<Phase, T, I, Rule, Early = false>(phase, join, grid_partials, first_tile = nullptr)
//         Each block takes S = T * I items. Its lanes load their values in one order and fold them in another.
//         Rule: merge_rule divides tiles + atoms evenly (Merrill and Garland, "Merge-Based Parallel SpMV", SC 2016),
//         nonzero_rule divides atoms evenly (Baxter, moderngpu).
//         join: with Meeting, the blocks that share a tile join it in this kernel. With Carries, a finish kernel does;
//         phases with totals of the grid need that. Number of blocks:
//           merge_rule    at least ceil((tiles + atoms) / S)
//           nonzero_rule  at least ceil(atoms / S) and 1. Blocks share the empty tiles evenly, so max(that,
//                         ceil(tiles / (8 * S))) blocks keep a layout balanced in which almost all tiles are empty
//         first_tile: a stored partition (blocks + 1 entries). null: the block searches.
//         Early: Phase has no `step`. It has `Loads load_first(atom)`, `load_dependent(loads, atom)`, which loads the
//         elements whose index depends on the first loads, and `step_loaded(value, state, tile, atom, loads)`, which
//         takes the place of `step`. The block marks its tiles between the first two, and waits until all tiles are
//         marked before the third. See emit/early_loads.py.
//     split_persistent<Phase, T, I, Rule>(phase, carries, grid_partials)                in persistent.cuh
//         The same for work whose size only the device knows.
//     split_item<T, I, Rule>(phase) -> Grid, share_item<T, Yields>(phase, sched) -> Grid    in item.cuh
//         The same for the tiles of one item, which a block owns.
//     dense_split<Phase, T, I, Rule, L, V>                                              in split_dense.cuh
//         The same for teams of L threads that lie along a dense axis. With Carries.
//     team_atoms<Phase, T, I, Rule, L>                                                  in split_apart.cuh
//         The same where each atom has such an axis, and atoms have nothing in common.
//     thread_partition<Phase, S, Rule>(phase, first_tile, blocks)                      in rules.cuh
//         Makes a partition. Each thread computes one entry.
//     share<Phase, Sched, T>(phase, sched, carries, grid_partials)                      in share.cuh
//         A schedule's own methods (`setup`, `tiles`, `atoms`) say what each thread walks.
//     flatten<Phase, G, T>(phase, grid_partials)                                        in flatten.cuh
//         A group of G threads owns G tiles and shares their atoms (Osama, Porumbescu, Owens, PPoPP 2023, section 5.2.3).
//         One kernel, no carries.
//     finish<Phase, T>(phase, carries, main_blocks, grid_partials + main_blocks)       in carry.cuh
//         Runs after split_block with Carries, split_persistent and share. It is not needed if they ran as one block,
//         or if the phase has no value to leave.
//
// A phase with effects may have `Read read(state, tile, atom)`, which does what its step does before the first effect,
// and `take(value, state, tile, atom, read)`, which does the rest: the reads of a thread's atoms are then in flight
// together.
//
// grid_partials: one Grid for each block. Ignored unless Phase::has_grid; the last step is then in grid.cuh.
// carries: ignored unless Phase::has_value and Phase::has_leave.
// T is a multiple of 32. Value and Grid are aggregates without initialisers, since they live in shared memory.
// step, step_loaded and combine should select (?:, &, |) instead of branching. A branch would keep the next atom's
// loads from being issued while this atom's are in flight. NVRTC gets all headers as one string, in the order of
// headers.py.
#pragma once
#include "chunk.cuh"

namespace ev {

// What the two kinds of launch share (see persistent.cuh): the engine, and its shared memory.
#define EV_SPLIT_ENGINE(split)                                              \
  EV_SHARED(typename engine::Id, ids, engine::marks ? engine::S : 1);       \
  EV_SHARED(typename engine::Value, slots, engine::stages ? engine::S : 1); \
  EV_SHARED(typename engine::First, first_of_chunk, 1);                     \
  EV_SHARED(typename engine::Value, head_of_block, 1);                      \
  EV_SHARED(pos, found, 4);                                                 \
  const engine split{phase, ids, slots, first_of_chunk, head_of_block, found}

// join: a Meeting, or Carries, which a finish kernel joins.
template <class Phase, int T, int I, class Rule, bool Early = false, class Join>
EV_DEVICE void split_block(const Phase& phase, const Join& join, typename Phase::Grid* grid_partials,
                           const typename Phase::pos* first_tile = nullptr) {
  using engine = block_split<Phase, T, I, Rule, Early>;
  using pos = typename Phase::pos;
  static_assert(T % 32 == 0, "whole warps");
  EV_SPLIT_ENGINE(split);
  auto grid = grid_start<Phase>();
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms();
  constexpr int links_at_once = Early || sizeof(pos) == 8 ? 2 : 4;  // fewer where all registers are taken
  auto cut = [&](pos block) { return engine::cut(block, tiles, atoms); };
  typename choose<engine::folds, decltype(link_for<Phase, T, engine::S, Rule, links_at_once>(join)), no_link>::type link(join);
  // Of a list more blocks are launched than take atoms, for the tiles that are not in it.
  if (atoms == 0 || (is_listed<Phase>::value && cut(block_rank()) == atoms)) {
    link.without_atoms();
    if constexpr (Phase::has_leave && !is_listed<Phase>::value) split.leave_all(tiles, grid);
    leave_unlisted<T>(phase, grid);
    return block_reduce_grid<Phase, T>(grid, grid_partials);
  }
  typename engine::Extent of_first = {};
  if constexpr (engine::shares_out) of_first = split.first_of_share(tiles);
  if constexpr (engine::marks) split.clear_marks();
  auto b = split.locate(cut(block_rank()), cut(block_rank() + 1), tiles, atoms, first_tile);
  if constexpr (!Early) link.located(phase, b.t0, b.t1, true);
  split.chunk(b, split.start(), b.z0, link, grid);
  if constexpr (engine::shares_out) split.leave_share(tiles, of_first, grid);
  leave_unlisted<T>(phase, grid);
  link.join(phase, grid);
  block_reduce_grid<Phase, T>(grid, grid_partials);
}

}  // namespace ev
