// The engine of logarithmic radix binning: tiles sorted by the power of two that their size reaches, the longest first,
// and teams of four widths for them (Fox, Tripathy, Green, "Improving Scheduling for Irregular Applications with
// Logarithmic Radix Binning", HPEC 2019).
//
// There are as many bins as a warp has lanes, so warps count and place by votes, a lane keeping count of a bin: no shared
// memory, no atomics, and tiles of one bin stay in order. What is made follows from the layout alone: equal bits.
//
//     bins_count   each warp counts its share of the tiles by bin                            a grid of B blocks
//     bins_scan    counts become the tiles of the bin before the share; the tiles of bins    one block, a warp a bin
//     bins_place   each warp puts its share where it belongs                                 B blocks
//     walk_bins    the main kernel's: who takes which tiles                                  any grid
//
//     struct Tiles { using pos = int;  pos num_tiles() const;  pos begin(pos tile) const;  pos end(pos tile) const; };
//
// In memory: how many tiles each bin has [bins]; the tiles in order [tiles]; what counting leaves [bins][warps].
#pragma once
#include "gpu.cuh"
#include "group.cuh"
#include "scan.cuh"

namespace ev {

static constexpr int bins = 32;

// Bin 31 has the empty tiles, bin 30 - b those of 2^b atoms to twice as many; the first one whatever is longer.
template <class pos> EV_DEVICE int bin_of(pos size) {
  return 30 - highest_bit(size < 0x7fffffff ? (unsigned)size : 0x7fffffffu);
}

// A warp's consecutive tiles, `bins` at a time: one a lane.
template <class Tiles> struct bin_share {
  using pos = typename Tiles::pos;
  const Tiles& tiles;
  const long long count = tiles.num_tiles();
  const int warps = block_count() * (block_threads() / 32), warp = block_rank() * (block_threads() / 32) + warp_rank();
  long long first, stop;

  EV_DEVICE bin_share(const Tiles& t) : tiles(t) {
    const pos rounds = (pos)((count + bins - 1) / bins);
    const long long each = (long long)((rounds + warps - 1) / warps) * bins;
    first = warp * each < count ? warp * each : count;
    stop = first + each < count ? first + each : count;
  }
  EV_DEVICE pos* counts(pos* memory) const { return memory + bins + count + (long long)lane_rank() * warps + warp; }
  EV_DEVICE int bin(long long tile) const {
    return tile < stop ? bin_of(tiles.end((pos)tile) - tiles.begin((pos)tile)) : 0;
  }
};

// The bins of a warp's tiles, as all lanes see them.
struct bin_votes {
  unsigned there, bit[5];

  EV_DEVICE bin_votes(bool is_there, int bin) : there(ballot(full_warp, is_there)) {
    #pragma unroll
    for (int b = 0; b < 5; ++b) bit[b] = ballot(full_warp, (bin >> b & 1) != 0);
  }
  EV_DEVICE unsigned lanes_in(int bin) const {
    unsigned lanes = there;
    #pragma unroll
    for (int b = 0; b < 5; ++b) lanes &= bin >> b & 1 ? bit[b] : ~bit[b];
    return lanes;
  }
};

template <class Tiles> EV_DEVICE void bins_count(const Tiles& tiles, typename Tiles::pos* memory) {
  const bin_share<Tiles> share(tiles);
  typename Tiles::pos mine = 0;  // tiles in bin `lane`
  #pragma unroll 4
  for (long long first = share.first; first < share.stop; first += bins) {
    const long long tile = first + lane_rank();
    mine += count_bits(bin_votes(tile < share.stop, share.bin(tile)).lanes_in(lane_rank()));
  }
  *share.counts(memory) = mine;
}

// One block of a warp a bin.
template <class Tiles> EV_DEVICE void bins_scan(const Tiles& tiles, typename Tiles::pos* memory, int warps) {
  using pos = typename Tiles::pos;
  constexpr int batch = 8;  // loads in flight
  pos* counts = memory + bins + tiles.num_tiles() + (long long)warp_rank() * warps;
  pos before = 0;
  for (int from = 0; from < warps; from += 32 * batch) {
    pos own[batch];
    #pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int at = from + 32 * j + lane_rank();
      own[j] = at < warps ? counts[at] : (pos)0;
    }
    #pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int at = from + 32 * j + lane_rank();
      const pos through = warp_sums(own[j]);
      if (at < warps) counts[at] = before + through - own[j];
      before += shuffle_from(full_warp, through, 31);
    }
  }
  if (lane_rank() == 0) memory[warp_rank()] = before;
}

template <class Tiles> EV_DEVICE void bins_place(const Tiles& tiles, typename Tiles::pos* memory) {
  using pos = typename Tiles::pos;
  const bin_share<Tiles> share(tiles);
  const pos size = memory[lane_rank()];
  pos* order = memory + bins;
  pos next = warp_sums(size) - size + *share.counts(memory);  // where the next tile of bin `lane` goes
  #pragma unroll 4
  for (long long first = share.first; first < share.stop; first += bins) {
    const long long tile = first + lane_rank();
    const int bin = share.bin(tile);
    const bin_votes votes(tile < share.stop, bin);
    const pos place = shuffle_from(full_warp, next, bin) + count_bits(votes.lanes_in(bin) & lanes_below(lane_rank()));
    if (tile < share.stop) order[place] = (pos)tile;
    next += count_bits(votes.lanes_in(lane_rank()));
  }
}

// ---- the main kernel -------------------------------------------------------------------------------------------------
//
// Units of work, one for all threads of a block: a tile for the block, or one for each of its teams. Block b of n takes
// the units b, b + n, ...: which tiles those are follows from the bins, so totals by block have equal bits.
//
// tile(team, which, live): see dynamic.cuh.
template <bool Converged, class Team, class pos> struct bin_class {
  const pos* order;
  pos begin, end;         // of its tiles in the order
  long long first, stop;  // of its units
  const Team team;

  EV_DEVICE bin_class(const pos* o, pos b, pos e, long long f)
      : order(o), begin(b), end(e), first(f), stop(f + (e - b + Team::per_block - 1) / Team::per_block) {}

  template <class Tile> EV_DEVICE void walk(long long unit, const Tile& tile) const {
    const pos at = begin + (pos)(unit - first) * Team::per_block + team.local();
    if constexpr (Converged && Team::size() > 1) {  // a stand-in is of its tile's own warp: nothing else would order them
      if (at - team.in_warp_rank() < end) tile(team, order[at < end ? at : end - 1], at < end);
    } else if (at < end) tile(team, order[at], true);
  }
};

// Bins before Warp are the blocks', those before Few the warps', those before One for teams of L, the rest for threads.
template <int T, int L, int Warp, int Few, int One, bool Converged, class pos, class Tile>
EV_DEVICE void walk_bins(const pos* memory, const Tile& tile) {
  const pos* order = memory + bins;
  const pos through = warp_sums(memory[lane_rank()]);
  auto before = [=](int bin) { return shuffle_from(full_warp, through, bin - 1); };
  const bin_class<Converged, group<T, T>, pos> block(order, 0, before(Warp), 0);
  const bin_class<Converged, group<32, T, Converged>, pos> warp(order, block.end, before(Few), block.stop);
  const bin_class<Converged, group<L, T, Converged>, pos> few(order, warp.end, before(One), warp.stop);
  const bin_class<Converged, group<1, T>, pos> one(order, few.end, before(bins), few.stop);
  for (long long unit = block_rank(); unit < one.stop; unit += block_count()) {
    if (unit < block.stop) block.walk(unit, tile);
    else if (unit < warp.stop) warp.walk(unit, tile);
    else if (unit < few.stop) few.walk(unit, tile);
    else one.walk(unit, tile);
  }
}

}  // namespace ev
