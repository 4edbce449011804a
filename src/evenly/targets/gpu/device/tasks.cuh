// Tasks that are made while others run: a stack for each taker in shared memory, and mail from those that have tasks to
// those that have none.
//
//     task_pool<Set, G, T, S, Converged> tasks(set);   // stacks of S tasks; groups of G threads run tasks
//     while (tasks.take()) tasks.each(run);            // run(team, task, live): see each
//     tasks.push(task);                                // in run, by any thread, any number of times
//     tasks.leave();
//
// A taker is a warp or, if G > 32, a group of several warps, as in dynamic.cuh. It takes the newest tasks of its stack,
// one for each of its groups, and puts what they push on top, so that a tree is walked depth first and few tasks wait.
// One that has no tasks waits for mail: others send it half of theirs, the oldest, which in a tree are the largest.
// (Donation of tasks: Tzeng, Patney, Owens, "Task Management for Irregular-Parallel Workloads on the GPU", HPG 2010.)
//
// What has no room in a stack is kept in a list, for the next round. If that list is too short, all takers put what they
// have not begun there, and the round ends.
//
// What a task has stored before it pushes is visible to whoever runs the new task: a taker synchronizes between tasks,
// and mail is published by fences.
//
// Set: the task set. `Task load(place)` and `void store(place, task)` of the lists, and the members
//     long long* pool;                     // the counters below, all 0 at first
//     long long* pushed;                   // how many tasks are kept for the next round
//     long long waiting, from, to;         // the tasks that wait at first, their place, and that of those to keep
//     long long capacity, spill, spilled;  // of the list to keep tasks in; of what lies beyond; the place of that
//     Task* mail;                          // 32 tasks for each taker
//     int* flags;                          // (takers,), zero between launches: what is in a box
#pragma once
#include "gpu.cuh"
#include "group.cuh"
#include "together.cuh"

namespace ev {

// Where the counters are in `pool`: each has a line of memory of its own.
enum task_counter { takers_idle = 0, mail_wanted = 16, mail_sent = 32, firsts_taken = 48, tasks_run = 64 };

// Mail from takers to idle ones. The lanes 0..W-1 of a warp call each function together.
//
// An idle taker draws a number, whose box it watches. So it waits where nobody else does. Whoever sends mail draws a
// number, too, and the same numbers meet: a queue by tickets, in which those that take may wait before there is anything.
// The flag of a box is 0, or says of which number the mail is, and how many tasks it has. There are as many boxes as
// takers, and a taker wants one mail at a time.
//
// takers_idle has two counts: in the lower half those that want mail which nobody sends yet, in the upper half those
// that have begun. Who sends mail lowers the first one before. So the taker that makes them equal knows that no other has
// tasks, or will get any: it tells all that wait. A taker that begins later finds the same.
template <class Set, int W> struct task_mail {
  using Task = typename Set::Task;
  const Set& set;
  const int boxes;

  EV_DEVICE void begin() const {
    if (lane_rank() == 0) atomic_add(set.pool + takers_idle, 1LL << 32);
  }

  // Sends a task of each of the first n lanes to a taker that waits. Returns whether one does.
  EV_DEVICE bool send(const Task& task, int n) const {
    if (idle(add(takers_idle, -1)) <= 0) {
      add(takers_idle, 1);
      return false;
    }
    const long long number = add(mail_sent, 1);
    const int box = (int)(number % boxes);
    while (for_all([&] { return atomic_load(set.flags + box); }) != 0) {}  // the mail before it is read at the moment
    fence_device();
    sync_warp(mask());
    if (lane_rank() < n) set.mail[32 * box + lane_rank()] = task;
    sync_warp(mask());  // with what any of the lanes has stored before
    if (lane_rank() == 0) {
      fence_device();
      atomic_store(set.flags + box, flag(number) + n);
    }
    return true;
  }

  // Waits for mail. Returns how many tasks came, for the first lanes; 0: there will be none any more.
  EV_DEVICE int receive(Task& task) const {
    const long long number = add(mail_wanted, 1);
    const int box = (int)(number % boxes);
    fence_device();
    const long long before = add(takers_idle, 1);
    if (idle(before) + 1 == begun(before) && end(number)) return 0;
    int found;
    while ((found = (int)for_all([&] { return atomic_load(set.flags + box); })) != over && found / 64 != flag(number) / 64) pause();
    fence_device();
    sync_warp(mask());
    const int n = found == over ? 0 : found % 64;
    if (lane_rank() < n) task = set.mail[32 * box + lane_rank()];
    sync_warp(mask());
    if (lane_rank() == 0) {
      fence_device();
      atomic_store(set.flags + box, 0);
    }
    return n;
  }

  // A counter. add: its value before.
  EV_DEVICE long long add(int counter, long long n) const { return for_all([&] { return atomic_add(set.pool + counter, n); }); }
  EV_DEVICE long long read(int counter) const { return for_all([&] { return atomic_load(set.pool + counter); }); }
  EV_DEVICE bool anybody_waits() const { return idle(read(takers_idle)) > 0; }

  // What lane 0 finds.
  template <class F> EV_DEVICE long long for_all(const F& f) const {
    long long v = 0;
    if (lane_rank() == 0) v = f();
    return shuffle_from(mask(), v, 0);
  }
  static EV_DEVICE unsigned mask() { return lanes_through(W - 1); }

private:
  static constexpr int over = -1;
  EV_DEVICE int flag(long long number) const { return (int)(number / boxes % (1 << 24) + 1) * 64; }
  static EV_DEVICE int idle(long long both) { return (int)both; }
  static EV_DEVICE int begun(long long both) { return (int)((both - idle(both)) >> 32); }

  // Tells all who want mail, but this taker, that there is none any more. False if another one tells this one, too: that
  // found the same before this one began.
  EV_DEVICE bool end(long long own) const {
    fence_device();
    const long long wanted = read(mail_wanted), sent = for_all([&] { return atomic_max(set.pool + mail_sent, wanted); });
    for (long long n = sent + lane_rank(); n < wanted; n += W)
      if (n != own) atomic_store(set.flags + n % boxes, over);
    return sent <= own;
  }
};

template <class Set, int G, int T, int S, bool Converged> struct task_pool {
  using Task = typename Set::Task;
  using team = group<G, T, Converged>;
  static constexpr bool by_warp = team::in_warp;
  static constexpr int takers = by_warp ? T / 32 : team::per_block;  // per block
  static constexpr int groups = by_warp ? team::per_warp : 1;        // per taker
  static constexpr int lanes = by_warp ? groups * G : 32;            // of a warp that mail tasks
  static_assert((S & (S - 1)) == 0 && S >= 32, "a power of two, with room for a mail");

  EV_DEVICE task_pool(const Set& s) : set(s), mail{s, takers * block_count()} {
    if (mine.present() && first_warp()) mail.begin();
  }

  // Sees to it that the taker has tasks; false if there are none any more. Every thread calls it until it returns false.
  EV_DEVICE bool take() {
    if (!mine.present()) return false;
    for (;;) {
      if (held == 0 && !refill()) return false;
      if (!look && (++batches & 3) != 0) return true;
      if (agreed([&] { return mail.for_all([&] { return atomic_load(set.pushed); }) > set.capacity; })) {
        keep_all();
        continue;
      }
      look = held > 1 && agreed([&] { return mail.anybody_waits(); });
      if (look) give(held / 2 < lanes ? held / 2 : lanes);
      return true;
    }
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

  // Puts a task on the stack. If that is full, it is for the next round.
  EV_DEVICE void push(const Task& task) const {
    const int place = atomic_add(count(), 1);
    if (place < S) stack()[(bottom + place) & (S - 1)] = task;
    else keep(task);
  }

  // At the end, notes how many tasks the taker has run.
  EV_DEVICE void leave() const {
    if (mine.present() && leads()) atomic_add(set.pool + tasks_run, ran);
  }

private:
  const Set& set;
  const task_mail<Set, lanes> mail;
  const team mine;
  bool firsts_left = true, look = false;  // whether to look at once if others wait
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
  EV_DEVICE bool first_warp() const { return by_warp || mine.rank() < 32; }
  EV_DEVICE void sync() const {
    if constexpr (by_warp) sync_warp(mail.mask());
    else mine.sync();
  }

  // What the taker's first warp finds, for all of its threads. `f` gives the same to each lane. Each place that calls has
  // shared memory of its own, and `each` synchronizes before the place is reached again.
  template <class F> EV_DEVICE int agreed(const F& f) const {
    if constexpr (by_warp) return f();
    else {
      EV_SHARED(int, found, takers);
      if (first_warp()) {
        const int v = f();
        if (leads()) found[taker()] = v;
      }
      sync();
      return found[taker()];
    }
  }

  // Gives the n oldest tasks to a taker that waits.
  EV_DEVICE void give(int n) {
    if (!agreed([&] { return mail.send(stack()[(bottom + lane_rank() % n) & (S - 1)], n); })) return;
    bottom += n;
    held -= n;
  }

  // Gets tasks for an empty stack; false if there are none any more.
  EV_DEVICE bool refill() {
    held = agreed([&] {
      Task task;
      int k = firsts(task);
      if (k == 0) k = mail.receive(task);
      if (lane_rank() < k) stack()[(bottom + lane_rank()) & (S - 1)] = task;
      return k;
    });
    look = true;
    sync();
    return held > 0;
  }

  // Takes some of the tasks that waited at first. Returns how many.
  EV_DEVICE int firsts(Task& task) {
    if (!firsts_left) return 0;
    const long long at = mail.add(firsts_taken, groups), left = set.waiting - at;
    const int k = left < groups ? (int)left : groups;
    firsts_left = k > 0;
    if (lane_rank() < k) task = set.load(set.from + at + lane_rank());
    return firsts_left ? k : 0;
  }

  // Keeps what nobody has begun.
  EV_DEVICE void keep_all() {
    agreed([&] {
      for (int i = lane_rank(); i < held; i += lanes) keep(stack()[(bottom + i) & (S - 1)]);
      Task task;
      for (int k; (k = firsts(task)) > 0;)
        if (lane_rank() < k) keep(task);
      return 0;
    });
    held = 0;
  }
  EV_DEVICE void keep(const Task& task) const {
    const long long place = add_together(set.pushed, 1LL);
    if (place < set.capacity) set.store(set.to + place, task);
    else if (place < set.capacity + set.spill) set.store(set.spilled + place - set.capacity, task);
  }
};

}  // namespace ev
