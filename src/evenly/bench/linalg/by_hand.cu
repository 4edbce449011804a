// SpMM by hand: a group of lanes owns a row, loads 16 bytes along the dense axis, and has UNROLL nonzeros in flight.
template <class T> struct word;
template <> struct word<float> { using type = float4; };
template <> struct word<double> { using type = double2; };
template <int N> struct batch { static constexpr int n = N; };
template <class T, int N, int U>
__device__ void rows(const int* offsets, const int* columns, const T* values, const T* X, T* Y, int count) {
  using W = typename word<T>::type;
  constexpr int each = sizeof(W) / sizeof(T), lanes = N / each < 32 ? N / each : 32, parts = N / each / lanes;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / lanes, lane = thread % lanes;
  if (row >= count) return;
  T sum[parts * each] = {};
  const int end = offsets[row + 1];
  int k = offsets[row];
  auto take = [&](auto atoms) {
    constexpr int n = decltype(atoms)::n;
    int c[n];
    T a[n];
    W x[n][parts];
    #pragma unroll
    for (int u = 0; u < n; ++u) { c[u] = columns[k + u]; a[u] = values[k + u]; }
    #pragma unroll
    for (int u = 0; u < n; ++u)
      #pragma unroll
      for (int p = 0; p < parts; ++p) x[u][p] = __ldg((const W*)(X + (size_t)c[u] * N) + p * lanes + lane);
    #pragma unroll
    for (int u = 0; u < n; ++u)
      #pragma unroll
      for (int i = 0; i < parts * each; ++i) sum[i] += a[u] * ((const T*)x[u])[i];
  };
  for (; k + U <= end; k += U) take(batch<U>());
  for (; k < end; ++k) take(batch<1>());
  #pragma unroll
  for (int p = 0; p < parts; ++p) {
    W w;
    #pragma unroll
    for (int i = 0; i < each; ++i) ((T*)&w)[i] = sum[p * each + i];
    __stcs((W*)(Y + (size_t)row * N) + p * lanes + lane, w);
  }
}
extern "C" __global__ void spmm(const int* o, const int* c, const TYPE* a, const TYPE* X, TYPE* Y, int n) {
  rows<TYPE, COLUMNS, UNROLL>(o, c, a, X, Y, n);
}
