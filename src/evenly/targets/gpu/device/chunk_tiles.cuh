// The tiles of a chunk: where it begins and ends, which tile ends in which slot, and to which tile each slot belongs.
#pragma once
#include "gpu.cuh"
#include "group.cuh"
#include "listed.cuh"
#include "rules.cuh"
#include "running.cuh"

namespace ev {

template <class Phase, int T, int I, class Rule> struct chunk_tiles {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  using Grid = typename Phase::Grid;
  using State = typename Phase::State;
  using rule = Rule;
  static constexpr int threads = T, S = T * I;
  static constexpr bool folds = Phase::has_value && Phase::has_leave;
  static constexpr bool steps = folds || Phase::has_effects;
  static constexpr bool needs_tile = steps && Phase::needs_tile;
  static constexpr bool scans = scan_of<Phase>::value;
  using Scan = typename scan_of<Phase>::type;
  static constexpr bool marks = folds || needs_tile || scans;
  static constexpr bool searches = marks || (Rule::bounded && (steps || Phase::has_leave));
  static constexpr bool stages = folds && !can_exchange<I, Value>();
  // Tiles without atoms: leave_share.
  static constexpr bool shares_out = Phase::has_leave && !Rule::bounded && !is_listed<Phase>::value;

  // The id of a slot: 1 + the number of the tile that ends there, counted from t0; 0 if no tile does. `expand_tiles`
  // turns it into the same for the tile that the slot's atom belongs to, which may be open at the chunk's end.
  static constexpr int most_short = 65535;
  using Id = typename choose<(S < most_short), unsigned short, int>::type;  // int: of no block that fits
  static constexpr int most_ids = S < most_short ? most_short : 2147483647;
  // If a chunk of an unbounded rule has more tiles than this, each atom searches for its tile instead.
  static constexpr int wide = S < most_ids / 8 ? 8 * S : most_ids - 1;
  using local = typename choose<Rule::bounded, int, pos>::type;  // a tile, counted from t0
  struct Bounds { pos t0, z0, t1, z1; };
  // What thread 0 finds out about the chunk's first tile. A head is a tile that began before the block and ends in the
  // chunk: near its beginning, so that the first warp knows its value, or far from there.
  enum Head : unsigned char { no_head, near_head, far_head };
  struct First {
    bool over;  // it ended where the chunk begins
    Head head;
  };

  const Phase& phase;
  Id* ids;
  Value* slots;
  First* first_tile;
  Value* head;  // what thread 0 is told: the block's part of it
  pos* found;  // what the two searching warps tell the others: {t0, z0, t1, z1}

  // The position where chunk number `chunk` starts.
  static EV_DEVICE pos cut(pos chunk, pos tiles, pos atoms) {
    const pos total = Rule::total(tiles, atoms);
    return chunk * S < total ? chunk * S : total;
  }

  // ---- the tiles and atoms of the chunk [d0, d1) ----
  EV_DEVICE Bounds locate(pos d0, pos d1, pos tiles, pos atoms, const pos* partition) const {
    if constexpr (!searches) return {0, d0, 0, d1};
    if (partition != nullptr) {
      pos t0 = load_cached(partition + block_rank()), t1 = load_cached(partition + block_rank() + 1);
      if constexpr (marks) barrier();  // `ids` is clear
      return {t0, Rule::atom(d0, t0), t1, Rule::atom(d1, t1)};
    }
    for (int side = warp_rank(); side < 2; side += T / 32) {
      pos t = warp_search<Rule>(phase, side == 0 ? d0 : d1, tiles, atoms);
      if (lane_rank() == 0) {
        found[2 * side] = t;
        found[2 * side + 1] = Rule::atom(side == 0 ? d0 : d1, t);  // or all threads would keep d0 and d1 in registers
      }
    }
    barrier();
    return {found[0], found[1], found[2], found[3]};
  }

  // The first of the I consecutive slots that the thread folds, and of the I slots, 32 apart, that it loads.
  EV_DEVICE int own_slot() const { return thread_rank() * I; }
  EV_DEVICE int load_slot() const { return warp_rank() * 32 * I + lane_rank(); }

  // ---- the tiles that end here ----
  EV_DEVICE void clear_marks() const {
    using word = long long;
    constexpr int words = S * (int)sizeof(Id) / (int)sizeof(word);  // whole ones: S is a multiple of 32
    #pragma unroll
    for (int i = 0; i < words; i += T)
      if (i + T <= words || i + thread_rank() < words) reinterpret_cast<word*>(ids)[i + thread_rank()] = 0;
  }
  EV_DEVICE bool is_wide(const Bounds& b) const { return !Rule::bounded && b.t1 - b.t0 > wide; }
  // The slot of a tile's last atom; -1 if none of its atoms is in the chunk, since it is empty or ends where the chunk
  // begins.
  EV_DEVICE int slot_of(const Bounds& b, pos begin, pos end) const {
    return end > begin && end > b.z0 ? (int)(end - 1 - b.z0) : -1;
  }
  // Marks tile number i, if it `ends` here. A tile without atoms here is left at once, unless it began before the
  // block.
  template <class Work> EV_DEVICE void mark(const Bounds& b, local i, bool ends, pos begin, pos end, Work& work) const {
    const int slot = ends ? slot_of(b, begin, end) : -1;
    if (slot >= 0) ids[slot] = (Id)(i + 1);
    if constexpr (folds) {
      const bool earlier = ends && i == 0 && begin < work.block_z0;
      if (i == 0) {
        *first_tile = {ends && end <= b.z0, !earlier ? no_head : slot < 32 * I ? near_head : far_head};
        *head = work.carried;
      }
      if (Rule::bounded && ends && slot < 0 && !earlier) phase.leave(b.t0 + i, i == 0 ? work.carried : Phase::identity(), work.grid);
    }
  }
  // Marks the tiles from number `from` on.
  template <class Work> EV_DEVICE void mark_tiles(const Bounds& b, local from, Work& work) const {
    local count = (local)(b.t1 - b.t0);
    if (is_wide(b)) return mark_tiles_by_atom(b, work);
    #pragma unroll (Rule::bounded ? 1 : 2)  // bounded: one round is the rule; more would cost registers
    for (local i = from + thread_rank(); i < count; i += T) mark(b, i, true, phase.begin(b.t0 + i), phase.end(b.t0 + i), work);
  }
  // Here an id only says that a tile ends in the slot, not which.
  template <class Work> EV_DEVICE void mark_tiles_by_atom(const Bounds& b, Work& work) const {
    #pragma unroll 1
    for (int i = thread_rank(); i < (int)(b.z1 - b.z0); i += T) {
      pos tile = thread_tile_of(phase, b.z0 + i, b.t0, b.t1);
      if (b.t0 < tile && tile < b.t1 && phase.end(tile) == b.z0 + i + 1) mark(b, 1, true, phase.begin(tile), phase.end(tile), work);
    }
  }
  // The tile that ends in a slot.
  EV_DEVICE pos tile_at(const Bounds& b, int slot) const {
    return is_wide(b) ? thread_tile_of(phase, b.z0 + slot, b.t0, b.t1) : b.t0 + (ids[slot] - 1);
  }

  // Bit k: a tile ends in slot own_slot() + k, of this thread's I consecutive slots. To be called before expand_tiles.
  static_assert(I <= 64, "a bit each");
  using Ends = typename choose<(I <= 32), unsigned, unsigned long long>::type;
  EV_DEVICE Ends own_ends() const {
    Ends own = 0;
    #pragma unroll
    for (int k = 0; k < I; ++k) own |= (Ends)(ids[own_slot() + k] != 0) << k;
    return own;
  }
  static EV_DEVICE int lowest(Ends ends) {
    if constexpr (I <= 32) return lowest_bit(ends);
    else return (unsigned)ends != 0 ? lowest_bit((unsigned)ends) : 32 + lowest_bit((unsigned)(ends >> 32));
  }

  // ---- fill in the ids of all slots from those at the last slots of tiles (load-balancing search) ----
  EV_DEVICE void expand_tiles(const Bounds& b, Ends own) const {
    EV_SHARED(int, warp_next, T / 32);
    const int nz = (int)(b.z1 - b.z0), first = own_slot();
    int next = own != 0 ? ids[first + lowest(own)] : 0;
    unsigned have = ballot(full_warp, next != 0);
    int source = lowest_bit(have & lanes_above(lane_rank())), leader = lowest_bit(have);
    int after = shuffle_from(full_warp, next, source < 0 ? 0 : source);
    int of_warp = shuffle_from(full_warp, next, leader < 0 ? 0 : leader);
    if (lane_rank() == 0) warp_next[warp_rank()] = of_warp;
    barrier();
    if (source < 0) {
      after = 0;
      for (int w = warp_rank() + 1; w < T / 32 && after == 0; ++w) after = warp_next[w];
      if (after == 0) after = (int)(b.t1 - b.t0) + 1;
    }
    #pragma unroll
    for (int k = I - 1; k >= 0; --k)
      if (first + k < nz) {
        if (own >> k & 1) after = ids[first + k];
        else ids[first + k] = (Id)after;
      }
    sync_warp(full_warp);
  }
};

}  // namespace ev
