// How many takers of tasks (taker.cuh) have some, over time: the nanoseconds in which they do, of all together, in parts of
// the time since the first one began. A part lasts 1/16 of the power of two below its begin, but 1,024 ns at least.
//
//     busy_times<Counted> times(pool, leads);   // a taker begins; leads: whether this thread measures it
//     times.rests();                            // it has no task
//     times.works();                            // it has some again
//     times.leave();
//
// A word has the number of the call in its upper bits. So nobody has to clear the words of an earlier call: whoever adds raises
// the number first.
#pragma once
#include "gpu.cuh"

namespace ev {

enum time_word {
  call_number = 1,                                                         // of the set; never cleared
  time_began = 250, time_lasted = 251, time_there = 254, time_idle = 255,  // lasted: until the last taker left; there, idle: of all together
  time_parts = 256
};

template <bool Counted> struct busy_times {
  static constexpr int last_part = 367, call_shift = 46;
  long long* const pool;
  const bool leads;
  long long start = 0, begun = 0, since = 0, sum = 0, idle = 0;
  int part = 0;

  EV_DEVICE busy_times(long long* p, bool l) : pool(p), leads(l) {
    if (Counted && leads) {
      begun = since = nanoseconds();
      const long long first = atomic_compare_exchange(pool + time_began, 0LL, begun);
      start = first != 0 && first < begun ? first : begun;
    }
  }
  EV_DEVICE void works() {
    if (Counted && leads) {
      const long long now = nanoseconds();
      idle += now - since;
      since = now;
    }
  }
  EV_DEVICE void rests() {
    if (Counted && leads) {
      const long long now = nanoseconds();
      while (since < now) {
        const int here = part_of(since - start);
        if (here != part) flush();
        part = here;
        const long long end = start + end_of(here), until = here < last_part && end < now ? end : now;
        sum += until - since;
        since = until;
      }
    }
  }
  EV_DEVICE void leave() {  // after rests
    if (Counted && leads) {
      works();
      flush();
      atomic_add(pool + time_there, since - begun);
      atomic_add(pool + time_idle, idle);
      atomic_max(pool + time_lasted, since - start);
    }
  }

private:
  EV_DEVICE void flush() {
    if (sum == 0) return;
    atomic_max(pool + time_parts + part, atomic_load(pool + call_number) << call_shift);
    atomic_add(pool + time_parts + part, sum);
    sum = 0;
  }
  // Part 16 + 16 * e + m begins after (16 + m) << e units of 1,024 ns.
  static EV_DEVICE int part_of(long long time) {
    const long long units = time >> 10;
    if (units < 16) return (int)units;
    if (units >= 1LL << 26) return last_part;
    const int e = highest_bit((unsigned)units) - 4;
    return 16 * e + (int)(units >> e);
  }
  static EV_DEVICE long long end_of(int part) {
    if (part < 16) return (part + 1LL) << 10;
    const int e = part / 16 - 1;
    return (part - 16LL * e + 1) << e << 10;
  }
};

}  // namespace ev
