// One queue for all takers, without a lock: an item is put by a compare-and-swap from NIL to it, and got by one from it to NIL.
//
// Where the queue begins and ends is moved every X-th time. So it begins and ends there or later: one looks for the first
// place that is taken, or NIL. Each word says of which turn around the ring it is, so one that has stood still for a turn
// swaps nothing. (The source has two NILs for that.) A place that was once put to, or got from, never is again in that turn.
// So a late look at the ends or at a word costs steps, or finds too little, and nothing else.
//
// Source: Tsigas, Zhang, "A Simple, Fast and Scalable Non-Blocking Concurrent FIFO Queue for Shared Memory Multiprocessor
// Systems" (SPAA 2001); on GPUs, Cederman, Tsigas (Graphics Hardware 2008), section 4.3.
#pragma once
#include "queues.cuh"

namespace ev {

template <int X, bool Counted> struct lock_free_ring {
  static constexpr int longest = 64;
  const queue_memory m;
  queue_counts counts;
  back_off wait;

  EV_DEVICE lock_free_ring(const queue_memory& memory) : m(memory) {}

  EV_DEVICE bool put(int item) {
    const long long from = atomic_load(m.end);
    for (long long at = from;;) {
      const long long seen = atomic_load(place(at));
      if (seen < nil(at)) return false;  // of the turn before: the ring is full
      if (seen > nil(at)) {
        ++at;
      } else if (atomic_compare_exchange<release>(place(at), seen, seen + 1 + item) == seen) {
        wait.shorter();
        if (at % X == 0) atomic_compare_exchange(m.end, from, at + 1);
        return true;
      } else {
        if constexpr (Counted) ++counts.failed;
        wait.longer(m.takers);
      }
    }
  }

  EV_DEVICE int get() {
    const long long from = atomic_load(m.begin);
    for (long long at = from;;) {
      const long long seen = atomic_load(place(at)), next = nil(at + m.room);
      if (seen <= nil(at)) return no_item;
      if (seen >= next) {
        ++at;
      } else if (atomic_compare_exchange<acquire>(place(at), seen, next) == seen) {
        wait.shorter();
        if (at % X == 0) atomic_compare_exchange(m.begin, from, at + 1);
        return (int)(seen - nil(at)) - 1;
      } else {
        if constexpr (Counted) ++counts.failed;
        wait.longer(m.takers);
      }
    }
  }

private:
  // A word is nil(at), or 1 + item more. Items are below 2**24.
  EV_DEVICE long long* place(long long at) const { return m.words + (at & (m.room - 1)); }
  EV_DEVICE long long nil(long long at) const { return (at & -(long long)m.room) << 24; }
};

template <int X, bool Counted> using lock_free_queue = one_by_one<lock_free_ring<X, Counted>>;

}  // namespace ev
