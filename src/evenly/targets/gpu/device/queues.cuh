// What a queue of takers is. A queue holds items, which are numbers from 0; each is put into it once, and got once.
//
//     Queue queue{memory};
//     queue.template put<W>(item, has) -> bool   puts an item of each lane that has one; false: there is no room
//     queue.template get<W>(item, n) -> int      gets up to n, for the first lanes, and returns how many. 0: it has found
//                                                none. There may be some, for who tries again
//     queue.counts                               what it has counted, in lane 0
//     Queue::longest                             the longest pause of one that finds nothing, as `most` of pause (gpu.cuh)
//
// The lanes 0..W-1 of a taker's first warp call them together. What they have stored before put, or what was stored before
// a barrier that they have passed, is visible to who gets the item.
//
// blocking.cuh, lock_free.cuh and stealing.cuh have one each. Their memory is zero at first, apart from words that
// they write before they read them.
#pragma once
#include "gpu.cuh"
#include "orders.cuh"
#include "taker.cuh"

namespace ev {

struct queue_memory {
  long long *begin, *end, *lock;  // counters, each in a line of memory of its own
  long long* words;
  int room;                       // items in a ring; a power of two
  int taker, takers;              // who calls, of how many
};


enum { no_item = -1 };

// How long one that has failed to swap waits: twice as long each time, and half as long after it did not fail. The longest wait
// is such that a try begins every 6 ns, however many wait.
struct back_off {
  int times = 1;
  EV_DEVICE void longer(int takers) { pause(times, takers < 512 ? 16 : takers / 32); }
  EV_DEVICE void shorter() {
    if (times > 1) times /= 2;
  }
};

// What a queue counts, if it is one that does: `Counted`, its last parameter.
struct queue_counts {
  long long failed = 0, stolen = 0;  // compare-and-swaps that failed; items from another's deque
};

// A queue for the lanes of a warp from one for a thread, `bool put(item)` and `int get()`: lane 0 calls it, once for each item.
template <class Queue> struct one_by_one : Queue {
  using Queue::Queue;

  template <int W> EV_DEVICE bool put(int item, bool has) {
    bool is_in = false;
    for (unsigned left = ballot(lanes_through(W - 1), has); left != 0; left &= left - 1) {
      const int lane = lowest_bit(left), given = shuffle_from(lanes_through(W - 1), item, lane);
      const bool done = lane_0_finds<W>([&] { return Queue::put(given); });
      if (lane_rank() == lane) is_in = done;
    }
    return is_in;
  }

  template <int W> EV_DEVICE int get(int& item, int n) {
    for (int k = 0; k < n; ++k) {
      const int got = (int)lane_0_finds<W>([&] { return Queue::get(); });
      if (got == no_item) return k;
      if (lane_rank() == k) item = got;
    }
    return n;
  }
};

}  // namespace ev
