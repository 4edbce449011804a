// A chunk: the consecutive tiles and atoms that a block of threads takes at a time (split.cuh).
//
// One chunk holds tile ends [t0, t1) and atoms [z0, z1). Each atom has a slot, and `ids` says which tile ends in a
// slot. A warp has 32 * I consecutive slots, which its lanes load in turn. If no tile ends among them, each lane folds
// the values that it has loaded. Otherwise the lanes first exchange their values. Then each folds I consecutive ones,
// without a search, and leaves the tiles that end there. The tiles of a warp are contiguous, so their stores coalesce.
// Only two bytes for each atom need to be in shared memory; the rest of it remains L1 cache for gathered data.
#pragma once
#include "gpu.cuh"
#include "group.cuh"
#include "grid.cuh"
#include "links.cuh"
#include "listed.cuh"
#include "rules.cuh"
#include "running.cuh"

namespace ev {

struct no_reads {};
template <class Phase, class = void> struct reads_of {
  using type = no_reads;
  static constexpr bool value = false;
};
template <class Phase> struct reads_of<Phase, typename void_of<typename Phase::Read>::type> {
  using type = typename Phase::Read;
  static constexpr bool value = true;
};

template <class Phase, int T, int I, class Rule, bool Early> struct block_split {
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

  EV_DEVICE void step(Value& v, pos tile, pos atom) const {
    if constexpr (needs_tile) phase.step(v, phase.enter(tile), tile, atom);
    else phase.step(v, State{}, tile, atom);
  }
  EV_DEVICE Value start() const {
    if constexpr (Phase::has_value) return Phase::identity();
    else return Value{};
  }

  // ---- load the atoms, strided, so that loads coalesce. v[k]: of slot load_slot() + 32 * k, if it holds an atom ----
  EV_DEVICE void load(const Bounds& b, Value* v) const {
    const int nz = (int)(b.z1 - b.z0), first = load_slot();
    #pragma unroll
    for (int k = 0; k < I; ++k) v[k] = start();
    if constexpr (Phase::has_effects && I > 1 && reads_of<Phase>::value) {
      if (first >= nz) return;
      // Reads have no effects. Those for a store need no condition, as below: beyond the end, the thread reads for its first
      // atom again. Before atomics that was not seen to gain, and costs sectors.
      constexpr bool always = reads_of<Phase>::type::for_store;
      typename reads_of<Phase>::type read[I];
      State state[I];
      pos tile[I];
      auto inside = [&](int k) { return first + k * 32 < nz; };
      auto slot = [&](int k) { return inside(k) ? first + k * 32 : first; };
      #pragma unroll
      for (int k = 0; k < I; ++k)
        if (always || inside(k)) tile[k] = needs_tile ? tile_at(b, slot(k)) : 0;
      if constexpr (needs_tile) {
        #pragma unroll
        for (int k = 0; k < I; ++k)
          if (always || inside(k)) state[k] = phase.enter(tile[k]);
      }
      #pragma unroll
      for (int k = 0; k < I; ++k)
        if (always || inside(k)) read[k] = phase.read(state[k], tile[k], b.z0 + slot(k));
      #pragma unroll
      for (int k = 0; k < I; ++k)
        if (inside(k)) phase.take(v[k], state[k], tile[k], b.z0 + slot(k), read[k]);
    } else if constexpr (Phase::has_effects) {
      #pragma unroll
      for (int k = 0; k < I; ++k) {
        const int i = first + k * 32;
        if (i < nz) step(v[k], needs_tile ? tile_at(b, i) : 0, b.z0 + i);
      }
    } else if (!Rule::bounded && !needs_tile && nz == S) {  // nothing to look out for
      #pragma unroll
      for (int k = 0; k < I; ++k) step(v[k], 0, b.z0 + first + k * 32);
    } else if (!needs_tile || first < nz) {
      // A step has no effects, so it is evaluated without a condition. Beyond the end, it is evaluated again at an atom
      // that exists, so that all loads of all rounds are independent and in flight together. Without tiles that is the
      // chunk's last atom (if it has none, the one before it, or atom 0), so that all idle lanes read one address. With
      // tiles it is the thread's own first atom.
      const int instead = needs_tile ? first : nz > 0 || b.z0 > 0 ? nz - 1 : 0;
      pos tile[I];
      #pragma unroll
      for (int k = 0; k < I; ++k) tile[k] = needs_tile ? tile_at(b, first + k * 32 < nz ? first + k * 32 : first) : 0;
      #pragma unroll
      for (int k = 0; k < I; ++k) {
        const int i = first + k * 32;
        step(v[k], tile[k], b.z0 + (i < nz ? i : instead));
        if (i >= nz) v[k] = start();
      }
    }
  }

  // The same in three parts, so that the block can wait for its tiles before the last one. Beyond the end, atoms are
  // chosen as in `load` without tiles.
  EV_DEVICE pos loaded_atom(const Bounds& b, int k) const {
    const int nz = (int)(b.z1 - b.z0), i = load_slot() + k * 32, last = nz > 0 || b.z0 > 0 ? nz - 1 : 0;
    return b.z0 + (i < nz ? i : last);
  }
  template <class Loads> EV_DEVICE void load_first(const Bounds& b, Loads* loads) const {
    #pragma unroll
    for (int k = 0; k < I; ++k) loads[k] = phase.load_first(loaded_atom(b, k));
    #pragma unroll
    for (int k = 0; k < I; ++k) loads[k].pin_first();  // or all would be asked for where it is used
  }
  template <class Loads> EV_DEVICE void load_dependent(const Bounds& b, Loads* loads) const {
    #pragma unroll
    for (int k = 0; k < I; ++k) phase.load_dependent(loads[k], loaded_atom(b, k));
    #pragma unroll
    for (int k = 0; k < I; ++k) loads[k].pin_dependent();
  }
  template <class Loads> EV_DEVICE void step_loaded(const Bounds& b, const Loads* loads, Value* v) const {
    const int nz = (int)(b.z1 - b.z0);
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      v[k] = start();
      phase.step_loaded(v[k], State{}, 0, loaded_atom(b, k), loads[k]);
      if (load_slot() + k * 32 >= nz) v[k] = start();
    }
  }

  // ---- the same for a phase that scans (running.cuh) ----
  // What the atoms of the thread's load slots contribute. Without tiles, it is evaluated as in `load`.
  EV_DEVICE void contributions(const Bounds& b, Scan* s) const {
    const int nz = (int)(b.z1 - b.z0);
    if (!Phase::scan_needs_tile && nz == S) {
      #pragma unroll
      for (int k = 0; k < I; ++k) s[k] = phase.scanned(State{}, 0, b.z0 + load_slot() + k * 32);
      return;
    }
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      const int i = load_slot() + k * 32;
      s[k] = Phase::scan_identity();
      if (i < nz) {
        if constexpr (Phase::scan_needs_tile) s[k] = phase.scanned(phase.enter(tile_at(b, i)), tile_at(b, i), b.z0 + i);
        else s[k] = phase.scanned(State{}, 0, b.z0 + i);
      }
    }
  }
  // Replaces what atoms contribute by the running values before them. starts: bit k: a tile starts in slot own_slot() + k.
  EV_DEVICE void scan_slots(Ends starts, Scan* s) const {
    strided_to_blocked<I, T>(s);
    Scan open = Phase::scan_identity();
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      if (starts >> k & 1) open = Phase::scan_identity();
      const Scan before = open;
      open = Scan::combine(open, s[k]);
      s[k] = before;
    }
    const Scan carried = open_before_thread<Phase, T>(phase, {open, starts != 0});
    bool since = false;
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      since = since || (starts >> k & 1);
      if (!since) s[k] = Scan::combine(carried, s[k]);
    }
    blocked_to_strided<I, T>(s);
  }
  // Returns the ends of tiles in the thread's own slots.
  template <class Work> EV_DEVICE Ends load_scanned(const Bounds& b, Value* v, Work& work) const {
    Scan s[I];
    if constexpr (!Phase::scan_needs_tile) contributions(b, s);
    bool starts_first = false;  // whether a tile starts in the thread's first slot
    if (thread_rank() == 0) {
      const pos last = phase.num_tiles() - 1, tile = b.t0 < last ? b.t0 : last, begin = phase.begin(tile), end = phase.end(tile);
      mark(b, 0, b.t0 < b.t1, begin, end, work);
      starts_first = begin == b.z0 || end <= b.z0;
    }
    mark_tiles(b, 1, work);
    barrier();
    const Ends own = own_ends();
    if (thread_rank() > 0) starts_first = ids[own_slot() - 1] != 0;
    if constexpr (needs_tile || Phase::scan_needs_tile)
      if (!is_wide(b)) expand_tiles(b, own);
    if constexpr (Phase::scan_needs_tile) contributions(b, s);
    scan_slots(own << 1 | (Ends)starts_first, s);
    if (b.z1 - b.z0 == S) step_scanned<true>(b, s, v);
    else step_scanned<false>(b, s, v);
    return own;
  }
  // Full: every slot holds an atom, so that the loads of all steps can be in flight together.
  template <bool Full> EV_DEVICE void step_scanned(const Bounds& b, const Scan* s, Value* v) const {
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      const int i = load_slot() + k * 32;
      v[k] = start();
      if (!Full && i >= b.z1 - b.z0) continue;
      if constexpr (needs_tile) phase.step_scanned(v[k], phase.enter(tile_at(b, i)), tile_at(b, i), b.z0 + i, s[k]);
      else phase.step_scanned(v[k], State{}, 0, b.z0 + i, s[k]);
    }
  }

  // ---- the fold: I slots a thread, then across threads ----
  // Rearranges the values that the warp's lanes have loaded: afterwards each lane has the values that it folds.
  EV_DEVICE void exchange(Value* v) const {
    if constexpr (!stages) {
      lanes_exchange<I>(v);
    } else {
      #pragma unroll
      for (int k = 0; k < I; ++k) slots[load_slot() + k * 32] = v[k];
      sync_warp(full_warp);
      #pragma unroll
      for (int k = 0; k < I; ++k) v[k] = slots[own_slot() + k];
    }
  }
  // Leaves the tiles that end here. Returns the value of the tile that is open after them, valid in the last thread.
  template <class Work> EV_DEVICE Value fold(const Bounds& b, Value* v, const Ends own, Work& work) const {
    const bool some = any(full_warp, own != 0);
    if (some) exchange(v);
    Value tail = Phase::identity();
    if (Rule::bounded || some) {
      #pragma unroll
      for (int k = 0; k < I; ++k) {
        v[k] = tail = Phase::then(tail, v[k]);
        if (own >> k & 1) {
          if constexpr (stages) slots[own_slot() + k] = tail;  // or all of v would sit in registers until tiles are left
          tail = Phase::identity();
        }
      }
    } else {  // the same without a tile end, which pays where most warps have none, as under an unbounded rule
      #pragma unroll
      for (int k = 0; k < I; ++k) tail = Phase::then(tail, v[k]);
    }
    // If a tile ended where the chunk begins, it has already taken the open value.
    const Value into = first_tile->over ? Phase::identity() : work.carried;
    const Open<Phase> before = block_scan<Phase, T>(own != 0, tail, into);
    // `then` would be wrong here: if no tile ends in the warp, the atoms of its lanes are interleaved.
    const Value rest = own != 0 ? tail : Phase::combine(before.value, tail);
    work.link.found_open(phase, b.t1, b.z1, rest);
    leave_tiles(b, v, own, before.value, work);
    return rest;
  }
  template <class Work>
  EV_DEVICE void leave_tiles(const Bounds& b, const Value* v, const Ends own, const Value& before, Work& work) const {
    Ends left = own;
    auto take = [&]() {  // the next one's slot and value: the first may have begun before this thread
      const int k = lowest(left);
      Value value = stages ? slots[own_slot() + k] : v[0];
      #pragma unroll
      for (int j = 1; j < I; ++j)
        if (!stages && j == k) value = v[j];
      if (left == own) value = Phase::then(before, value);
      left &= left - 1;
      return value;
    };
    const Head where = first_tile->head;
    if (where == far_head || (where == near_head && warp_rank() == 0)) {
      if (own != 0 && ids[own_slot() + lowest(own)] == 1) {
        const Value part = take();
        *head = part;
      }
      if (where == far_head) barrier();
      else sync_warp(full_warp);
      if (thread_rank() == 0) work.link.found_head(b.t0, *head);
    }
    #pragma unroll 1
    while (left != 0) {
      const pos tile = tile_at(b, own_slot() + lowest(left));
      phase.leave(tile, take(), work.grid);
    }
  }

  // Processes one chunk. `carried` is the value that the block's earlier chunks left open. Returns the value that this
  // chunk leaves open, valid in the last thread.
  template <class Link> struct Work {
    const Value& carried;
    const pos& block_z0;
    Link& link;
    Grid& grid;
  };
  template <class Link>
  EV_DEVICE Value chunk(const Bounds& b, const Value& carried, const pos& block_z0, Link& link, Grid& grid) const {
    Work<Link> work{carried, block_z0, link, grid};
    Value v[I];
    if constexpr (scans) {
      const Ends own = load_scanned(b, v, work);
      if constexpr (folds) return fold(b, v, own, work);
    } else if constexpr (needs_tile) {
      const bool ends = b.t0 < b.t1;
      if (thread_rank() == 0) mark(b, 0, ends, ends ? phase.begin(b.t0) : 0, ends ? phase.end(b.t0) : 0, work);
      mark_tiles(b, 1, work);
      barrier();
      const Ends own = own_ends();
      if (!is_wide(b)) expand_tiles(b, own);
      load(b, v);
      if constexpr (folds) return fold(b, v, own, work);
    } else if constexpr (folds) {
      // The tile ends of the first round are loaded together with the atoms and used after them, which hides their
      // latency. If there is only one round, no branch stands between these loads and those of the atoms: loads before
      // a branch would not be in flight together with loads after it. Further rounds, in chunks with more tiles than
      // threads, come first under a bounded rule. Under an unbounded one they come last, since the atoms of full chunks
      // have a branch of their own anyway.
      const local i = thread_rank();
      const bool ends = i < b.t1 - b.t0 && (i == 0 || !is_wide(b));
      const pos begin = ends ? phase.begin(b.t0 + i) : 0, end = ends ? phase.end(b.t0 + i) : 0;
      if constexpr (Rule::bounded) mark_tiles(b, T, work);
      if constexpr (Early) {
        typename Phase::Loads loads[I];
        load_first(b, loads);
        // So many loads are in flight that a branch costs nothing here. It spares most warps the work of one or two.
        work.link.located(phase, b.t0, b.t1, false);
        if (ends || i == 0) mark(b, i, ends, begin, end, work);
        load_dependent(b, loads);
        barrier();
        const Ends own = own_ends();
        step_loaded(b, loads, v);
        return fold(b, v, own, work);
      } else {
        load(b, v);
        if constexpr (!Rule::bounded) mark_tiles(b, T, work);
        mark(b, i, ends, begin, end, work);
        barrier();
        return fold(b, v, own_ends(), work);
      }
    } else if constexpr (steps) {
      load(b, v);
    }
    if constexpr (Phase::has_leave && Rule::bounded)
      for (int i = thread_rank(); i < b.t1 - b.t0; i += T) phase.leave(b.t0 + i, start(), grid);
    return start();
  }

  // Which of how many blocks this one is, where blocks share tiles by number.
  struct Among { int rank, count; };
  static EV_DEVICE Among of_grid() { return {(int)block_rank(), (int)block_count()}; }

  // Leaves all tiles of a layout without atoms.
  EV_DEVICE void leave_all(pos tiles, Grid& grid, Among among = of_grid()) const {
    #pragma unroll 1
    for (long long i = (long long)among.rank * T + thread_rank(); i < tiles; i += (long long)among.count * T) phase.leave((pos)i, start(), grid);
  }
  // Under an unbounded rule, empty tiles belong to no chunk, so blocks divide the tiles evenly by number. If the phase
  // has no value, all tiles are left this way. A block's tiles are contiguous, as those of its chunk are, and often the
  // same.
  using Share = tile_share<pos>;
  using number = typename Share::number;
  // Where the atoms of a tile begin and end. For the first tile of each thread, this is loaded long before it is
  // needed, and compared only then.
  struct Extent { pos begin, end; };
  EV_DEVICE Extent extent(number tile) const { return {phase.begin((pos)tile), phase.end((pos)tile)}; }
  EV_DEVICE Extent first_of_share(pos tiles, Among among = of_grid()) const {
    const Share own(tiles, among.rank, among.count);
    const number first = own.from + thread_rank();
    return folds && first < own.to ? extent(first) : Extent{0, 0};
  }
  EV_DEVICE void leave_share(pos tiles, const Extent& of_first, Grid& grid, Among among = of_grid()) const {
    const Share own(tiles, among.rank, among.count);
    number i = own.from + thread_rank();
    if (i < own.to && of_first.begin == of_first.end) phase.leave((pos)i, start(), grid);
    for (i += T; i < own.to; i += T) {
      const Extent of = folds ? extent(i) : Extent{0, 0};
      if (of.begin == of.end) phase.leave((pos)i, start(), grid);
    }
  }
};

}  // namespace ev
