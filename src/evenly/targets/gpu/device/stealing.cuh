// A deque for each taker: its owner puts items to the bottom and takes them from there, others steal at the top.
//
// `age` has (tag, top) in 64 bits. A thief raises the top by a compare-and-swap. So does the owner, for the last item: it
// begins again at 0, with another tag, so that a thief that has seen the deque before steals nothing. The rest of the items
// are the owner's without an atomic, since it lowers the bottom before it looks at the top, and a thief looks at the top
// before it looks at the bottom: with fences between, one of them sees the other.
//
// The owner puts and takes several items at once: it raises the bottom once, or lowers it once. It takes half of what there is
// at most, so that others find some before it has many. Of what it has taken, a thief
// may still want the item at the top that the owner sees, and no later one: each thief takes one, at the top that it has
// seen before it looked at the bottom.
//
// The lanes of a thief look at a deque each, beginning with that of the next taker, then with one that they could steal from, or
// else with any.
//
// Source: Arora, Blumofe, Plaxton, "Thread Scheduling for Multiprogrammed Multiprocessors" (SPAA 1998); on GPUs, Cederman,
// Tsigas (Graphics Hardware 2008), section 4.4. Its fences are those of Le, Pop, Cohen, Nardelli, "Correct and Efficient
// Work-Stealing for Weak Memory Models" (PPoPP 2013). Here the deques are rings.
#pragma once
#include "queues.cuh"

namespace ev {

template <bool Counted> struct stealing_queue {
  static constexpr int longest = 8;
  const queue_memory m;
  queue_counts counts;
  int victim = 0;     // the first one that it looks at, counted from the next taker
  unsigned random;
  long long first = 0, end = 0;  // in lane 0: the own top when it was last seen, and the own bottom

  EV_DEVICE stealing_queue(const queue_memory& memory) : m(memory), random(memory.taker) {}

  template <int W> EV_DEVICE bool put(int item, bool has) {
    const unsigned all = lanes_through(W - 1), given = ballot(all, has);
    const long long at = shuffle_from(all, end, 0);
    const int room = (int)lane_0_finds<W>([&] { return m.room - (at - (first = top(atomic_load(age(m.taker))))); });
    const int rank = count_bits(given & lanes_below(lane_rank())), n = count_bits(given) < room ? count_bits(given) : room;
    const bool is_in = has && rank < room;
    if (is_in) atomic_store(place(m.taker, at + rank), (long long)item);
    sync_warp(all);
    if (lane_rank() == 0) publish(n);
    return is_in;
  }

  template <int W> EV_DEVICE int get(int& item, int n) {
    long long from = 0;
    const int k = (int)lane_0_finds<W>([&] { return take(end - first < 2 * n ? (int)(end - first + 1) / 2 : n, from); });
    from = shuffle_from(lanes_through(W - 1), from, 0);
    if (k == 0) return steal<W>(item, n);
    if (lane_rank() < k) item = (int)atomic_load(place(m.taker, from + lane_rank()));
    return k;
  }

  // Makes the next n items those of the deque.
  EV_DEVICE void publish(int n) {
    if (n == 0) return;
    fence<release>();  // also for later, lower bottoms
    atomic_store(bottom(m.taker), end += n);
  }

  // Takes up to n of the newest items, from `from` on. Returns how many.
  EV_DEVICE int take(int n, long long& from) {
    const long long before = end;
    if (before == 0) return 0;
    end = before > n ? before - n : 0;
    atomic_store(bottom(m.taker), end);
    fence<seq_cst>();
    const long long seen = atomic_load(age(m.taker));
    first = top(seen);
    from = end;
    if (end > first) return (int)(before - from);
    atomic_store(bottom(m.taker), end = 0);  // no thief may see this after the new tag
    const long long again = (seen >> 32) + 1 << 32;
    from = first;
    first = 0;
    if (from < before && atomic_compare_exchange<release>(age(m.taker), seen, again) == seen) return (int)(before - from);
    atomic_store<release>(age(m.taker), again);
    ++from;
    return before > from ? (int)(before - from) : 0;
  }

  // Of the lanes that see an item, n try to steal it. Not all thieves begin at the same one.
  template <int W> EV_DEVICE int steal(int& item, int n) {
    const int others = m.takers - 1, lane = lane_rank(), turn = m.taker % W;
    const unsigned all = lanes_through(W - 1);
    const int from = others == 0 ? 0 : (m.taker + 1 + (victim + lane) % others) % m.takers;
    const unsigned able = ballot(all, lane < others && has_some(from)), above = able & ~lanes_below(turn);
    const int before = lane < turn ? count_bits(above) + count_bits(able & lanes_below(lane)) : count_bits(above & lanes_below(lane));
    const bool tries = (able >> lane & 1) != 0 && before < n;
    const int got = tries ? steal_from(from) : no_item;
    const unsigned stolen = ballot(all, got != no_item);
    if (others > 0) victim = (int)((victim + (stolen != 0 ? (unsigned)lowest_bit(stolen) : next(others))) % (unsigned)others);
    if constexpr (Counted) {
      counts.stolen += count_bits(stolen);
      counts.failed += count_bits(ballot(all, tries && got == no_item));
    }
    return handed<W>(item, got, stolen);
  }

  EV_DEVICE bool has_some(int of) const { return atomic_load(bottom(of)) > top(atomic_load(age(of))); }

  EV_DEVICE int steal_from(int from) const {
    const long long seen = atomic_load(age(from));
    fence<seq_cst>();
    if (atomic_load<acquire>(bottom(from)) <= top(seen)) return no_item;
    const long long item = atomic_load(place(from, top(seen)));
    return atomic_compare_exchange(age(from), seen, seen + 1) == seen ? (int)item : no_item;
  }

private:
  // How far to go on after nothing was stolen: to the next of few, to any of many.
  EV_DEVICE unsigned next(int others) {
    if (others <= 32) return 1;
    random = random * 1664525u + 1013904223u;
    return random >> 8;
  }

  // Hands what some lanes have got to the first ones. Returns how many that are.
  template <int W> static EV_DEVICE int handed(int& item, int got, unsigned lanes) {
    int k = 0;
    for (; lanes != 0; lanes &= lanes - 1, ++k) {
      const int given = shuffle_from(lanes_through(W - 1), got, lowest_bit(lanes));
      if (lane_rank() == k) item = given;
    }
    return k;
  }

  EV_DEVICE long long* age(int of) const { return m.words + (long long)of * 16; }
  EV_DEVICE long long* bottom(int of) const { return age(of) + 1; }
  EV_DEVICE long long* place(int of, long long at) const { return m.words + (long long)m.takers * 16 + (long long)of * m.room + (at & (m.room - 1)); }
  static EV_DEVICE long long top(long long age) { return age & 0xffffffffLL; }
};

}  // namespace ev
