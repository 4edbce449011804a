// The atoms of a chunk: each thread loads what those of its slots contribute. Loads should be in flight together.
#pragma once
#include "chunk_tiles.cuh"

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

template <class Phase, int T, int I, class Rule> struct chunk_atoms : chunk_tiles<Phase, T, I, Rule> {
  using base = chunk_tiles<Phase, T, I, Rule>;
  using typename base::pos, typename base::Value, typename base::State, typename base::Scan, typename base::Bounds, typename base::Ends;
  using base::phase, base::ids, base::S, base::needs_tile;
  using base::load_slot, base::own_slot, base::own_ends, base::tile_at, base::is_wide, base::mark, base::mark_tiles, base::expand_tiles;

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
};

}  // namespace ev
