// A team along a dense axis. Its threads lie along two dimensions: some along the axis, the others along a tile's atoms.
// A thread has V columns of the axis at a time. It walks its share of the atoms once for all of them, so what an atom is
// read for is read once.
//
//     const auto axis = ev::along<L, V>(team);                // L lanes along the axis
//     for (pos first = 0; first < count; first += axis.columns) {
//       pos column[V];
//       axis.place(width, first, count, column);              // width: how many columns lie side by side
//       Value v[V] = ...;
//       if (axis.has(width, first, count, 0))
//         for (pos k = begin + axis.rank(); k < end; k += axis.ranks)
//           for (int c = 0; c < V; ++c) step(v[c], k, column[c]);
//       for (int c = 0; c < V; ++c) v[c] = axis.fold(v[c]);   // valid where axis.leads()
//       if (axis.leads())
//         for (int c = 0; c < V; ++c) if (axis.has(width, first, count, c)) leave(column[c], v[c]);
//     }
//
// Columns that lie side by side are a word. Adjacent lanes have adjacent words, so that a warp's loads are of whole
// sectors. Beyond the end of the axis, a thread that has other columns computes the last ones again instead, so that no
// load needs a test. It does not store them.
#pragma once
#include "group.cuh"

namespace ev {

template <int N> struct constant { static constexpr int value = N; };

template <int L, int V, class Team> struct dense_axis {
  static constexpr int lanes = Team::size() < L ? Team::size() : L;  // along the axis
  static constexpr int ranks = Team::size() / lanes;                 // along the atoms
  static constexpr int columns = lanes * V;                          // of the team, at a time
  const Team& team;

  EV_DEVICE int lane() const { return lanes == 1 ? 0 : team.rank() % lanes; }
  EV_DEVICE int rank() const { return ranks == 1 ? 0 : team.rank() / lanes; }
  EV_DEVICE bool leads() const { return rank() == 0; }

  template <int W, class pos> EV_DEVICE pos at(constant<W>, pos first, int c) const {
    return first + (c / W * lanes + lane()) * W + c % W;
  }
  template <int W, class pos> EV_DEVICE bool has(constant<W> width, pos first, pos count, int c) const {
    return at(width, first, c) < count;
  }
  template <int W, class pos> EV_DEVICE void place(constant<W> width, pos first, pos count, pos (&column)[V]) const {
    #pragma unroll
    for (int c = 0; c < V; c += W) {
      const pos own = at(width, first, c), last = count - W;
      #pragma unroll
      for (int i = 0; i < W; ++i) column[c + i] = (own < last ? own : last) + i;
    }
  }
  template <class Value> EV_DEVICE Value fold(const Value& v) const { return team.template fold_across<lanes>(v); }
  // Folds the values of the lanes of one rank, in order; valid in each of them, or in the first if not All.
  template <bool All = true, class Value> EV_DEVICE Value fold_lanes(Value v) const {
    if constexpr (lanes == 1) return v;
    const unsigned mask = lanes == 32 ? full_warp : ((1u << (lanes & 31)) - 1) << (lane_rank() - lane());
    v = lanes_fold<lanes>(mask, lane(), v, [](const Value& a, const Value& b) { return Value::combine(a, b); });
    return All ? value_from(mask, v, lane_rank() - lane()) : v;
  }
  template <class Value> EV_DEVICE Value fold_for_all(const Value& v) const { return team.template fold_across<lanes, true>(v); }
};
template <int L, int V, class Team> EV_DEVICE dense_axis<L, V, Team> along(const Team& team) { return {team}; }

template <int I, class pos, class Batch> EV_DEVICE void left_over(pos& first, pos end, int ranks, const Batch& batch) {
  if (first + (I - 1) * ranks < end) {
    batch(constant<I>());
    first += I * ranks;
  }
  if constexpr (I > 1) left_over<I / 2>(first, end, ranks, batch);
}
// Calls batch(constant<n>()) for `n` atoms from `first` on, for the `I` next ones as long as there are so many, and for
// what is left in ever smaller batches. An atom of the thread is `ranks` after the one before. The loads of a batch do not
// wait for each other.
template <int I, class pos, class Batch> EV_DEVICE void in_batches(pos& first, pos end, int ranks, const Batch& batch) {
  #pragma unroll 1
  for (; first + (I - 1) * ranks < end; first += I * ranks) batch(constant<I>());
  if constexpr (I > 1) left_over<(I > 16 ? 16 : I > 8 ? 8 : I > 4 ? 4 : I > 2 ? 2 : 1)>(first, end, ranks, batch);
}

// Whether every row of an array consists of words of W elements, each aligned to its size. `extent`: the row's length,
// of less than 32 bits, as `row` returns it.
template <int W, class T> EV_DEVICE bool whole_words(const T* p, long long extent) {
  return extent % W == 0 && extent <= 0x7fffffff && (unsigned long long)p % (W * sizeof(T)) == 0;
}
EV_DEVICE long long row(constant<1>, long long extent) { return extent; }
template <int W> EV_DEVICE int row(constant<W>, long long extent) {
  int narrow = (int)extent;
  pin(narrow);  // or the compiler, which knows that nothing is lost, multiplies in 64 bits
  return narrow;
}
template <int W, class T> EV_DEVICE void load_word(constant<W>, const T* p, T* to) {
  if constexpr (W == 1) *to = load_cached(p);
  else load_again<W>(p, to);
}
template <int W, class T> EV_DEVICE void store_word(constant<W>, T* p, const T* from) {
  if constexpr (W == 1) *p = *from;
  else store_run<W>(p, from);
}

}  // namespace ev
