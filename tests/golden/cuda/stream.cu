// spmv, NonzeroSplit(block=128, items=8, min_blocks=0, run=4). Rewritten by `python -m tests.golden`.

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
    acc.v_total = acc.v_total + a_A_values.once(v_k) * a_x[a_A_indices.once(v_k)];
  }
  static constexpr int run = 4, run_arrays = 2;
  struct Run {
    int e0[run];
    float e1[run];
    float e2[run];
    EV_DEVICE void pin() {
      #pragma unroll
      for (int item = 0; item < run; ++item) { ev::pin(e0[item]); ev::pin(e1[item]); }
    }
    EV_DEVICE void pin_gathered() {
      #pragma unroll
      for (int item = 0; item < run; ++item) { ev::pin(e2[item]); }
    }
  };
  EV_DEVICE bool runs_are_aligned() const { return ev::aligned_runs<4>(a_A_indices.data) && ev::aligned_runs<4>(a_A_values.data); }
  template <int array> EV_DEVICE void load_run(Run& run, pos v_k) const {
    if constexpr (array == 0) ev::load_run<4>(a_A_indices.data + v_k, run.e0);
    if constexpr (array == 1) ev::load_run<4>(a_A_values.data + v_k, run.e1);
  }
  EV_DEVICE void gather(Run& run, pos v_k, int item) const {
    run.e2[item] = a_x[run.e0[item]];
  }
  EV_DEVICE void step_run(Value& acc, pos v_k, const Run& run, int item) const {
    acc.v_total = run.e1[item] * run.e2[item];
  }
  EV_DEVICE void leave(pos v_row, const Value& value, Grid& grid) const {
    a_y[v_row] = 0.0f + value.v_total;
  }
  static EV_DEVICE Grid grid_identity() { return {}; }
  static EV_DEVICE Grid grid_combine(const Grid&, const Grid&) { return {}; }
};

EV_KERNEL(128) spmv_0(const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    const int* __restrict__ pa_A_indices,
    const float* __restrict__ pa_x,
    float* __restrict__ pa_y,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    long long* cells,
    const pos* __restrict__ first_tile) {
  const Phase phase{pa_A_offsets, pa_A_values, pa_A_indices, pa_x, pa_y, a_A_offsets_extent0, a_A_indices_extent0};
  ev::stream_block<Phase, 128, 8>(phase, ev::Meeting<Phase>{cells}, (Phase::Grid*)0, first_tile);
}

EV_KERNEL(256) spmv_0_partition(const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    const int* __restrict__ pa_A_indices,
    const float* __restrict__ pa_x,
    float* __restrict__ pa_y,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    pos* first_tile,
    int main_blocks) {
  const Phase phase{pa_A_offsets, pa_A_values, pa_A_indices, pa_x, pa_y, a_A_offsets_extent0, a_A_indices_extent0};
  ev::stream_partition<Phase, 128, 8>(phase, first_tile, main_blocks);
}
