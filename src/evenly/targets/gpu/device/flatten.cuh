// The flatten engine: a group of G threads shares the atoms of G consecutive tiles.
// Signatures and terms: split.cuh.
#pragma once
#include "carry.cuh"
#include "running.cuh"

namespace ev {

// ---- flatten: a group of G threads, G tiles, their atoms strided ----------------------------------------------------
//
// Osama, Porumbescu, Owens, "A Programming Model for GPU Load Balancing" (PPoPP 2023), section 5.2.3. The atoms of the
// G tiles are consecutive, so the tiles' ends serve as prefix sums of their lengths. The group walks the atoms in
// windows of G, one atom for each lane, and finds an atom's tile by binary search among the ends. A segmented scan
// combines the values of a window by tile and warp. Lane i then takes the results for its own tile i, in order, and
// leaves it at the end.
template <class Phase, int G, int T> struct group_flatten {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  using team = group<G, T>;
  static_assert(G >= 2, "a group of one walks its tile itself");
  static constexpr bool folds = Phase::has_value && Phase::has_leave;
  static constexpr bool steps = folds || Phase::has_effects;
  static constexpr bool scans = scan_of<Phase>::value;
  static constexpr bool looks = folds || (steps && (Phase::needs_tile || scans));
  static constexpr int lanes = team::in_warp ? G : team::warps * 32;  // of a group, including those without a rank

  const Phase& phase;
  const team& g;
  pos* ends;      // of the group's tiles
  Value* window;  // [2][lanes], only for groups of several warps: the scanned window; its halves alternate
  int turn = 0;

  EV_DEVICE Value start() const {
    if constexpr (Phase::has_value) return Phase::identity();
    else return Value{};
  }

  // The first of the group's tiles, from `low` on, that ends after the atom.
  EV_DEVICE int tile_of(pos atom, int low) const {
    int high = G - 1;
    while (low < high) {
      int mid = (low + high) / 2;
      if (ends[mid] <= atom) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  // Inclusive scan over the lanes of this warp that hold atoms of one tile.
  EV_DEVICE Value scan(int tile, Value v) const {
    unsigned mask = g.mask();
    int lane = lane_rank(), base = team::in_warp ? lane - g.rank() : 0;
    int before = shuffle_up(mask, tile, 1);
    unsigned starts = ballot(mask, lane == base || before != tile);
    int reach = lane - highest_bit(starts & lanes_through(lane));
    #pragma unroll
    for (int o = 1; o < (team::in_warp ? G : 32); o <<= 1) {
      Value earlier = value_up(mask, v, o);
      if (o <= reach) v = Phase::combine(earlier, v);
    }
    return v;
  }

  // Adds to `mine` the values of this lane's tile in the window: those of lanes [from, to), none if to <= from.
  EV_DEVICE void collect(Value& mine, const Value& scanned, int from, int to) {
    if constexpr (team::in_warp) {
      int lane = lane_rank();
      Value part = value_from(g.mask(), scanned, to > from ? lane - g.rank() + to - 1 : lane);
      if (to > from) mine = Phase::combine(mine, part);
    } else {
      // The halves alternate. A thread that writes a half again has passed the sync of the window between, so all reads
      // of that half are over.
      Value* half = window + turn * lanes;
      half[g.rank()] = scanned;
      g.sync();
      turn ^= 1;
      for (int next; from < to; from = next) {  // one part a warp
        next = (from / 32 + 1) * 32 < to ? (from / 32 + 1) * 32 : to;
        mine = Phase::combine(mine, half[next - 1]);
      }
    }
  }

  // One atom a lane, for a phase that scans. running: what the group's earlier atoms leave open.
  template <class Running> EV_DEVICE void step_scanned(Value& v, Running& running, bool has, pos tile, pos atom, pos begin) {
    Running own = no_atoms<Phase>();
    if (has) own = {phase.scanned(phase.enter(tile), tile, atom), atom == begin};
    const Running before = g.scan(own, running);
    if (has) phase.step_scanned(v, phase.enter(tile), tile, atom, own.starts ? Phase::scan_identity() : before.value);
  }

  template <class Grid> EV_DEVICE void tiles_from(pos base, pos tiles, Grid& grid) {
    const int rank = g.rank();
    const pos stop = G < tiles - base ? base + G : tiles;
    const bool owner = g.active() && rank < stop - base;
    const pos tile = base + rank;
    const pos first = phase.begin(base), last = phase.end(stop - 1);
    const pos begin = owner ? phase.begin(tile) : last, end = owner ? phase.end(tile) : last;
    if constexpr (looks) {
      if (g.active()) ends[rank] = end;
      g.sync();
    }
    Value mine = start();
    if constexpr (steps) {
      int at = 0;
      [[maybe_unused]] segment<typename scan_of<Phase>::type> running;
      if constexpr (scans) running = no_atoms<Phase>();
      for (pos from = first; from < last; from += G) {
        bool has = g.active() && rank < last - from;
        int where = G;
        Value v = start();
        if (has) {
          if constexpr (looks) where = at = tile_of(from + rank, at);
          if constexpr (scans) {}  // below, by all lanes
          else if constexpr (Phase::needs_tile) phase.step(v, phase.enter(base + at), base + at, from + rank);
          else phase.step(v, typename Phase::State{}, (pos)0, from + rank);
        }
        if constexpr (scans) step_scanned(v, running, has, base + at, from + rank, at == 0 ? first : ends[at - 1]);
        if constexpr (folds) {
          pos low = begin > from ? begin - from : 0, high = end > from ? end - from : 0;
          collect(mine, scan(where, v), low < G ? (int)low : G, high < G ? (int)high : G);
        }
      }
    }
    // After this, no thread reads the ends, or data that owners may store to as they leave their tiles.
    if constexpr (looks) g.sync();
    if constexpr (Phase::has_leave)
      if (owner) phase.leave(tile, mine, grid);
  }
};

template <class Phase, int G, int T> EV_DEVICE void flatten(const Phase& phase, typename Phase::Grid* grid_partials) {
  using engine = group_flatten<Phase, G, T>;
  using team = typename engine::team;
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  constexpr bool crosses = engine::folds && !team::in_warp;
  EV_SHARED(pos, ends, engine::looks ? team::per_block * G : 1);
  EV_SHARED(Value, window, crosses ? team::per_block * 2 * engine::lanes : 1);
  auto grid = grid_start<Phase>();
  const team g;
  if (g.present()) {
    engine flat{phase, g, ends + (engine::looks ? g.local() * G : 0), window + (crosses ? g.local() * 2 * engine::lanes : 0)};
    const long long tiles = phase.num_tiles();
    for (long long base = g.index() * G; base < tiles; base += g.count() * G) flat.tiles_from((pos)base, (pos)tiles, grid);
  }
  block_reduce_grid<Phase, T>(grid, grid_partials);
}

}  // namespace ev
