// The shares of atoms that the blocks of stream.cuh take, and the tiles that each of them leaves.
#pragma once
#include "rules.cuh"

namespace ev {

// Which tiles the blocks leave. A block leaves the tiles that end in its share of atoms, empty ones too: those with ends
// in (z0, z1], and block 0 also those that end at 0. But millions of empty tiles may end in one share. Such a share is
// `wide`: its block leaves only tiles that have atoms, and all blocks divide all tiles by number and look for empty
// ones that end in wide shares. They rarely find any, so the partition says which blocks have to look.
template <class Phase, int T, int I> struct stream_shares {
  using pos = typename Phase::pos;
  using number = typename choose<(sizeof(pos) == 4), unsigned, unsigned long long>::type;  // shares may end beyond the last tile
  static constexpr int S = T * I;
  static constexpr int wide = 8 * S;  // launches have no more than 8 * S tiles for each block

  const Phase& phase;
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms();

  EV_DEVICE stream_shares(const Phase& phase) : phase(phase) {}
  EV_DEVICE pos cut(pos share) const { return share * (number)S < (number)atoms ? share * S : atoms; }
  // The first tile of a share.
  EV_DEVICE pos first(pos share) const { return share == 0 ? 0 : far_tile_of(phase, cut(share), (pos)0, tiles); }
  EV_DEVICE pos share_of(pos tile) const {
    const pos end = phase.end(tile);
    return end > 0 ? (end - 1) / S : 0;
  }

  struct Numbers { number from, to; };
  EV_DEVICE Numbers by_number(int block, int blocks) const {
    const number each = ((number)tiles + blocks - 1) / (unsigned)blocks, from = block * each, to = from + each;
    return {from, to < (number)tiles ? to : (number)tiles};
  }
  // Whether the tile is in a wide share. A wide share holds more tiles than any block has by number, so if one of these
  // is in it, the first or the last is. It also holds half of `wide` tiles before or after this one: elsewhere, nothing
  // is searched.
  EV_DEVICE bool in_wide(pos tile) const {
    constexpr int half = wide / 2;
    const pos share = share_of(tile);
    const bool before = tile >= half && share_of(tile - half) == share;
    const bool after = tiles - tile > half && share_of(tile + half) == share;
    return (before || after) && first(share + 1) - first(share) > wide;
  }
  EV_DEVICE bool looks(int block, int blocks) const {
    const Numbers own = by_number(block, blocks);
    return own.from < own.to && (in_wide((pos)own.from) || in_wide((pos)own.to - 1));
  }
  // An entry of the partition: a block's first tile, and whether it looks for empty tiles of wide shares.
  static EV_DEVICE pos entry(pos tile, bool looks) { return looks ? ~tile : tile; }
  static EV_DEVICE bool looks(pos entry) { return entry < 0; }
  static EV_DEVICE pos tile(pos entry) { return entry < 0 ? ~entry : entry; }
};

}  // namespace ev
