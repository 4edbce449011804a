// The primitives of cuda/device/gpu.cuh on the CPU: the same engines and the same emitted code, executed by fibers.
//
//     #include "gpu_host.hpp"        // first: it says that gpu.cuh is not to define them
//     #include "split.cuh"           // ... engines, emitted code
//     ev::sim::launch(blocks, 1, threads, seed, [&] { spmv_main(offsets, ...); });
#pragma once
#define EV_HOST
#include <cmath>
#include <math.h>
#include "runner.hpp"

#define EV_DEVICE inline
#define EV_KERNEL(threads) extern "C" void
// A block's own memory: the static is only a key, one for each place (and each instantiation) as on the GPU.
#define EV_SHARED(T, name, N)          \
  static const char name##_key = 0;    \
  auto& name = *static_cast<::ev::sim::array_of<T, N>*>(::ev::sim::Block::active()->shared(&name##_key, sizeof(::ev::sim::array_of<T, N>)))

namespace ev {
namespace sim {
template <class T, long long N> using array_of = T[N];

template <class T> std::uint64_t to_bits(T v) {
  static_assert(sizeof(T) <= 8, "a shuffle moves 8 bytes at most");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}
template <class T> T from_bits(std::uint64_t bits) {
  T v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
template <> inline bool from_bits<bool>(std::uint64_t bits) { return (bits & 1) != 0; }

// The lane asked for, given the lane's own; outside the segment of `width` lanes it is the own one, as on the GPU.
template <class T> T shuffle(unsigned mask, T value, int source, Site site) {
  return from_bits<T>(Block::active()->warp(Wait::shuffle, mask, to_bits(value), source, site));
}
inline int lane() { return Block::active()->current->rank & 31; }
}  // namespace sim

#define EV_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// ---- who am I ------------------------------------------------------------------------------------------------------------
inline int thread_rank() { return sim::Block::active()->current->rank; }
inline int block_threads() { return sim::launch_now().threads; }
inline int lane_rank() { return thread_rank() & 31; }
inline int warp_rank() { return thread_rank() >> 5; }
inline int block_rank() { return sim::launch_now().block_x; }
inline int block_count() { return sim::launch_now().blocks_x; }
inline int block_y() { return sim::launch_now().block_y; }
inline int block_y_count() { return sim::launch_now().blocks_y; }

// ---- barriers and fences ---------------------------------------------------------------------------------------------------
inline void barrier(EV_SITE) { sim::Block::active()->barrier(0, block_threads(), {file, line}); }
inline void barrier(int id, int count, EV_SITE) { sim::Block::active()->barrier(id, count, {file, line}); }
inline void sync_warp(unsigned mask, EV_SITE) { sim::Block::active()->warp(sim::Wait::sync_warp, mask, 0, sim::lane(), {file, line}); }
inline void fence_block() {}
inline void fence_device() {}

// ---- shuffles and votes ------------------------------------------------------------------------------------------------------
template <class T> T shuffle_up(unsigned mask, T value, int n, int width = 32, EV_SITE) {
  int lane = sim::lane();
  return sim::shuffle(mask, value, lane % width >= n ? lane - n : lane, {file, line});
}
template <class T> T shuffle_down(unsigned mask, T value, int n, int width = 32, EV_SITE) {
  int lane = sim::lane();
  return sim::shuffle(mask, value, lane % width + n < width ? lane + n : lane, {file, line});
}
template <class T> T shuffle_from(unsigned mask, T value, int from, int width = 32, EV_SITE) {
  int lane = sim::lane();
  return sim::shuffle(mask, value, lane / width * width + (from % width + width) % width, {file, line});
}
inline unsigned ballot(unsigned mask, bool p, EV_SITE) { return unsigned(sim::Block::active()->warp(sim::Wait::ballot, mask, p, 0, {file, line})); }
inline bool all(unsigned mask, bool p, EV_SITE) { return ballot(mask, p, file, line) == mask; }
inline bool any(unsigned mask, bool p, EV_SITE) { return ballot(mask, p, file, line) != 0; }
#undef EV_SITE

// ---- bits ----------------------------------------------------------------------------------------------------------------------
inline int count_bits(unsigned m) { return __builtin_popcount(m); }
inline int lowest_bit(unsigned m) { return m == 0 ? -1 : __builtin_ctz(m); }
inline int highest_bit(unsigned m) { return m == 0 ? -1 : 31 - __builtin_clz(m); }

inline float infinity_float() { return HUGE_VALF; }
inline double infinity_double() { return HUGE_VAL; }

// ---- loads and views -------------------------------------------------------------------------------------------------------------
template <class T> T load_cached(const T* p) { return *p; }
template <class T> T load_once(const T* p) { return *p; }

template <class T> struct in {
  const T* data;
  in() = default;
  in(const T* p) : data(p) {}
  template <class I> T operator[](I i) const { return load_cached(data + i); }
  template <class I> T once(I i) const { return load_once(data + i); }
};
template <class T> struct out {
  T* data;
  out() = default;
  out(T* p) : data(p) {}
  template <class I> T& operator[](I i) const { return data[i]; }
};

// ---- atomics: fibers are not interrupted, so plain arithmetic is atomic ------------------------------------------------------------
namespace sim {
template <class T, class F> T update(T* p, F next) {
  T old = *p;
  *p = next(old);
  return old;
}
}  // namespace sim
inline int atomic_add(int* p, int v) { return sim::update(p, [=](int s) { return int(unsigned(s) + unsigned(v)); }); }
inline long long atomic_add(long long* p, long long v) {
  return sim::update(p, [=](long long s) { return (long long)((unsigned long long)s + (unsigned long long)v); });
}
inline float atomic_add(float* p, float v) { return sim::update(p, [=](float s) { return s + v; }); }
inline double atomic_add(double* p, double v) { return sim::update(p, [=](double s) { return s + v; }); }
inline int atomic_min(int* p, int v) { return sim::update(p, [=](int s) { return s < v ? s : v; }); }
inline int atomic_max(int* p, int v) { return sim::update(p, [=](int s) { return s > v ? s : v; }); }
inline long long atomic_min(long long* p, long long v) { return sim::update(p, [=](long long s) { return s < v ? s : v; }); }
inline long long atomic_max(long long* p, long long v) { return sim::update(p, [=](long long s) { return s > v ? s : v; }); }
template <class T> T atomic_exchange(T* p, T v) { return sim::update(p, [=](T) { return v; }); }
inline int atomic_compare_exchange(int* p, int expected, int v) { return sim::update(p, [=](int s) { return s == expected ? v : s; }); }
inline long long atomic_compare_exchange(long long* p, long long expected, long long v) {
  return sim::update(p, [=](long long s) { return s == expected ? v : s; });
}
template <class T> bool same_bits(T a, T b) { return sim::to_bits(a) == sim::to_bits(b); }
template <class T> T swap_bits(T* p, T seen, T v) { return sim::update(p, [=](T s) { return same_bits(s, seen) ? v : s; }); }
template <class T> T read_again(T* p) { return *p; }

}  // namespace ev
