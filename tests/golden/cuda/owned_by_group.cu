// spmv, GroupMapped(size=8, block=256, flatten=False, items=4, run=1). Rewritten by `python -m tests.golden`.

using pos = int;

struct grid_value {};
struct tile_value {
  float v_total;
  template <class F> EV_DEVICE tile_value each(F f) const { return {f(v_total)}; }
  static EV_DEVICE tile_value combine(const tile_value& a, const tile_value& b) {
    return {a.v_total + b.v_total};
  }
};

EV_KERNEL(256) spmv_0(const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    const int* __restrict__ pa_A_indices,
    const float* __restrict__ pa_x,
    float* __restrict__ pa_y,
    long long a_A_offsets_extent0) {
  const ev::in<int> a_A_offsets(pa_A_offsets);
  const ev::in<float> a_A_values(pa_A_values);
  const ev::in<int> a_A_indices(pa_A_indices);
  const ev::in<float> a_x(pa_x);
  const ev::out<float> a_y(pa_y);
  const ev::group<8, 256, true> team;
  const pos group_count_8 = (pos)team.count();
  const pos group_index_8 = (pos)team.index();
  const pos group_rank_8 = (pos)team.rank();
  if (team.present()) {
    pos v_bound = (pos)a_A_offsets_extent0 - 1;
    {
      const bool live = group_index_8 < v_bound;
      const pos v_row = group_index_8;
      float v_total = -0.0f;
      if (live) {
        pos v_bound_1 = a_A_offsets[v_row] + group_rank_8;
        pos v_bound_2 = a_A_offsets[v_row + 1];
        #pragma unroll 1
        for (pos v_k_first = v_bound_1; v_k_first < v_bound_2; v_k_first += 4 * 8) {
          tile_value parts[4];
          #pragma unroll
          for (int item = 0; item < 4; ++item) {
            parts[item] = {-0.0f};
            const pos v_k = v_k_first + item * 8;
            if (v_k < v_bound_2) {
              parts[item].v_total = a_A_values[v_k] * a_x[a_A_indices[v_k]];
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
      if (team.leader() && live) a_y[v_row] = 0.0f + v_total;
    }
  }
}
