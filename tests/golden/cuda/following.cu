// shares, NonzeroSplit(block=128, items=8, min_blocks=0, run=4). Rewritten by `python -m tests.golden`.

using pos = int;

struct grid_value {};
struct Phase {
  using pos = int;
  ev::in<int> a_A_offsets;
  ev::in<float> a_A_values;
  ev::out<float> a_out;
  ev::out<float> a_kept_total_1;
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
    acc.v_total = acc.v_total + a_A_values[v_k];
  }
  static constexpr int run = 4, run_arrays = 1;
  struct Run {
    float e0[run];
    EV_DEVICE void pin() {
      #pragma unroll
      for (int item = 0; item < run; ++item) { ev::pin(e0[item]); }
    }
    EV_DEVICE void pin_gathered() {
      #pragma unroll
      for (int item = 0; item < run; ++item) {  }
    }
  };
  EV_DEVICE bool runs_are_aligned() const { return ev::aligned_runs<4>(a_A_values.data); }
  template <int array> EV_DEVICE void load_run(Run& run, pos v_k) const {
    if constexpr (array == 0) ev::load_run<4>(a_A_values.data + v_k, run.e0);
  }
  EV_DEVICE void gather(Run& run, pos v_k, int item) const {
  }
  EV_DEVICE void step_run(Value& acc, pos v_k, const Run& run, int item) const {
    acc.v_total = run.e0[item];
  }
  struct After { float v_total_1; };
  EV_DEVICE After after(const Value& value) const {
    float v_total_1 = 0.0f + value.v_total;
    return {v_total_1};
  }
  using Stored = float;
  EV_DEVICE bool stores_are_aligned() const { return ev::aligned_runs<4>(a_out.data); }
  EV_DEVICE void put(Stored& to, pos v_k, const Run& run, int item, const After& after) const {
    to = run.e0[item] / after.v_total_1;
  }
  EV_DEVICE void put_one(pos v_k, const After& after) const {
    a_out[v_k] = a_A_values.once(v_k) / after.v_total_1;
  }
  EV_DEVICE void store_run(pos v_k, const Stored* found) const {
    ev::store_run<4>(a_out.data + v_k, found);
  }
  EV_DEVICE void leave(pos v_row, const Value& value, Grid& grid) const {
    float v_total_1 = 0.0f + value.v_total;
    a_kept_total_1[v_row] = v_total_1;
  }
  static EV_DEVICE Grid grid_identity() { return {}; }
  static EV_DEVICE Grid grid_combine(const Grid&, const Grid&) { return {}; }
};

EV_KERNEL(128) shares_0(const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    float* __restrict__ pa_out,
    float* __restrict__ pa_kept_total_1,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    long long* cells,
    const pos* __restrict__ first_tile) {
  const Phase phase{pa_A_offsets, pa_A_values, pa_out, pa_kept_total_1, a_A_offsets_extent0, a_A_indices_extent0};
  ev::stream_block<Phase, 128, 8, true>(phase, ev::Meeting<Phase>{cells}, (Phase::Grid*)0, first_tile);
}

EV_KERNEL(256) shares_0_partition(const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    float* __restrict__ pa_out,
    float* __restrict__ pa_kept_total_1,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    pos* first_tile,
    int main_blocks) {
  const Phase phase{pa_A_offsets, pa_A_values, pa_out, pa_kept_total_1, a_A_offsets_extent0, a_A_indices_extent0};
  ev::stream_partition<Phase, 128, 8>(phase, first_tile, main_blocks);
}

using pos = int;

struct grid_value {};
struct Phase {
  using pos = int;
  ev::in<int> a_A_offsets;
  ev::out<float> a_kept_total_1;
  ev::in<float> a_A_values;
  ev::out<float> a_out;
  long long a_A_offsets_extent0;
  long long a_A_indices_extent0;
  struct State { float v_total_1; };
  struct Value { template <class F> EV_DEVICE Value each(F) const { return {}; } };
  static EV_DEVICE Value identity() { return {}; }
  static EV_DEVICE Value combine(const Value&, const Value&) { return {}; }
  static EV_DEVICE Value then(const Value&, const Value&) { return {}; }
  using Grid = grid_value;
  static constexpr bool needs_tile = true;
  static constexpr bool has_value = false;
  static constexpr bool has_effects = true;
  static constexpr bool has_leave = false;
  static constexpr bool has_grid = false;
  EV_DEVICE pos num_tiles() const { return (pos)a_A_offsets_extent0 - 1; }
  EV_DEVICE pos num_atoms() const { return (pos)a_A_indices_extent0; }
  EV_DEVICE pos begin(pos tile) const { return a_A_offsets[tile]; }
  EV_DEVICE pos end(pos tile) const { return a_A_offsets[tile + 1]; }
  EV_DEVICE State enter(pos v_row) const {
    float v_total_1 = a_kept_total_1[v_row];
    return {v_total_1};
  }
  static constexpr int run = 4, run_arrays = 1;
  struct Run {
    float e0[run];
    EV_DEVICE void pin() {
      #pragma unroll
      for (int item = 0; item < run; ++item) { ev::pin(e0[item]); }
    }
    EV_DEVICE void pin_gathered() {
      #pragma unroll
      for (int item = 0; item < run; ++item) {  }
    }
  };
  EV_DEVICE bool runs_are_aligned() const { return ev::aligned_runs<4>(a_A_values.data); }
  template <int array> EV_DEVICE void load_run(Run& run, pos v_k_1) const {
    if constexpr (array == 0) ev::load_run<4>(a_A_values.data + v_k_1, run.e0);
  }
  EV_DEVICE void gather(Run& run, pos v_k_1, int item) const {
  }
  using After = State;
  using Stored = float;
  EV_DEVICE bool stores_are_aligned() const { return ev::aligned_runs<4>(a_out.data); }
  EV_DEVICE void put(Stored& to, pos v_k_1, const Run& run, int item, const After& after) const {
    to = run.e0[item] / after.v_total_1;
  }
  EV_DEVICE void put_one(pos v_k_1, const After& after) const {
    a_out[v_k_1] = a_A_values.once(v_k_1) / after.v_total_1;
  }
  EV_DEVICE void store_run(pos v_k_1, const Stored* found) const {
    ev::store_run<4>(a_out.data + v_k_1, found);
  }
  EV_DEVICE void leave(pos v_row, const Value& value, Grid& grid) const {
  }
  static EV_DEVICE Grid grid_identity() { return {}; }
  static EV_DEVICE Grid grid_combine(const Grid&, const Grid&) { return {}; }
};

EV_KERNEL(128) shares_1(const int* __restrict__ pa_A_offsets,
    float* __restrict__ pa_kept_total_1,
    const float* __restrict__ pa_A_values,
    float* __restrict__ pa_out,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    const pos* __restrict__ first_tile,
    int main_blocks) {
  const Phase phase{pa_A_offsets, pa_kept_total_1, pa_A_values, pa_out, a_A_offsets_extent0, a_A_indices_extent0};
  ev::follow_shared<Phase, 128, 8>(phase, first_tile, main_blocks);
}

EV_KERNEL(256) shares_1_partition(const int* __restrict__ pa_A_offsets,
    float* __restrict__ pa_kept_total_1,
    const float* __restrict__ pa_A_values,
    float* __restrict__ pa_out,
    long long a_A_offsets_extent0,
    long long a_A_indices_extent0,
    pos* first_tile,
    int main_blocks) {
  const Phase phase{pa_A_offsets, pa_kept_total_1, pa_A_values, pa_out, a_A_offsets_extent0, a_A_indices_extent0};
  ev::stream_partition<Phase, 128, 8>(phase, first_tile, main_blocks);
}
