// A taker of tasks: a warp or, if G > 32, a group of several warps, as in dynamic.cuh. It has room for S tasks in shared
// memory, runs the last of them, one for each of its groups, and puts what they push on top.
//
//     struct some_tasks : task_taker<Set, G, T, S, Converged>   // groups of G threads run tasks
//     bool take();                                              // sees to it that there are tasks; false: there are none any more
//
//     while (tasks.take()) tasks.each(run);                     // run(team, task, live): see each
//     tasks.push(task);                                         // in run, by any thread, any number of times
//     tasks.leave();
//
// What has no room there is kept in a list, for the next round. If that list is too short, all takers put what they have
// not begun there, and the round ends.
//
// Set: the task set. `Task load(place)` and `void store(place, task)` of the lists, and the members
//     long long* pool;                     // the counters below, all 0 at first
//     long long* pushed;                   // how many tasks are kept for the next round
//     long long waiting, from, to;         // the tasks that wait at first, their place, and that of those to keep
//     long long capacity, spill, spilled;  // of the list to keep tasks in; of what lies beyond; the place of that
//     static constexpr bool counted;       // whether takers note what they have done
#pragma once
#include "arithmetic.cuh"
#include "gpu.cuh"
#include "group.cuh"
#include "over_time.cuh"
#include "together.cuh"

namespace ev {

// Where the counters are in `pool`: each has a line of memory of its own. The first three and the last are those of
// whoever hands out tasks. Others are in over_time.cuh.
enum task_counter {
  takers_begun = 0, mail_numbers = 16, mail_told = 32,                                      // tasks.cuh
  unfinished = 0, queue_begin = 16, queue_end = 32, queue_lock = 80,                       // queued.cuh
  firsts_taken = 48, tasks_run = 64,
  tasks_got = 96, swaps_failed = 112, looks_in_vain = 128, most_held = 144, most_run = 160, least_run = 176, takers_counted = 192,
  takers_by_tasks = 208,  // and the places after it: how many takers have run 0, 1, 2 or 3, 4 to 7, ... tasks
  takers_of_round = 253
};

// What a taker has done: tasks that others gave it, or that it has stolen; compare-and-swaps that failed; how often it found
// nothing; the most tasks that were there at a time. The thread that leads a taker counts.
struct taker_counts {
  long long got = 0, failed = 0, in_vain = 0, most = 0;
};

// What lane 0 finds, for the lanes 0..W-1 of a warp, which call it together.
template <int W, class F> EV_DEVICE long long lane_0_finds(const F& f) {
  long long v = 0;
  if (lane_rank() == 0) v = f();
  return shuffle_from(lanes_through(W - 1), v, 0);
}

template <class Set, int G, int T, int S, bool Converged> struct task_taker {
  using Task = typename Set::Task;
  using team = group<G, T, Converged>;
  static constexpr bool by_warp = team::in_warp;
  static constexpr int takers = by_warp ? T / 32 : team::per_block;  // per block
  static constexpr int groups = by_warp ? team::per_warp : 1;        // per taker
  static constexpr int lanes = by_warp ? groups * G : 32;            // of a warp that hands over tasks
  static constexpr int batch_size = 4;                               // tasks that a taker that is one group takes at most
  static_assert((S & (S - 1)) == 0 && S >= 32, "a power of two, with room for a task of each lane");

  EV_DEVICE task_taker(const Set& s) : set(s), times(s.pool, mine.present() && first_warp() && lane_rank() == 0) {
    if constexpr (groups == 1) {
      if (mine.present() && leads()) *count() = 0;
    }
  }

  // Calls run(team, task, live) for the newest tasks, one for each group. Converged: for all groups of a warp. One without
  // a task of its own gets another's, with `live` false. A taker that is one group calls it for several, one after the other.
  template <class Run> EV_DEVICE void each(const Run& run) {
    if constexpr (groups == 1) {
      const int n = given()->n;
      for (int i = 0; i < n; ++i) run(mine, given()->tasks[i], true);
      ran += n;
    } else {
      const int n = held < groups ? held : groups, own = mine.in_warp_rank();
      held -= n;
      const Task task = stack()[(bottom + held + (own < n ? own : n - 1)) & (S - 1)];
      sync();
      if (leads()) *count() = held;
      sync();
      if (Converged || own < n) run(mine, task, own < n);
      ran += n;
      sync();
      held = *count() < S ? *count() : S;
    }
  }

  // Puts a task on the stack. If that is full, it is for the next round.
  EV_DEVICE void push(const Task& task) const {
    const int place = atomic_add(count(), 1);
    if (place < S) stack()[(bottom + place) & (S - 1)] = task;
    else keep(task);
  }

  // At the end, notes how many tasks the taker has run, and what it has counted.
  EV_DEVICE void leave(const taker_counts& counts) {
    times.leave();
    if (!(mine.present() && leads())) return;
    atomic_add(set.pool + tasks_run, ran);
    if constexpr (Set::counted) {
      atomic_add(set.pool + tasks_got, counts.got);
      atomic_add(set.pool + swaps_failed, counts.failed);
      atomic_add(set.pool + looks_in_vain, counts.in_vain);
      atomic_max(set.pool + most_held, counts.most);
      atomic_max(set.pool + most_run, ran);
      atomic_max(set.pool + least_run, (1LL << 40) - ran);
      atomic_add(set.pool + takers_counted, 1LL);
      atomic_max(set.pool + takers_of_round, (long long)takers * block_count());
      atomic_add(set.pool + takers_by_tasks + highest_bit((unsigned)minimum(ran, 0xffffffffLL)) + 1, 1LL);
    }
  }

protected:
  const Set& set;
  const team mine;
  busy_times<Set::counted> times;
  bool firsts_left = true;
  int held = 0, bottom = 0;  // tasks in the stack, the place of the oldest
  int at_once = 1;           // tasks that a taker that is one group takes
  long long ran = 0;

  EV_DEVICE Task* stack() const {
    EV_SHARED(Task, stacks, takers * S);
    return stacks + taker() * S;
  }
  // While tasks run: how many the stack has, and those that had no room.
  EV_DEVICE int* count() const {
    EV_SHARED(int, counts, takers);
    return counts + taker();
  }
  // What a taker that is one group runs now: n tasks, 0 if there are none any more.
  struct batch {
    Task tasks[batch_size];
    int bottom, n;
  };
  EV_DEVICE batch* given() const {
    EV_SHARED(batch, all, takers);
    return all + taker();
  }
  EV_DEVICE int taker() const { return by_warp ? warp_rank() : mine.local(); }
  EV_DEVICE bool leads() const { return by_warp ? lane_rank() == 0 : mine.rank() == 0; }
  EV_DEVICE bool first_warp() const { return by_warp || mine.rank() < 32; }
  // Synchronizes what hands over tasks, and what runs one.
  EV_DEVICE void sync() const { sync_warp(lanes_through(lanes - 1)); }
  EV_DEVICE void sync_group() const {
    if constexpr (by_warp) sync();
    else mine.sync();
  }
  // Whether tasks are only kept now.
  EV_DEVICE bool is_full() const { return lane_0_finds<lanes>([&] { return atomic_load(set.pushed); }) > set.capacity; }

  // Has the first warp see to it that there are tasks: `ready` says whether there are. A taker that is one group then takes up to
  // `at_once` of the newest, but no more than half. Its threads wait for each other twice: when what they have pushed is
  // there, and here.
  template <class F> EV_DEVICE bool taken(const F& ready) {
    if constexpr (groups > 1) return ready();
    else {
      sync_group();
      if (first_warp()) {
        held = *count() < S ? *count() : S;
        const bool any = ready();
        sync();
        const int n = any ? minimum(at_once, (held + 1) / 2) : 0;
        held -= n;
        if (lane_rank() < n) given()->tasks[lane_rank()] = stack()[(bottom + held + n - 1 - lane_rank()) & (S - 1)];
        if (leads()) {
          given()->n = n;
          given()->bottom = bottom;
          *count() = held;
        }
      }
      sync_group();
      bottom = given()->bottom;
      return given()->n > 0;
    }
  }

  // Takes some of the tasks that waited at first. Returns how many.
  EV_DEVICE int firsts(Task& task) {
    if (!firsts_left) return 0;
    const long long at = lane_0_finds<lanes>([&] { return atomic_add(set.pool + firsts_taken, (long long)groups); }), left = set.waiting - at;
    const int k = left < groups ? (int)left : groups;
    firsts_left = k > 0;
    if (lane_rank() < k) task = set.load(set.from + at + lane_rank());
    return firsts_left ? k : 0;
  }

  EV_DEVICE void keep(const Task& task) const {
    const long long place = add_together(set.pushed, 1LL);
    if (place < set.capacity) set.store(set.to + place, task);
    else if (place < set.capacity + set.spill) set.store(set.spilled + place - set.capacity, task);
  }
};

}  // namespace ev
