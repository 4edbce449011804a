// split_block for work whose size only the device knows:
//
//     split_persistent<Phase, T, I, Rule>(phase, carries, grid_partials)
//         There may be any number of blocks. Each takes a contiguous share of the chunks of S items.
#pragma once
#include "split.cuh"

namespace ev {

template <class Phase, int T, int I, class Rule>
EV_DEVICE void split_persistent(const Phase& phase, const Carries<Phase>& carries, typename Phase::Grid* grid_partials) {
  using engine = block_split<Phase, T, I, Rule, false>;
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  constexpr int S = engine::S;
  static_assert(T % 32 == 0, "whole warps");
  EV_SPLIT_ENGINE(split);
  auto grid = grid_start<Phase>();
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms(), total = atoms > 0 ? Rule::total(tiles, atoms) : 0;
  typename choose<engine::folds, persistent_link<Phase, T>, no_link>::type link(carries);
  if constexpr (engine::shares_out) split.leave_share(tiles, split.first_of_share(tiles), grid);
  if constexpr (Phase::has_leave && Rule::bounded)
    if (atoms == 0) split.leave_all(tiles, grid);
  // Data that outlives a chunk is kept in shared memory, so that registers are left for the loads. The open value
  // alternates between two places, since thread 0 may still read one while the last thread writes the other.
  EV_SHARED(Value, open, 2);
  EV_SHARED(pos, block_z0, 1);
  const int chunks = (int)(total / S + (total % S != 0));  // an int: S times 2**31 items are more than memory holds
  const int share = chunks / block_count() + (chunks % block_count() != 0);
  const int first = share * block_rank() < chunks ? share * block_rank() : chunks;
  const int end = share < chunks - first ? first + share : chunks;
  if (thread_rank() == T - 1) open[first & 1] = split.start();
  #pragma unroll 1
  for (int c = first; c < end; ++c) {
    if constexpr (engine::marks) split.clear_marks();
    auto b = split.locate(engine::cut(c, tiles, atoms), engine::cut(c + 1, tiles, atoms), tiles, atoms, nullptr);
    if (thread_rank() == 0 && c == first) block_z0[0] = b.z0;
    Value rest = split.chunk(b, open[c & 1], block_z0[0], link, grid);
    if (engine::folds && thread_rank() == T - 1) open[(c + 1) & 1] = rest;
    barrier();  // the next chunk takes over all shared memory
  }
  if (engine::folds && thread_rank() == T - 1) carry_out(carries, first < end ? found[2] : (pos)carry_nothing, open[end & 1]);
  block_reduce_grid<Phase, T>(grid, grid_partials);
}

}  // namespace ev
