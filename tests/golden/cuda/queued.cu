// halves, LockFreeQueue(size=8, block=256, items=4, every=4). Rewritten by `python -m tests.golden`.

using pos = int;


EV_KERNEL(32) halves_0(long long* __restrict__ pa_T_full,
    long long* __restrict__ pa_T_walked,
    long long* __restrict__ pa_T_pushed,
    long long* __restrict__ pa_T_pool,
    bool* __restrict__ pa_kept_another,
    pos a_T_firsts,
    unsigned long long rounds) {
  const ev::out<long long> a_T_full(pa_T_full);
  const ev::out<long long> a_T_walked(pa_T_walked);
  const ev::out<long long> a_T_pushed(pa_T_pushed);
  const ev::out<long long> a_T_pool(pa_T_pool);
  const ev::out<bool> a_kept_another(pa_kept_another);
  if (ev::thread_rank() == 0) {
    if (a_T_full[0LL] == 0LL) {
      a_T_walked[0LL] = (long long)a_T_firsts;
      a_T_walked[1LL] = 0LL;
      a_T_walked[2LL] = (long long)a_T_firsts;
      a_T_walked[3LL] = 0LL;
      a_T_walked[4LL] = (long long)a_T_firsts;
      a_T_pushed[0LL] = 0LL;
      for (long long v_i = 0LL; v_i < 13LL; ++v_i) {
        a_T_pool[16 * (pos)v_i] = 0LL;
      }
      for (long long v_i_1 = 208LL; v_i_1 < 256LL; ++v_i_1) {
        a_T_pool[v_i_1] = 0LL;
      }
      if (a_T_pool[1LL] == 131071LL) {
        for (long long v_i_2 = 256LL; v_i_2 < 624LL; ++v_i_2) {
          a_T_pool[v_i_2] = 0LL;
        }
        a_T_pool[1LL] = 0LL;
      }
      a_T_pool[1LL] = ev::add_wrapping(a_T_pool[1LL], 1LL);
    }
    bool v_another = a_T_walked[0LL] > 0LL;
    a_kept_another[0] = v_another;
    ev::another_round(rounds, a_kept_another[0]);
  }
}

EV_KERNEL(256) halves_1_clear(long long* tasks_words,
    int tasks_cleared,
    const bool* running) {
  if (!*running) return;
  ev::clear_words(tasks_words, tasks_cleared);
}

using pos = int;

struct grid_value {};
struct task {
  int field_0;
  int field_1;
};
struct task_set {
  using Task = task;
  static constexpr bool counted = false;
  long long* pool;
  long long* pushed;
  long long waiting;
  long long from;
  long long to;
  long long capacity;
  long long spill;
  long long spilled;
  task* made;
  int* reserved;
  int places;
  int room;
  long long* words;
  ev::out<int> column_0;
  ev::out<int> column_1;
  EV_DEVICE task load(long long at) const { return {column_0[at], column_1[at]}; }
  EV_DEVICE void store(long long at, const task& given) const { column_0[at] = given.field_0; column_1[at] = given.field_1; }
};
struct tile_value {
  float v_total;
  template <class F> EV_DEVICE tile_value each(F f) const { return {f(v_total)}; }
  static EV_DEVICE tile_value combine(const tile_value& a, const tile_value& b) {
    return {a.v_total + b.v_total};
  }
};

EV_KERNEL(256, 2) halves_1(const float* __restrict__ pa_x,
    float* __restrict__ pa_y,
    void* tasks_made,
    int* tasks_reserved,
    long long* tasks_words,
    int tasks_places,
    int tasks_room,
    long long* tasks_pool,
    long long* tasks_pushed,
    const long long* tasks_walked,
    int* tasks_column_0,
    int* tasks_column_1,
    long long tasks_firsts,
    long long tasks_capacity,
    long long tasks_spill,
    const bool* running) {
  if (!*running) return;
  const ev::in<float> a_x(pa_x);
  const ev::out<float> a_y(pa_y);
  const task_set set{tasks_pool, tasks_pushed, tasks_walked[0], tasks_walked[1], tasks_walked[2], tasks_capacity, tasks_spill, tasks_firsts + 2 * tasks_capacity, (task*)tasks_made, tasks_reserved, tasks_places, tasks_room, tasks_words, tasks_column_0, tasks_column_1};
  ev::queued_tasks<task_set, ev::lock_free_queue<4, false>, 8, 256, 256, true> tasks(set);
  const auto tile = [&](const auto& team, const task& given, const bool live) {
    int v_begin = given.field_0;
    int v_end = given.field_1;
    pos v_atom;
    float v_total = -0.0f;
    if (live) {
      const pos v_k_end = v_end;
      #pragma unroll 1
      for (pos v_k_first = v_begin + team.rank(); v_k_first < v_k_end; v_k_first += 4 * 8) {
        tile_value parts[4];
        #pragma unroll
        for (int item = 0; item < 4; ++item) {
          parts[item] = {-0.0f};
          const pos v_k = v_k_first + item * 8;
          if (v_k < v_k_end) {
            v_atom = v_k;
            parts[item].v_total = a_x[v_atom];
          }
        }
        #pragma unroll
        for (int item = 0; item < 4; ++item) {
          v_total = v_total + parts[item].v_total;
        }
      }
    }
    const tile_value whole = team.reduce_to_leader(tile_value{v_total});
    v_total = whole.v_total;
    if (team.leader() && live) a_y[v_begin] = 0.0f + v_total;
    int v_middle = ev::add_wrapping(v_begin, v_end) >> 1;
    if (v_middle > v_begin) {
      int v_begin_1 = v_begin;
      int v_end_1 = v_middle;
      if (team.leader() && live) tasks.push({v_begin_1, v_end_1});
      int v_begin_2 = v_middle;
      int v_end_2 = v_end;
      if (team.leader() && live) tasks.push({v_begin_2, v_end_2});
    }
  };
  while (tasks.take()) tasks.each(tile);
  tasks.leave();
}

using pos = int;


EV_KERNEL(32) halves_2(bool* __restrict__ pa_kept_another,
    long long* __restrict__ pa_T_pushed,
    long long* __restrict__ pa_T_pool,
    long long* __restrict__ pa_T_walked,
    long long* __restrict__ pa_T_full,
    pos a_T_capacity,
    pos a_T_firsts,
    unsigned long long rounds) {
  const ev::out<bool> a_kept_another(pa_kept_another);
  const ev::out<long long> a_T_pushed(pa_T_pushed);
  const ev::out<long long> a_T_pool(pa_T_pool);
  const ev::out<long long> a_T_walked(pa_T_walked);
  const ev::out<long long> a_T_full(pa_T_full);
  if (ev::thread_rank() == 0 && a_kept_another[0]) {
    long long v_count = a_T_pushed[0LL];
    long long v_ran = a_T_pool[64LL] > 0LL ? a_T_pool[64LL] : a_T_walked[0LL];
    a_T_walked[3LL] = ev::add_wrapping(a_T_walked[3LL], v_ran);
    a_T_walked[4LL] = ev::maximum(a_T_walked[4LL], v_count);
    if (v_count > (long long)a_T_capacity) {
      a_T_walked[0LL] = 0LL;
      a_T_full[0LL] = 1LL;
    } else {
      a_T_walked[0LL] = v_count;
      a_T_walked[1LL] = a_T_walked[2LL];
      a_T_walked[2LL] = ev::sub_wrapping((long long)(2 * a_T_firsts + a_T_capacity), a_T_walked[2LL]);
      a_T_pushed[0LL] = 0LL;
    }
    for (long long v_i_3 = 0LL; v_i_3 < 6LL; ++v_i_3) {
      a_T_pool[16 * (pos)v_i_3] = 0LL;
    }
    bool v_another = a_T_walked[0LL] > 0LL;
    a_kept_another[0] = v_another;
    ev::another_round(rounds, a_kept_another[0]);
  }
}
