// spmv, Lrb(block=256, lanes=8, thread=8, group=64, warp=1024, items=4). Rewritten by `python -m tests.golden`.

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
    long long a_A_offsets_extent0,
    const pos* __restrict__ tile_bins,
    int bin_warps) {
  const ev::in<int> a_A_offsets(pa_A_offsets);
  const ev::in<float> a_A_values(pa_A_values);
  const ev::in<int> a_A_indices(pa_A_indices);
  const ev::in<float> a_x(pa_x);
  const ev::out<float> a_y(pa_y);
  auto tile = [&](const auto& team, const pos v_row, const bool live) {
    float v_total = -0.0f;
    if (team.walks() && live) {
      const pos v_k_end = a_A_offsets[v_row + 1];
      #pragma unroll 1
      for (pos v_k_first = a_A_offsets[v_row] + team.rank(); v_k_first < v_k_end; v_k_first += 4 * team.size()) {
        tile_value parts[4];
        #pragma unroll
        for (int item = 0; item < 4; ++item) {
          parts[item] = {-0.0f};
          const pos v_k = v_k_first + item * team.size();
          if (v_k < v_k_end) {
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
  };
  ev::walk_bins<256, 8, 21, 25, 28, true, pos>(tile_bins, (pos)a_A_offsets_extent0 - 1, bin_warps, tile);
}

using pos = int;

struct Tiles {
  using pos = int;
  ev::in<int> a_A_offsets;
  long long a_A_offsets_extent0;
  EV_DEVICE pos num_tiles() const {
    return (pos)a_A_offsets_extent0 - 1;
  }
  EV_DEVICE pos begin(pos tile) const {
    return a_A_offsets[tile];
  }
  EV_DEVICE pos end(pos tile) const {
    return a_A_offsets[tile + 1];
  }
};

EV_KERNEL(256) spmv_0_bins_count(const int* __restrict__ pa_A_offsets,
    long long a_A_offsets_extent0,
    pos* tile_bins) {
  const Tiles tiles{pa_A_offsets, a_A_offsets_extent0};
  ev::bins_count(tiles, tile_bins);
}

EV_KERNEL(1024) spmv_0_bins_scan(const int* __restrict__ pa_A_offsets,
    long long a_A_offsets_extent0,
    pos* tile_bins,
    int bin_warps) {
  const Tiles tiles{pa_A_offsets, a_A_offsets_extent0};
  ev::bins_scan(tiles, tile_bins, bin_warps);
}

EV_KERNEL(256) spmv_0_bins_place(const int* __restrict__ pa_A_offsets,
    long long a_A_offsets_extent0,
    pos* tile_bins) {
  const Tiles tiles{pa_A_offsets, a_A_offsets_extent0};
  ev::bins_place(tiles, tile_bins);
}
