// Rules: they put the items of all tiles on one line, which is cut into equal shares (split.cuh). With the searches on
// it.
//
// A position d on the line lies after `t` tile ends and d - t atoms (merge), or after d atoms (nonzero). t is the
// number of tiles for which `ended` holds. `ended` is monotone in the tile, so t can be found by binary search.
#pragma once
#include "gpu.cuh"

namespace ev {

struct merge_rule {
  static constexpr bool bounded = true;  // a chunk of S items has no more than S tile ends
  template <class P> static EV_DEVICE P total(P tiles, P atoms) { return tiles + atoms; }
  template <class P> static EV_DEVICE P atom(P d, P t) { return d - t; }
  template <class P> static EV_DEVICE P place(P atom, P tile) { return atom + tile; }  // of an atom of the tile
  template <class P> static EV_DEVICE P last_place(P end, P tile) { return end + tile; }  // position of the tile's end
  template <class P> static EV_DEVICE bool ended(P end, P tile, P d) { return end + tile < d; }
  template <class P> static EV_DEVICE P least(P d, P atoms) { return d > atoms ? d - atoms : 0; }
  template <class P> static EV_DEVICE P most(P d, P tiles) { return d < tiles ? d : tiles; }
};

struct nonzero_rule {
  static constexpr bool bounded = false;  // millions of empty tiles may lie between two atoms
  template <class P> static EV_DEVICE P total(P, P atoms) { return atoms; }
  template <class P> static EV_DEVICE P atom(P d, P) { return d; }
  template <class P> static EV_DEVICE P place(P atom, P) { return atom; }
  template <class P> static EV_DEVICE P last_place(P end, P) { return end - 1; }
  template <class P> static EV_DEVICE bool ended(P end, P, P d) { return end <= d; }
  template <class P> static EV_DEVICE P least(P, P) { return 0; }
  template <class P> static EV_DEVICE P most(P, P tiles) { return tiles; }
};

// The number of tiles that have ended at position d, of which at least `low` and at most `high` have, in each of the N
// lanes of `mask`. In each step these probe N places, which cuts the range to one part of N + 1. For 4 M tiles a warp needs
// 5 dependent loads, where a binary search takes 22.
template <class Rule, int N, class Phase>
EV_DEVICE typename Phase::pos lanes_search(unsigned mask, int rank, const Phase& phase, typename Phase::pos d, typename Phase::pos low,
                                           typename Phase::pos high) {
  using pos = typename Phase::pos;
  while (low < high) {
    pos stride = (high - low) / (N + 1) + 1, probe = low + (rank + 1) * stride - 1;
    bool ended = probe < high && Rule::ended(phase.end(probe), probe, d);
    low += count_bits(ballot(mask, ended)) * stride;
    pos top = low + stride - 1;  // the first probe that failed
    high = top < high ? top : high;
  }
  return low;
}
template <class Rule, class Phase>
EV_DEVICE typename Phase::pos warp_search(const Phase& phase, typename Phase::pos d, typename Phase::pos tiles, typename Phase::pos atoms) {
  return lanes_search<Rule, 32>(full_warp, lane_rank(), phase, d, Rule::least(d, atoms), Rule::most(d, tiles));
}

// For teams of a block, of S items: where item number `item` of the block is on the line, and the number of tiles that have
// ended at `d`, which lies there. first_tile: a stored partition of the blocks. null: the team searches among all tiles.
template <class Phase, int S, class Rule> EV_DEVICE typename Phase::pos team_cut(const Phase& phase, int item) {
  const long long total = Rule::total(phase.num_tiles(), phase.num_atoms()), d = (long long)block_rank() * S + item;
  return (typename Phase::pos)(d < total ? d : total);
}
template <class Rule, int L, class Phase, class Team>
EV_DEVICE typename Phase::pos team_search(const Phase& phase, const Team& team, typename Phase::pos d, const typename Phase::pos* first_tile) {
  using pos = typename Phase::pos;
  const pos low = first_tile != nullptr ? load_cached(first_tile + block_rank()) : Rule::least(d, phase.num_atoms());
  const pos high = first_tile != nullptr ? load_cached(first_tile + block_rank() + 1) : Rule::most(d, phase.num_tiles());
  return lanes_search<Rule, L>(team.mask(), team.rank(), phase, d, low, high);
}

// The first tile of [low, high) that ends after `atom`, which is the tile that contains it.
template <class Phase>
EV_DEVICE typename Phase::pos thread_tile_of(const Phase& phase, typename Phase::pos atom, typename Phase::pos low, typename Phase::pos high) {
  while (low < high) {
    typename Phase::pos mid = low + (high - low) / 2;
    if (phase.end(mid) <= atom) low = mid + 1;
    else high = mid;
  }
  return low;
}

// The same over many tiles. Three loads at a time do not wait for each other, so that half as many do.
template <class Phase>
EV_DEVICE typename Phase::pos far_tile_of(const Phase& phase, typename Phase::pos atom, typename Phase::pos low, typename Phase::pos high) {
  using pos = typename Phase::pos;
  while (high - low > 3) {
    const pos quarter = (high - low) / 4, a = low + quarter, b = a + quarter, c = b + quarter;
    const bool at_a = phase.end(a) <= atom, at_b = phase.end(b) <= atom, at_c = phase.end(c) <= atom;
    low = at_c ? c + 1 : at_b ? b + 1 : at_a ? a + 1 : low;
    high = at_c ? high : at_b ? c : at_a ? b : a;
  }
  return thread_tile_of(phase, atom, low, high);
}

// The tiles [from, to) of block `rank` of `count`, if blocks divide all of them evenly by number.
template <class pos> struct tile_share {
  using number = typename choose<(sizeof(pos) == 4), unsigned, unsigned long long>::type;  // shares may end beyond the last tile
  number from, to;
  EV_DEVICE tile_share(pos tiles, int rank, int count) {
    const number each = ((number)tiles + count - 1) / (unsigned)count;
    from = rank * each;
    to = from + each < (number)tiles ? from + each : (number)tiles;
  }
};

// Makes a partition to store, for launches that repeat: first_tile[b] is the tile where block b of S items starts, for
// b = 0..blocks.
template <class Phase, int S, class Rule>
EV_DEVICE void thread_partition(const Phase& phase, typename Phase::pos* first_tile, int blocks) {
  using pos = typename Phase::pos;
  const long long b = (long long)block_rank() * block_threads() + thread_rank();
  if (b > blocks) return;
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms(), total = Rule::total(tiles, atoms);
  const pos d = b * S < total ? (pos)(b * S) : total;
  pos low = Rule::least(d, atoms), high = Rule::most(d, tiles);
  while (low < high) {
    pos middle = low + (high - low) / 2;
    if (Rule::ended(phase.end(middle), middle, d)) low = middle + 1;
    else high = middle;
  }
  first_tile[b] = low;
}

}  // namespace ev
