// Atoms divided evenly among blocks, where they lie in runs and memory is the bound:
//
//     stream_block<Phase, T, I, GoesOn = false>(phase, join, grid_partials, first_tile)
//         Each block takes S = T * I atoms, as split_block does under nonzero_rule. `join` and the number of blocks are
//         those of split_block. Phase has, beside `step`, what emit/runs.py emits. I is a multiple of its `run`.
//         GoesOn: tiles that lie within a block leave nothing, and their next pass follows (following.cuh).
//     stream_partition<Phase, T, I>(phase, first_tile, blocks)
//         Makes the partition, blocks + 1 entries, which stream_block needs. Each thread computes one entry.
//
// split_block takes some 60 instructions for an atom of each lane, which is more than memory asks for. Here one
// instruction loads 16 bytes. Values change hands through shared memory, 16 bytes at a time. A thread that leaves a
// tile fetches its value from where it ends, so that neighbouring threads leave neighbouring tiles, and none searches.
// Shared memory that values take is lost to L1: what gathers from a vector that L1 would hold may be slower.
#pragma once
#include "following.cuh"
#include "gpu.cuh"
#include "grid.cuh"
#include "links.cuh"
#include "listed.cuh"
#include "stream_shares.cuh"

namespace ev {

template <class Phase, int T, int I, bool GoesOn> struct block_stream : stream_shares<Phase, T, I> {
  using shares = stream_shares<Phase, T, I>;
  using typename shares::pos;
  using Value = typename Phase::Value;
  using Grid = typename Phase::Grid;
  using Run = typename Phase::Run;
  using Of = Phase;
  using After = typename after_of<Phase, GoesOn>::type;
  using shares::phase, shares::S;
  static constexpr int R = Phase::run, threads = T;
  static_assert(I % R == 0, "whole runs");

  // Values lie in shared memory in chunks of up to 16 bytes. The lanes of a warp write chunks that are adjacent, and read
  // chunks that are I values apart. One is left out after every eight, or after the I values if they are more, or they would
  // meet in the same banks.
  static constexpr int fit = (int)sizeof(Value) <= 8 && 16 % sizeof(Value) == 0 ? 16 / (int)sizeof(Value) : 1;
  static constexpr int per = fit < R ? fit : R;
  static constexpr int gap = 8 * per > I ? 8 * per : I;
  static constexpr int places = S + (S - 1) / gap * per;
  struct alignas(per == 1 ? alignof(Value) : per * sizeof(Value)) Chunk { Value each[per]; };
  static EV_DEVICE int place(unsigned slot) { return (int)(slot + slot / gap * per); }

  struct Bounds { pos t0, z0, t1, z1; };
  struct Extent { pos begin, end; };
  using Mark = unsigned char;
  using Ends = typename choose<(I <= 32), unsigned, unsigned long long>::type;
  static_assert(I <= 64, "a bit each");

  Mark* ends;     // of each slot: 1 if a tile ends there
  Value* values;  // of each slot, at place(slot): what its atom contributes; then, where a tile ends, the block's part of it

  After* afters;  // of each slot in which a tile ends: what it leaves; where it fits, in the place of its value

  EV_DEVICE block_stream(const Phase& phase, Mark* ends, Value* values, After* afters)
      : shares(phase), ends(ends), values(values), afters(afters) {}

  // The first of the I consecutive slots that the thread folds, and that of run number j of those that it loads.
  static EV_DEVICE int own_slot() { return thread_rank() * I; }
  static EV_DEVICE int run_slot(int j) { return warp_rank() * 32 * I + (j * 32 + lane_rank()) * R; }
  // The places of slot own_slot() + k, and of item k of that run: at a constant distance from the first, if that can be.
  static EV_DEVICE int own_place(int k) {
    return gap % I == 0 ? place(own_slot()) + k : place(own_slot() + k);
  }
  static EV_DEVICE int run_place(int j, int k) {
    constexpr int row = 32 * R;
    return (row % gap == 0 ? place(run_slot(0)) + j * (row + row / gap * per) : place(run_slot(j))) + k;
  }
  static_assert(gap % R == 0, "a run is not interrupted");
  EV_DEVICE Chunk& chunk_at(int place) const { return *reinterpret_cast<Chunk*>(values + place); }
  EV_DEVICE void write(int place, const Value* v) const {
    Chunk chunk;
    #pragma unroll
    for (int i = 0; i < per; ++i) chunk.each[i] = v[i];
    chunk_at(place) = chunk;
  }
  EV_DEVICE void read(int place, Value* v) const {
    const Chunk chunk = chunk_at(place);
    #pragma unroll
    for (int i = 0; i < per; ++i) v[i] = chunk.each[i];
  }

  static constexpr bool in_place = sizeof(After) <= sizeof(Value) && sizeof(Value) % alignof(After) == 0;
  EV_DEVICE After& after_at(int slot) const {
    if constexpr (in_place) return *reinterpret_cast<After*>(values + place(slot));
    else return afters[slot];
  }
  EV_DEVICE After& after_in_run(int j, int k) const {
    if constexpr (in_place) return *reinterpret_cast<After*>(values + run_place(j, k));
    else return afters[run_slot(j) + k];
  }

  // Where a run takes less room than what its atoms contribute, as a number less than a pair, runs change hands, and contribute
  // when their tile is folded. The runs of a warp then lie where its values will. One is left out after every 128 bytes.
  static constexpr int run_bytes = (int)sizeof(Run), runs = I / R, line = 128 / run_bytes;
  static constexpr bool late = R % 2 == 0 && run_bytes < R * (int)sizeof(Value) && run_bytes >= 4 && run_bytes <= 16 && 16 % run_bytes == 0;
  struct alignas(late ? run_bytes : (int)alignof(Run)) Packed { Run run; };
  EV_DEVICE Packed* runs_of_warp() const { return reinterpret_cast<Packed*>(values + place(warp_rank() * 32 * I)); }
  // Of the runs of run_slot(j) and own_slot() + j * R, at a constant distance from the first, if that can be.
  static EV_DEVICE int loaded_at(int j) { return lane_rank() + lane_rank() / line + j * (32 + 32 / line); }
  static EV_DEVICE int owned_at(int j) {
    const int first = lane_rank() * runs;
    return line % runs == 0 ? first + first / line + j : first + j + (first + j) / line;
  }

  // ---- the tiles that end here ----
  EV_DEVICE void clear_ends() const {
    using word = long long;
    constexpr int words = S / (int)sizeof(word);
    #pragma unroll
    for (int i = 0; i < words; i += T)
      if (i + T <= words || i + thread_rank() < words) reinterpret_cast<word*>(ends)[i + thread_rank()] = 0;
  }
  // Bit k: a tile ends in slot own_slot() + k. The product moves the lowest bits of four bytes side by side.
  EV_DEVICE Ends own_ends() const {
    const Mark* first = ends + own_slot();
    Ends own = 0;
    #pragma unroll
    for (int k = 0; k < I; k += 4) {
      if constexpr (I % 4 == 0) own |= (Ends)(*reinterpret_cast<const unsigned*>(first + k) * 0x01020408u >> 24) << k;
      else for (int i = k; i < k + 4 && i < I; ++i) own |= (Ends)first[i] << i;
    }
    return own;
  }
  EV_DEVICE Extent extent(pos tile) const { return {phase.begin(tile), phase.end(tile)}; }
  static EV_DEVICE bool is_wide(const Bounds& b) { return b.t1 - b.t0 > shares::wide; }
  // Applies f to the tiles that the block leaves. of_first: the extent of the thread's first one, if they are not many.
  template <class F> EV_DEVICE void each_tile(const Bounds& b, const Extent& of_first, F f) const {
    if (is_wide(b)) return each_by_atom(b, f);
    pos tile = b.t0 + thread_rank();
    if (tile < b.t1) f(tile, of_first);
    #pragma unroll 4  // where most tiles are empty, a thread has many
    for (tile += T; tile < b.t1; tile += T) f(tile, extent(tile));
  }
  template <class F> EV_DEVICE void each_by_atom(const Bounds& b, F f) const {
    #pragma unroll 1
    for (pos atom = b.z0 + thread_rank(); atom < b.z1; atom += T) {
      const pos tile = thread_tile_of(phase, atom, b.t0, b.t1);
      if (tile < b.t1 && phase.end(tile) == atom + 1) f(tile, extent(tile));
    }
  }

  // ---- what atoms contribute ----
  // The thread's atoms, loaded as early as possible, if all of the block's runs are whole.
  struct Loaded {
    bool whole;
    Run runs[I / R];
  };
  EV_DEVICE Loaded load(pos z0, pos z1) const {
    Loaded loaded;
    loaded.whole = z1 - z0 == S && phase.runs_are_aligned();
    if (loaded.whole) {
      load_arrays(z0, loaded);
      #pragma unroll
      for (int j = 0; j < I / R; ++j) loaded.runs[j].pin();  // or each would be asked for where it is used
    }
    return loaded;
  }
  // One array after the other, those first that others wait for.
  template <int array = 0> EV_DEVICE void load_arrays(pos z0, Loaded& loaded) const {
    #pragma unroll
    for (int j = 0; j < I / R; ++j) phase.template load_run<array>(loaded.runs[j], z0 + run_slot(j));
    if constexpr (array + 1 < Phase::run_arrays) load_arrays<array + 1>(z0, loaded);
  }
  EV_DEVICE void gather(pos z0, Loaded& loaded) const {
    if (!loaded.whole) return;
    #pragma unroll
    for (int k = 0; k < I; ++k) phase.gather(loaded.runs[k / R], z0 + run_slot(k / R) + k % R, k % R);
    #pragma unroll
    for (int j = 0; j < I / R; ++j) loaded.runs[j].pin_gathered();
  }
  // Writes what the atoms contribute to the values of their slots.
  EV_DEVICE void contribute(const Bounds& b, const Loaded& loaded) const {
    if (!loaded.whole) return contribute_each(b.z0, (int)(b.z1 - b.z0));
    if constexpr (late) {
      #pragma unroll
      for (int j = 0; j < runs; ++j) runs_of_warp()[loaded_at(j)] = {loaded.runs[j]};
      return;
    }
    Value v[I];
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      v[k] = Phase::identity();
      phase.step_run(v[k], b.z0 + run_slot(k / R) + k % R, loaded.runs[k / R], k % R);
    }
    #pragma unroll
    for (int k = 0; k < I; k += per) write(run_place(k / R, k % R), v + k);
  }
  // The same where runs are not whole: at the last atoms, and for arrays that are not aligned.
  EV_DEVICE void contribute_each(pos z0, int count) const {
    #pragma unroll 1
    for (int slot = thread_rank(); slot < S; slot += T) {
      Value part = Phase::identity();
      if (slot < count) phase.step(part, typename Phase::State{}, (pos)0, z0 + slot);
      values[place(slot)] = part;
    }
  }

  // Folds the thread's slots. Returns the part of the tile that it leaves open. whole: of `Loaded`.
  EV_DEVICE Value fold(const Ends own, pos z0, bool whole) const {
    if constexpr (late) return whole ? fold_runs(own, z0 + own_slot()) : fold_each(own);
    Value v[I], open = Phase::identity();
    #pragma unroll
    for (int k = 0; k < I; k += per) read(own_place(k), v + k);
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      v[k] = open = Phase::then(open, v[k]);
      if (own >> k & 1) open = Phase::identity();
    }
    if (any(full_warp, own != 0)) {  // nobody fetches a value of a warp in which no tile ends
      #pragma unroll
      for (int k = 0; k < I; k += per) write(own_place(k), v + k);
    }
    return open;
  }

  EV_DEVICE Value lifted(pos atom, const Run& run, int item) const {
    Value v = Phase::identity();
    phase.step_run(v, atom, run, item);
    return v;
  }
  // Two atoms at a time: what they are together does not wait for the atoms before them.
  EV_DEVICE Value fold_runs(const Ends own, pos first) const {
    Run mine[runs];
    #pragma unroll
    for (int j = 0; j < runs; ++j) mine[j] = runs_of_warp()[owned_at(j)].run;
    sync_warp(full_warp);  // values take their place
    Value open = Phase::identity();
    #pragma unroll
    for (int k = 0; k < I; k += 2) {
      const Value one = lifted(first + k, mine[k / R], k % R), next = lifted(first + k + 1, mine[k / R], k % R + 1);
      const Value both = Phase::then(one, next);
      const bool ends_one = own >> k & 1;
      const Value more = ends_one ? one : both, through = k == 0 ? more : Phase::then(open, more);
      if (ends_one) values[own_place(k)] = through;
      open = ends_one ? next : through;
      if (own >> (k + 1) & 1) {
        values[own_place(k + 1)] = open;
        open = Phase::identity();
      }
    }
    return open;
  }
  EV_DEVICE Value fold_each(const Ends own) const {
    Value open = Phase::identity();
    #pragma unroll 1
    for (int k = 0; k < I; ++k) {
      Value& value = values[place(own_slot() + k)];
      value = open = Phase::then(open, value);
      if (own >> k & 1) open = Phase::identity();
    }
    return open;
  }

  // What was open before the thread's slots belongs to the first tile that ends in them. Until then values are parts since the
  // thread began.
  EV_DEVICE void join_open(const Ends own, const Value& before) const {
    if (own == 0) return;
    Value& value = values[place(own_slot() + lowest_bit(own))];
    value = Phase::then(before, value);
  }
  // The block's part of a tile that ends in it.
  EV_DEVICE const Value& part(const Bounds& b, const Extent& of) const { return values[place((unsigned)(of.end - 1 - b.z0))]; }

  // The part of the first tile, if it began before the block. Thread 0 hands it to the link.
  template <class Link> EV_DEVICE void leave_head(const Bounds& b, const Extent& of_first, Link& link) const {
    if (thread_rank() == 0 && b.t0 < b.t1 && of_first.begin < b.z0) link.found_head(b.t0, part(b, of_first));
  }
  // Leaves the other tiles that end in the block.
  EV_DEVICE void leave(const Bounds& b, const Extent& of_first, Grid& grid) const {
    if constexpr (together) {
      if (!is_wide(b)) return leave_together(b, of_first, grid);
    }
    each_tile(b, of_first, [&](pos tile, const Extent& of) {
      if (of.begin == of.end) phase.leave(tile, Phase::identity(), grid);
      else if (of.begin >= b.z0) phase.leave(tile, part(b, of), grid);
    });
  }
  // The same by whole warps. Where some tiles are empty, a warp collects the others until each lane has one, since what they leave
  // may take long to compute. They wait where the marks of ends were.
  static constexpr bool together = late && I >= 8 && S <= 4096;  // a word for each of 64 tiles of a warp, which holds its number and slot
  EV_DEVICE void leave_together(const Bounds& b, const Extent& of_first, Grid& grid) const {
    unsigned* const waiting = reinterpret_cast<unsigned*>(ends) + warp_rank() * 64;
    Extent of = of_first;
    int count = 0;
    bool more = true;
    #pragma unroll 1
    for (pos first = b.t0 + warp_rank() * 32; more || count > 0; first += T) {
      more = first < b.t1;
      const pos tile = first + lane_rank();
      const bool there = tile < b.t1, empty = there && of.begin == of.end;
      const unsigned slot = (unsigned)(of.end - 1 - b.z0);
      bool leaves = there && !empty && of.begin >= b.z0;
      of = tile + T < b.t1 ? extent(tile + T) : Extent{0, 0};  // asked for before these are left
      if (more && !any(full_warp, empty)) {
        if (leaves) phase.leave(tile, values[place(slot)], grid);
        continue;
      }
      if (empty) phase.leave(tile, Phase::identity(), grid);
      unsigned own = (unsigned)(tile - b.t0) * S + slot;
      const unsigned those = ballot(full_warp, leaves);
      if (leaves) waiting[count + count_bits(those & lanes_below(lane_rank()))] = own;
      count += count_bits(those);
      sync_warp(full_warp);
      if (more && count < 32) continue;
      const int taken = count < 32 ? count : 32;
      count -= taken;
      leaves = lane_rank() < taken;
      if (leaves) own = waiting[count + lane_rank()];
      sync_warp(full_warp);  // others take their place
      if (leaves) phase.leave(b.t0 + (pos)(own / S), values[place(own % S)], grid);
    }
  }
  // Applies f to the warp's slots in which tiles end. A lane takes the next one wherever it is: where tiles are short, most of
  // them end in the slots of a few lanes. The list of slots takes the place of the marks. It has their low bits; they ascend.
  template <class F> EV_DEVICE void each_end(const Ends own, F f) const {
    const int through = ends_through(own), count = shuffle_from(full_warp, through, 31), first_slot = warp_rank() * 32 * I;
    if (count == 0) return;
    Mark* const list = ends + first_slot;
    const int begin = through - count_bits(own);
    Mark* at = list + begin;
    #pragma unroll
    for (int k = 0; k < I; ++k) {
      if (own >> k & 1) *at = (Mark)(lane_rank() * I + k);
      at += own >> k & 1;
    }
    constexpr int turns = (32 * I - 1) / 256;
    int turn[turns + 1];  // how many end in the first 256 slots, in the first 512, ...
    #pragma unroll
    for (int n = 0; n < turns; ++n) {
      const int slot = (n + 1) * 256;
      turn[n] = shuffle_from(full_warp, begin + count_bits(own & (((Ends)1 << slot % I) - 1)), slot / I);
    }
    sync_warp(full_warp);
    #pragma unroll 1
    for (int number = lane_rank(); number < count; number += 32) {
      int slot = list[number];
      #pragma unroll
      for (int n = 0; n < turns; ++n) slot += number >= turn[n] ? 256 : 0;
      f(first_slot + slot);
    }
  }
  // How many tiles end in the slots of the lanes up to this one.
  static EV_DEVICE int ends_through(const Ends own) {
    int through = count_bits(own);
    #pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
      const int before = shuffle_up(full_warp, through, o);
      if (lane_rank() >= o) through += before;
    }
    return through;
  }
  EV_DEVICE void leave_of_wide(const pos* first_tile, Grid& grid) const {
    const auto own = this->by_number(block_rank(), block_count());
    #pragma unroll 1
    for (auto i = own.from + thread_rank(); i < own.to; i += T) {
      const pos tile = (pos)i, share = this->share_of(tile);
      const bool in_wide = shares::tile(first_tile[share + 1]) - shares::tile(first_tile[share]) > shares::wide;
      if (in_wide && phase.begin(tile) == phase.end(tile)) phase.leave(tile, Phase::identity(), grid);
    }
  }

  // The part of a tile that has all of the block's atoms: nothing has to change hands, nor to be put in order.
  EV_DEVICE Value whole_part(pos z0, int count, const Loaded& loaded) const {
    Value total = Phase::identity();
    if (loaded.whole) {
      #pragma unroll
      for (int k = 0; k < I; k += 2) {
        const pos atom = z0 + run_slot(k / R) + k % R;
        const Value both = Phase::then(lifted(atom, loaded.runs[k / R], k % R), lifted(atom + 1, loaded.runs[k / R], k % R + 1));
        total = k == 0 ? both : Phase::then(total, both);
      }
    } else {
      #pragma unroll 1
      for (int slot = thread_rank(); slot < count; slot += T) phase.step(total, typename Phase::State{}, (pos)0, z0 + slot);
    }
    return group<T, T>().reduce(total);
  }

  // goes_on: `following` of this block, if GoesOn.
  template <class Link, class Next> EV_DEVICE void share(const pos* first_tile, Link& link, Grid& grid, const Next& goes_on) const {
    const pos z0 = this->cut(block_rank()), z1 = this->cut(block_rank() + 1);
    clear_ends();
    Loaded loaded = load(z0, z1);
    // Two lanes load the entries. If all loaded both, ptxas would wait for each, to hold it once for the whole warp.
    const pos entry = load_cached(first_tile + block_rank() + (lane_rank() & 1));
    // With few atoms, in runs of whole words, threads have registers for where their tiles lie beside what they gather.
    constexpr bool beside = I <= 8 && R * (int)sizeof(Value) >= 16;
    if constexpr (!beside) gather(z0, loaded);
    const pos here = shuffle_from(full_warp, entry, 0), next = shuffle_from(full_warp, entry, 1);
    const Bounds b{shares::tile(here), z0, shares::tile(next), z1};
    if (late && b.t0 == b.t1) {
      if constexpr (beside) gather(z0, loaded);
      link.located(phase, b.t0, b.t1, false);
      link.found_open(phase, b.t1, z1, whole_part(z0, (int)(z1 - z0), loaded));
    } else {
      if constexpr (!beside) contribute(b, loaded);
      const pos mine = b.t0 + thread_rank();
      const Extent of_first = mine < b.t1 ? extent(mine) : Extent{0, 0};
      if constexpr (beside) {
        gather(z0, loaded);
        contribute(b, loaded);
      }
      link.located(phase, b.t0, b.t1, false);
      barrier();  // the ends are clear
      each_tile(b, of_first, [&](pos, const Extent& of) {
        if (of.begin < of.end) ends[of.end - 1 - z0] = 1;
      });
      barrier();
      const Ends own = own_ends();
      const Value tail = fold(own, z0, loaded.whole);
      const Open<Phase> before = block_scan<Phase, T, late>(own != 0, tail, Phase::identity());
      const Value open = own != 0 ? tail : Phase::combine(before.value, tail);
      join_open(own, before.value);
      link.found_open(phase, b.t1, z1, open);
      if constexpr (GoesOn) goes_on.note(own, b.t0 < b.t1 && of_first.begin < z0 ? (int)(of_first.end - z0) : 0);
      barrier();
      leave_head(b, of_first, link);
      if constexpr (GoesOn) {
        each_end(own, [&](int slot) {
          if (slot >= goes_on.head()) after_at(slot) = phase.after(values[place(slot)]);
          else if constexpr (!in_place) after_at(slot) = {};  // its atoms read it, and store nothing
        });
        barrier();
        goes_on.store(z0, z1, loaded);
      } else {
        leave(b, of_first, grid);
      }
    }
    if constexpr (!GoesOn) {
      if (shares::looks(here)) leave_of_wide(first_tile, grid);
      leave_unlisted<T>(phase, grid);
    }
    link.join(phase, grid);
  }
};

template <class Phase, int T, int I, bool GoesOn = false, class Join>
EV_DEVICE void stream_block(const Phase& phase, const Join& join, typename Phase::Grid* grid_partials,
                            const typename Phase::pos* first_tile) {
  using engine = block_stream<Phase, T, I, GoesOn>;
  using next = following<engine>;
  static_assert(T % 32 == 0, "whole warps");
  EV_SHARED(typename engine::Mark, ends, engine::S);
  EV_SHARED(typename engine::Value, values, engine::places);
  EV_SHARED(typename engine::After, afters, engine::in_place ? 1 : engine::S);
  EV_SHARED(typename next::Ending, endings, GoesOn ? T : 1);
  EV_SHARED(int, firsts, GoesOn ? T / 32 + 1 : 1);
  const engine stream(phase, ends, values, afters);
  auto grid = grid_start<Phase>();
  constexpr int links_at_once = 2;  // the atoms take most registers
  decltype(link_for<Phase, T, engine::S, nonzero_rule, links_at_once>(join)) link(join);
  if (stream.atoms > 0) {
    stream.share(first_tile, link, grid, next{stream, endings, firsts});
  } else {
    link.without_atoms();
    #pragma unroll 1
    for (long long i = (long long)block_rank() * T + thread_rank(); i < stream.tiles; i += (long long)block_count() * T)
      phase.leave((typename engine::pos)i, Phase::identity(), grid);
    leave_unlisted<T>(phase, grid);
  }
  block_reduce_grid<Phase, T>(grid, grid_partials);
}

template <class Phase, int T, int I>
EV_DEVICE void stream_partition(const Phase& phase, typename Phase::pos* first_tile, int blocks) {
  using pos = typename Phase::pos;
  const stream_shares<Phase, T, I> shares(phase);
  const long long block = (long long)block_rank() * block_threads() + thread_rank();
  if (block > blocks) return;
  const bool looks = block < blocks && shares.atoms > 0 && shares.looks((int)block, blocks);
  first_tile[block] = shares.entry(shares.first((pos)block), looks);
}

}  // namespace ev
