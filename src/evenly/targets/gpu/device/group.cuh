// Groups of threads that own whole tiles: rank, sync, reduce.
//
// The owned engine's loop, for any G from 1 to T:
//
//     ev::group<G, T> g;
//     if (g.present())                                        // NOT active(): see below
//       for (long long t = g.index(); t < tiles; t += g.count()) {
//         Value v = identity();
//         if (g.active()) for (pos k = begin(t) + g.rank(); k < end(t); k += G) step(v, ...);
//         v = g.reduce_to_leader(v);                          // or g.reduce(v): the result in every lane
//         if (g.leader()) leave(t, v);
//       }
//
// present(): the thread runs the group's loop. active(): it has a rank 0..G-1, and works. They differ only if G > 32
// and G is no multiple of 32. Then the last warp of a group has lanes without a rank. These must still run the loop,
// since a barrier takes whole warps; the values that they pass to reduce are ignored. Otherwise active() is the same as
// present().
//
// G <= 32: a warp has floor(32 / G) groups, and the lanes left over are idle (not present). G > 32: a group has
// ceil(G / 32) warps. T must be a multiple of 32 if G > 1.
//
// A value V needs `static V combine(const V&, const V&)` and `V each(f) const`, which applies f to each field.
#pragma once
#include "gpu.cuh"

namespace ev {

// ---- shuffles of values with several fields, one field at a time ----------------------------------------------------
template <class V> EV_DEVICE V value_up(unsigned mask, const V& v, int n) {
  return v.each([=](auto x) { return shuffle_up(mask, x, n); });
}
template <class V> EV_DEVICE V value_down(unsigned mask, const V& v, int n) {
  return v.each([=](auto x) { return shuffle_down(mask, x, n); });
}
template <class V> EV_DEVICE V value_xor(unsigned mask, const V& v, int n) {
  return v.each([=](auto x) { return shuffle_xor(mask, x, n); });
}
template <class V> EV_DEVICE V value_from(unsigned mask, const V& v, int lane) {
  return v.each([=](auto x) { return shuffle_from(mask, x, lane); });
}

// Folds the values of ranks 0..N-1 into rank 0, in order of rank. After a round of distance o, a lane holds the fold of
// 2 o ranks, beginning with its own. N may be any number. Lanes with other ranks must call it too if they are in the
// mask; their values are ignored.
template <int N, int O = 1, class V, class F> EV_DEVICE V lanes_fold(unsigned mask, int rank, V v, F combine) {
  if constexpr (O < N) {
    V later = value_down(mask, v, O);
    // If N is a power of two, no test is needed: only lanes that rank 0 never reads fold in values from beyond N.
    if ((N & (N - 1)) == 0 || rank + O < N) v = combine(v, later);
    return lanes_fold<N, 2 * O>(mask, rank, v, combine);
  }
  return v;
}

// Folds N values of each of L adjacent lanes at once: value k of every lane, in order of lanes, for each k. A round of
// distance o gives one half of a lane's values to the lane beside it, and takes the other half of that one's, until each
// has one: N - 1 shuffles and not N log2(L). So the folds end up in different lanes: `dealt` says which. With fewer values
// than lanes, the rest is an ordinary fold, valid in the lanes that `dealt` names. L is a power of two. The tree is that of
// lanes_fold.
template <int L, int N, int O = 1, class V, class F> EV_DEVICE void lanes_deal(unsigned mask, int lane, V* v, F combine) {
  if constexpr (O < L && N > 1) {
    constexpr int half = (N + 1) / 2;
    const bool upper = (lane & O) != 0;
    #pragma unroll
    for (int k = 0; k < half; ++k) {
      const V low = v[k], high = v[half + k < N ? half + k : k];
      const V given = value_xor(mask, upper ? low : high, O);
      v[k] = upper ? combine(given, high) : combine(low, given);
    }
    lanes_deal<L, half, 2 * O>(mask, lane, v, combine);
  } else if constexpr (O < L) {
    *v = combine(*v, value_down(mask, *v, O));
    lanes_deal<L, 1, 2 * O>(mask, lane, v, combine);
  }
}
// Which of N folds a lane has after lanes_deal: `count` of them, from number `first` on. At most `most`.
template <int L, int N, int O = 1> struct dealt {
  static constexpr int half = (N + 1) / 2;
  using rest = dealt<L, (O < L && N > 1 ? half : 1), (O < L && N > 1 ? 2 * O : L)>;
  static constexpr int most = rest::most;
  static EV_DEVICE void to(int lane, int& first, int& count) {
    if constexpr (O < L && N > 1) {
      const bool upper = (lane & O) != 0;
      first += upper ? half : 0;
      count = upper ? count - half : count < half ? count : half;
      rest::to(lane, first, count);
    } else if (lane >= O) count = 0;
  }
  // The lane that has fold number i, and at which of its places.
  static EV_DEVICE constexpr int owner(int i) {
    if constexpr (O < L && N > 1) return i < half ? rest::owner(i) : O + rest::owner(i - half);
    else return 0;
  }
  static EV_DEVICE constexpr int at(int i) {
    if constexpr (O < L && N > 1) return rest::at(i < half ? i : i - half);
    else return i;
  }
};
template <int L, int N> struct dealt<L, N, L> {
  static constexpr int most = N;
  static EV_DEVICE void to(int, int&, int&) {}
  static EV_DEVICE constexpr int owner(int) { return 0; }
  static EV_DEVICE constexpr int at(int i) { return i; }
};

// Rearranges 32 * I values among the lanes of a warp. Before, value k of lane j is number 32 * k + j. Afterwards each
// lane has I consecutive values. It takes I shuffles, each of which brings one value to every lane. For that, each lane
// sends and receives its values in an order of its own: rotated by a number of places.
template <int I, class V> EV_DEVICE constexpr bool can_exchange() { return I <= 8 && (I & (I - 1)) == 0 && sizeof(V) <= 8; }
// Rotates an array: v[k] = v[(k - places) % I]. `places` may differ from lane to lane.
template <int I, class V> EV_DEVICE void rotate(V* v, int places) {
  #pragma unroll
  for (int by = 1; by < I; by *= 2) {
    V rotated[I];
    #pragma unroll
    for (int k = 0; k < I; ++k) rotated[k] = (places & by) != 0 ? v[(k - by + I) % I] : v[k];
    #pragma unroll
    for (int k = 0; k < I; ++k) v[k] = rotated[k];
  }
}
template <int I, class V> EV_DEVICE void lanes_exchange(V* v) {
  if constexpr (I == 1) return;
  constexpr int lanes = 32 / I;  // lanes that get their values from the same k
  const int lane = lane_rank(), from = lane / lanes, start = lane % lanes * I;
  V sent[I];
  #pragma unroll
  for (int k = 0; k < I; ++k) sent[k] = v[(I - k) % I];
  rotate<I>(sent, lane % I);  // sent[t] = v[(lane - t) % I]
  #pragma unroll
  for (int t = 0; t < I; ++t) v[t] = value_from(full_warp, sent[t], start + (t + from) % I);
  rotate<I>(v, from);  // the value that came in shuffle t is number (t + from) % I
}

// The same for any I and V, and its inverse, through shared memory, one word after the other. All warps of a block of T
// threads call it. For more than a few values that takes fewer instructions than shuffles. from, to: the slot of value k
// before and after.
template <int I, int T, class V, class From, class To> EV_DEVICE void through_slots(V* v, From from, To to) {
  constexpr int words = ceil_div((int)sizeof(V), 4);
  union bits { V value; unsigned word[words]; EV_DEVICE bits() { word[words - 1] = 0; } };
  EV_SHARED(unsigned, slots, T * I + T * I / 32 - 1);  // one more after every 32, so that lanes meet in fewer banks
  auto padded = [](int slot) { return slot + slot / 32; };
  bits b[I];
  #pragma unroll
  for (int k = 0; k < I; ++k) b[k].value = v[k];
  #pragma unroll
  for (int w = 0; w < words; ++w) {
    #pragma unroll
    for (int k = 0; k < I; ++k) slots[padded(from(k))] = b[k].word[w];
    sync_warp(full_warp);
    #pragma unroll
    for (int k = 0; k < I; ++k) b[k].word[w] = slots[padded(to(k))];
    sync_warp(full_warp);
  }
  #pragma unroll
  for (int k = 0; k < I; ++k) v[k] = b[k].value;
}
template <int I> EV_DEVICE int strided_slot(int k) { return warp_rank() * 32 * I + 32 * k + lane_rank(); }
template <int I> EV_DEVICE int blocked_slot(int k) { return thread_rank() * I + k; }
template <int I, int T, class V> EV_DEVICE void strided_to_blocked(V* v) {
  through_slots<I, T>(v, [](int k) { return strided_slot<I>(k); }, [](int k) { return blocked_slot<I>(k); });
}
template <int I, int T, class V> EV_DEVICE void blocked_to_strided(V* v) {
  through_slots<I, T>(v, [](int k) { return blocked_slot<I>(k); }, [](int k) { return strided_slot<I>(k); });
}

// The least power of two that is not less than `wanted`, at most `most`.
EV_DEVICE int group_size(long long wanted, int most) {
  int size = 1;
  while (size < wanted && size < most) size *= 2;
  return size;
}

template <int G, int T, bool Converged = false> struct group {
  static_assert(G >= 1 && G <= T && T <= 1024, "a group has 1 to T threads");
  static_assert(G == 1 || T % 32 == 0, "a block that is cut into groups has whole warps");
  static constexpr bool in_one_block = true;  // false for a team of several blocks (blocks.cuh)
  static constexpr int in_block = T;  // threads of a block
  static constexpr bool in_warp = G <= 32;
  static constexpr bool in_step = Converged && G > 1 && G < 32;  // with the other groups of its warp
  static constexpr int warps = in_warp ? 1 : ceil_div(G, 32);                      // per group
  static constexpr int per_warp = in_warp ? 32 / G : 0;
  // Barrier 0 is the block's own, so 15 named ones are left. With 1024 threads and 64 in a group, the threads of one
  // group are idle.
  static constexpr int fit = T / 32 / warps;
  static constexpr int per_block = G == 1 ? T : in_warp ? T / 32 * per_warp : fit < 15 ? fit : 15;

  EV_DEVICE group() {
    if constexpr (G == 1) { which = thread_rank(); member = 0; }
    else if constexpr (in_warp) {
      int lane = lane_rank(), in = lane / G;
      which = warp_rank() * per_warp + in;
      member = lane - in * G;
    } else {
      which = thread_rank() / (warps * 32);
      member = thread_rank() - which * (warps * 32);
    }
  }

  EV_DEVICE bool present() const {
    if constexpr (G == 1) return true;
    else if constexpr (in_warp) return 32 % G == 0 || lane_rank() < per_warp * G;
    else return T == per_block * warps * 32 || which < per_block;
  }
  EV_DEVICE bool active() const { return present() && (in_warp || G % 32 == 0 || member < G); }
  EV_DEVICE int rank() const { return member; }
  static EV_DEVICE constexpr int size() { return G; }
  EV_DEVICE int in_warp_rank() const { return in_warp ? lane_rank() / G : 0; }  // the group's index in the warp
  EV_DEVICE int local() const { return which; }  // the group's index in the block
  static EV_DEVICE bool walks() { return true; }  // false for teams of empty tiles (bins.cuh)
  EV_DEVICE bool leader() const { return member == 0 && present(); }
  EV_DEVICE long long index() const { return (long long)block_rank() * per_block + which; }  // in the grid
  EV_DEVICE long long count() const { return (long long)block_count() * per_block; }

  EV_DEVICE void sync() const {
    if constexpr (G == 1) return;
    else if constexpr (in_warp) sync_warp(mask());
    else if constexpr (warps * 32 == T) barrier();  // of a block: groups inside it have the others
    else barrier(1 + which, warps * 32);
  }

  // The lanes of this thread's warp that belong to its group (G > 32: the whole warp).
  // Converged: the emitter promises that all groups of a warp reduce together, so that one shuffle serves them all.
  // With a mask for each group, the hardware would execute it once for each group.
  EV_DEVICE unsigned mask() const {
    if constexpr (G >= 32 || Converged) return full_warp;
    else return ((1u << G) - 1u) << (lane_rank() - member);
  }

  // Valid in the leader only. Lanes are folded in order of rank, then warps in order, in the same tree on every run.
  template <class V> EV_DEVICE V reduce_to_leader(V v) const {
    if constexpr (G == 1) return v;
    else if constexpr (in_warp) return fold_lanes<G>(v);
    else { share(v); return member == 0 ? gather<V>() : v; }
  }

  // Valid in every lane.
  template <class V> EV_DEVICE V reduce(V v) const {
    if constexpr (G == 1) return v;
    else if constexpr (in_warp) return value_from(mask(), fold_lanes<G>(v), lane_rank() - member);
    else { share(v); return gather<V>(); }
  }

  // The leader's value, in every member.
  template <class V> EV_DEVICE V from_leader(const V& v) const {
    if constexpr (G == 1) return v;
    else if constexpr (in_warp) return value_from(mask(), v, lane_rank() - member);
    else {
      turn ^= 1;
      if (member == 0) *partials<V>(turn) = v;
      sync();
      return *partials<V>(turn);
    }
  }

  // Folds the values of the members whose ranks are equal modulo L, in order of rank. Valid in the members below L; in
  // every member if All. L is a power of two, at most 32, that divides G; groups of several warps are of whole ones.
  template <int L, bool All = false, class V> EV_DEVICE V fold_across(V v) const {
    static_assert(G % L == 0 && 32 % L == 0 && (in_warp || G % 32 == 0), "equal shares");
    auto combine = [](const V& a, const V& b) { return V::combine(a, b); };
    if constexpr (G == L) return v;
    else if constexpr (in_warp) {
      v = lanes_fold<G, L>(mask(), member, v, combine);
      return All ? value_from(mask(), v, lane_rank() - member + member % L) : v;
    } else {
      if constexpr (L < 32) v = lanes_fold<32, L>(full_warp, lane_rank(), v, combine);
      turn ^= 1;
      EV_SHARED(V, memory, 2 * per_block * warps * L);
      V* part = memory + (turn * per_block + which) * warps * L;
      if (lane_rank() < L) part[member / 32 * L + lane_rank()] = v;
      sync();
      if (All || member < L) {
        v = part[member % L];
        #pragma unroll
        for (int w = 1; w < warps; ++w) v = combine(v, part[w * L + member % L]);
      }
      return v;
    }
  }

  // Returns `running`, and after it the values of the members of lower rank, in order. `running` then takes in the values
  // of all members. Every member calls it; one without a rank brings the identity.
  template <class V> EV_DEVICE V scan(const V& v, V& running) const {
    if constexpr (G == 1) {
      const V before = running;
      running = V::combine(running, v);
      return before;
    } else {
      constexpr int lanes = in_warp ? G : 32;
      const int lane = in_warp ? member : lane_rank();
      V through = v;
      #pragma unroll
      for (int o = 1; o < lanes; o <<= 1) {
        const V earlier = value_up(mask(), through, o);
        if (lane >= o) through = V::combine(earlier, through);
      }
      const V below = value_up(mask(), through, 1);
      V into = running;
      if constexpr (in_warp) {
        running = V::combine(running, value_from(mask(), through, lane_rank() - member + G - 1));
      } else {
        turn ^= 1;
        V* part = partials<V>(turn);
        if (lane == 31) part[member / 32] = through;
        sync();
        #pragma unroll
        for (int w = 0; w < warps; ++w) {
          if (w == member / 32) into = running;
          running = V::combine(running, part[w]);
        }
      }
      return lane == 0 ? into : V::combine(into, below);
    }
  }

private:
  int which, member;          // the group's index in the block; the thread's rank in the group
  mutable int turn = 0;       // the half of `partials` that the next reduction uses

  template <int N, class V> EV_DEVICE V fold_lanes(const V& v) const {
    return lanes_fold<N>(mask(), in_warp ? member : lane_rank(), v, [](const V& a, const V& b) { return V::combine(a, b); });
  }

  template <class V> EV_DEVICE V* partials(int half) const {
    EV_SHARED(V, memory, 2 * per_block * warps);
    return memory + (half * per_block + which) * warps;
  }

  // Writes one partial result for each warp. The two halves alternate. A thread that writes a half again has passed the
  // barrier of the reduction between, so all reads of that half are over, and one barrier per reduction is enough.
  template <class V> EV_DEVICE void share(V v) const {
    constexpr int tail = G - 32 * (warps - 1);
    v = tail == 32 || member < 32 * (warps - 1) ? fold_lanes<32>(v) : fold_lanes<tail>(v);
    turn ^= 1;
    if (lane_rank() == 0) partials<V>(turn)[member / 32] = v;
    sync();
  }
  template <class V> EV_DEVICE V gather() const {
    const V* part = partials<V>(turn);
    V v = part[0];
    #pragma unroll
    for (int w = 1; w < warps; ++w) v = V::combine(v, part[w]);
    return v;
  }
};

// Reduces each item of an array over the members of a team, `n` at once, in the same tree as by itself: valid in every member.
// V: a value with one field, made of an item.
template <class V, int N> struct bundle {
  V values[N];
  template <class F> EV_DEVICE bundle each(F f) const {
    bundle r = *this;
    #pragma unroll
    for (int k = 0; k < N; ++k) r.values[k] = values[k].each(f);
    return r;
  }
  static EV_DEVICE bundle combine(const bundle& a, const bundle& b) {
    bundle r = a;
    #pragma unroll
    for (int k = 0; k < N; ++k) r.values[k] = V::combine(a.values[k], b.values[k]);
    return r;
  }
};
template <class V, int n, class Team, class T, int L> EV_DEVICE void reduce_items(const Team& team, T (&items)[L]) {
  #pragma unroll 1
  for (int first = 0; first < L; first += n) {
    bundle<V, n> r;
    #pragma unroll
    for (int k = 0; k < n; ++k) r.values[k] = V{items[first + k < L ? first + k : L - 1]};
    r = team.reduce(r);
    #pragma unroll
    for (int k = 0; k < n; ++k)
      if (first + k < L) r.values[k].each([&](auto item) { return items[first + k] = item; });
  }
}

// All blocks of a launch, T threads each, as a team that shares the atoms of a tile. Its members never meet: they may
// run one after the other.
template <int T> struct crowd {
  static constexpr bool in_step = false;
  static constexpr int in_block = T;
  static EV_DEVICE bool walks() { return true; }
  EV_DEVICE int rank() const { return block_rank() * T + thread_rank(); }
  EV_DEVICE int size() const { return block_count() * T; }
  EV_DEVICE unsigned mask() const { return full_warp; }
};

}  // namespace ev
