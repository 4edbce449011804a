// Layouts whose tiles mostly have no atoms ("hypersparse"): a stored list has the tiles that have some, and where they
// begin (Buluc, Gilbert, "On the Representation and Multiplication of Hypersparse Matrices", IPDPS 2008). The engines of
// split.cuh and stream.cuh walk that list as if it were the layout. A bit for each tile says which are not in it. So a
// tile without atoms takes a bit and what it stores, no offset and no search.
//
//     listed<All>(all, first_tile, blocks, warps)
//         The phase `all`, of listed tiles only. The partition of its blocks lies before the list in memory. The memory
//         of the list is that of the bins (bins.cuh), with two of them: tiles that have atoms, in order, and others. Then
//         it has where each listed tile begins, and the number of atoms.
//     bins_count, bins_scan, bins_place of nonempty_tiles<All>, then list_begins(listed, first_tile)
//         Make the list.
//     leave_unlisted<T>(phase, grid)
//         Leaves the tiles that are not listed. Every thread of the grid calls it. Nothing for other phases.
#pragma once
#include "bins.cuh"

namespace ev {

template <class All> struct nonempty_tiles {
  using pos = typename All::pos;
  const All& all;
  EV_DEVICE pos num_tiles() const { return all.num_tiles(); }
  EV_DEVICE pos begin(pos) const { return 0; }
  EV_DEVICE pos end(pos tile) const { return all.begin(tile) < all.end(tile); }
};

template <class All> struct listed : All {
  using typename All::pos;
  using Value = typename All::Value;
  using Grid = typename All::Grid;
  using State = typename All::State;
  static constexpr int filled_bin = empty_bin - 1;
  const pos *list, *numbers, *begins;

  EV_DEVICE listed(const All& all, const pos* first_tile, int blocks, int warps) : All(all), list(first_tile + blocks + 1) {
    const pos tiles = all.num_tiles(), atoms = all.num_atoms();
    numbers = list + bin_order(tiles, warps);
    begins = numbers + (tiles < atoms ? tiles : atoms);
  }
  EV_DEVICE pos num_tiles() const { return All::num_tiles() > 0 ? load_cached(list + filled_bin) : 0; }
  EV_DEVICE pos begin(pos tile) const { return load_cached(begins + tile); }
  EV_DEVICE pos end(pos tile) const { return load_cached(begins + tile + 1); }
  EV_DEVICE State enter(pos tile) const { return All::enter(load_cached(numbers + tile)); }
  EV_DEVICE void step(Value& v, const State& state, pos tile, pos atom) const {
    All::step(v, state, All::needs_tile ? load_cached(numbers + tile) : tile, atom);
  }
  EV_DEVICE void leave(pos tile, const Value& v, Grid& grid) const { All::leave(load_cached(numbers + tile), v, grid); }

  // Blocks divide the tiles evenly by number, in groups of 32, one for each lane of a warp.
  template <int T> EV_DEVICE void leave_others(Grid& grid) const {
    constexpr int batch = 8, warps = T / 32;  // loads in flight
    const unsigned groups = (unsigned)(bin_counts(All::num_tiles()) - bins), blocks = block_count();
    const unsigned each = (groups + blocks - 1) / blocks, from = block_rank() * each;
    const unsigned to = from + each < groups ? from + each : groups;
    for (unsigned first = from + warp_rank(); first < to; first += batch * warps) {
      unsigned empty[batch];
      #pragma unroll
      for (int j = 0; j < batch; ++j) empty[j] = first + j * warps < to ? (unsigned)load_cached(list + bins + first + j * warps) : 0;
      #pragma unroll
      for (int j = 0; j < batch; ++j)
        if (empty[j] >> lane_rank() & 1) All::leave((pos)(first + j * warps) * bins + lane_rank(), All::identity(), grid);
    }
  }
};

template <class Phase> struct is_listed { static constexpr bool value = false; };
template <class All> struct is_listed<listed<All>> { static constexpr bool value = true; };
template <int T, class Phase> EV_DEVICE void leave_unlisted(const Phase& phase, typename Phase::Grid& grid) {
  if constexpr (is_listed<Phase>::value) phase.template leave_others<T>(grid);
}

template <class All> EV_DEVICE void list_begins(const listed<All>& tiles, typename All::pos* first_tile) {
  using pos = typename All::pos;
  pos* begins = first_tile + (tiles.begins - first_tile);
  const pos count = tiles.num_tiles();
  for (long long i = (long long)block_rank() * block_threads() + thread_rank(); i <= count; i += (long long)block_count() * block_threads())
    begins[i] = i < count ? tiles.All::begin(tiles.numbers[i]) : tiles.num_atoms();
}

}  // namespace ev
