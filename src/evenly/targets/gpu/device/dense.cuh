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
//         for (int c = 0; c < V; ++c) if (axis.leaves(width, first, count, c)) leave(column[c], v[c]);
//     }
//
// Lanes inside atoms: the team takes N atoms of each of its ranks at a time. Its lanes reduce all of them at once, and each
// of some lanes has the result of one of them (lanes_deal), or all lanes have all.
//
//     pos first = begin;                                      // of the team's next atoms
//     auto batch = [&](auto items) {                          // items.value of them a rank
//       for (int i = 0; i < items.value; ++i) v[i] = ...;     // of the atom at axis.atom(items, axis.place(first, i), end)
//       axis.deal(v);
//       const auto own = axis.own<items.value>();
//       for (int i = 0; i < own.most; ++i)
//         if (own.has(i) && axis.is_in(items, axis.place(first, own.first + i), end)) leave(v[i]);
//     };
//     axis.in_batches<N>(first, end, batch);
//
// All threads of a team run the same batches, so that its lanes can shuffle; in a converged team, all of the warp. What
// lies beyond the end of the tile is computed for its last atom, and left by nobody.
//
// Columns that lie side by side are a word. Adjacent lanes have adjacent words, so that a warp's loads are of whole
// sectors. Beyond the end of the axis, a thread that has other columns computes the last ones again instead, so that no
// load needs a test. It does not store them.
#pragma once
#include "group.cuh"

namespace ev {

// The columns of a word, or 1. apart: whether each column of a thread has an address of its own.
template <int N> struct constant {
  static constexpr int value = N;
  static constexpr bool apart = N == 1;
};
// Words of W columns of short rows, or single ones, whose addresses differ by constants. A thread has runs of R columns, but where
// R does not divide V a last word alone. Around a pass, each thread has all of its columns at each time, but for its last run at
// the end of the axis (`fills`), so that only that one is replaced: by the last columns of the axis, some of which other threads
// have, too.
//
// One instruction loads a word of each lane. If the lanes of a row are R numbers apart, there is room in the 32 banks of L1 for
// the same words of the other rows that a warp loads then: of adjacent rows, whose length is no multiple of R, these lie in between.
template <int W, int R> struct filled : constant<W> { static constexpr bool apart = false; };

// Whether rows consist of words of W elements of `size` bytes, and are so short that `row` can return their bytes in 32
// bits. lengths: of the rows of several arrays, joined by |. And whether the words of an array are aligned to their size.
template <int W, int size> EV_DEVICE bool whole_words(long long lengths) {
  static_assert((W & (W - 1)) == 0 && (size & (size - 1)) == 0, "as they are joined");
  return lengths % W == 0 && lengths <= 0x7fffffff / size;
}
template <int W, class T> EV_DEVICE bool aligned(const T* p) { return W == 1 || (unsigned long long)p % (W * sizeof(T)) == 0; }
EV_DEVICE int short_row(long long extent) {
  int narrow = (int)extent;
  pin(narrow);  // or the compiler, which knows that nothing is lost, multiplies in 64 bits
  return narrow;
}
template <int W> EV_DEVICE int row(constant<W>, long long extent) { return short_row(extent); }
template <int W, int R> EV_DEVICE int row(filled<W, R>, long long extent) { return short_row(extent); }
EV_DEVICE long long row(constant<1>, long long extent) { return extent; }
// The address of an element: `p` is that of its place in row 0. If rows are short, one instruction a row.
template <class T, class I, class Row> EV_DEVICE T* in_row(T* p, I i, Row row) {
  if constexpr (sizeof(Row) == 4 && sizeof(I) <= 4 && I(-1) < I(0))
    return (T*)((const char*)p + wide_product(i, row * (int)sizeof(T)));
  else return p + (long long)i * row;
}
template <int W, class T> EV_DEVICE void load_word(constant<W>, const T* p, T* to) {
  if constexpr (W == 1) *to = load_cached(p);
  else load_again<W>(p, to);
}
template <int W, class T> EV_DEVICE void no_word(constant<W>, T* to) {
  #pragma unroll
  for (int i = 0; i < W; ++i) to[i] = {};
}
template <int W, class T> EV_DEVICE void store_word(constant<W>, T* p, const T* from) {
  if constexpr (W == 1) *p = *from;
  else store_run<W>(p, from);
}

// The atoms of a batch. whole: whether the tile has all of them, for every team that walks in step.
template <int N, bool Whole> struct atoms {
  static constexpr int value = N;
  static constexpr bool whole = Whole;
};
template <class T, int E> struct ahead_atoms { T own[E]; };  // what a lane has loaded for atoms of the next batch
template <int L, int N> struct own_atoms {
  static constexpr int most = dealt<L, N>::most;
  int first = 0, count = N;
  EV_DEVICE explicit own_atoms(int lane) { dealt<L, N>::to(lane, first, count); }
  EV_DEVICE bool has(int i) const { return i < count; }
};

// lanes: the threads of a team that lie along the axis. ranks: those along the atoms. few: whether a warp has other teams.
template <int L, class Team> struct threads_of {
  static constexpr int lanes = Team::size() < L ? Team::size() : L;
  static constexpr int ranks = Team::size() / lanes;
  static constexpr bool few = Team::size() < 32;
  EV_DEVICE explicit threads_of(const Team&) {}
};
template <int L, int T> struct threads_of<L, crowd<T>> {
  static constexpr int lanes = L;
  static constexpr bool few = false;
  const int ranks;
  EV_DEVICE explicit threads_of(const crowd<T>& team) : ranks(team.size() / L) {}
};

// Shared memory of a block for N numbers. All that use as many of a type use the same.
template <class T, int N> EV_DEVICE T* memory_of() {
  EV_SHARED(T, memory, N);
  return memory;
}

template <int L, int V, class Team> struct dense_axis : threads_of<L, Team> {
  using of_team = threads_of<L, Team>;
  using of_team::few, of_team::lanes, of_team::ranks;
  static constexpr int columns = lanes * V;  // of the team, at a time
  const Team& team;
  EV_DEVICE explicit dense_axis(const Team& t) : of_team(t), team(t) {}

  EV_DEVICE int lane() const { return lanes == 1 ? 0 : team.rank() % lanes; }
  EV_DEVICE int rank() const { return ranks == 1 ? 0 : team.rank() / lanes; }
  EV_DEVICE bool leads() const { return rank() == 0; }
  template <class pos> EV_DEVICE bool in_one_round(pos count) const { return 0 < count && count <= columns; }

  template <int W, class pos> EV_DEVICE pos at(constant<W>, pos first, int c) const {
    return first + (c / W * lanes + lane()) * W + c % W;
  }
  template <int W, int R> static constexpr int last_run = V % R ? W : R;  // columns of the last run of a thread
  template <int W, int R, class pos> EV_DEVICE pos at(filled<W, R>, pos first, int c) const {
    return c < V / R * R ? at(constant<R>(), first, c) : at(constant<W>(), first, c);
  }
  // Whether the axis has a column of this thread, if it consists of whole words; and in any case.
  template <int W, class pos> EV_DEVICE bool has(constant<W> width, pos first, pos count, int c) const {
    return at(width, first, c / W * W) < count;
  }
  template <class Width, class pos> EV_DEVICE bool has_one(Width width, pos first, pos count, int c) const {
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
  template <int W, int R, class pos> EV_DEVICE void place(filled<W, R> width, pos first, pos count, pos (&column)[V]) const {
    #pragma unroll
    for (int c = 0; c < V; ++c) column[c] = at(width, first, c);
    constexpr int from = V - last_run<W, R>;
    const pos own = column[from], last = count - last_run<W, R>;
    #pragma unroll
    for (int c = from; c < V; ++c) column[c] = (own < last ? own : last) + (c - from);
  }
  // The same without another column in place of one beyond the end; and but for columns at constant distances.
  template <class Width, class pos> EV_DEVICE void place_there(Width width, pos first, pos, pos (&column)[V]) const {
    #pragma unroll
    for (int c = 0; c < V; ++c) column[c] = at(width, first, c);
  }
  template <class Width, class pos> EV_DEVICE void place_inside(Width width, pos first, pos count, pos (&column)[V]) const {
    if constexpr (Width::apart) place_there(width, first, count, column);
    else place(width, first, count, column);
  }
  template <int W, int R, class pos> EV_DEVICE bool has(filled<W, R> width, pos first, pos count, int c) const {
    constexpr int from = V - last_run<W, R>;
    return c < from || at(width, first, from) < count;
  }
  // Whether the thread leaves what it has for a column.
  template <class Width, class pos> EV_DEVICE bool leaves(Width width, pos first, pos count, int c) const { return has(width, first, count, c); }
  template <int W, int R, class pos> EV_DEVICE bool leaves(filled<W, R> width, pos first, pos count, int c) const {
    constexpr int from = V - last_run<W, R>;
    const pos own = at(width, first, from), last = count - last_run<W, R>;
    return c < from || (own < count && (own < last || last + (c - from) >= own));
  }
  template <int W, int R, class pos> EV_DEVICE bool fills(filled<W, R>, pos count) const {
    const pos left = count % columns;
    return count >= last_run<W, R> && (left == 0 || left >= columns - last_run<W, R> * lanes);
  }
  // Addresses of elements in row `i`, of the columns that `place` gave.
  template <int W, class T, class pos, class I, class Row>
  EV_DEVICE T* element(constant<W>, T* data, const pos (&column)[V], int c, I i, Row row) const {
    return in_row(data + column[c], i, row);
  }
  template <int W, int R, class T, class pos, class I, class Row>
  EV_DEVICE T* element(filled<W, R>, T* data, const pos (&column)[V], int c, I i, Row row) const {
    constexpr int from = V - last_run<W, R>;
    return c < from ? in_row(data + column[0], i, row) + (c / R * lanes * R + c % R) : in_row(data + column[from], i, row) + (c - from);
  }
  template <class Value> EV_DEVICE Value fold(const Value& v) const { return team.template fold_across<lanes>(v); }
  template <class Value> EV_DEVICE Value fold_for_all(const Value& v) const { return team.template fold_across<lanes, true>(v); }

  // ---- lanes inside atoms
  // in_step: whether the teams of a warp take a batch if one of them does. takes: whether this one has atoms in it.
  static constexpr bool in_step = Team::in_step && lanes > 1;
  static EV_DEVICE bool any_team(bool p) { return in_step ? any(full_warp, p) : p; }
  static EV_DEVICE bool every_team(bool p) { return in_step ? all(full_warp, p) : p; }

  template <class pos> EV_DEVICE pos place(pos first, int i) const { return first + rank() + i * ranks; }
  template <class Atoms, class pos> EV_DEVICE bool takes(Atoms, pos first, pos end) const {
    return Atoms::whole || !in_step || first < end;
  }
  template <class Atoms, class pos> EV_DEVICE bool is_in(Atoms, pos place, pos end) const { return Atoms::whole || place < end; }
  template <class Atoms, class pos> EV_DEVICE pos atom(Atoms items, pos place, pos end) const {
    return is_in(items, place, end) ? place : end - 1;
  }
  // all[i] = what `put` leaves for atom i of a batch, for all lanes of its rank. Lanes leave it in shared memory, and load it
  // 16 bytes at a time: fewer accesses than a shuffle an atom (by_memory). Each type and length has memory of its own, so each
  // may take a part of what a block has.
  static constexpr int most_memory = 8192;
  template <int N, class T> static constexpr bool by_memory =
      lanes >= 4 && N >= 8 && (sizeof(T) == 4 || sizeof(T) == 8) && Team::in_block / lanes * N * (int)sizeof(T) <= most_memory;
  template <int N, class T, class Put> EV_DEVICE void through_memory(T (&all)[N], const Put& put) const {
    constexpr int word = 16 / (int)sizeof(T), each = ceil_div(N, word) * word, whole = N / word * word;
    T* memory = memory_of<T, Team::in_block / lanes * each>() + thread_rank() / lanes * each;
    sync_warp(team.mask());  // all have read what was there
    put(memory);
    sync_warp(team.mask());
    #pragma unroll
    for (int i = 0; i < whole; i += word) load_again<word>(memory + i, all + i);
    #pragma unroll
    for (int i = whole; i < N; ++i) all[i] = memory[i];
  }
  // to[i] = load(k) for the atoms of a batch. If a warp has several teams, each lane loads for some of the atoms and tells
  // the other lanes: for the load of one number, a warp would ask for a line of each team. So it can load them ahead, in a
  // register or two, for the next N atoms of each rank, while the batch before them is worked on.
  template <class T> static constexpr bool shares = lanes > 1 && few && (sizeof(T) == 4 || sizeof(T) == 8);
  template <int N, class pos, class Load> EV_DEVICE auto load_ahead(pos first, pos end, const Load& load) const {
    using T = decltype(load(first));
    ahead_atoms<T, ceil_div(N, lanes)> ahead = {};
    if constexpr (shares<T>) {
      #pragma unroll
      for (int e = 0; e < N; e += lanes) {
        const pos k = place(first, e + lane());
        if (first < end && (N % lanes == 0 || e + lane() < N)) ahead.own[e / lanes] = load(k < end ? k : end - 1);
      }
    }
    return ahead;
  }
  template <int N, class Atoms, class pos, class T, int E, class Load>
  EV_DEVICE void load_atoms(Atoms items, pos first, pos end, ahead_atoms<T, E>& ahead, T (&to)[Atoms::value], const Load& load) const {
    if constexpr (shares<T>) {
      if constexpr (by_memory<Atoms::value, T>) {
        through_memory(to, [&](T* all) {
          #pragma unroll
          for (int i = 0; i < items.value; i += lanes) if (i + lane() < items.value) all[i + lane()] = ahead.own[i / lanes];
        });
      } else {
        #pragma unroll
        for (int i = 0; i < items.value; ++i) to[i] = shuffle_from(team.mask(), ahead.own[i / lanes], i % lanes, lanes);
      }
      ahead = load_ahead<N>(first + items.value * ranks, end, load);
    } else {
      #pragma unroll
      for (int i = 0; i < items.value; ++i) if (takes(items, first, end)) to[i] = load(atom(items, place(first, i), end));
    }
  }
  // Calls batch(atoms<n, whole>()): for N atoms of each rank as long as there are so many, then for what is left. Halves:
  // for that in halves alone, which is less code.
  template <int N, bool Halves = false, class pos, class Batch> EV_DEVICE void in_batches(pos& first, pos end, const Batch& batch) const {
    constexpr int half = (N + 1) / 2;
    #pragma unroll 1
    for (; every_team(first + N * ranks <= end); first += N * ranks) batch(atoms<N, true>());
    #pragma unroll 1
    while (any_team(first < end)) {
      if (N > 1 && (Halves || !any_team(first + half * ranks < end))) {
        batch(atoms<half, false>());
        first += half * ranks;
      } else {
        batch(atoms<N, false>());
        first += N * ranks;
      }
    }
  }
  // Folds the values of the lanes of one rank, in order, for each of N atoms; valid in the lane that `own` says.
  template <int N, class Value> EV_DEVICE void deal(Value (&v)[N]) const {
    if constexpr (lanes > 1)
      lanes_deal<lanes, N>(team.mask(), lane(), v, [](const Value& a, const Value& b) { return Value::combine(a, b); });
  }
  // The same, of which all lanes have all.
  template <int N, class Value> EV_DEVICE void deal_to_all(Value (&v)[N]) const {
    if constexpr (lanes > 1) {
      deal(v);
      Value all[N];
      #pragma unroll
      for (int i = 0; i < N; ++i)
        all[i] = value_from(team.mask(), v[dealt<lanes, N>::at(i)], lane_rank() - lane() + dealt<lanes, N>::owner(i));
      #pragma unroll
      for (int i = 0; i < N; ++i) v[i] = all[i];
    }
  }
  // Folds a number of each lane, in any order; all lanes have the result.
  template <class T, class F> EV_DEVICE T across(T v, const F& combine) const {
    #pragma unroll
    for (int o = 1; o < lanes; o *= 2) v = combine(v, shuffle_xor(team.mask(), v, o));
    return v;
  }
  // all[i] = what the lane that has atom number i of a batch has for it.
  template <int N, int M, class T> EV_DEVICE void tell(const T (&own)[M], T (&all)[N]) const {
    static_assert(M == dealt<lanes, N>::most, "as `own` has them");
    if constexpr (by_memory<N, T>) {
      const own_atoms<lanes, N> mine(lane());
      through_memory(all, [&](T* memory) {
        #pragma unroll
        for (int i = 0; i < M; ++i) if (mine.has(i)) memory[mine.first + i] = own[i];
      });
    } else {
      #pragma unroll
      for (int i = 0; i < N; ++i)
        all[i] = lanes == 1 ? own[i % M] : shuffle_from(team.mask(), own[dealt<lanes, N>::at(i)], dealt<lanes, N>::owner(i), lanes);
    }
  }
  template <int N> EV_DEVICE own_atoms<lanes, N> own() const { return own_atoms<lanes, N>(lane()); }
};
// One of some values in registers.
template <int N, class T> EV_DEVICE T picked(const T (&values)[N], int at) {
  T found = values[0];
  #pragma unroll
  for (int k = 1; k < N; ++k) found = at == k ? values[k] : found;
  return found;
}
template <int L, int V, class Team> EV_DEVICE dense_axis<L, V, Team> along(const Team& team) { return dense_axis<L, V, Team>(team); }

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

}  // namespace ev
