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
//     Task* mail;                          // (boxes, groups of a taker), with `each` boxes for a taker (task_mail)
//     int* flags;                          // (boxes,), zero between launches: what is in a box
#pragma once
#include "gpu.cuh"
#include "orders.cuh"
#include "taker.cuh"

namespace ev {

// Mails of up to N tasks. The lanes 0..W-1 of a warp call each function together.
//
// An idle taker draws a number, whose box it watches. So it waits where nobody else does. Whoever sends mail draws a
// number, too, and the same numbers meet: a queue by tickets, in which those that take may wait before there is anything.
// The flag of a box is 0, or says of which number the mail is, and how many tasks it has. A taker wants one mail at a time,
// and sends up to W / N at a time only if somebody waits: all others may see the same one. So for each there is a box for the
// mail that it wants, and as many as it sends. With fewer, two that send would wait for one box, and both find it free. If more
// mails are sent than wanted, the next that are idle find them. This counts on a taker not to stand still between its number and
// its box while others send as many mails as there are boxes: the next one for that box would find it free
// (benchmarks/notes/tasks.md).
//
// mail_numbers has both: in the upper half how many were drawn by idle takers, in the lower half those of mails. So an idle
// taker finds how many wait with it. If these are all that have begun, no other has tasks, or will get any, and it tells
// all that wait. A taker that begins later finds the same.
template <class Set, int W, int N> struct task_mail {
  using Task = typename Set::Task;
  static constexpr int each = 1 + W / N;  // boxes for a taker
  const Set& set;
  const unsigned boxes;
  int begun = 0;           // takers, when this one looked: in lane 0
  long long in_vain = 0;   // how often there was no mail at once

  EV_DEVICE task_mail(const Set& s, int takers) : set(s), boxes((unsigned)(each * takers)) {}

  EV_DEVICE void begin() const {
    if (lane_rank() == 0) {
      atomic_add(set.pool + takers_begun, 1LL);
      fence<release>();  // before it draws anything: tasks, or a number
    }
  }

  // Sends a task of each of the first n lanes, to takers that wait or to the next ones that will: mails of N tasks, the last of what
  // is left. They are numbered by one addition, and wait for their boxes and for memory together.
  EV_DEVICE void send(const Task& task, int n) const {
    const int own = lane_rank() % N, k = minimum(N, n - lane_rank() + own);  // its place in its mail, and how many that has
    const unsigned number = (unsigned)add(mail_numbers, (n + N - 1) / N) + lane_rank() / N, box = number % boxes;
    const bool sends = lane_rank() < n, leads = sends && own == 0;
    while (any(mask(), leads && atomic_load(set.flags + box) != 0)) {}  // mails before them are read at the moment
    fence<acquire>();
    sync_warp(mask());
    if (sends) set.mail[(long long)N * box + own] = task;
    sync_warp(mask());  // with what any of the lanes has stored before
    if (leads) {
      fence<release>();
      atomic_store(set.flags + box, flag(number) + k);
    }
  }

  // Waits for mail. Returns how many tasks came, for the first lanes; 0: there will be none any more.
  EV_DEVICE int receive(Task& task) {
    const long long before = add(mail_numbers, 1LL << 32);
    const unsigned number = (unsigned)(before >> 32), box = number % boxes;
    if (waiting(before) >= 0) ++in_vain;
    if (all_wait(waiting(before) + 1) && end(number, (unsigned)before)) return 0;
    int found;
    while ((found = (int)lane_0_finds<W>([&] { return atomic_load(set.flags + box); })) != over && found / 64 != flag(number) / 64) pause();
    fence<acquire>();
    sync_warp(mask());
    const int n = found == over ? 0 : found % 64;
    if (lane_rank() < n) task = set.mail[(long long)N * box + lane_rank()];
    sync_warp(mask());
    if (lane_rank() == 0) {
      fence<release>();
      atomic_store(set.flags + box, 0);
    }
    return n;
  }

  // A counter. add: its value before.
  EV_DEVICE long long add(int counter, long long n) const { return lane_0_finds<W>([&] { return atomic_add(set.pool + counter, n); }); }
  // How many takers wait for mail; less than 0: how many mails wait for one.
  EV_DEVICE int waiting() const { return waiting(atomic_load(set.pool + mail_numbers)); }

  static EV_DEVICE unsigned mask() { return lanes_through(W - 1); }

private:
  static constexpr int over = -1;
  EV_DEVICE int flag(unsigned number) const { return (int)(number / boxes % (1 << 24) + 1) * 64; }
  static EV_DEVICE int waiting(long long both) { return (int)((unsigned)(both >> 32) - (unsigned)both); }

  // Whether n takers are all that have begun.
  EV_DEVICE bool all_wait(int n) {
    return lane_0_finds<W>([&] {
      if (n < begun) return 0LL;
      fence<acquire>();
      begun = (int)atomic_load(set.pool + takers_begun);
      return (long long)(n == begun);
    }) != 0;
  }

  // Tells all who want mail, but this taker, that there is none any more. False if another one tells this one, too: that
  // found the same before this one began.
  EV_DEVICE bool end(unsigned own, unsigned sent) const {
    const unsigned told = (unsigned)lane_0_finds<W>([&] { return atomic_max(set.pool + mail_told, own + 1LL); });
    for (unsigned n = maximum(told, sent) + lane_rank(); n < own; n += W) atomic_store(set.flags + n % boxes, over);
    return told <= own;
  }
};

template <class Set, int G, int T, int S, bool Converged> struct task_pool : task_taker<Set, G, T, S, Converged> {
  using base = task_taker<Set, G, T, S, Converged>;
  using Task = typename Set::Task;
  using base::at_once, base::batch_size, base::bottom, base::first_warp, base::firsts, base::groups, base::held, base::is_full, base::keep, base::lanes,
      base::mine, base::set, base::stack, base::sync, base::taken, base::takers, base::times;

  EV_DEVICE task_pool(const Set& s) : base(s), mail(s, takers * block_count()) {
    if (mine.present() && first_warp()) mail.begin();
  }

  EV_DEVICE bool take() {
    return mine.present() && taken([&] { return ready(); });
  }

  EV_DEVICE void leave() {
    counts.in_vain = mail.in_vain;
    base::leave(counts);
  }

private:
  static constexpr int all = -1, longest = 32;
  static constexpr int quick = 0, usual = 1, late = 2;  // see pace
  task_mail<Set, lanes, groups> mail;
  taker_counts counts;
  int until = 1, gap = 1;  // batches until it looks whether mail is wanted, and from then on
  int batches = 0;         // since it has looked
  unsigned looked = (unsigned)cycles();

  // Sees to it that there are tasks, and sends some if that is wanted. Returns whether there are.
  EV_DEVICE bool ready() {
    for (;;) {
      if (held > counts.most) counts.most = held;
      if (held == 0 && !refill()) return false;
      const int now = pace();
      at_once = now == quick ? batch_size : 1;
      if (--until > 0 && now != late) return true;
      const int given = share(now);
      looked = (unsigned)cycles();
      batches = 0;
      until = gap;
      if (given != all) {
        bottom += given;
        held -= given;
        return true;
      }
      keep_all();
    }
  }

  // How long tasks take: few cycles each, or so many that it should look whether mail is wanted.
  EV_DEVICE int pace() {
    ++batches;
    return (int)lane_0_finds<lanes>([&] {
      const unsigned took = (unsigned)cycles() - looked;
      return (long long)(took > 20'000 ? late : took < 4'000u * batches ? quick : usual);
    });
  }

  // What lane 0 sees at once: `all` if tasks are only kept now, else how many takers wait for a mail.
  EV_DEVICE int wanted() const {
    return (int)lane_0_finds<lanes>([&] {
      const long long pushed = atomic_load(set.pushed), n = mail.waiting();
      return pushed > set.capacity ? (long long)all : n > 0 ? n : 0LL;
    });
  }

  // Sends the oldest tasks, one for each group of a taker, to some of those that wait: to more of them if these are many, but
  // to no more than it can serve at once. It keeps half of what it has; if tasks take long, a task for each of its own groups.
  // A taker that is one group runs its tasks one after the other, so it keeps one unless they are few cycles long. Returns
  // how many it sends; `all`: tasks are only kept now.
  EV_DEVICE int share(int now) {
    int given = 0, n = wanted();
    if (n == all) return all;
    gap = n > 0 ? 1 : gap < longest ? 2 * gap : longest;
    const bool keeps_one = now == late || (groups == 1 && now == usual);
    const int kept = keeps_one ? groups : maximum(groups, held / 2);
    for (; n > 0 && held - given > (given == 0 ? 1 : kept); n = wanted()) {
      const int left = held - given, mails = minimum(minimum(1 + n / 16, lanes / groups), (left - kept) / groups);
      const int sent = mails > 1 ? mails * groups : minimum(left / 2, (int)groups);
      mail.send(stack()[(bottom + given + minimum(lane_rank(), sent - 1)) & (S - 1)], sent);
      given += sent;
      if (now != late && n < (int)mail.boxes / (8 * mail.each)) break;
    }
    return given;
  }

  // Gets tasks for an empty stack; false if there are none any more.
  EV_DEVICE bool refill() {
    Task task;
    held = firsts(task);
    if (held == 0) {
      times.rests();
      counts.got += held = mail.receive(task);
      times.works();
    }
    if (lane_rank() < held) stack()[(bottom + lane_rank()) & (S - 1)] = task;
    until = gap = 1;
    batches = 0;
    looked = (unsigned)cycles();
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
