// Split tiles along a dense axis. A block takes its share of the line of all tiles and atoms, as in split.cuh, and its
// teams of L threads take equal parts of that. A team lies along the axis, with V columns for each thread (dense.cuh). It
// walks its atoms in order, and reads once for all of its columns what an atom is read for.
//
//     const ev::dense_split<Phase, T, I, Rule, L, V> split{phase, team};
//     split.locate(first_tile);
//     for (...columns of the team...) {
//       split.columns(axis, width, items, first, count, column, batch, leave, carries);
//       barrier();                                            // the next columns take over the shared memory
//     }
//
//     batch(own, k, last, each)     Loads what `items` atoms from k on are read for, up to atom number `last`, and calls
//                                   each(add). add(from, to) adds those of them in [from, to) to own[V], in order. So
//                                   loads of atoms of several tiles are in flight together. k is a multiple of `items`,
//                                   so the first batch may begin before the part.
//     leave(tile, value)            Leaves a tile whose values are value[V], in the columns that the thread has.
//
// A team leaves the tiles that begin and end in its part. Of the tile that began before it, and of the one that is open
// at its end, it has a part, V values for each thread, in shared memory. The team in which a tile ends adds the parts of
// the teams before it, in order. Between blocks `Carries` do the same, with values for each column, and a finish kernel
// joins them (carry.cuh). The order of all sums depends on the partition alone.
//
// Source: splitting by merge path for SpMM, and a row of the dense matrix for a group of threads: Yang, Buluc, Owens,
// "Design Principles for Sparse Matrix Multiplication on the GPU" (Euro-Par 2018), section 4.
#pragma once
#include "carry.cuh"
#include "dense.cuh"
#include "rules.cuh"

namespace ev {

template <class Phase, int T, int I, class Rule, int L, int V> struct dense_split {
  using pos = typename Phase::pos;
  using Value = typename Phase::Value;
  using Team = group<L, T>;
  static constexpr int teams = T / L, share = I * L;  // of a block; tiles and atoms of a team
  static_assert(Phase::has_value && Phase::has_leave && !Phase::needs_tile && !Phase::has_grid, "sums of atoms alone");

  const Phase& phase;
  const Team& team;

  // Tile ends [t0, t1) and atoms [z0, z1) of a team.
  struct Part { pos t0, z0, t1, z1; };

  // Shared memory, which is the same for both widths of words. tiles_before: where the parts of the block begin, and where
  // the last one ends. It is read again after a walk, rather than kept in registers.
  static EV_DEVICE pos* tiles_before() { EV_SHARED(pos, memory, teams + 1); return memory; }
  static EV_DEVICE Value* parts() { EV_SHARED(Value, memory, 2 * V * T); return memory; }
  static EV_DEVICE Value& head(int c) { return parts()[c * T + thread_rank()]; }
  static EV_DEVICE Value& open(int c, int of) { return parts()[(V + c) * T + of * L + thread_rank() % L]; }

  EV_DEVICE pos cut(int number) const { return team_cut<Phase, T * I, Rule>(phase, number * share); }
  // first_tile: a stored partition of the blocks. null: the teams search among all tiles.
  EV_DEVICE void locate(const pos* first_tile) const {
    for (int number = team.local(); number <= teams; number += teams) {
      const pos found = team_search<Rule, L>(phase, team, cut(number), first_tile);
      if (team.leader()) tiles_before()[number] = found;
    }
    barrier();
  }

  // Called by every thread of the block. first, count, column: the team's columns (dense.cuh).
  template <class Axis, class Width, class Items, class Batch, class Leave>
  EV_DEVICE void columns(const Axis& axis, Width width, Items items, pos first, pos count, const pos (&column)[V], const Batch& batch,
                         const Leave& leave, const Carries<Phase>& carries) const {
    const bool here = axis.has(width, first, count, 0);
    const bool tells = first == 0 && axis.lane() == 0;  // which tile is shared: the same for all columns
    if (tells && team.local() == 0) carries.head_tile[block_rank()] = -1;
    bool began_before = false;
    if (here) began_before = walk(part_of(team.local()), items, batch, leave);
    barrier();
    auto carry = [&](typename Phase::Value* values, const Value (&value)[V]) {
      #pragma unroll
      for (int c = 0; c < V; ++c)
        if (axis.leaves(width, first, count, c)) values[(long long)column[c] * block_count() + block_rank()] = value[c];
    };
    if (began_before) {
      const pos tile = tiles_before()[team.local()];
      Value value[V];
      #pragma unroll
      for (int c = 0; c < V; ++c) value[c] = head(c);
      if (add_before(team.local(), value) || phase.begin(tile) >= part_of(0).z0) {
        leave(tile, value);
      } else {
        if (tells) carries.head_tile[block_rank()] = tile;
        carry(carries.head_value, value);
      }
    }
    if (here && team.local() == teams - 1) {
      Value value[V];
      #pragma unroll
      for (int c = 0; c < V; ++c) value[c] = open(c, teams - 1);
      if (!ends_some(teams - 1)) add_before(teams - 1, value);
      if (tells) carries.out_tile[block_rank()] = tiles_before()[teams];
      carry(carries.out_value, value);
    }
    if constexpr (!Rule::bounded)
      if (here) leave_empty(leave);
  }

private:
  EV_DEVICE Part part_of(int own) const {
    const pos t0 = tiles_before()[own], t1 = tiles_before()[own + 1];
    return {t0, Rule::atom(cut(own), t0), t1, Rule::atom(cut(own + 1), t1)};
  }
  EV_DEVICE bool ends_some(int own) const { return tiles_before()[own] < tiles_before()[own + 1]; }
  EV_DEVICE static void start(Value (&v)[V]) {
    #pragma unroll
    for (int c = 0; c < V; ++c) v[c] = Phase::identity();
  }
  // Where a tile of the part ends, if it ends in it.
  EV_DEVICE pos end_in(const Part& part, pos tile) const { return tile < part.t1 ? phase.end(tile) : part.z1; }

  // Walks the part. Returns whether a tile ends in it that began before it.
  template <int N, class Batch, class Leave>
  EV_DEVICE bool walk(const Part& part, constant<N>, const Batch& batch, const Leave& leave) const {
    const bool began_before = part.t0 < part.t1 && phase.begin(part.t0) < part.z0;
    bool is_head = began_before;
    pos tile = part.t0, end = end_in(part, tile), after = end_in(part, tile + 1);  // `after` is loaded before it is needed
    Value own[V];
    start(own);
    pos k = part.z0 - part.z0 % N;
    do {
      const pos stop = k + N < part.z1 ? k + N : part.z1;
      batch(own, k, part.z1 - 1, [&](const auto& add) {
        pos from = k > part.z0 ? k : part.z0;
        // This is the only place that leaves tiles of the walk, since each has the code of all columns.
        while (tile < part.t1 && end <= stop) {
          add(from, end);
          from = end > from ? end : from;
          if (is_head) {
            #pragma unroll
            for (int c = 0; c < V; ++c) head(c) = own[c];
            is_head = false;
          } else {
            leave(tile, own);
          }
          start(own);
          ++tile;
          end = after;
          if constexpr (!Rule::bounded)  // tiles without atoms are none of the part's
            if (tile < part.t1 && end <= from) {
              tile = thread_tile_of(phase, from, tile + 1, part.t1);
              end = end_in(part, tile);
            }
          after = end_in(part, tile + 1);
        }
        add(from, stop);
      });
      k += N;
    } while (k < part.z1);
    #pragma unroll
    for (int c = 0; c < V; ++c) open(c, team.local()) = own[c];
    return began_before;
  }
  // Adds what teams before this one left open of its first tile, in order. Returns whether one of them has its beginning.
  EV_DEVICE bool add_before(int own, Value (&value)[V]) const {
    #pragma unroll 1
    for (int of = own - 1; of >= 0; --of) {
      #pragma unroll
      for (int c = 0; c < V; ++c) value[c] = Phase::combine(open(c, of), value[c]);
      if (ends_some(of)) return true;
    }
    return false;
  }
  // Under an unbounded rule, blocks divide the tiles without atoms evenly by number.
  template <class Leave> EV_DEVICE void leave_empty(const Leave& leave) const {
    const tile_share<pos> own(phase.num_tiles(), block_rank(), block_count());
    Value none[V];
    start(none);
    #pragma unroll 1
    for (auto tile = own.from + team.local(); tile < own.to; tile += teams)
      if (phase.begin((pos)tile) == phase.end((pos)tile)) leave((pos)tile, none);
  }
};

}  // namespace ev
