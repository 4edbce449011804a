// Tasks that takers (taker.cuh) put into a queue when they are made, and get from it when they have none.
//
//     queued_tasks<Set, Queue, G, T, S, Converged> tasks(set);   // Queue: as in queues.cuh
//
// Tasks wait in places, and the queue holds the numbers of these. A compare-and-swap reserves a place, beginning at one of
// the taker's own. `unfinished` counts tasks that run or wait, less those that waited at first. It is raised before a task
// can be got, and lowered when those that this one makes are in it. So there is nothing to come if it is at its end.
//
// Where there is no place, or no room in the queue, a task is kept for the next round.
//
// Set: as in taker.cuh, and the members
//     Task* made;             // the places
//     int* reserved;          // for each of them, zero between launches
//     int places, room;       // their number, and the room of the queue; powers of two
//     long long* words;       // of the queue; see clear_words
#pragma once
#include "queues.cuh"
#include "taker.cuh"

namespace ev {

// The queue, with tasks in place of items. The lanes 0..W-1 of a warp call each function together.
template <class Set, class Queue, int W> struct task_queue {
  using Task = typename Set::Task;
  const Set& set;
  Queue queue;
  int next;            // where a place is looked for first
  long long most = 0;  // tasks at a time, less those that waited at first

  EV_DEVICE task_queue(const Set& s, int taker, int takers)
    : set(s), queue(queue_memory{s.pool + queue_begin, s.pool + queue_end, s.pool + queue_lock, s.words, s.room, taker, takers}),
      next((int)((long long)s.places * taker / takers)) {}

  EV_DEVICE void count(long long n) {
    if (lane_rank() == 0 && n != 0) {
      const long long now = atomic_add(set.pool + unfinished, n) + n;
      if constexpr (Set::counted) most = maximum(most, now);
    }
  }
  EV_DEVICE bool all_done() const { return lane_0_finds<W>([&] { return atomic_load(set.pool + unfinished); }) + set.waiting == 0; }

  // Puts a task of each of the first n lanes. Returns whether this lane has none any more.
  EV_DEVICE bool put(const Task& task, int n) {
    const int place = lane_rank() < n ? reserve() : no_item;
    if (place != no_item) set.made[place] = task;
    next = (next + n) & (set.places - 1);
    sync_warp(lanes_through(W - 1));  // with what any of the lanes has stored before
    const bool is_in = queue.template put<W>(place, place != no_item);
    if (place != no_item && !is_in) atomic_store(set.reserved + place, 0);
    return lane_rank() >= n || is_in;
  }

  // Gets up to n tasks, for the first lanes. Returns how many.
  EV_DEVICE int get(Task& task, int n) {
    int place = no_item;
    const int k = queue.template get<W>(place, n);
    sync_warp(lanes_through(W - 1));
    if (lane_rank() < k) {
      task = set.made[place];
      atomic_store<release>(set.reserved + place, 0);
    }
    return k;
  }

private:
  EV_DEVICE int reserve() const {
    for (int i = 0; i < 8; ++i) {
      const int place = (next + lane_rank() + W * i) & (set.places - 1);
      if (atomic_load(set.reserved + place) == 0 && atomic_compare_exchange<acquire>(set.reserved + place, 0, 1) == 0) return place;
    }
    return no_item;
  }
};

template <class Set, class Queue, int G, int T, int S, bool Converged> struct queued_tasks : task_taker<Set, G, T, S, Converged> {
  using base = task_taker<Set, G, T, S, Converged>;
  using Task = typename Set::Task;
  using base::firsts, base::groups, base::held, base::is_full, base::keep, base::lanes, base::mine, base::ran, base::set, base::stack,
      base::sync, base::taken, base::taker, base::takers, base::times;

  EV_DEVICE queued_tasks(const Set& s) : base(s), queue(s, block_rank() * takers + taker(), takers * block_count()) {}

  EV_DEVICE bool take() {
    return mine.present() && taken([&] {
      const bool full = is_full();
      put_all(full);
      times.rests();
      held = refill(full);
      times.works();
      sync();
      return held > 0;
    });
  }

  EV_DEVICE void leave() { base::leave({queue.queue.counts.stolen, queue.queue.counts.failed, in_vain, set.waiting + queue.most}); }

private:
  task_queue<Set, Queue, lanes> queue;
  long long counted = 0, in_vain = 0;  // of the tasks that have run; looks into the queue

  // Puts what the tasks have pushed into the queue. full: tasks are only kept now.
  EV_DEVICE void put_all(bool full) {
    queue.count(held - (ran - counted));
    counted = ran;
    for (int first = 0; first < held; first += lanes) {
      const int n = held - first < lanes ? held - first : lanes;
      const Task task = stack()[first + (lane_rank() < n ? lane_rank() : 0)];
      keep_some(task, full ? lane_rank() < n : !queue.put(task, n));
    }
  }

  // Gets tasks, or keeps all that it gets. 0: there are none any more.
  EV_DEVICE int refill(bool full) {
    for (int times = 1;; full = is_full()) {
      Task task;
      int k = firsts(task);
      if (k == 0) k = queue.get(task, groups);
      if (k == 0) {
        if (queue.all_done()) return 0;
        if constexpr (Set::counted) ++in_vain;
        pause(times, Queue::longest);
      } else if (full) {
        keep_some(task, lane_rank() < k);
      } else {
        if (lane_rank() < k) stack()[lane_rank()] = task;
        return k;
      }
    }
  }

  // Keeps the tasks of some lanes.
  EV_DEVICE void keep_some(const Task& task, bool is_kept) {
    if (is_kept) keep(task);
    queue.count(-count_bits(ballot(lanes_through(lanes - 1), is_kept)));
  }
};

// Makes the first words of a queue zero, before tasks run.
EV_DEVICE void clear_words(long long* words, long long n) {
  for (long long i = block_rank() * (long long)block_threads() + thread_rank(); i < n; i += block_count() * (long long)block_threads()) words[i] = 0;
}

}  // namespace ev
