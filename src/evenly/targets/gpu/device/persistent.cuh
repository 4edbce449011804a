// split_block for work whose size only the device knows:
//
//     split_persistent<Phase, T, I, Rule>(phase, carries, grid_partials)
//         There may be any number of blocks. Each takes a contiguous share of the chunks of S items. If there is so
//         little work that a block would get no more than a chunk or two, chunks have T items: more blocks share it.
#pragma once
#include "split.cuh"

namespace ev {

// Processes the chunks [first, end). Returns the value that they leave open, in shared memory.
// Data that outlives a chunk is kept there, so that registers are left for the loads. The open value alternates between
// two places, since thread 0 may still read one while the last thread writes the other.
template <class Split, class Link, class Grid>
EV_DEVICE const typename Split::Value& walk_chunks(const Split& split, int first, int end, typename Split::pos tiles,
                                                   typename Split::pos atoms, Link& link, Grid& grid) {
  using pos = typename Split::pos;
  using Value = typename Split::Value;
  EV_SHARED(Value, open, 2);
  EV_SHARED(pos, block_z0, 1);
  const bool last_thread = thread_rank() == Split::threads - 1;
  if (last_thread) open[first & 1] = split.start();
  #pragma unroll 1
  for (int c = first; c < end; ++c) {
    if constexpr (Split::marks) split.clear_marks();
    auto b = split.locate(Split::cut(c, tiles, atoms), Split::cut(c + 1, tiles, atoms), tiles, atoms, nullptr);
    if (thread_rank() == 0 && c == first) block_z0[0] = b.z0;
    Value rest = split.chunk(b, open[c & 1], block_z0[0], link, grid);
    if (Split::folds && last_thread) open[(c + 1) & 1] = rest;
    barrier();  // the next chunk takes over all shared memory
  }
  return open[end & 1];
}

// The number of chunks of S items. An int: S times 2**31 items are more than memory holds.
template <class Split> EV_DEVICE int chunks_in(typename Split::pos tiles, typename Split::pos atoms) {
  const typename Split::pos total = atoms > 0 ? Split::rule::total(tiles, atoms) : 0;
  return (int)(total / Split::S + (total % Split::S != 0));
}

template <class Phase, int T, int I, class Rule>
EV_DEVICE void split_by_chunks(const Phase& phase, const Carries<Phase>& carries, typename Phase::Grid* grid_partials) {
  using engine = block_split<Phase, T, I, Rule, false>;
  using pos = typename Phase::pos;
  EV_SPLIT_ENGINE(split);
  auto grid = grid_start<Phase>();
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms();
  typename choose<engine::folds, persistent_link<Phase, T>, no_link>::type link(carries);
  if constexpr (engine::shares_out) split.leave_share(tiles, split.first_of_share(tiles), grid);
  if constexpr (Phase::has_leave && Rule::bounded)
    if (atoms == 0) split.leave_all(tiles, grid);
  const int chunks = chunks_in<engine>(tiles, atoms);
  const int share = chunks / block_count() + (chunks % block_count() != 0);
  const int first = share * block_rank() < chunks ? share * block_rank() : chunks;
  const int end = share < chunks - first ? first + share : chunks;
  const auto& open = walk_chunks(split, first, end, tiles, atoms, link, grid);
  if (engine::folds && thread_rank() == T - 1) carry_out(carries, first < end ? found[2] : (pos)carry_nothing, open);
  block_reduce_grid<Phase, T>(grid, grid_partials);
}

template <class Phase, int T, int I, class Rule>
EV_DEVICE void split_persistent(const Phase& phase, const Carries<Phase>& carries, typename Phase::Grid* grid_partials) {
  static_assert(T % 32 == 0, "whole warps");
  const long long total = Rule::total((long long)phase.num_tiles(), (long long)phase.num_atoms());
  if (I > 1 && total <= 2LL * T * block_count()) split_by_chunks<Phase, T, 1, Rule>(phase, carries, grid_partials);
  else split_by_chunks<Phase, T, I, Rule>(phase, carries, grid_partials);
}

}  // namespace ev
