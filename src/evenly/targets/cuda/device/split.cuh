// Split engines: consecutive atoms belong to a processor, whose first and last tile may be partial.
//
//     split_block<Phase, T, I, Rule>(phase, joint, grid_partials, first_tile = nullptr)
//         A block takes T * I items and stages its atoms' values through shared memory. Rule: merge_rule (tiles + atoms
//         divided evenly: Merrill and Garland, "Merge-Based Parallel SpMV", SC 2016) or nonzero_rule (atoms divided
//         evenly: Baxter, moderngpu). joint: Meeting, and the blocks join the tiles that they share in this one kernel, or
//         Carries, which a finish kernel joins: for phases with totals of the grid. Blocks, S = T * I:
//           merge_rule    at least ceil((tiles + atoms) / S)
//           nonzero_rule  at least ceil(atoms / S) and 1; empty tiles are shared out by number of blocks, so with
//                         max(that, ceil(tiles / (8 * S))) blocks a layout of almost nothing but empty tiles stays balanced
//         first_tile: a stored partition (blocks + 1 entries); null: the block searches.
//     split_persistent<Phase, T, I, Rule>(phase, carries, grid_partials)
//         The same with any number of blocks, for work whose size only the device knows; each takes a contiguous share of
//         the chunks of S items.
//     thread_partition<Phase, S, Rule>(phase, first_tile, blocks)
//         Makes one, a thread an entry.
//     share<Phase, Sched, T>(phase, sched, carries, grid_partials)                      in share.cuh
//         What each thread walks is a schedule's own (`setup`, `tiles`, `atoms`).
//     flatten<Phase, G, T>(phase, grid_partials)                                        in flatten.cuh
//         A group of G threads owns G tiles and shares their atoms (Osama, Porumbescu, Owens, PPoPP 2023, section 5.2.3).
//         One kernel, no carries.
//     finish<Phase, T>(phase, carries, main_blocks, grid_partials + main_blocks)       in carry.cuh
//         After split_block with Carries, split_persistent and share, unless they ran as one block or the phase has no value that is left.
//
// grid_partials: one Grid a block, ignored unless Phase::has_grid (then see grid.cuh for the last step).
// carries: ignored unless Phase::has_value and Phase::has_leave.
// T is a multiple of 32. Value and Grid are aggregates without initialisers: they live in shared memory.
// step and combine should not branch (select instead: ?:, &, |): a branch keeps the next atom's loads from being asked for
// while this one's are under way. As one string for NVRTC they are in the order of headers.py.
#pragma once
#include "gpu.cuh"
#include "group.cuh"
#include "grid.cuh"
#include "carry.cuh"
#include "meet.cuh"

namespace ev {

// What becomes of a tile that the block shares with others: a finish kernel joins it (carry.cuh), or the block itself
// does (meet.cuh), or, without a value, nobody.
template <class Phase> struct carry_link {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  const Carries<Phase>& carries;
  EV_DEVICE carry_link(const Carries<Phase>& c) : carries(c) {
    if (thread_rank() == 0) carries.head_tile[block_rank()] = -1;
  }
  template <int T> EV_DEVICE void located(const Phase&, pos, pos) const {}
  EV_DEVICE void found_head(pos tile, const Value& part) const { carry_head(carries, tile, part); }
  template <int T, class Grid> EV_DEVICE void found_open(const Phase&, pos tile, pos, const Value& part, Grid&) const {
    if (thread_rank() == T - 1) carry_out(carries, tile, part);
  }
  template <int T, class Grid> EV_DEVICE void join(const Phase&, Grid&) const {}
};
// The same of a block of several chunks: what is open at the end of one goes on in the next.
template <class Phase> struct persistent_link : carry_link<Phase> {
  using carry_link<Phase>::carry_link;
  template <int T, class... More> EV_DEVICE void found_open(const More&...) const {}
};
struct no_link {
  template <class C> EV_DEVICE no_link(const C&) {}
  template <int T, class Phase, class P> EV_DEVICE void located(const Phase&, P, P) const {}
  template <int T, class Phase, class Grid> EV_DEVICE void join(const Phase&, Grid&) const {}
};
template <class Phase, int S, class Rule> EV_DEVICE meeting_link<Phase, S, Rule> link_for(const Meeting<Phase>& m) { return {m}; }
template <class Phase, int S, class Rule> EV_DEVICE carry_link<Phase> link_for(const Carries<Phase>& c) { return {c}; }

// ---- rules: how the items of all tiles are laid on one line, and cut -------------------------------------------------------
// A position d on the line lies after `t` tile ends and d - t atoms (merge) or after d atoms (nonzero), where t is the
// number of tiles that `ended` holds for; it is monotone, so it can be searched.

struct merge_rule {
  static constexpr bool bounded = true;  // a chunk of S items has no more than S tile ends
  template <class P> static EV_DEVICE P total(P tiles, P atoms) { return tiles + atoms; }
  template <class P> static EV_DEVICE P atom(P d, P t) { return d - t; }
  template <class P> static EV_DEVICE P place(P atom, P tile) { return atom + tile; }  // of an atom of the tile
  template <class P> static EV_DEVICE P last_place(P end, P tile) { return end + tile; }  // of the tile: where it ends
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

// How many tiles have ended at position d. The whole warp probes 32 places a step, which cuts the range to a 33rd: 5
// dependent loads for 4 M tiles where a binary search has 22. Every lane gets the answer.
template <class Rule, class Phase>
EV_DEVICE typename Phase::pos warp_search(const Phase& phase, typename Phase::pos d, typename Phase::pos tiles, typename Phase::pos atoms) {
  using pos = typename Phase::pos;
  pos low = Rule::least(d, atoms), high = Rule::most(d, tiles);
  while (low < high) {
    pos stride = (high - low) / 33 + 1, probe = low + (lane_rank() + 1) * stride - 1;
    bool ended = probe < high && Rule::ended(phase.end(probe), probe, d);
    low += count_bits(ballot(full_warp, ended)) * stride;
    pos top = low + stride - 1;  // the first probe that failed
    high = top < high ? top : high;
  }
  return low;
}

// The first tile of [low, high) that ends after `atom`: the one that holds it.
template <class Phase>
EV_DEVICE typename Phase::pos thread_tile_of(const Phase& phase, typename Phase::pos atom, typename Phase::pos low, typename Phase::pos high) {
  while (low < high) {
    typename Phase::pos mid = low + (high - low) / 2;
    if (phase.end(mid) <= atom) low = mid + 1;
    else high = mid;
  }
  return low;
}

// ---- split_block -------------------------------------------------------------------------------------------------------
//
// One chunk holds tile ends [t0, t1) and atoms [z0, z1). Its atoms stand in `slots`, one each; `last` marks the slots
// where a tile ends. A thread folds I consecutive slots and puts the value of a tile that ends there into the tile's last
// slot, which nobody else reads before it is left. So the walk needs no search, staged and finished values share their
// memory, and a chunk takes little of it: shared memory not taken is L1 cache for gathered data.
template <class Phase, int T, int I, class Rule> struct block_split {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  using Grid = typename Phase::Grid;
  using State = typename Phase::State;
  static constexpr int S = T * I;
  static constexpr bool folds = Phase::has_value && Phase::has_leave;
  static constexpr bool steps = folds || Phase::has_effects;
  static constexpr bool needs_tile = steps && Phase::needs_tile;
  static constexpr bool marks = folds || needs_tile;
  static constexpr bool searches = marks || (Rule::bounded && (steps || Phase::has_leave));
  static constexpr bool keeps_slots = Rule::bounded && folds;
  // In a chunk of an unbounded rule with more tiles than this, each atom looks for its tile instead.
  static constexpr int wide = 8 * S;

  struct nothing {};
  using local = typename choose<Rule::bounded, int, pos>::type;  // a tile, counted from t0
  union Slot {
    typename choose<folds, Value, nothing>::type value;
    typename choose<needs_tile, local, nothing>::type tile;
    typename choose<keeps_slots, int, nothing>::type of_tile;  // at nz + tile: the tile's last slot, -1 if it has none here
  };
  struct Bounds { pos t0, z0, t1, z1; };

  const Phase& phase;
  Slot* slots;
  unsigned char* last;
  pos* found;  // what the two searching warps tell the others: {t0, z0, t1, z1}

  // Where chunk number `chunk` starts.
  static EV_DEVICE pos cut(pos chunk, pos tiles, pos atoms) {
    const pos total = Rule::total(tiles, atoms);
    return chunk * S < total ? chunk * S : total;
  }

  // ---- where the chunk [d0, d1) lies ----
  EV_DEVICE Bounds locate(pos d0, pos d1, pos tiles, pos atoms, const pos* first_tile) const {
    if constexpr (!searches) return {0, d0, 0, d1};
    if (first_tile != nullptr) {
      pos t0 = load_cached(first_tile + block_rank()), t1 = load_cached(first_tile + block_rank() + 1);
      if constexpr (marks) barrier();  // `last` is clear
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

  EV_DEVICE void clear_marks() const {
    unsigned* words = (unsigned*)last;
    #pragma unroll
    for (int k = 0; k < ceil_div(I, 4); ++k)
      if (I % 4 == 0 || thread_rank() + k * T < S / 4) words[thread_rank() + k * T] = 0;
  }

  // ---- the tiles that end here ----
  // The slot of a tile's last atom, -1 if none of its atoms is in the chunk: an empty tile, or one that ends where the
  // chunk begins.
  EV_DEVICE int slot_of(const Bounds& b, pos begin, pos end) const {
    return end > begin && end > b.z0 ? (int)(end - 1 - b.z0) : -1;
  }
  EV_DEVICE void mark(const Bounds& b, local i, pos begin, pos end) const {
    int slot = slot_of(b, begin, end);
    if (slot >= 0) {
      last[slot] = 1;
      if constexpr (needs_tile) slots[slot].tile = i;
    }
    if constexpr (keeps_slots) slots[(int)(b.z1 - b.z0) + i].of_tile = slot;
  }
  EV_DEVICE void mark_tiles(const Bounds& b, local from) const {
    local count = (local)(b.t1 - b.t0);
    if (!Rule::bounded && count > wide) return mark_tiles_by_atom(b, from);
    #pragma unroll (Rule::bounded ? 1 : 2)  // bounded: one round is the rule; more would cost registers
    for (local i = from + thread_rank(); i < count; i += T) mark(b, i, phase.begin(b.t0 + i), phase.end(b.t0 + i));
  }
  EV_DEVICE void mark_tiles_by_atom(const Bounds& b, local from) const {
    if (from > 0) return;
    #pragma unroll 1
    for (int i = thread_rank(); i < (int)(b.z1 - b.z0); i += T) {
      pos tile = thread_tile_of(phase, b.z0 + i, b.t0, b.t1);
      if (tile < b.t1 && phase.end(tile) == b.z0 + i + 1) mark(b, (local)(tile - b.t0), phase.begin(tile), phase.end(tile));
    }
  }

  // ---- tile ids of all slots, from those at tiles' last slots (load-balancing search) ----
  EV_DEVICE void expand_tiles(const Bounds& b) const {
    EV_SHARED(local, warp_next, T / 32);
    int nz = (int)(b.z1 - b.z0), first = thread_rank() * I;
    local open = (local)(b.t1 - b.t0), none = -1, next = none;
    #pragma unroll
    for (int k = I - 1; k >= 0; --k)
      if (first + k < nz && last[first + k]) next = slots[first + k].tile;
    unsigned have = ballot(full_warp, next != none);
    int source = lowest_bit(have & lanes_above(lane_rank())), lowest = lowest_bit(have);
    local after = shuffle_from(full_warp, next, source < 0 ? 0 : source);
    local of_warp = shuffle_from(full_warp, next, lowest < 0 ? 0 : lowest);
    if (lane_rank() == 0) warp_next[warp_rank()] = of_warp;
    barrier();
    if (source < 0) {
      after = none;
      for (int w = warp_rank() + 1; w < T / 32 && after == none; ++w) after = warp_next[w];
      if (after == none) after = open;
    }
    #pragma unroll
    for (int k = I - 1; k >= 0; --k)
      if (first + k < nz) {
        if (last[first + k]) after = slots[first + k].tile;
        else slots[first + k].tile = after;
      }
  }

  EV_DEVICE void step(Value& v, pos t0, local tile, pos atom) const {
    if constexpr (needs_tile) phase.step(v, phase.enter(t0 + tile), t0 + tile, atom);
    else phase.step(v, State{}, (pos)0, atom);
  }
  EV_DEVICE Value start() const {
    if constexpr (Phase::has_value) return Phase::identity();
    else return Value{};
  }

  // ---- the atoms, in load order: strided, coalesced ----
  EV_DEVICE void stage(const Bounds& b) const {
    int nz = (int)(b.z1 - b.z0), t = thread_rank();
    if constexpr (!Phase::has_effects) {
      // Pure: evaluated without a condition, beyond the end once more at an atom that is there, so that all loads of all
      // rounds are independent and in flight together. Without tiles that is the chunk's last atom, one address for all
      // the idle lanes; with tiles the thread's own first, since others overwrite the ids in their slots.
      if (needs_tile ? t >= nz : nz == 0) return;
      local tile[I];
      Value v[I];
      #pragma unroll
      for (int k = 0; k < I; ++k) {
        tile[k] = 0;
        if constexpr (needs_tile) tile[k] = slots[t + k * T < nz ? t + k * T : t].tile;
      }
      #pragma unroll
      for (int k = 0; k < I; ++k) {
        int i = t + k * T;
        if (i >= nz) i = needs_tile ? t : nz - 1;
        v[k] = start();
        step(v[k], b.t0, tile[k], b.z0 + i);
      }
      #pragma unroll
      for (int k = 0; k < I; ++k)
        if (t + k * T < nz) slots[t + k * T].value = v[k];
    } else {
      #pragma unroll
      for (int k = 0; k < I; ++k) {
        int i = t + k * T;
        if (i < nz) {
          local tile = 0;
          if constexpr (needs_tile) tile = slots[i].tile;
          Value v = start();
          step(v, b.t0, tile, b.z0 + i);
          if constexpr (folds) slots[i].value = v;
        }
      }
    }
  }

  // ---- the fold: I slots a thread, then across threads. Returns the open tile's value, valid in the last thread ----
  EV_DEVICE Value fold(const Bounds& b, const Value& carried) const {
    int first = thread_rank() * I, count = (int)(b.z1 - b.z0) - first, head_slot = -1;
    Value part[I], head = Phase::identity(), tail = Phase::identity();
    bool ends[I];
    #pragma unroll
    for (int k = 0; k < I; ++k) {  // no branch before the loads: they are in flight together
      part[k] = load_unused(slots[first + k].value);
      ends[k] = last[first + k] != 0;  // never beyond the atoms
      if (k >= count) part[k] = Phase::identity();
    }
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      tail = Phase::then(tail, part[k]);
      if (ends[k]) {
        if (head_slot < 0) { head = tail; head_slot = first + k; }  // may have begun before this thread: wait
        else slots[first + k].value = tail;
        tail = Phase::identity();
      }
    }
    bool resets = head_slot >= 0;
    Open<Phase> open = block_scan<Phase, T>(resets, tail, carried);
    if (resets) slots[head_slot].value = Phase::then(open.value, head);
    return resets ? tail : Phase::then(open.value, tail);
  }

  // ---- the tiles that end here are left, in order: stores coalesce ----
  // What a tile came to: `carried` is for the first one, where none of its atoms is in this chunk.
  EV_DEVICE Value value_at(local i, int slot, const Value& carried) const {
    return slot >= 0 ? slots[slot].value : i == 0 ? carried : Phase::identity();
  }
  template <class Links>
  EV_DEVICE void leave_tiles(const Bounds& b, const Value& carried, const pos& block_z0, Links& links, Grid& grid) const {
    const local count = (local)(b.t1 - b.t0);
    const int nz = (int)(b.z1 - b.z0), t = thread_rank();
    local i = t;
    // A first tile that began before the block's first atom is only the block's part of it: a head, to be joined with
    // the others. Out of the loop, or what that takes would sit in registers there.
    if (t == 0 && count > 0 && phase.begin(b.t0) < block_z0) {
      int slot = Rule::bounded ? first_slot(nz) : slot_of(b, phase.begin(b.t0), phase.end(b.t0));
      links.found_head(b.t0, value_at(0, slot, carried));
      i = T;
    }
    if (!Rule::bounded && count > wide) return leave_tiles_by_slot(b, block_z0, grid);
    #pragma unroll 1
    for (; i < count; i += T) {
      int slot;
      if constexpr (Rule::bounded) slot = slots[nz + i].of_tile;
      else slot = slot_of(b, phase.begin(b.t0 + i), phase.end(b.t0 + i));
      if (Rule::bounded || slot >= 0) phase.leave(b.t0 + i, value_at(i, slot, carried), grid);
    }
  }
  EV_DEVICE int first_slot(int nz) const {
    if constexpr (keeps_slots) return slots[nz].of_tile;
    else return -1;
  }
  EV_DEVICE void leave_tiles_by_slot(const Bounds& b, const pos& block_z0, Grid& grid) const {
    const bool first_is_head = phase.begin(b.t0) < block_z0;
    #pragma unroll 1
    for (int slot = thread_rank(); slot < (int)(b.z1 - b.z0); slot += T)
      if (last[slot]) {
        pos tile = thread_tile_of(phase, b.z0 + slot, b.t0, b.t1);
        if (tile != b.t0 || !first_is_head) phase.leave(tile, slots[slot].value, grid);
      }
  }

  // One chunk. `carried` is what the block's earlier chunks left open; returns what this one does, valid in the last thread.
  template <class Links>
  EV_DEVICE Value chunk(const Bounds& b, const Value& carried, const pos& block_z0, Links& links, Grid& grid) const {
    Value rest = start();
    if constexpr (needs_tile) {
      mark_tiles(b, 0);
      barrier();
      expand_tiles(b);
      barrier();
      stage(b);
    } else if constexpr (folds) {
      // The first round's tile ends are asked for before the atoms, and used after: their latency hides.
      bool mine = Rule::bounded && thread_rank() < b.t1 - b.t0;
      pos begin = mine ? phase.begin(b.t0 + thread_rank()) : 0, end = mine ? phase.end(b.t0 + thread_rank()) : 0;
      stage(b);
      if (mine) mark(b, thread_rank(), begin, end);
      mark_tiles(b, Rule::bounded ? T : 0);
    } else if constexpr (steps) {
      stage(b);
    }
    if constexpr (folds) {
      barrier();
      // A tile that ends exactly where the chunk begins takes what was open; the chunk's first atom begins another.
      Value into = carried;
      if (b.t0 < b.t1 && phase.end(b.t0) <= b.z0) into = Phase::identity();
      rest = fold(b, into);
      barrier();
      leave_tiles(b, carried, block_z0, links, grid);
      links.template found_open<T>(phase, b.t1, b.z1, rest, grid);
    } else if constexpr (Phase::has_leave && Rule::bounded) {
      for (int i = thread_rank(); i < b.t1 - b.t0; i += T) phase.leave(b.t0 + i, rest, grid);
    }
    return rest;
  }

  // Tiles without atoms belong to no chunk of an unbounded rule: blocks share them out by number. Without a value to
  // wait for, all tiles go this way.
  EV_DEVICE void leave_share(pos tiles, Grid& grid) const {
    long long share = ((long long)tiles + block_count() - 1) / block_count();
    long long from = block_rank() * share, to = from + share < (long long)tiles ? from + share : (long long)tiles;
    for (long long i = from + thread_rank(); i < to; i += T) {
      pos tile = (pos)i;
      if (!folds || phase.begin(tile) == phase.end(tile)) phase.leave(tile, start(), grid);
    }
  }
};

// A stored partition, for launches that repeat: first_tile[b] is where block b of S items starts, b = 0..blocks.
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

// What the two kinds of launch have in common: the engine over its shared memory.
#define EV_SPLIT_ENGINE(split)                                      \
  EV_SHARED(typename engine::Slot, slots, engine::marks ? engine::S : 1); \
  EV_SHARED(unsigned, last, engine::marks ? engine::S / 4 : 1);           \
  EV_SHARED(pos, found, 4);                                         \
  const engine split{phase, slots, (unsigned char*)last, found}

// joint: Meeting, or Carries, which a finish kernel joins.
template <class Phase, int T, int I, class Rule, class Joint>
EV_DEVICE void split_block(const Phase& phase, const Joint& joint, typename Phase::Grid* grid_partials,
                           const typename Phase::pos* first_tile = nullptr) {
  using engine = block_split<Phase, T, I, Rule>;
  using pos = typename Phase::pos;
  static_assert(T % 32 == 0, "whole warps");
  EV_SPLIT_ENGINE(split);
  auto grid = grid_start<Phase>();
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms();
  auto cut = [&](pos block) { return engine::cut(block, tiles, atoms); };
  typename choose<engine::folds, decltype(link_for<Phase, engine::S, Rule>(joint)), no_link>::type link(joint);
  if constexpr (Phase::has_leave && !Rule::bounded) split.leave_share(tiles, grid);
  if constexpr (engine::marks) split.clear_marks();
  auto b = split.locate(cut(block_rank()), cut(block_rank() + 1), tiles, atoms, first_tile);
  link.template located<T>(phase, b.t0, b.t1);
  split.chunk(b, split.start(), b.z0, link, grid);
  link.template join<T>(phase, grid);
  block_reduce_grid<Phase, T>(grid, grid_partials);
}

template <class Phase, int T, int I, class Rule>
EV_DEVICE void split_persistent(const Phase& phase, const Carries<Phase>& carries, typename Phase::Grid* grid_partials) {
  using engine = block_split<Phase, T, I, Rule>;
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  constexpr int S = engine::S;
  static_assert(T % 32 == 0, "whole warps");
  EV_SPLIT_ENGINE(split);
  auto grid = grid_start<Phase>();
  const pos tiles = phase.num_tiles(), atoms = phase.num_atoms(), total = Rule::total(tiles, atoms);
  typename choose<engine::folds, persistent_link<Phase>, no_link>::type link(carries);
  if constexpr (Phase::has_leave && !Rule::bounded) split.leave_share(tiles, grid);
  // What outlives a chunk waits in shared memory: in registers it would cost the staged loads theirs. The open value has
  // two places in turn, since thread 0 may still read the one while the last thread writes the other.
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
#undef EV_SPLIT_ENGINE

}  // namespace ev
