// What a queue of takers is. A queue holds items, which are numbers from 0; each is put into it once, and got once.
//
//     Queue queue{memory};
//     queue.put(item) -> bool    puts an item; false: there is no room
//     queue.get() -> int         gets one; no_item: it has found none. There may be one, for who tries again
//     queue.counts               what it has counted
//
// One thread of each taker calls them. What it has stored before put, or what was stored before a barrier that it has
// passed, is visible to who gets the item.
//
// blocking.cuh, lock_free.cuh and stealing.cuh have one each. Their memory is zero at first, apart from words that
// they write before they read them.
#pragma once
#include "gpu.cuh"
#include "orders.cuh"

namespace ev {

struct queue_memory {
  long long *begin, *end, *lock;  // counters, each in a line of memory of its own
  long long* words;
  int room;                       // items in a ring; a power of two
  int taker, takers;              // who calls, of how many
};

enum { no_item = -1 };

// How long one that has failed to swap waits: twice as long each time, and half as long after it did not fail.
struct back_off {
  int times = 1;
  EV_DEVICE void longer() { pause(times, 512); }
  EV_DEVICE void shorter() {
    if (times > 1) times /= 2;
  }
};

// What a queue counts, if it is one that does: `Counted`, its last parameter.
struct queue_counts {
  long long failed = 0, stolen = 0;  // compare-and-swaps that failed; items from another's deque
};

}  // namespace ev
