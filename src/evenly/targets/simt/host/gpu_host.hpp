// The primitives of gpu/device/gpu.cuh on the CPU: the same engines and the same emitted code, executed by fibers.
//
// Everything here is a thin call into the runtime. The runtime also sees plain reads and writes of kernels, since code
// that includes this is compiled with -fsanitize=thread, whose hooks the runtime implements (hooks.cpp).
#pragma once
#define EV_HOST
#include <string.h>
#include <type_traits>
#include <utility>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS  // of libstdc++: elliptic integrals and the like, half of what <cmath> takes to compile
#include <cmath>
#include <math.h>
#include "abi.hpp"

#if !defined(__clang__)  // GCC tells columns in this way only; the header of the library is for C++20
namespace std {
struct source_location {
  struct __impl { const char *_M_file_name, *_M_function_name; unsigned _M_line, _M_column; };
};
}  // namespace std
#endif

// All functions are inlined, as on the GPU. So an address leads to every line on the way to it from the kernel.
#ifndef EV_DEVICE
#define EV_DEVICE inline __attribute__((always_inline))
#endif
#ifdef EV_TRACE  // the counters need every place in the code to be in the kernel
#define EV_KERNEL(...) extern "C" __attribute__((flatten)) void
#else
#define EV_KERNEL(...) extern "C" void
#endif
// Shared memory of a block. The static is only a key: there is one for each place and each instantiation, as on the
// GPU.
#define EV_SHARED(T, name, N)          \
  static const char name##_key = 0;    \
  auto& name = *static_cast<::ev::sim::array_of<T, N>*>(ev_sim_shared(&name##_key, sizeof(::ev::sim::array_of<T, N>), sizeof(T), ::std::is_scalar_v<T>, #name))

namespace ev {
template <class T> struct complex;
template <class Format> struct narrow;
struct half;
namespace sim {
template <class T, long long N> using array_of = T[N];

template <class T> EV_QUIET inline uint64_t to_bits(T v) {
  static_assert(sizeof(T) <= 8, "shuffles and atomics take 8 bytes at most");
  uint64_t bits = 0;
  memcpy(&bits, &v, sizeof v);
  return bits;
}
template <class T> EV_QUIET inline T from_bits(uint64_t bits) {
  T v;
  memcpy(&v, &bits, sizeof v);
  return v;
}
template <> EV_QUIET inline bool from_bits<bool>(uint64_t bits) { return (bits & 1) != 0; }

// A line and a column, since a line may have two barriers.
constexpr int place_of(unsigned line, unsigned column) { return int(line << 10 | (column < 1024 ? column : 1023)); }
#if defined(__clang__)
#define EV_PLACE ::ev::sim::place_of(__builtin_LINE(), __builtin_COLUMN())
#else
EV_DEVICE int place_of(const void* location) {
  const auto* l = static_cast<const std::source_location::__impl*>(location);
  return place_of(l->_M_line, l->_M_column);
}
#define EV_PLACE ::ev::sim::place_of(__builtin_source_location())
#endif
}  // namespace sim

#define EV_SITE const char *file = __builtin_FILE(), int place = EV_PLACE

// ---- indices of threads and blocks ----------------------------------------------------------------------------------
EV_DEVICE int thread_rank() { return ev_sim_thread_rank(); }
EV_DEVICE int block_threads() { return ev_sim_block_threads(); }
EV_DEVICE int lane_rank() { return thread_rank() & 31; }
EV_DEVICE int warp_rank() { return thread_rank() >> 5; }
EV_DEVICE int block_rank() { return ev_sim_block_x(); }
EV_DEVICE int block_count() { return ev_sim_blocks_x(); }
EV_DEVICE int block_y() { return ev_sim_block_y(); }
EV_DEVICE int block_y_count() { return ev_sim_blocks_y(); }

// ---- barriers and fences --------------------------------------------------------------------------------------------
EV_DEVICE void barrier(EV_SITE) { ev_sim_barrier(0, 0, {file, place}); }
EV_DEVICE void barrier(int id, int count, EV_SITE) { ev_sim_barrier(id, count, {file, place}); }
EV_DEVICE void sync_warp(unsigned mask, EV_SITE) { ev_sim_warp(ev_sync_warp, mask, 0, 0, {file, place}); }
EV_DEVICE void fence_block() { ev_sim_fence(ev_seq_cst | ev_of_block); }
EV_DEVICE void fence_device() { ev_sim_fence(ev_seq_cst); }
EV_DEVICE void fence_acq_rel() { ev_sim_fence(ev_acq_rel); }
EV_DEVICE long long cycles() { return 0; }
EV_DEVICE long long nanoseconds() { return 0; }
EV_DEVICE void pause() {}
EV_DEVICE void pause(int&, int = 64) {}

EV_DEVICE void another_round(unsigned long long, bool) {}  // the host decides

// ---- shuffles and votes ---------------------------------------------------------------------------------------------
// The source lane. If that is outside the segment of `width` lanes, it is the calling lane, as on the GPU.
template <class T> EV_DEVICE T shuffle_up(unsigned mask, T value, int n, int width = 32, EV_SITE) {
  int lane = lane_rank(), source = lane % width >= n ? lane - n : lane;
  return sim::from_bits<T>(ev_sim_warp(ev_shuffle, mask, sim::to_bits(value), source, {file, place}));
}
template <class T> EV_DEVICE T shuffle_down(unsigned mask, T value, int n, int width = 32, EV_SITE) {
  int lane = lane_rank(), source = lane % width + n < width ? lane + n : lane;
  return sim::from_bits<T>(ev_sim_warp(ev_shuffle, mask, sim::to_bits(value), source, {file, place}));
}
template <class T> EV_DEVICE T shuffle_from(unsigned mask, T value, int from, int width = 32, EV_SITE) {
  int lane = lane_rank(), source = lane / width * width + (from % width + width) % width;
  return sim::from_bits<T>(ev_sim_warp(ev_shuffle, mask, sim::to_bits(value), source, {file, place}));
}
template <class T> EV_DEVICE T shuffle_xor(unsigned mask, T value, int n, EV_SITE) {
  return shuffle_from(mask, value, lane_rank() ^ n, 32, file, place);
}
EV_DEVICE unsigned ballot(unsigned mask, bool p, EV_SITE) { return unsigned(ev_sim_warp(ev_vote, mask, p, 0, {file, place})); }
EV_DEVICE bool all(unsigned mask, bool p, EV_SITE) { return ballot(mask, p, file, place) == mask; }
EV_DEVICE bool any(unsigned mask, bool p, EV_SITE) { return ballot(mask, p, file, place) != 0; }
#undef EV_SITE
EV_DEVICE unsigned active_lanes() { return 1u << lane_rank(); }

// ---- bits -----------------------------------------------------------------------------------------------------------
EV_DEVICE int count_bits(unsigned m) { return __builtin_popcount(m); }
EV_DEVICE int count_bits(unsigned long long m) { return __builtin_popcountll(m); }
EV_DEVICE int zeros_above(unsigned m) { return m == 0 ? 32 : __builtin_clz(m); }
EV_DEVICE int zeros_above(unsigned long long m) { return m == 0 ? 64 : __builtin_clzll(m); }
EV_DEVICE int lowest_bit(unsigned m) { return m == 0 ? -1 : __builtin_ctz(m); }
EV_DEVICE int highest_bit(unsigned m) { return m == 0 ? -1 : 31 - __builtin_clz(m); }

EV_DEVICE float infinity_float() { return HUGE_VALF; }
EV_DEVICE double infinity_double() { return HUGE_VAL; }

// ---- the bits of floats ---------------------------------------------------------------------------------------------
EV_DEVICE unsigned float_bits(float v) { return unsigned(sim::to_bits(v)); }
EV_DEVICE float bits_float(unsigned bits) { return sim::from_bits<float>(bits); }
EV_DEVICE int low_word(double v) { return int(sim::to_bits(v)); }
EV_DEVICE double power_of_two(int n) { return sim::from_bits<double>(uint64_t(unsigned(n + 1023)) << 52); }
EV_DEVICE float exp2_approximate(float v) { return v < -126 ? 0 : exp2f(v); }
// A multiplication adjusts the exponent's bias, which is correct for subnormal halves, too. (Giesen, "Float->half
// conversions".) Some compilers have no type for halves.
EV_DEVICE float half_value(unsigned short bits) {
  const unsigned magnitude = (bits & 0x7fffu) << 13, sign = (bits & 0x8000u) << 16;
  const float moved = bits_float(magnitude) * 0x1p112f;
  const unsigned special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;  // inf and nan
  return bits_float(float_bits(moved) | special | sign);
}
EV_DEVICE unsigned short half_bits(float v) {
  const unsigned all = float_bits(v), sign = all >> 16 & 0x8000u, magnitude = all & 0x7fffffffu;
  unsigned made;
  if (magnitude > 0x7f800000u) made = 0x7e00u;                                // nan
  else if (magnitude >= 0x47800000u) made = 0x7c00u;                          // from 2**16 on: inf
  else if (magnitude < 0x38800000u) made = float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000u;  // below 2**-14: subnormal
  else made = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  return static_cast<unsigned short>(made | sign);
}

// ---- loads and views ------------------------------------------------------------------------------------------------
template <class T> T load_cached(const T* p) { return *p; }
template <class T> T load_once(const T* p) { return *p; }
template <class T> void load_pair_once(const T* p, T& first, T& second) { first = p[0], second = p[1]; }

// These make the same accesses as on the GPU.
template <int N, class T> EV_DEVICE void load_run(const T* p, T* to) {
  constexpr int size = N * (int)sizeof(T), each = size < 16 ? size : 16;
  static_assert(size % each == 0, "whole words");
  typedef char word __attribute__((vector_size(each), may_alias));
  for (int k = 0; k < size / each; ++k) {
    const word bytes = ((const word*)p)[k];
    __builtin_memcpy((char*)to + k * each, &bytes, each);
  }
}
template <int N, class T> EV_DEVICE void load_again(const T* p, T* to) { load_run<N>(p, to); }
template <int N, class T> EV_DEVICE void store_run(T* p, const T* from) {
  constexpr int size = N * (int)sizeof(T), each = size < 16 ? size : 16;
  static_assert(size % each == 0, "whole words");
  typedef char word __attribute__((vector_size(each), may_alias));
  for (int k = 0; k < size / each; ++k) {
    word bytes;
    __builtin_memcpy(&bytes, (const char*)from + k * each, each);
    ((word*)p)[k] = bytes;
  }
}
template <class T> void pin(T&) {}  // only needed for the GPU's compiler
EV_DEVICE long long wide_product(int a, int b) { return (long long)a * b; }
// No EV_MIN_NAN: min_nan and max_nan are single instructions of a GPU, for which gpu.cuh has other code.

// Emitted code passes a bare pointer, as on the GPU. The runtime finds the array's length by the pointer.
template <class T> struct in {
  const T* data;
  long long count;
  in() = default;
  in(const T* p) : data(p), count(ev_sim_extent(p, sizeof(T))) {}
  template <class I> T operator[](I i) const { return load_cached(at(i)); }
  template <class I> T once(I i) const { return load_once(at(i)); }

private:
  template <class I> const T* at(I i) const {
    if (count >= 0 && (uint64_t)i >= (uint64_t)count) ev_sim_outside(data, (int64_t)i, count, 0);
    return data + i;
  }
};
template <class T> struct out {
  T* data;
  long long count;
  out() = default;
  out(T* p) : data(p), count(ev_sim_extent(p, sizeof(T))) {}
  template <class I> T& operator[](I i) const {
    if (count >= 0 && (uint64_t)i >= (uint64_t)count) ev_sim_outside(data, (int64_t)i, count, 1);
    return data[i];
  }
};

// ---- printing -------------------------------------------------------------------------------------------------------
namespace sim {
EV_QUIET inline void say(const char* s) { ev_sim_print('s', s, __builtin_strlen(s)); }
EV_QUIET inline void say(bool v) { ev_sim_print('b', &v, sizeof v); }
EV_QUIET inline void say(int v) { ev_sim_print('i', &v, sizeof v); }
EV_QUIET inline void say(long long v) { ev_sim_print('l', &v, sizeof v); }
EV_QUIET inline void say(signed char v) { ev_sim_print('a', &v, sizeof v); }
EV_QUIET inline void say(short v) { ev_sim_print('h', &v, sizeof v); }
EV_QUIET inline void say(unsigned char v) { ev_sim_print('B', &v, sizeof v); }
EV_QUIET inline void say(unsigned short v) { ev_sim_print('H', &v, sizeof v); }
EV_QUIET inline void say(unsigned v) { ev_sim_print('j', &v, sizeof v); }
EV_QUIET inline void say(unsigned long long v) { ev_sim_print('m', &v, sizeof v); }
EV_QUIET inline void say(float v) { ev_sim_print('f', &v, sizeof v); }
EV_QUIET inline void say(double v) { ev_sim_print('d', &v, sizeof v); }
template <class T> EV_QUIET auto say(T v) -> decltype(v.im, void()) { ev_sim_print(sizeof(v.re) == 4 ? 'F' : 'D', &v, sizeof v); }
}  // namespace sim
template <class... T> EV_QUIET void print_line(T... parts) {
  (sim::say(parts), ...);
  ev_sim_print(0, nullptr, 0);
}
template <class I> EV_DEVICE I within(I index, int length) {
  if (index < 0 || index >= length) ev_sim_outside_local(index, length, "local");
  return index;
}
template <class I> EV_DEVICE I within(I index, long long length) {
  if (index < 0 || (long long)index >= length) ev_sim_outside_local(index, length, "scratch");
  return index;
}
EV_DEVICE void assertion_failed(const char* text) { ev_sim_assertion_failed(text, "False"); }

// ---- kernels, as Python calls them ----------------------------------------------------------------------------------
namespace sim {
template <class T> constexpr char kind_of() {  // ev_entry::kinds
  if constexpr (std::is_same_v<T, bool>) return 'b';
  else if constexpr (std::is_same_v<T, float>) return 'f';
  else if constexpr (std::is_same_v<T, double>) return 'd';
  else if constexpr (std::is_same_v<T, narrow<half>>) return 'e';
  else if constexpr (std::is_same_v<T, complex<float>>) return 'F';
  else if constexpr (std::is_same_v<T, complex<double>>) return 'D';
  else if constexpr (!std::is_integral_v<T>) return '?';
  else if constexpr (sizeof(T) == 1) return std::is_same_v<T, signed char> ? 'a' : 'B';
  else if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? 'h' : 'H';
  else if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? 'i' : 'j';
  else if constexpr (sizeof(T) == 8) return std::is_signed_v<T> ? 'l' : 'm';
  else return '?';
}
template <class... A> struct caller {
  template <class T> using bare = std::remove_cv_t<std::remove_pointer_t<T>>;
  template <class T> static constexpr char mark() {
    return !std::is_pointer_v<T> ? ' ' : std::is_const_v<std::remove_pointer_t<T>> ? '&' : '*';
  }
  static const char* kinds() {
    static char text[2 * sizeof...(A) + 1];
    char* to = text;
    (((mark<A>() == ' ' ? to : (*to++ = mark<A>(), to)), *to++ = kind_of<bare<A>>()), ...);
    return text;
  }
  template <class T> EV_QUIET static T taken(const void* p) {  // for any alignment
    T v;
    memcpy(&v, p, sizeof v);
    return v;
  }
  template <size_t... I> EV_QUIET static void with(void* kernel, void** a, std::index_sequence<I...>) {
    reinterpret_cast<void (*)(A...)>(kernel)(taken<A>(a[I])...);
  }
  EV_QUIET static void call(void* kernel, void** a) { with(kernel, a, std::index_sequence_for<A...>()); }
};
template <class... A> ev_entry entry_of(void (*kernel)(A...)) {
  return {&caller<A...>::call, reinterpret_cast<void*>(kernel), caller<A...>::kinds()};
}
}  // namespace sim
// To be written after a kernel. Defines how to call it, under the name kernel_entry.
#define EV_ENTRY(kernel) \
  extern "C" __attribute__((visibility("default"))) const ev_entry kernel##_entry = ::ev::sim::entry_of(&kernel);

}  // namespace ev
#include "atomics.hpp"
