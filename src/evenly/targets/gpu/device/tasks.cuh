// Tasks that are made while others run: a stack for each taker in shared memory (taker.cuh), and mail from those that have
// tasks to those that have none.
//
//     task_pool<Set, G, T, S, Converged> tasks(set);   // stacks of S tasks
//
// A taker takes the newest tasks of its stack, so that a tree is walked depth first and few tasks wait. One that has no
// tasks waits for mail: others send it half of theirs, the oldest, which in a tree are the largest.
// (Donation of tasks: Tzeng, Patney, Owens, "Task Management for Irregular-Parallel Workloads on the GPU", HPG 2010.)
//
// What a task has stored before it pushes is visible to whoever runs the new task: a taker synchronizes between tasks,
// and mail is published by fences.
//
// Set: as in taker.cuh, and the members
//     Task* mail;                          // 32 tasks for each taker
//     int* flags;                          // (takers,), zero between launches: what is in a box
#pragma once
#include "gpu.cuh"
#include "orders.cuh"
#include "taker.cuh"

namespace ev {

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
    while (lane_0_finds<W>([&] { return atomic_load(set.flags + box); }) != 0) {}  // the mail before it is read at the moment
    fence<acquire>();
    sync_warp(mask());
    if (lane_rank() < n) set.mail[32 * box + lane_rank()] = task;
    sync_warp(mask());  // with what any of the lanes has stored before
    if (lane_rank() == 0) {
      fence<release>();
      atomic_store(set.flags + box, flag(number) + n);
    }
    return true;
  }

  // Waits for mail. Returns how many tasks came, for the first lanes; 0: there will be none any more.
  EV_DEVICE int receive(Task& task) const {
    const long long number = add(mail_wanted, 1);
    const int box = (int)(number % boxes);
    fence<release>();
    const long long before = add(takers_idle, 1);
    if (idle(before) + 1 == begun(before) && end(number)) return 0;
    int found;
    while ((found = (int)lane_0_finds<W>([&] { return atomic_load(set.flags + box); })) != over && found / 64 != flag(number) / 64) pause();
    fence<acquire>();
    sync_warp(mask());
    const int n = found == over ? 0 : found % 64;
    if (lane_rank() < n) task = set.mail[32 * box + lane_rank()];
    sync_warp(mask());
    if (lane_rank() == 0) {
      fence<release>();
      atomic_store(set.flags + box, 0);
    }
    return n;
  }

  // A counter. add: its value before.
  EV_DEVICE long long add(int counter, long long n) const { return lane_0_finds<W>([&] { return atomic_add(set.pool + counter, n); }); }
  EV_DEVICE long long read(int counter) const { return lane_0_finds<W>([&] { return atomic_load(set.pool + counter); }); }
  EV_DEVICE int waiting() const { return idle(atomic_load(set.pool + takers_idle)); }

  static EV_DEVICE unsigned mask() { return lanes_through(W - 1); }

private:
  static constexpr int over = -1;
  EV_DEVICE int flag(long long number) const { return (int)(number / boxes % (1 << 24) + 1) * 64; }
  static EV_DEVICE int idle(long long both) { return (int)both; }
  static EV_DEVICE int begun(long long both) { return (int)((both - idle(both)) >> 32); }

  // Tells all who want mail, but this taker, that there is none any more. False if another one tells this one, too: that
  // found the same before this one began.
  EV_DEVICE bool end(long long own) const {
    fence<acquire>();
    const long long wanted = read(mail_wanted), sent = lane_0_finds<W>([&] { return atomic_max(set.pool + mail_sent, wanted); });
    for (long long n = sent + lane_rank(); n < wanted; n += W)
      if (n != own) atomic_store(set.flags + n % boxes, over);
    return sent <= own;
  }
};

template <class Set, int G, int T, int S, bool Converged> struct task_pool : task_taker<Set, G, T, S, Converged> {
  using base = task_taker<Set, G, T, S, Converged>;
  using Task = typename Set::Task;
  using base::bottom, base::first_warp, base::firsts, base::groups, base::held, base::is_full, base::keep, base::lanes, base::mine,
      base::set, base::stack, base::sync, base::taken, base::takers;

  EV_DEVICE task_pool(const Set& s) : base(s), mail{s, takers * block_count()} {
    if (mine.present() && first_warp()) mail.begin();
  }

  EV_DEVICE bool take() {
    return mine.present() && taken([&] { return ready(); });
  }

  EV_DEVICE void leave() const { base::leave(counts); }

private:
  static constexpr int all = -1;
  const task_mail<Set, lanes> mail;
  taker_counts counts;
  bool look = false;  // whether to look at once if others wait
  int batches = 0;
  long long looked = cycles();

  // Sees to it that there are tasks, and gives some to who waits. Returns whether there are.
  EV_DEVICE bool ready() {
    for (;;) {
      if (held > counts.most) counts.most = held;
      if (held == 0 && !refill()) return false;
      if (!look && (++batches & 3) != 0 && !late()) return true;
      const int given = share();
      looked = cycles();
      if (given != all) {
        look = given > 0;
        bottom += given;
        held -= given;
        return true;
      }
      keep_all();
    }
  }

  // Whether tasks have run for long since this taker has looked at who waits.
  EV_DEVICE bool late() const {
    return lane_0_finds<lanes>([&] { return (long long)(cycles() - looked > 20'000); }) != 0;
  }

  // What lane 0 sees at once: `all` if tasks are only kept now, else whether others wait.
  EV_DEVICE int seen() const {
    return (int)lane_0_finds<lanes>([&] {
      const long long pushed = atomic_load(set.pushed), waiting = mail.waiting();
      return pushed > set.capacity ? (long long)all : (long long)(waiting > 0);
    });
  }

  // Gives the oldest tasks to a taker that waits, one for each of its groups, but no more than half of them. In a tree they are
  // large, so one mail is enough until the next look; not if that is far away. Returns how many it gives; `all`: tasks are
  // only kept now.
  EV_DEVICE int share() {
    int given = 0, waits = seen();
    if (waits == all) return all;
    for (const bool some = !late(); waits > 0 && held - given > (given == 0 ? 1 : groups); waits = seen()) {
      const int half = (held - given) / 2, n = half < groups ? half : groups;
      if (!mail.send(stack()[(bottom + given + lane_rank() % n) & (S - 1)], n)) {
        ++counts.in_vain;
        break;
      }
      given += n;
      if (some) break;
    }
    return given;
  }

  // Gets tasks for an empty stack; false if there are none any more.
  EV_DEVICE bool refill() {
    Task task;
    held = firsts(task);
    if (held == 0) counts.got += held = mail.receive(task);
    if (lane_rank() < held) stack()[(bottom + lane_rank()) & (S - 1)] = task;
    look = true;
    sync();
    return held > 0;
  }

  // Keeps what nobody has begun.
  EV_DEVICE void keep_all() {
    for (int i = lane_rank(); i < held; i += lanes) keep(stack()[(bottom + i) & (S - 1)]);
    Task task;
    for (int k; (k = firsts(task)) > 0;)
      if (lane_rank() < k) keep(task);
    held = 0;
  }
};

}  // namespace ev
