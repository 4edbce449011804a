// One queue for all takers: an array, where it begins and ends, and a lock by compare-and-swap.
//
// Source: the blocking task queue of Cederman, Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics Hardware
// 2008), section 4.2. Here the array is a ring, and who finds that it is empty does not lock it.
#pragma once
#include "queues.cuh"

namespace ev {

template <bool Counted> struct blocking_ring {
  static constexpr int longest = 64;
  const queue_memory m;
  queue_counts counts;
  back_off wait;

  EV_DEVICE blocking_ring(const queue_memory& memory) : m(memory) {}

  EV_DEVICE bool put(int item) {
    lock();
    const long long at = atomic_load(m.end);
    const bool room = at - atomic_load(m.begin) < m.room;
    if (room) {
      m.words[at & (m.room - 1)] = item;
      atomic_store(m.end, at + 1);
    }
    unlock();
    return room;
  }

  EV_DEVICE int get() {
    if (atomic_load(m.begin) == atomic_load(m.end)) return no_item;
    lock();
    const long long at = atomic_load(m.begin);
    const bool any = at < atomic_load(m.end);
    const int item = any ? (int)m.words[at & (m.room - 1)] : no_item;
    if (any) atomic_store(m.begin, at + 1);
    unlock();
    return item;
  }

private:
  EV_DEVICE void lock() {
    while (atomic_load(m.lock) != 0 || atomic_compare_exchange<acquire>(m.lock, 0, 1) != 0) {
      if constexpr (Counted) ++counts.failed;
      wait.longer(m.takers);
    }
    wait.shorter();
  }
  EV_DEVICE void unlock() { atomic_store<release>(m.lock, 0); }
};

template <bool Counted> using blocking_queue = one_by_one<blocking_ring<Counted>>;

}  // namespace ev
