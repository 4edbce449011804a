// CUDA C++'s own names for the primitives, for hand-written kernels. source.py turns declarations of shared memory into
// calls; everything else that CUDA has and this has not is unknown to the compiler.
#pragma once
#include <stdio.h>
#include "cuda_atomic.hpp"

#ifdef EV_TRACE  // the counters need every place in the code to be in the kernel
#define __global__ __attribute__((flatten))
#else
#define __global__
#endif
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct dim3 { unsigned x = 1, y = 1, z = 1; };
struct uint3 { unsigned x, y, z; };
#define threadIdx (uint3{unsigned(ev_sim_thread_rank()), 0u, 0u})
#define blockIdx (uint3{unsigned(ev_sim_block_x()), unsigned(ev_sim_block_y()), 0u})
#define blockDim (dim3{unsigned(ev_sim_block_threads()), 1u, 1u})
#define gridDim (dim3{unsigned(ev_sim_blocks_x()), unsigned(ev_sim_blocks_y()), 1u})
static constexpr int warpSize = 32;

namespace ev::sim {
// A dynamic shared array: declared anywhere, looked up where it is used.
template <class T> struct dynamic {
  const char* name;
  EV_DEVICE operator T*() const { return static_cast<T*>(ev_sim_dynamic_shared(sizeof(T), name)); }
};
}  // namespace ev::sim

// ---- histories of operations, which are checked against a model ---------------------------------------------------------
namespace ev {
EV_DEVICE void invoke(const char* name, long long argument = 0) { ev_sim_invoke(name, argument); }
EV_DEVICE void respond(long long result = 0) { ev_sim_respond(result); }
}  // namespace ev

// ---- assert, with the values of a comparison (as Catch2 takes it apart) ---------------------------------------------------
namespace ev::sim {
struct Asserted {
  bool holds;
  char got[80];
  EV_QUIET operator bool() const { return holds; }
};
template <class T> EV_QUIET inline int write_value(char* to, size_t room, T v) {
  if constexpr (std::is_floating_point_v<T>) return snprintf(to, room, "%.9g", double(v));
  else if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? snprintf(to, room, "%lld", (long long)v) : snprintf(to, room, "%llu", (unsigned long long)v);
  else return snprintf(to, room, "?");
}
template <class A> struct Left {
  A a;
#define EV_COMPARISON(op)                                                     \
  template <class B> EV_QUIET Asserted operator op(B b) const {               \
    Asserted made{a op b, {}};                                                \
    int n = write_value(made.got, 36, a);                                     \
    n += snprintf(made.got + n, 8, " %s ", #op);                              \
    write_value(made.got + n, 36, b);                                         \
    return made;                                                              \
  }
  EV_COMPARISON(==) EV_COMPARISON(!=) EV_COMPARISON(<) EV_COMPARISON(>) EV_COMPARISON(<=) EV_COMPARISON(>=)
#undef EV_COMPARISON
  EV_QUIET operator bool() const { return bool(a); }
};
struct Taken {
  template <class A> EV_QUIET Left<A> operator<=(A a) const { return {a}; }
};
EV_DEVICE void check(const char* text, const Asserted& a) {
  if (!a.holds) ev_sim_assertion_failed(text, a.got);
}
EV_DEVICE void check(const char* text, bool holds) {
  if (!holds) ev_sim_assertion_failed(text, "False");
}
}  // namespace ev::sim
#undef assert
#define assert(...) ::ev::sim::check(#__VA_ARGS__, ::ev::sim::Taken{} <= __VA_ARGS__)

#define EV_SITE const char *file = __builtin_FILE(), int place = EV_PLACE
// ---- barriers, fences, votes, shuffles ------------------------------------------------------------------------------
EV_DEVICE void __syncthreads(EV_SITE) { ev::barrier(file, place); }
EV_DEVICE void __syncwarp(unsigned mask = 0xffffffffu, EV_SITE) { ev::sync_warp(mask, file, place); }
EV_DEVICE void __threadfence() { ev::fence_device(); }
EV_DEVICE void __threadfence_system() { ev::fence_device(); }
EV_DEVICE void __threadfence_block() { ev::fence_block(); }
EV_DEVICE void __nanosleep(unsigned) {}
EV_DEVICE unsigned __ballot_sync(unsigned mask, int p, EV_SITE) { return ev::ballot(mask, p != 0, file, place); }
EV_DEVICE int __all_sync(unsigned mask, int p, EV_SITE) { return ev::all(mask, p != 0, file, place); }
EV_DEVICE int __any_sync(unsigned mask, int p, EV_SITE) { return ev::any(mask, p != 0, file, place); }
EV_DEVICE unsigned __activemask() { return ev::active_lanes(); }
template <class T> EV_DEVICE T __shfl_sync(unsigned mask, T v, int lane, int width = 32, EV_SITE) { return ev::shuffle_from(mask, v, lane, width, file, place); }
template <class T> EV_DEVICE T __shfl_up_sync(unsigned mask, T v, int n, int width = 32, EV_SITE) { return ev::shuffle_up(mask, v, n, width, file, place); }
template <class T> EV_DEVICE T __shfl_down_sync(unsigned mask, T v, int n, int width = 32, EV_SITE) { return ev::shuffle_down(mask, v, n, width, file, place); }
template <class T> EV_DEVICE T __shfl_xor_sync(unsigned mask, T v, int n, int width = 32, EV_SITE) {
  const int lane = ev::lane_rank(), source = lane ^ n;
  return ev::shuffle_from(mask, v, source / width > lane / width ? lane : source, 32, file, place);
}
#undef EV_SITE

// ---- numbers --------------------------------------------------------------------------------------------------------
EV_DEVICE int __popc(unsigned m) { return ev::count_bits(m); }
EV_DEVICE int __popcll(unsigned long long m) { return ev::count_bits(m); }
EV_DEVICE int __clz(int m) { return ev::zeros_above(unsigned(m)); }
EV_DEVICE int __clzll(long long m) { return ev::zeros_above((unsigned long long)m); }
EV_DEVICE int __ffs(int m) { return __builtin_ffs(m); }
EV_DEVICE int __ffsll(long long m) { return __builtin_ffsll(m); }
template <class T> EV_DEVICE T __ldg(const T* p) { return *p; }
template <class T> EV_DEVICE T __ldcs(const T* p) { return *p; }
EV_DEVICE unsigned __float_as_uint(float v) { return ev::float_bits(v); }
EV_DEVICE float __uint_as_float(unsigned v) { return ev::bits_float(v); }
EV_DEVICE int __float_as_int(float v) { return int(ev::float_bits(v)); }
EV_DEVICE float __int_as_float(int v) { return ev::bits_float(unsigned(v)); }
template <class A, class B> EV_DEVICE std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <class A, class B> EV_DEVICE std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

#define EV_VECTORS(T, name)                                                   \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                          \
  struct name##3 { T x, y, z; };                                              \
  struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
  EV_DEVICE name##2 make_##name##2(T x, T y) { return {x, y}; }               \
  EV_DEVICE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EV_VECTORS(int, int)
EV_VECTORS(float, float)
EV_VECTORS(double, double)
EV_VECTORS(long long, longlong)
#undef EV_VECTORS
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };

// ---- atomics, relaxed; of the device, or with _block of the block -----------------------------------------------------
#define EV_ATOMIC(name, next)                                                                                                                  \
  template <class T, class V> EV_DEVICE T name(T* p, V v) { return ev::sim::update<ev_relaxed>(p, [=](T s) { return T(next); }); }              \
  template <class T, class V> EV_DEVICE T name##_system(T* p, V v) { return ev::sim::update<ev_relaxed>(p, [=](T s) { return T(next); }); }     \
  template <class T, class V> EV_DEVICE T name##_block(T* p, V v) { return ev::sim::update<ev_relaxed | ev_of_block>(p, [=](T s) { return T(next); }); }
namespace ev::sim {
template <class T, class V> EV_QUIET inline T sum_of(T s, V v) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(s) + uint64_t(v));
  else return T(s + v);
}
}  // namespace ev::sim
EV_ATOMIC(atomicAdd, ev::sim::sum_of(s, v))
EV_ATOMIC(atomicSub, ev::sim::sum_of(s, -v))
EV_ATOMIC(atomicMin, T(v) < s ? T(v) : s)
EV_ATOMIC(atomicMax, s < T(v) ? T(v) : s)
EV_ATOMIC(atomicAnd, s & v)
EV_ATOMIC(atomicOr, s | v)
EV_ATOMIC(atomicXor, s ^ v)
EV_ATOMIC(atomicExch, v)
EV_ATOMIC(atomicInc, s >= v ? 0 : s + 1)
EV_ATOMIC(atomicDec, s == 0 || s > v ? v : s - 1)
#undef EV_ATOMIC
template <class T, class A, class B> EV_DEVICE T atomicCAS(T* p, A expected, B v) { return ev::sim::compare_exchange<ev_relaxed>(p, T(expected), T(v)); }
template <class T, class A, class B> EV_DEVICE T atomicCAS_system(T* p, A expected, B v) { return ev::sim::compare_exchange<ev_relaxed>(p, T(expected), T(v)); }
template <class T, class A, class B> EV_DEVICE T atomicCAS_block(T* p, A expected, B v) { return ev::sim::compare_exchange<ev_relaxed | ev_of_block>(p, T(expected), T(v)); }
