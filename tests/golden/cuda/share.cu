// spmv, WorkOriented(block=256, items=8). Rewritten by `python -m tests.golden`.

using pos = int;

struct grid_value {};
struct Phase {
  using pos = int;
  ev::in<int> a_A_offsets;
  ev::in<float> a_A_values;
  ev::in<int> a_A_indices;
  ev::in<float> a_x;
  ev::out<float> a_y;
  long long a_A_offsets_extent0;
  long long a_A_indices_extent0;
  struct State { };
  struct Value {
    float v_total;
    template <class F> EV_DEVICE Value each(F f) const { return {f(v_total)}; }
    static EV_DEVICE Value combine(const Value& a, const Value& b) {
      return {a.v_total + b.v_total};
    }
  };
  static EV_DEVICE Value identity() { return {-0.0f}; }
  static EV_DEVICE Value combine(const Value& a, const Value& b) { return Value::combine(a, b); }
  static EV_DEVICE Value then(const Value& a, const Value& b) {
    return Value::combine(a, b);
  }
  using Grid = grid_value;
  static constexpr bool needs_tile = false;
  static constexpr bool has_value = true;
  static constexpr bool has_effects = false;
  static constexpr bool has_leave = true;
  static constexpr bool has_grid = false;
  EV_DEVICE pos num_tiles() const { return (pos)a_A_offsets_extent0 - 1; }
  EV_DEVICE pos num_atoms() const { return (pos)a_A_indices_extent0; }
  EV_DEVICE pos begin(pos tile) const { return a_A_offsets[tile]; }
  EV_DEVICE pos end(pos tile) const { return a_A_offsets[tile + 1]; }
  EV_DEVICE State enter(pos v_row) const {
    return {};
  }
  EV_DEVICE void step(Value& acc, const State& state, pos v_row, pos v_k) const {
    acc.v_total = acc.v_total + a_A_values[v_k] * a_x[a_A_indices[v_k]];
  }
  EV_DEVICE void leave(pos v_row, const Value& value, Grid& grid) const {
    a_y[v_row] = 0.0f + value.v_total;
  }
  static EV_DEVICE Grid grid_identity() { return {}; }
  static EV_DEVICE Grid grid_combine(const Grid&, const Grid&) { return {}; }
};
struct Sched {
  using pos = int;
  ev::in<int> a_A_offsets;
  ev::in<float> a_A_values;
  ev::in<int> a_A_indices;
  ev::in<float> a_x;
  ev::out<float> a_y;
  long long a_A_offsets_extent0;
  long long a_A_indices_extent0;
  struct State { pos state0; pos state1; pos state2; pos state3; };
  struct range { pos start, stop, step; };
  EV_DEVICE State setup() const {
    const pos thread_index = (pos)ev::block_rank() * 256 + ev::thread_rank();
    const pos thread_count = (pos)ev::block_count() * 256;
    pos v_index = thread_index;
    pos v_count = thread_count;
    pos v_total = (pos)a_A_offsets_extent0 - 1 + (pos)a_A_indices_extent0;
    pos v_share = ev::floor_div(v_total + v_count - 1, v_count);
    long long v_start = ev::minimum((long long)(v_index * v_share), (long long)v_total);
    long long v_stop = ev::minimum((long long)((pos)v_start + v_share), (long long)v_total);
    long long v_low = ev::maximum((long long)((pos)v_start - (pos)a_A_indices_extent0), 0LL);
    long long v_high = ev::minimum(v_start, (long long)((pos)a_A_offsets_extent0 - 1));
    long long v_low_1 = v_low;
    long long v_high_1 = v_high;
    while (true) {
      if (!(v_low_1 < v_high_1)) {
        break;
      }
      pos v_middle = (pos)v_low_1 + (pos)v_high_1 >> 1;
      long long v_low_3;
      long long v_high_3;
      if (a_A_offsets[v_middle + 1] <= (pos)v_start - v_middle - 1) {
        pos v_low_2 = v_middle + 1;
        v_low_3 = (long long)v_low_2;
        v_high_3 = v_high_1;
      } else {
        pos v_high_2 = v_middle;
        v_low_3 = v_low_1;
        v_high_3 = (long long)v_high_2;
      }
      v_low_1 = v_low_3;
      v_high_1 = v_high_3;
    }
    long long v_low_4 = ev::maximum((long long)((pos)v_stop - (pos)a_A_indices_extent0), 0LL);
    long long v_high_4 = ev::minimum(v_stop, (long long)((pos)a_A_offsets_extent0 - 1));
    long long v_low_5 = v_low_4;
    long long v_high_5 = v_high_4;
    while (true) {
      if (!(v_low_5 < v_high_5)) {
        break;
      }
      pos v_middle_1 = (pos)v_low_5 + (pos)v_high_5 >> 1;
      long long v_low_7;
      long long v_high_7;
      if (a_A_offsets[v_middle_1 + 1] <= (pos)v_stop - v_middle_1 - 1) {
        pos v_low_6 = v_middle_1 + 1;
        v_low_7 = (long long)v_low_6;
        v_high_7 = v_high_5;
      } else {
        pos v_high_6 = v_middle_1;
        v_low_7 = v_low_5;
        v_high_7 = (long long)v_high_6;
      }
      v_low_5 = v_low_7;
      v_high_5 = v_high_7;
    }
    pos v_start_1 = (pos)v_start - (pos)v_low_1;
    pos v_stop_1 = (pos)v_stop - (pos)v_low_5;
    bool v_truth = v_low_5 < (long long)((pos)a_A_offsets_extent0 - 1);
    if (v_truth) {
      long long v_tile = ev::minimum(v_low_5, (long long)((pos)a_A_offsets_extent0 - 1 - 1));
      v_truth = v_stop_1 > a_A_offsets[v_tile];
    }
    bool v_partial = v_truth;
    pos v_state = (pos)v_low_1;
    pos v_state_1 = v_start_1;
    pos v_state_2 = (pos)v_low_5 + (v_partial ? 1 : 0);
    pos v_state_3 = v_stop_1;
    return {v_state, v_state_1, v_state_2, v_state_3};
  }
  EV_DEVICE range tiles(const State& state) const {
    return {state.state0, state.state2, 1};
  }
  EV_DEVICE range atoms(const State& state, pos tile) const {
    long long v_bound = ev::maximum((long long)a_A_offsets[tile], (long long)state.state1);
    long long v_bound_1 = ev::minimum((long long)a_A_offsets[tile + 1], (long long)state.state3);
    return {(pos)v_bound, (pos)v_bound_1, 1};
  }
};

EV_KERNEL(256) spmv_0(const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    const int* __restrict__ pa_A_indices,
    const float* __restrict__ pa_x,
    float* __restrict__ pa_y,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    pos* out_tile,
    void* out_value,
    pos* head_tile,
    void* head_value) {
  const Phase phase{pa_A_offsets, pa_A_values, pa_A_indices, pa_x, pa_y, a_A_offsets_extent0, a_A_indices_extent0};
  const Sched sched{pa_A_offsets, pa_A_values, pa_A_indices, pa_x, pa_y, a_A_offsets_extent0, a_A_indices_extent0};
  ev::share<Phase, Sched, 256>(phase, sched, ev::Carries<Phase>{out_tile, (Phase::Value*)out_value, head_tile, (Phase::Value*)head_value}, (Phase::Grid*)0);
}

EV_KERNEL(256) spmv_0_finish(const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    const int* __restrict__ pa_A_indices,
    const float* __restrict__ pa_x,
    float* __restrict__ pa_y,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    pos* out_tile,
    void* out_value,
    pos* head_tile,
    void* head_value,
    int main_blocks) {
  const Phase phase{pa_A_offsets, pa_A_values, pa_A_indices, pa_x, pa_y, a_A_offsets_extent0, a_A_indices_extent0};
  ev::finish<Phase, 256>(phase, ev::Carries<Phase>{out_tile, (Phase::Value*)out_value, head_tile, (Phase::Value*)head_value}, main_blocks, (Phase::Grid*)0);
}
