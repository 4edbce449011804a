// The engine of logarithmic radix binning. It sorts tiles by the power of two that their size reaches, the longest
// first, and runs them on teams of four widths (Fox, Tripathy, Green, "Improving Scheduling for Irregular Applications
// with Logarithmic Radix Binning", HPEC 2019).
//
// There are as many bins as lanes in a warp. So warps count and place tiles by ballots, and each lane keeps the count
// of one bin. No shared memory and no atomics are needed, and tiles of one bin stay in order. The result depends on the
// layout alone, so it has the same bits on every run.
//
//     bins_count   each warp counts its share of the tiles by bin                            a grid of B blocks
//     bins_scan    prefix sums over the shares, for each bin; the number of tiles in it      one block, a warp per bin
//     bins_place   each warp writes its share of the tiles to their places                   B blocks
//     walk_bins    called by the main kernel: assigns the tiles to teams                     any grid
//
//     struct Tiles { using pos = int;  pos num_tiles() const;  pos begin(pos tile) const;  pos end(pos tile) const; };
//
// The memory holds: the number of tiles in each bin [bins]; a bit for each tile, set if it is empty, 32 in a position
// [tiles / 32]; the counts by warp [bins][warps]; the nonempty tiles in order. So if almost all tiles are empty, the
// layout takes a 32nd of the memory, and of the time to read it.
#pragma once
#include "blocks.cuh"
#include "gpu.cuh"
#include "group.cuh"
#include "scan.cuh"

namespace ev {

static constexpr int bins = 32, empty_bin = bins - 1;
EV_DEVICE long long bin_counts(long long tiles) { return bins + (tiles + bins - 1) / bins; }  // their offset in memory
EV_DEVICE long long bin_order(long long tiles, int warps) { return bin_counts(tiles) + (long long)bins * warps; }

// Bin 31 has the empty tiles. Bin 30 - b has the tiles of at least 2^b and fewer than 2^(b+1) atoms. Bin 0 also has all
// longer ones.
template <class pos> EV_DEVICE int bin_of(pos size) {
  return 30 - highest_bit(size < 0x7fffffff ? (unsigned)size : 0x7fffffffu);
}

// A warp's share of consecutive tiles. It takes `bins` at a time, one for each lane.
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
  EV_DEVICE pos* counts(pos* memory) const { return memory + bin_counts(count) + (long long)lane_rank() * warps + warp; }
  EV_DEVICE int bin(long long tile) const {
    return tile < stop ? bin_of(tiles.end((pos)tile) - tiles.begin((pos)tile)) : 0;
  }
};

// The bins of a warp's tiles, known to all lanes.
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
  typename Tiles::pos mine = 0;  // the number of tiles in bin `lane`
  #pragma unroll 4
  for (long long first = share.first; first < share.stop; first += bins) {
    const long long tile = first + lane_rank();
    mine += count_bits(bin_votes(tile < share.stop, share.bin(tile)).lanes_in(lane_rank()));
  }
  *share.counts(memory) = mine;
}

// One block, with one warp for each bin.
template <class Tiles> EV_DEVICE void bins_scan(const Tiles& tiles, typename Tiles::pos* memory, int warps) {
  using pos = typename Tiles::pos;
  constexpr int batch = 8;  // loads in flight
  pos* counts = memory + bin_counts(tiles.num_tiles()) + (long long)warp_rank() * warps;
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
  pos *empties = memory + bins, *order = memory + bin_order(share.count, share.warps);
  pos next = warp_sums(size) - size + *share.counts(memory);  // where the next tile of bin `lane` goes
  #pragma unroll 4
  for (long long first = share.first; first < share.stop; first += bins) {
    const long long tile = first + lane_rank();
    const int bin = share.bin(tile);
    const bin_votes votes(tile < share.stop, bin);
    const pos place = shuffle_from(full_warp, next, bin) + count_bits(votes.lanes_in(bin) & lanes_below(lane_rank()));
    if (tile < share.stop && bin != empty_bin) order[place] = (pos)tile;
    const unsigned empty = votes.lanes_in(empty_bin);
    if (lane_rank() == 0) empties[first / bins] = (pos)empty;
    next += count_bits(votes.lanes_in(lane_rank()));
  }
}

// ---- the main kernel ------------------------------------------------------------------------------------------------
//
// A block works on one unit at a time: a tile for the whole block, or one for each of its teams. Block b of n takes the
// units b, b + n, ... The bins determine which tiles those are, so partial totals of blocks have the same bits on every
// run.
//
// tile(team, which, live): see dynamic.cuh.
template <bool Converged, class Team, class pos> struct bin_class {
  const pos* order;
  pos begin, end;         // range of its tiles in `order`
  long long first, stop;  // range of its units
  const Team team;

  EV_DEVICE bin_class(const pos* o, pos b, pos e, long long f)
      : order(o), begin(b), end(e), first(f), stop(f + (e - b + Team::per_block - 1) / Team::per_block) {}

  template <class Tile> EV_DEVICE void walk(long long unit, const Tile& tile) const {
    const pos at = begin + (pos)(unit - first) * Team::per_block + team.local();
    if constexpr (Converged && Team::size() > 1) {  // a team without a tile repeats one of its warp
      if (at - team.in_warp_rank() < end) tile(team, order[at < end ? at : end - 1], at < end);
    } else if (at < end) tile(team, order[at], true);
  }
};

// Empty tiles, in ascending order, so that lanes store to contiguous elements. A lane has the bits of 32 tiles, and
// shuffles them to the others. No code reads where these tiles begin.
template <int T> struct nobody : group<1, T> {
  static EV_DEVICE bool walks() { return false; }
};
template <int T, class pos> struct empty_class {
  const pos* empties;
  long long words, first, stop;

  EV_DEVICE empty_class(const pos* e, long long tiles, pos empty, long long f)
      : empties(e), words((tiles + bins - 1) / bins), first(f), stop(empty > 0 ? f + (words + T - 1) / T : f) {}

  template <class Tile> EV_DEVICE void walk(long long unit, const Tile& tile) const {
    const long long word = (unit - first) * T + thread_rank();
    const unsigned mine = word < words ? (unsigned)empties[word] : 0;
    #pragma unroll 4
    for (int k = 0; k < bins; ++k) {
      const unsigned bits = shuffle_from(full_warp, mine, k);
      if (bits >> lane_rank() & 1) tile(nobody<T>(), (pos)((word - lane_rank() + k) * bins + lane_rank()), true);
    }
  }
};

// The number of threads of a team that `tile` gets, from the type of that parameter; 0: of several blocks.
template <class Team> struct size_of;
template <class Team> struct size_of<const Team&> { static constexpr int value = Team::size(); };
template <int T, int W> struct size_of<const blocks<T, W>&> { static constexpr int value = 0; };

// All blocks walk the tiles of the bins before Grid together, one tile after another. all: a team of blocks that meet, or
// a crowd, whose members go on to the next tile as they come.
template <int Grid, class pos, class Team, class Tile>
EV_DEVICE void walk_huge(const pos* memory, long long tiles, int warps, const Team& all, const Tile& tile) {
  const pos* order = memory + bin_order(tiles, warps);
  const pos stop = shuffle_from(full_warp, warp_sums(memory[lane_rank()]), Grid - 1);
  for (pos at = 0; at < stop; ++at) tile(all, order[at], true);
}

// Blocks take the tiles of the bins from Grid on and before Warp, warps those before Few, teams of L threads those before One, and
// threads the rest. warps: the number of warps that counted.
template <int T, int L, int Warp, int Few, int One, bool Converged, class pos, int Grid = 0, class Tile>
EV_DEVICE void walk_bins(const pos* memory, long long tiles, int warps, const Tile& tile) {
  const pos* order = memory + bin_order(tiles, warps);
  const pos size = memory[lane_rank()], through = warp_sums(size);
  auto before = [=](int bin) { return shuffle_from(full_warp, through, bin - 1); };
  const bin_class<Converged, group<T, T>, pos> block(order, Grid > 0 ? before(Grid) : 0, before(Warp), 0);
  const bin_class<Converged, group<32, T, Converged>, pos> warp(order, block.end, before(Few), block.stop);
  const bin_class<Converged, group<L, T, Converged>, pos> few(order, warp.end, before(One), warp.stop);
  const bin_class<Converged, group<1, T>, pos> one(order, few.end, before(empty_bin), few.stop);
  const empty_class<T, pos> none(memory + bins, tiles, shuffle_from(full_warp, size, empty_bin), one.stop);
  for (long long unit = block_rank(); unit < none.stop; unit += block_count()) {
    if (unit < block.stop) block.walk(unit, tile);
    else if (unit < warp.stop) warp.walk(unit, tile);
    else if (unit < few.stop) few.walk(unit, tile);
    else if (unit < one.stop) one.walk(unit, tile);
    else none.walk(unit, tile);
  }
}

}  // namespace ev
