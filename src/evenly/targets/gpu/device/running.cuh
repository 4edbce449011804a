// Running values over the atoms of a tile (ev.scan), for engines that split tiles.
//
// A phase that scans has, in place of `step`:
//
//     struct Scan { ... };                                     // the running values; as Value
//     static Scan scan_identity();
//     Scan scanned(state, tile, atom) const;                   // what an atom contributes
//     static constexpr bool scan_needs_tile;                   // whether that depends on the tile
//     void step_scanned(value, state, tile, atom, before) const;  // before: the running values before the atom
//     long long* links;                                        // see `lookback`; the flatten engine needs none
//
// Each processor first folds what its atoms contribute. Then it learns what the atoms before its own leave open, and
// walks its atoms again. Which values are combined, and in which order, follows from the partition alone, so every run
// gives the same bits.
#pragma once
#include "carry.cuh"
#include "group.cuh"

namespace ev {

struct no_scan {};
template <class T> struct void_of { using type = void; };
template <class Phase, class = void> struct scan_of {
  using type = no_scan;
  static constexpr bool value = false;
};
template <class Phase> struct scan_of<Phase, typename void_of<typename Phase::Scan>::type> {
  using type = typename Phase::Scan;
  static constexpr bool value = true;
};

// What consecutive atoms leave open: the running values since the last tile that starts among them.
template <class V> struct segment {
  V value;
  int starts;  // whether a tile starts among them

  static EV_DEVICE segment combine(const segment& a, const segment& b) {
    return b.starts ? b : segment{V::combine(a.value, b.value), a.starts};
  }
  template <class F> EV_DEVICE segment each(F f) const { return {value.each(f), f(starts)}; }
};
template <class Phase> using segment_of = segment<typename scan_of<Phase>::type>;
template <class Phase> EV_DEVICE segment_of<Phase> no_atoms() { return {Phase::scan_identity(), 0}; }

// ---- between blocks -------------------------------------------------------------------------------------------------
//
// A block looks back at the blocks before it, as in Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back" (NVIDIA, 2016), but at fixed ones, so that floats are always combined in the same order. Blocks form groups
// of 32, and groups of 32 groups. A block combines the segments of its group's earlier blocks, then those of the earlier
// groups, then what all earlier groups of groups leave open, as far as no tile starts. The last block of a group writes
// the group's segment. So blocks wait for each other one after another only once for every 1,024 blocks. A block only
// waits for blocks of lower number. A GPU starts those first.
//
// links: segments are written in links of 4 bytes and a flag that they are there, so no fence is needed. All links are
// zero when the kernel starts (see `clear`).
template <class V> struct lookback {
  using part = segment<V>;
  static constexpr int fan = 32, words = ceil_div((int)sizeof(part), 4);
  using link = unsigned long long;
  static constexpr link there = 1ULL << 32;
  union bits { part value; unsigned word[words]; EV_DEVICE bits() { word[words - 1] = 0; } };

  long long* links;
  long long blocks;

  static EV_DEVICE long long groups(long long blocks) { return blocks / fan + 1; }
  static EV_DEVICE long long size(long long blocks) { return (blocks + groups(blocks) + groups(blocks / fan)) * words; }

  // Returns what is open before block number `block`. own: what the block's atoms leave open. none: the segment of no
  // atoms. A whole warp calls it, with the same arguments.
  EV_DEVICE part before(const part& own, const part& none, long long block) const {
    const long long group = block / fan, super = group / fan;
    const int in_group = (int)(block % fan), in_super = (int)(group % fan);
    const bool ends_group = in_group == fan - 1, ends_super = ends_group && in_super == fan - 1;
    long long *of_groups = links + blocks * words, *of_supers = of_groups + groups(blocks) * words;
    put(links, block, own);
    part open = fold(links, group * fan, in_group, none);
    if (ends_group) put(of_groups, group, part::combine(open, own));
    if (!open.starts) open = part::combine(fold(of_groups, super * fan, in_super, none), open);
    if (!open.starts && super > 0) open = part::combine(fold(of_supers, super - 1, 1, none), open);
    if (ends_super) put(of_supers, super, part::combine(open, own));
    return open;
  }

private:
  static EV_DEVICE void put(long long* level, long long number, const part& p) {
    bits b;
    b.value = p;
    if (lane_rank() == 0)
      for (int w = 0; w < words; ++w) atomic_store(level + number * words + w, (long long)(there | b.word[w]));
  }
  // Combines the segments number first .. first + count - 1 of a level, in order, as far back as no tile starts. It waits
  // for them.
  static EV_DEVICE part fold(const long long* level, long long first, int count, const part& none) {
    const int lane = lane_rank();
    part mine = none;
    bool have = lane >= count;
    for (;;) {
      if (!have) {
        bits b;
        bool all_there = true;
        for (int w = 0; w < words; ++w) {
          const link l = (link)atomic_load(level + (first + lane) * words + w);
          b.word[w] = (unsigned)l;
          all_there = all_there && l >> 32 != 0;
        }
        have = all_there;
        if (have) mine = b.value;
      }
      const unsigned missing = ballot(full_warp, !have);
      const int from = highest_bit(ballot(full_warp, have && mine.starts != 0));
      if ((from < 0 ? missing : missing & lanes_above(from)) == 0) {
        if (lane < from) mine = none;
        break;
      }
    }
    mine = lanes_fold<32>(full_warp, lane, mine, [](const part& a, const part& b) { return part::combine(a, b); });
    return value_from(full_warp, mine, 0);
  }
};
template <class V> EV_DEVICE long long links_of(long long blocks) { return lookback<V>::size(blocks); }

// Clears the links before the kernel that uses them.
EV_DEVICE void clear(long long* links, long long count) {
  const long long all = (long long)block_count() * block_threads();
  for (long long i = (long long)block_rank() * block_threads() + thread_rank(); i < count; i += all) links[i] = 0;
}

// ---- inside a block -------------------------------------------------------------------------------------------------

// Returns the running values before the atoms of this thread. open: what they leave open.
template <class Phase, int T>
EV_DEVICE typename Phase::Scan open_before_thread(const Phase& phase, const segment_of<Phase>& open) {
  using Scan = typename Phase::Scan;
  using part = segment<Scan>;
  static_assert(T <= 1024, "one lane for each warp");
  EV_SHARED(part, of_warp, T / 32);
  const int lane = lane_rank();
  const unsigned resets = ballot(full_warp, open.starts != 0);
  const Scan through = warp_scan(resets, open.value, [](const Scan& a, const Scan& b) { return Scan::combine(a, b); });
  if (lane == 31) of_warp[warp_rank()] = {through, resets != 0};
  barrier();
  if (warp_rank() == 0) {
    const group<32, T> warp;
    part own = no_atoms<Phase>(), all = no_atoms<Phase>();
    if (lane < T / 32) own = of_warp[lane];
    const part earlier = warp.scan(own, all);
    const lookback<Scan> back{phase.links, block_count()};
    const part before = block_count() == 1 ? no_atoms<Phase>() : back.before(all, no_atoms<Phase>(), block_rank());
    if (lane < T / 32) of_warp[lane] = part::combine(before, earlier);
  }
  barrier();
  const Scan earlier = of_warp[warp_rank()].value, below = value_up(full_warp, through, 1);
  if (lane == 0) return earlier;
  return (resets & lanes_below(lane)) != 0 ? below : Scan::combine(earlier, below);
}

}  // namespace ev
