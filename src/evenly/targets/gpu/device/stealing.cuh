// A deque for each taker: its owner puts items to the bottom and takes them from there, others steal at the top.
//
// `age` has (tag, top) in 64 bits. A thief raises the top by a compare-and-swap. So does the owner, for the last item: it
// begins again at 0, with another tag, so that a thief that has seen the deque before steals nothing. The rest of the items
// are the owner's without an atomic, since it lowers the bottom before it looks at the top, and a thief looks at the top
// before it looks at the bottom: with fences between, one of them sees the other.
//
// A thief begins with the next taker, and stays with one that it could steal from. It looks at a few at a time.
//
// Source: Arora, Blumofe, Plaxton, "Thread Scheduling for Multiprogrammed Multiprocessors" (SPAA 1998); on GPUs, Cederman,
// Tsigas (Graphics Hardware 2008), section 4.4. Its fences are those of Le, Pop, Cohen, Nardelli, "Correct and Efficient
// Work-Stealing for Weak Memory Models" (PPoPP 2013). Here the deques are rings.
#pragma once
#include "queues.cuh"

namespace ev {

template <bool Counted> struct stealing_queue {
  const queue_memory m;
  queue_counts counts;
  int victim = 0;  // counted from the next taker

  EV_DEVICE bool put(int item) {
    const long long at = atomic_load(bottom(m.taker));
    if (at - top(atomic_load(age(m.taker))) >= m.room) return false;
    atomic_store(place(m.taker, at), (long long)item);
    fence<release>();  // also for later, lower bottoms
    atomic_store(bottom(m.taker), at + 1);
    return true;
  }

  EV_DEVICE int get() {
    const int item = take();
    return item != no_item ? item : steal();
  }

  EV_DEVICE int take() {
    long long at = atomic_load(bottom(m.taker));
    if (at == 0) return no_item;
    atomic_store(bottom(m.taker), --at);
    fence<seq_cst>();
    const long long seen = atomic_load(age(m.taker)), item = atomic_load(place(m.taker, at));
    if (at > top(seen)) return (int)item;
    atomic_store(bottom(m.taker), 0LL);  // no thief may see this after the new tag
    const long long again = (seen >> 32) + 1 << 32;
    if (at == top(seen) && atomic_compare_exchange<release>(age(m.taker), seen, again) == seen) return (int)item;
    atomic_store<release>(age(m.taker), again);
    return no_item;
  }

  EV_DEVICE int steal() {
    for (int tries = m.takers - 1 < 8 ? m.takers - 1 : 8; tries > 0; --tries) {
      const int from = (m.taker + 1 + victim) % m.takers, item = steal_from(from);
      if (item != no_item) {
        if constexpr (Counted) ++counts.stolen;
        return item;
      }
      if (++victim == m.takers - 1) victim = 0;
    }
    return no_item;
  }

  EV_DEVICE int steal_from(int from) {
    if (atomic_load(bottom(from)) <= top(atomic_load(age(from)))) return no_item;
    const long long seen = atomic_load(age(from));
    fence<seq_cst>();
    if (atomic_load<acquire>(bottom(from)) <= top(seen)) return no_item;
    const long long item = atomic_load(place(from, top(seen)));
    if (atomic_compare_exchange(age(from), seen, seen + 1) == seen) return (int)item;
    if constexpr (Counted) ++counts.failed;
    return no_item;
  }

private:
  EV_DEVICE long long* age(int of) const { return m.words + (long long)of * 16; }
  EV_DEVICE long long* bottom(int of) const { return age(of) + 1; }
  EV_DEVICE long long* place(int of, long long at) const { return m.words + (long long)m.takers * 16 + (long long)of * m.room + (at & (m.room - 1)); }
  static EV_DEVICE long long top(long long age) { return age & 0xffffffffLL; }
};

}  // namespace ev
