// spmm, GroupMapped(size=16, block=256, flatten=False, items=4, run=1, lanes=8, vector=4). Rewritten by `python -m tests.golden`.

#ifndef EV_KNOWN
#define EV_KNOWN 0
#endif
using pos = int;

struct grid_value {};
struct tile_value {
  float v_total;
  template <class F> EV_DEVICE tile_value each(F f) const { return {f(v_total)}; }
  static EV_DEVICE tile_value combine(const tile_value& a, const tile_value& b) {
    return {a.v_total + b.v_total};
  }
};

EV_KERNEL(256, 6) spmm_0(const float* __restrict__ pa_X,
    float* __restrict__ pa_Y,
    const int* __restrict__ pa_A_offsets,
    const float* __restrict__ pa_A_values,
    const int* __restrict__ pa_A_indices,
    long long a_A_offsets_extent0,
    long long a_X_extent1,
    long long a_Y_extent1) {
  const ev::in<float> a_X(pa_X);
  const ev::out<float> a_Y(pa_Y);
  const ev::in<int> a_A_offsets(pa_A_offsets);
  const ev::in<float> a_A_values(pa_A_values);
  const ev::in<int> a_A_indices(pa_A_indices);
  const ev::group<16, 256> team;
  const pos group_count_16 = (pos)team.count();
  const pos group_index_16 = (pos)team.index();
  const pos group_rank_16 = (pos)team.rank();
  if (team.present()) {
    pos v_bound = (pos)a_A_offsets_extent0 - 1;
    if (const pos v_row = group_index_16; v_row < v_bound) {
      {
        const auto axis = ev::along<8, 4>(team);
        const pos v_i_count = (pos)a_X_extent1;
        const auto spread = [&](auto width) {
          const auto row_a_X = ev::row(width, a_X_extent1);
          const auto row_a_Y = ev::row(width, a_Y_extent1);
          for (pos v_i_first = 0; v_i_first < v_i_count; v_i_first += axis.columns) {
            pos v_i_1[4];
            axis.place(width, v_i_first, v_i_count, v_i_1);
            float v_total[4];
            #pragma unroll
            for (int c = 0; c < 4; ++c) {
              v_total[c] = -0.0f;
            }
            if (axis.has(width, v_i_first, v_i_count, 0)) {
              const pos v_k_end = a_A_offsets[v_row + 1];
              pos v_k_first = a_A_offsets[v_row] + axis.rank();
              const auto v_k_batch = [&](auto items) {
                float own_a_A_values[items.value];
                int own_a_A_indices[items.value];
                float own_a_X[items.value][4];
                #pragma unroll
                for (int item = 0; item < items.value; ++item) {
                  const pos v_k = v_k_first + item * axis.ranks;
                  own_a_A_values[item] = a_A_values[v_k];
                  own_a_A_indices[item] = a_A_indices[v_k];
                }
                #pragma unroll
                for (int item = 0; item < items.value; ++item) {
                  const pos v_k = v_k_first + item * axis.ranks;
                  #pragma unroll
                  for (int c = 0; c < 4; c += width.value) {
                    ev::load_word(width, axis.element(width, a_X.data, v_i_1, c, own_a_A_indices[item], row_a_X), own_a_X[item] + c);
                  }
                }
                #pragma unroll
                for (int item = 0; item < items.value; ++item) {
                  const pos v_k = v_k_first + item * axis.ranks;
                  #pragma unroll
                  for (int c = 0; c < 4; ++c) {
                    v_total[c] = v_total[c] + own_a_A_values[item] * own_a_X[item][c];
                  }
                }
              };
              ev::in_batches<(width.apart || (width.value == 1 && !EV_KNOWN)) ? 2 : 4>(v_k_first, v_k_end, axis.ranks, v_k_batch);
            }
            #pragma unroll
            for (int c = 0; c < 4; ++c) {
              const tile_value whole = axis.fold(tile_value{v_total[c]});
              v_total[c] = whole.v_total;
            }
            if (axis.leads()) {
              #pragma unroll
              for (int first_c = 0; first_c < 4; first_c += width.value) {
                if (axis.leaves(width, v_i_first, v_i_count, first_c)) {
                  float stored[4];
                  #pragma unroll
                  for (int c = first_c; c < first_c + width.value; ++c) {
                    stored[c] = 0.0f + v_total[c];
                  }
                  const int c = first_c;
                  ev::store_word(width, axis.element(width, a_Y.data, v_i_1, c, v_row, row_a_Y), stored + c);
                }
              }
            }
          }
        };
        if ((EV_KNOWN ? (EV_KNOWN >> 0 & 1) : ev::whole_words<4, 4>(v_i_count | a_X_extent1 | a_Y_extent1) && ev::aligned<4>(a_X.data) && ev::aligned<4>(a_Y.data))) spread(ev::constant<4>());
        else
        if ((EV_KNOWN && axis.lanes == 8 ? (EV_KNOWN >> 1 & 1) : axis.fills(ev::filled<1, 4>(), v_i_count) && ev::whole_words<1, 4>(a_X_extent1 | a_Y_extent1))) spread(ev::filled<1, 4>());
        else
        spread(ev::constant<1>());
      }
    }
  }
}
