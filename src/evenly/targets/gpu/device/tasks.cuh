// Tasks that are made while others run: a stack for each taker in shared memory, and one ring for all in device memory.
//
//     task_pool<Set, G, T, S, Converged> tasks(set);   // stacks of S tasks; groups of G threads run tasks
//     while (tasks.take()) tasks.each(run);            // run(team, task, live): see each
//     tasks.push(task);                                // in run, by any thread, any number of times
//     tasks.leave();
//
// A taker is a warp or, if G > 32, a group of several warps, as in dynamic.cuh. It takes the newest tasks of its stack,
// one for each of its groups, and puts what they push on top, so that a tree is walked depth first and few tasks wait.
// What has no room in the stack goes to the ring. A taker also gives its oldest tasks to the ring while others are idle:
// in a tree these are the largest. One that has no tasks takes some from the ring. (Donation of tasks: Tzeng, Patney,
// Owens, "Task Management for Irregular-Parallel Workloads on the GPU", HPG 2010.)
//
// open: the tasks in the ring, the first tasks that nobody has taken, and the takers that have tasks, together. It is
// raised before a task can be seen in the ring, and lowered by one when a taker runs dry. So nobody finds it 0 before
// the last task is done, and then everybody does.
//
// If the ring is full, a task is kept with those that are left for a later call, and all takers stop: they put the tasks
// that nobody has begun there, too.
//
// What a task has stored before it pushes is visible to whoever runs the new task: a taker synchronizes between tasks,
// and the ring publishes by fences.
//
// Set: the task set. `Task load(place)`, `void store(place, task)`, and the members
//     long long* pool;                       // the counters below
//     unsigned* turns;                       // (capacity,): how often each place of the ring was filled or emptied
//     long long* pushed;                     // how many tasks are kept for later
//     long long waiting, from, to;           // the tasks that wait at the beginning, their place, and that of those to keep
//     long long capacity, spill, ring;       // of the ring and of a list; of the spill; the place of the ring,
//                                            // which lies behind the spill, which lies behind the lists
#pragma once
#include "gpu.cuh"
#include "group.cuh"

namespace ev {

// Where the counters are in `pool`: each has a line of memory of its own.
enum task_counter { tasks_out = 0, tasks_in = 16, tasks_open = 32, takers_idle = 48, firsts_taken = 64, tasks_run = 80, tasks_stopped = 96 };

// A bounded ring for several producers and consumers, in batches of up to W tasks: one for each of W lanes of a warp, from
// lane `base` on. All of these call each function together. (D. Vyukov, "Bounded MPMC queue", 1024cores.net.)
//
// The place of position p is p % capacity. The turn of a place says whether it is free or filled, and how often it has
// been. So a look at the turns of a batch and one compare-and-swap of a counter claim its positions.
template <class Set, int W> struct task_ring {
  using Task = typename Set::Task;
  const Set& set;
  const int base;

  // Puts in a task of each of the first n lanes. Returns how many, in order: fewer than n if the ring is full.
  EV_DEVICE int put(const Task& task, int n) const {
    int done = 0;
    for (int k = 1; done < n && k > 0; done += k) k = put_some(task, done, n - done);
    return done;
  }

  // Takes up to n tasks, for the first lanes. Returns how many; 0: the ring is empty.
  EV_DEVICE int get(Task& task, int n) const {
    long long at;
    const int k = claim(tasks_out, 1, 0, n, at), lane = rank();
    if (lane < k) {
      fence_device();
      task = set.load(place(at + lane));
      fence_device();
      atomic_store(set.turns + slot(at + lane), turn(at + lane) + 2);
    }
    return k;
  }

  // A counter. add: its value before.
  EV_DEVICE long long add(int counter, long long n) const { return for_all([&] { return atomic_add(set.pool + counter, n); }); }
  EV_DEVICE long long read(int counter) const { return for_all([&] { return atomic_load(set.pool + counter); }); }

  EV_DEVICE int rank() const { return lane_rank() - base; }
  EV_DEVICE unsigned mask() const { return lanes_through(W - 1) << base; }

private:
  EV_DEVICE int slot(long long at) const { return (int)(at % set.capacity); }
  EV_DEVICE unsigned turn(long long at) const { return (unsigned)(2 * (at / set.capacity)); }  // at which it is free
  EV_DEVICE long long place(long long at) const { return set.ring + slot(at); }

  // What the first lane finds.
  template <class F> EV_DEVICE long long for_all(const F& f) const {
    long long v = 0;
    if (rank() == 0) v = f();
    return shuffle_from(mask(), v, base);
  }

  EV_DEVICE int put_some(const Task& task, int first, int n) const {
    long long at;
    const int k = claim(tasks_in, 0, first, n, at), lane = rank() - first;
    sync_warp(mask());  // what any of the lanes has stored before is visible with each task
    if (lane >= 0 && lane < k) {
      fence_device();
      set.store(place(at + lane), task);
      fence_device();
      atomic_store(set.turns + slot(at + lane), turn(at + lane) + 1);
    }
    return k;
  }

  // Claims up to n consecutive positions from `at` on, whose places have all had their turn, for the lanes from `first` on.
  // Returns how many; 0: the first place has not had its turn.
  EV_DEVICE int claim(int counter, unsigned filled, int first, int n, long long& at) const {
    at = read(counter);
    for (;;) {
      const int lane = rank() - first;
      bool ready = false;
      if (lane >= 0 && lane < n && lane < set.capacity)
        ready = atomic_load(set.turns + slot(at + lane)) == turn(at + lane) + filled;
      const unsigned others = ~(ballot(mask(), ready) >> (base + first));
      const int k = others == 0 ? 32 : lowest_bit(others);
      const long long seen = k > 0 ? for_all([&] { return atomic_compare_exchange(set.pool + counter, at, at + k); }) : read(counter);
      if (k > 0 && seen == at) return k;
      // Where somebody empties the place at the moment, it will be free.
      if (k == 0 && seen == at && (filled == 1 || at - read(tasks_out) >= set.capacity)) return 0;
      at = seen;
    }
  }
};

template <class Set, int G, int T, int S, bool Converged> struct task_pool {
  using Task = typename Set::Task;
  using team = group<G, T, Converged>;
  static constexpr bool by_warp = team::in_warp;
  static constexpr int takers = by_warp ? T / 32 : team::per_block;  // per block
  static constexpr int groups = by_warp ? team::per_warp : 1;        // per taker
  static constexpr int lanes = by_warp ? groups * G : 32;            // of a warp that use the ring
  static_assert((S & (S - 1)) == 0 && S >= groups, "a power of two, with room for a batch");

  EV_DEVICE task_pool(const Set& s) : set(s), ring{s, 0} {
    if (mine.present() && leads()) *count() = 0;
    if (mine.present()) sync();
  }

  // Sees to it that the taker has tasks; false if there are none any more. Every thread calls it until it returns false.
  EV_DEVICE bool take() {
    if (!mine.present()) return false;
    if (held > 0 && (++batches & 3) == 0) {
      if (agreed([&] { return ring.read(tasks_stopped); })) return stop();
      const int more = held - groups;
      if (more > 0 && agreed([&] { return ring.read(takers_idle); })) give(more < lanes ? more : lanes);
    }
    return held > 0 || refill();
  }

  // Calls run(team, task, live) for the newest tasks, one for each group. Converged: for all groups of a warp. One without
  // a task of its own gets another's, with `live` false.
  template <class Run> EV_DEVICE void each(const Run& run) {
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

  // Puts a task on the stack or, where that is full, into the ring.
  EV_DEVICE void push(const Task& task) const {
    const int place = atomic_add(count(), 1);
    if (place < S) {
      stack()[(bottom + place) & (S - 1)] = task;
      return;
    }
    const task_ring<Set, 1> own{set, lane_rank()};
    atomic_add(set.pool + tasks_open, 1LL);
    if (own.put(task, 1) == 0) {
      atomic_add(set.pool + tasks_open, -1LL);
      keep(task);
      atomic_store(set.pool + tasks_stopped, 1LL);
    }
  }

  // At the end, notes how many tasks the taker has run.
  EV_DEVICE void leave() const {
    if (mine.present() && leads()) atomic_add(set.pool + tasks_run, ran);
  }

private:
  const Set& set;
  const task_ring<Set, lanes> ring;
  const team mine;
  enum { fresh, active, idle } state = fresh;
  bool firsts_left = true;
  int held = 0, bottom = 0, batches = 0;  // tasks in the stack, the place of the oldest
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
  EV_DEVICE int taker() const { return by_warp ? warp_rank() : mine.local(); }
  EV_DEVICE bool leads() const { return by_warp ? lane_rank() == 0 : mine.rank() == 0; }
  EV_DEVICE void sync() const {
    if constexpr (by_warp) sync_warp(ring.mask());
    else mine.sync();
  }

  // What the taker's first warp finds, for all of its threads. `f` gives the same to each lane.
  template <class F> EV_DEVICE long long agreed(const F& f) const {
    if constexpr (by_warp) return f();
    else {
      EV_SHARED(long long, found, takers);
      if (mine.rank() < 32) {
        const long long v = f();
        if (leads()) found[taker()] = v;
      }
      sync();
      const long long v = found[taker()];
      sync();
      return v;
    }
  }

  // Gives the n oldest tasks to the ring, as far as there is room.
  EV_DEVICE void give(int n) {
    const int k = (int)agreed([&] {
      const Task task = stack()[(bottom + lane_rank() % n) & (S - 1)];
      ring.add(tasks_open, n);
      const int given = ring.put(task, n);
      if (given < n) ring.add(tasks_open, given - n);
      return given;
    });
    bottom += k;
    held -= k;
  }

  // Gets tasks for an empty stack, and waits for them while others are active; false if there are none any more.
  EV_DEVICE bool refill() {
    for (;;) {
      held = (int)agreed([&] { return fetch(); });
      const bool found = held > 0;
      if (leads() && (found || state == active)) atomic_add(set.pool + tasks_open, (long long)(found - (state == active) - held));
      if (leads() && (found ? state == idle : state != idle)) atomic_add(set.pool + takers_idle, found ? -1LL : 1LL);
      state = found ? active : idle;
      sync();
      if (found) return true;
      if (agreed([&] { return ring.read(tasks_stopped); })) return stop();
      if (agreed([&] { return ring.read(tasks_open); }) == 0) return false;
      pause();
    }
  }

  // Puts first tasks that nobody has taken on the stack, or tasks of the ring. Returns how many.
  EV_DEVICE int fetch() {
    Task task;
    const int k = fetched(task);
    if (lane_rank() < k) stack()[(bottom + lane_rank()) & (S - 1)] = task;
    return k;
  }
  EV_DEVICE int fetched(Task& task) {
    if (firsts_left) {
      const long long at = ring.add(firsts_taken, groups), left = set.waiting - at;
      const int k = left < groups ? (int)left : groups;
      if (k > 0) {
        if (lane_rank() < k) task = set.load(set.from + at + lane_rank());
        return k;
      }
      firsts_left = false;
    }
    return ring.get(task, groups);
  }

  // Keeps what nobody has begun for a later call.
  EV_DEVICE bool stop() {
    agreed([&] {
      for (int i = lane_rank(); i < held; i += lanes) keep(stack()[(bottom + i) & (S - 1)]);
      Task task;
      for (int k; (k = fetched(task)) > 0;)
        if (lane_rank() < k) keep(task);
      return 0;
    });
    return false;
  }
  EV_DEVICE void keep(const Task& task) const {
    const long long place = atomic_add(set.pushed, 1LL);
    if (place < set.capacity) set.store(set.to + place, task);
    else if (place < set.capacity + set.spill) set.store(set.ring - set.spill + place - set.capacity, task);
  }
};

}  // namespace ev
