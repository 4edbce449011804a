// Tasks that are made while others run: a stack for each taker in shared memory (taker.cuh), and mail from those that have
// tasks to those that have none.
//
//     task_pool<Set, G, T, S, Converged> tasks(set);   // stacks of S tasks
//
// A taker takes the newest tasks of its stack, so that a tree is walked depth first and few tasks wait. Those that have no
// tasks wait for mail: others send them half of theirs, the oldest, which in a tree are the largest.
// (Donation of tasks: Tzeng, Patney, Owens, "Task Management for Irregular-Parallel Workloads on the GPU", HPG 2010.)
//
// What a task has stored before it pushes is visible to whoever runs the new task: a taker synchronizes between tasks,
// and mail is published by fences.
//
// Set: as in taker.cuh, and the members
//     Task* mail;                          // 32 tasks for each taker: its box
//     int* flags;                          // zero between launches: for each taker, how many tasks are in its box; then, for each,
//                                          // a bit: whether it waits. Both are in whole sectors, of 8 words
#pragma once
#include "gpu.cuh"
#include "orders.cuh"
#include "taker.cuh"

namespace ev {

// Mail from takers to idle ones. The lanes 0..W-1 of a warp call each function together.
//
// An idle taker sets its bit, and watches its own box. So it waits where nobody else does. Whoever clears the bit sends mail; to all
// takers of a word at once, if there are tasks for so many.
// One that has tasks to spare looks at a word of bits for each lane, and elsewhere when nobody there waits: had all to look at one
// counter, they would wait for it.
//
// takers_idle has two counts: in the lower half those that are idle, in the upper half those that have begun. A taker sets its
// bit before it raises the first one, and whoever clears bits lowers it, before this one can be idle itself. So the taker
// that makes them equal knows that no other has tasks, or will get any: it clears all bits, and tells all those takers. A
// taker that begins later finds the same.
template <class Set, int W> struct task_mail {
  using Task = typename Set::Task;
  const Set& set;
  const int own, words;  // the taker's number; how many words of bits there are
  unsigned* const bits;
  int window;            // of W words, that it looks at

  EV_DEVICE task_mail(const Set& s, int taker, int takers)
    : set(s), own(taker), words(ceil_div(takers, 32)), bits((unsigned*)s.flags + (takers + 7) / 8 * 8), window(taker % windows()) {}

  EV_DEVICE void begin() const {
    if (lane_rank() == 0) atomic_add(set.pool + takers_idle, 1LL << 32);
  }

  // Looks for takers that wait, in so many windows at most. Returns what this lane sees, for `send`.
  EV_DEVICE unsigned look(int tries) {
    for (;; window = window + 1 == windows() ? 0 : window + 1) {
      const int at = window * W + lane_rank();
      const unsigned seen = at < words ? atomic_load(bits + at) : 0u;
      if (--tries == 0 || any(mask(), seen != 0)) return seen;
    }
  }
  EV_DEVICE int windows() const { return ceil_div(words, W); }

  // Sends up to n tasks, get(0), get(1), ..., to takers that are seen to wait, up to `most` to each. Returns how many.
  template <class Get> EV_DEVICE int send(const Get& get, int n, int most, unsigned seen) {
    const unsigned able = ballot(mask(), seen != 0);
    if (able == 0) {
      window = window + 1 == windows() ? 0 : window + 1;
      return 0;
    }
    const int turn = own % W, lane = (lowest_bit(rotated(able, turn, W)) + turn) % W, at = window * W + lane;
    const unsigned taken = clear(at, shuffle_from(mask(), seen, lane), n);
    const int takers = count_bits(taken), sent = takers * most < n ? takers * most : n;
    for (int i = lane_rank(); i < 32; i += W) {
      if ((taken >> i & 1) == 0) continue;
      int k = 0;
      for (int j = count_bits(taken & lanes_below(i)); j < sent; j += takers) set.mail[32 * (32 * at + i) + k++] = get(j);
      fence<release>();  // also for what other lanes have stored before they synchronized
      atomic_store(set.flags + 32 * at + i, k);
    }
    return sent;
  }

  // Waits for mail. Returns how many tasks came, for the first lanes; 0: there will be none any more. The lanes synchronize
  // before it is called again.
  EV_DEVICE int receive(Task& task) const {
    const long long before = lane_0_finds<W>([&] {
      fence<release>();  // the mail before has been read
      atomic_or(bits + own / 32, 1u << own % 32);
      fence<release>();
      return atomic_add(set.pool + takers_idle, 1LL);
    });
    if (idle(before) + 1 == begun(before) && end()) return 0;
    int found;
    while ((found = (int)lane_0_finds<W>([&] { return atomic_load(set.flags + own); })) == 0) pause();
    fence<acquire>();
    sync_warp(mask());
    const int n = found == over ? 0 : found;
    if (lane_rank() < n) task = set.mail[32 * own + lane_rank()];
    if (lane_rank() == 0) atomic_store(set.flags + own, 0);
    return n;
  }

  static EV_DEVICE unsigned mask() { return lanes_through(W - 1); }

private:
  static constexpr int over = -1;
  static EV_DEVICE int idle(long long both) { return (int)both; }
  static EV_DEVICE int begun(long long both) { return (int)((both - idle(both)) >> 32); }

  // The lowest `width` bits, turned to the right by n < width.
  static EV_DEVICE unsigned rotated(unsigned bits, int n, int width) { return n == 0 ? bits : bits >> n | bits << (width - n); }

  // Clears up to n of the bits of a word that were seen. Returns those that were still set.
  EV_DEVICE unsigned clear(int at, unsigned seen, int n) const {
    unsigned wanted = seen;
    if (count_bits(seen) > n) {
      unsigned left = rotated(seen, own % 32, 32);  // not all begin at the same one
      wanted = 0;
      for (int i = 0; i < n; ++i, left &= left - 1) wanted |= 1u << (lowest_bit(left) + own) % 32;
    }
    const unsigned taken = (unsigned)lane_0_finds<W>([&] { return atomic_and<acquire>(bits + at, ~wanted); }) & wanted;
    if (taken != 0 && lane_rank() == 0) atomic_add(set.pool + takers_idle, -(long long)count_bits(taken));
    sync_warp(mask());
    return taken;
  }

  // Tells all who wait, but this taker, that there are no tasks any more. False if another one tells this one, too: that found the
  // same before this one began.
  EV_DEVICE bool end() const {
    fence<acquire>();
    bool is_told = true;
    for (int w = lane_rank(); w < words; w += W) {
      unsigned waiting = atomic_exchange(bits + w, 0u);
      const unsigned mine = w == own / 32 ? 1u << own % 32 : 0u;
      if (mine != 0) is_told = (waiting & mine) == 0;
      for (waiting &= ~mine; waiting != 0; waiting &= waiting - 1) atomic_store(set.flags + 32 * w + lowest_bit(waiting), over);
    }
    return !all(mask(), is_told);
  }
};

template <class Set, int G, int T, int S, bool Converged> struct task_pool : task_taker<Set, G, T, S, Converged> {
  using base = task_taker<Set, G, T, S, Converged>;
  using Task = typename Set::Task;
  using base::agreed, base::bottom, base::first_warp, base::firsts, base::groups, base::held, base::is_full, base::keep, base::lanes, base::mine,
      base::set, base::stack, base::sync, base::taker, base::takers;

  EV_DEVICE task_pool(const Set& s) : base(s), mail(s, block_rank() * takers + taker(), takers * block_count()) {
    if (mine.present() && first_warp()) mail.begin();
  }

  EV_DEVICE bool take() {
    if (!mine.present()) return false;
    for (;;) {
      if (held > counts.most) counts.most = held;
      if (held == 0 && !refill()) return false;
      if (!(look && held > 1) && (++batches & 3) != 0 && !agreed([&] { return late(); })) return true;
      const int given = agreed([&] { return share(); });
      looked = cycles();
      if (given != all) {
        if (held > 1) look = given > 0;
        bottom += given;
        held -= given;
        return true;
      }
      keep_all();
    }
  }

  EV_DEVICE void leave() const { base::leave(counts); }

private:
  static constexpr int all = -1;
  task_mail<Set, lanes> mail;
  taker_counts counts;
  bool look = false;  // whether to look at once if others wait
  int batches = 0;
  long long looked = cycles();

  // Whether tasks have run for long since this taker has looked at who waits.
  EV_DEVICE bool late() const {
    return lane_0_finds<lanes>([&] { return (long long)(cycles() - looked > 20'000); }) != 0;
  }

  // Gives the oldest tasks to takers that wait: half of what there is, and all that this one cannot begin now, if the next look
  // may be far away. Returns how many; `all`: tasks are only kept now.
  EV_DEVICE int share() {
    const bool is_late = late();
    const int spare = is_late && held - groups > held / 2 ? held - groups : held / 2;
    const unsigned waiting = spare > 0 ? mail.look(is_late ? mail.windows() : 1) : 0u;
    if (is_full()) return all;
    if (spare == 0) return 0;
    const int given = mail.send([&](int i) { return stack()[(bottom + i) & (S - 1)]; }, spare, groups, waiting);
    if (given == 0) ++counts.in_vain;
    return given;
  }

  // Gets tasks for an empty stack; false if there are none any more.
  EV_DEVICE bool refill() {
    held = agreed([&] {
      Task task;
      int k = firsts(task);
      if (k == 0) counts.got += k = mail.receive(task);
      if (lane_rank() < k) stack()[(bottom + lane_rank()) & (S - 1)] = task;
      return k;
    });
    look = true;
    sync();
    return held > 0;
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
};

}  // namespace ev
