// spmv, ThreadMapped(block=256, items=4). Rewritten by `python -m tests.golden`.

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
  const pos thread_index = (pos)ev::block_rank() * 256 + ev::thread_rank();
  const pos thread_count = (pos)ev::block_count() * 256;
  pos v_bound = (pos)a_A_offsets_extent0 - 1;
  if (const pos v_row = thread_index; v_row < v_bound) {
    float v_total = -0.0f;
    {
      pos v_bound_1 = a_A_offsets[v_row];
      pos v_bound_2 = a_A_offsets[v_row + 1];
      #pragma unroll 1
      for (pos v_k_first = v_bound_1; v_k_first < v_bound_2; v_k_first += 4 * 1) {
        tile_value parts[4];
        #pragma unroll
        for (int item = 0; item < 4; ++item) {
          parts[item] = {-0.0f};
          const pos v_k = v_k_first + item;
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
    ev::pin(v_total);
    a_y[v_row] = 0.0f + v_total;
  }
}
