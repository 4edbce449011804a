// by_items, Nested(outer=BlockMapped(block=256, items=4, run=1), inner=GroupMapped(size=8, block=256, flatten=False, items=4, run=1), stage=8192). Rewritten by `python -m tests.golden`.

using pos = int;

struct grid_value {};
struct tile_value {
  float v_total;
  template <class F> EV_DEVICE tile_value each(F f) const { return {f(v_total)}; }
  static EV_DEVICE tile_value combine(const tile_value& a, const tile_value& b) {
    return {a.v_total + b.v_total};
  }
};

EV_KERNEL(256) by_items_0(const int* __restrict__ pa_B_item_columns,
    const float* __restrict__ pa_x,
    const int* __restrict__ pa_B_item_tiles,
    const int* __restrict__ pa_B_offsets,
    const float* __restrict__ pa_B_values,
    const int* __restrict__ pa_B_indices,
    float* __restrict__ pa_y,
    long long a_B_item_tiles_extent0) {
  const ev::in<int> a_B_item_columns(pa_B_item_columns);
  const ev::in<float> a_x(pa_x);
  const ev::in<int> a_B_item_tiles(pa_B_item_tiles);
  const ev::in<int> a_B_offsets(pa_B_offsets);
  const ev::in<float> a_B_values(pa_B_values);
  const ev::in<int> a_B_indices(pa_B_indices);
  const ev::out<float> a_y(pa_y);
  const ev::group<256, 256> team;
  const pos group_count_256 = (pos)team.count();
  const pos group_index_256 = (pos)team.index();
  const pos group_rank_256 = (pos)team.rank();
  if (team.present()) {
    pos v_bound = (pos)a_B_item_tiles_extent0 - 1;
    for (pos v_item = group_index_256; v_item < v_bound; v_item += group_count_256) {
      pos v_bound_1 = a_B_item_columns[v_item];
      pos v_bound_1_1 = a_B_item_columns[v_item + 1];
      EV_SHARED(float, staged, 2048 * team.per_block);
      const ev::staged<float, 2048, pos> x_staged(staged + 2048 * team.local(), pa_x, v_bound_1, v_bound_1_1, team);
      pos v_k_1;
      float v_total;
      {
        pos v_first = a_B_item_tiles[v_item];
        pos v_last = a_B_item_tiles[v_item + 1];
        pos v_before = 0;
        if (v_first < v_last) {
          v_before = a_B_offsets[v_first];
        }
        const pos thread_index = (pos)team.rank();
        const pos thread_count = 256;
        const ev::group<8, 256, true> team;
        const pos group_count_8 = team.per_block;
        const pos group_index_8 = team.local();
        const pos group_rank_8 = team.rank();
        if (team.present()) {
          pos v_bound_2 = v_last - v_first;
          for (pos first = group_index_8 + v_first - team.in_warp_rank(); first < v_bound_2 + v_first; first += group_count_8) {
            const bool live = first + team.in_warp_rank() < v_bound_2 + v_first;
            const pos v_k = first + team.in_warp_rank();
            v_total = -0.0f;
            if (live) {
              pos v_tile_1 = v_first + (v_k - v_first);
              pos v_read = a_B_offsets[v_tile_1] - v_before + group_rank_8;
              pos v_tile_2 = v_first + (v_k - v_first);
              pos v_bound_1_2 = a_B_offsets[v_tile_2 + 1] - v_before;
              const pos v_k_1_1_end = v_bound_1_2 + v_before;
              #pragma unroll 1
              for (pos v_k_1_1_first = v_read + v_before; v_k_1_1_first < v_k_1_1_end; v_k_1_1_first += 4 * 8) {
                tile_value parts[4];
                #pragma unroll
                for (int item = 0; item < 4; ++item) {
                  parts[item] = {-0.0f};
                  const pos v_k_1_1 = v_k_1_1_first + item * 8;
                  if (v_k_1_1 < v_k_1_1_end) {
                    parts[item].v_total = a_B_values[v_k_1_1] * x_staged[a_B_indices[v_k_1_1]];
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
            if (team.leader() && live) a_y[v_k] = 0.0f + v_total;
          }
        }
      }
      team.sync();
    }
  }
}
