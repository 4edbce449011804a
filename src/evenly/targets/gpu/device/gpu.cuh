// Primitives: the interface between the machine and emitted code and engines.
//
// This is the only file that uses CUDA builtins. It has a second implementation for the CPU
// (targets/simt/host/gpu_host.hpp, which defines EV_HOST), so that the same engines and the same emitted code run
// without a GPU. Both implementations must provide the first part below. The second part, what follows from it, is shared,
// and so are arithmetic.cuh and float_atomics.cuh.
//
// NVRTC has no std headers, and gets these headers as one string, so no file here includes a system header.
#pragma once

#ifndef EV_HOST

#define EV_DEVICE __device__ __forceinline__
// Arguments: the threads of a block and, optionally, how many blocks a multiprocessor must be able to hold.
#define EV_KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)
#define EV_SHARED(T, name, N) __shared__ __align__(16) T name[N]  // aligned for wide loads of consecutive elements

namespace ev {

// ---- indices of threads and blocks ---------------------------------------------------------------------------------
EV_DEVICE int thread_rank() { return (int)threadIdx.x; }      // in the block
EV_DEVICE int block_threads() { return (int)blockDim.x; }
EV_DEVICE int lane_rank() { return (int)(threadIdx.x & 31); }  // in the warp
EV_DEVICE int warp_rank() { return (int)(threadIdx.x >> 5); }  // in the block
EV_DEVICE int block_rank() { return (int)blockIdx.x; }
EV_DEVICE int block_count() { return (int)gridDim.x; }
EV_DEVICE int block_y() { return (int)blockIdx.y; }            // the lane of a dense axis
EV_DEVICE int block_y_count() { return (int)gridDim.y; }

// ---- barriers and fences -------------------------------------------------------------------------------------------
EV_DEVICE void barrier() { __syncthreads(); }
// Named barrier, id 1..15, for `count` threads in whole warps. Barrier 0 is that of barrier().
EV_DEVICE void barrier(int id, int count) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
EV_DEVICE void sync_warp(unsigned mask) { __syncwarp(mask); }
EV_DEVICE void fence_block() { __threadfence_block(); }
EV_DEVICE void fence_device() { __threadfence(); }
// The same, but for one order of all fences: it costs less.
#if __CUDA_ARCH__ >= 700
EV_DEVICE void fence_acq_rel() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
#else
EV_DEVICE void fence_acq_rel() { __threadfence(); }
#endif
// A clock of the multiprocessor, and one of the whole GPU. On the CPU they stand still.
EV_DEVICE long long cycles() { return clock64(); }
EV_DEVICE long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
// Lets others go first, for a thread that polls. With `times`, 1 at first, twice as long each time, up to `most` times.
#if __CUDA_ARCH__ >= 700
EV_DEVICE void pause() { __nanosleep(200); }
EV_DEVICE void pause(int& times, int most = 64) {
  __nanosleep(200 * times);
  if (times < most) times *= 2;
}
#else
EV_DEVICE void pause() {}
EV_DEVICE void pause(int&, int = 64) {}
#endif

// ---- rounds: whether the loop of a CUDA graph goes on, which the host decides if `handle` is 0 ------------------------
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)
}
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
namespace ev {
EV_DEVICE void another_round(unsigned long long handle, bool goes_on) {
  if (handle != 0) cudaGraphSetConditional(handle, goes_on ? 1 : 0);
}
#else
EV_DEVICE void another_round(unsigned long long, bool) {}
#endif

// ---- indices of local and scratch arrays: a target that checks looks that they are in 0 .. length-1 -----------------
template <class I> EV_DEVICE I within(I index, int length) { return index; }
template <class I> EV_DEVICE I within(I index, long long length) { return index; }

// ---- shuffles and votes: every lane in `mask` must call them, at the same place, with the same mask -----------------
// A lane that reads from one outside the mask gets an undefined value (on the CPU: poison). Bools are shuffled as ints.
template <class T> struct shuffled { using type = T; };
template <> struct shuffled<bool> { using type = int; };
template <class T> EV_DEVICE T shuffle_up(unsigned mask, T value, int n, int width = 32) {
  return (T)__shfl_up_sync(mask, (typename shuffled<T>::type)value, n, width);
}
template <class T> EV_DEVICE T shuffle_down(unsigned mask, T value, int n, int width = 32) {
  return (T)__shfl_down_sync(mask, (typename shuffled<T>::type)value, n, width);
}
template <class T> EV_DEVICE T shuffle_xor(unsigned mask, T value, int n) {
  return (T)__shfl_xor_sync(mask, (typename shuffled<T>::type)value, n);
}
template <class T> EV_DEVICE T shuffle_from(unsigned mask, T value, int lane, int width = 32) {
  return (T)__shfl_sync(mask, (typename shuffled<T>::type)value, lane, width);
}
EV_DEVICE unsigned ballot(unsigned mask, bool p) { return __ballot_sync(mask, p); }
EV_DEVICE bool all(unsigned mask, bool p) { return __all_sync(mask, p); }
EV_DEVICE bool any(unsigned mask, bool p) { return __any_sync(mask, p); }
// Lanes that run this together, the own one among them: which ones that are is up to the machine.
EV_DEVICE unsigned active_lanes() { return __activemask(); }

// ---- bits ----------------------------------------------------------------------------------------------------------
EV_DEVICE int count_bits(unsigned m) { return __popc(m); }
EV_DEVICE int count_bits(unsigned long long m) { return __popcll(m); }
EV_DEVICE int zeros_above(unsigned m) { return __clz((int)m); }  // all 32 of 0
EV_DEVICE int zeros_above(unsigned long long m) { return __clzll((long long)m); }
EV_DEVICE int lowest_bit(unsigned m) { return __ffs((int)m) - 1; }     // -1 if there is none
EV_DEVICE int highest_bit(unsigned m) { return 31 - __clz((int)m); }   // -1 if there is none

// ---- infinities, for which NVRTC has no names -----------------------------------------------------------------------
EV_DEVICE float infinity_float() { return __int_as_float(0x7f800000); }
EV_DEVICE double infinity_double() { return __longlong_as_double(0x7ff0000000000000LL); }

// ---- the bits of floats ---------------------------------------------------------------------------------------------
EV_DEVICE unsigned float_bits(float v) { return __float_as_uint(v); }
EV_DEVICE float bits_float(unsigned bits) { return __uint_as_float(bits); }
EV_DEVICE int low_word(double v) { return __double2loint(v); }
EV_DEVICE double power_of_two(int n) { return __hiloint2double((n + 1023) << 20, 0); }  // n: from -1022 to 1023
// 2 to the power v, to two units in the last place; 0 below 2**-126. The instruction alone.
EV_DEVICE float exp2_approximate(float v) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(v));
  return power;
}
// Conversions of float16, for which NVRTC has no header. They round to the nearest, ties to even.
EV_DEVICE float half_value(unsigned short bits) {
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
  return v;
}
EV_DEVICE unsigned short half_bits(float v) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}

// ---- loads ---------------------------------------------------------------------------------------------------------
// load_cached: for memory that no thread writes while the kernel runs, and that is read again (gathers).
// load_once: for such memory that is read once (arrays indexed by the atom). It is evicted from the cache first, so
// that gathered data stays. Kernels take such arrays as `const T* __restrict__`, so the compiler itself finds that the
// read-only path may be used. load_cached is a plain load, since the compiler moves those freely. With __ldg, the loads
// of an unrolled loop stay in order, which is 2 to 4 times slower.
template <class T> EV_DEVICE T load_cached(const T* p) { return *p; }
template <class T> EV_DEVICE T load_once(const T* p) { return __ldcs(p); }
EV_DEVICE bool load_once(const bool* p) { return __ldcs((const unsigned char*)p) != 0; }
// Loads two contiguous numbers by one instruction. `p` is aligned to the size of both.
EV_DEVICE void load_pair_once(const float* p, float& first, float& second) {
  const float2 both = __ldcs((const float2*)p);
  first = both.x;
  second = both.y;
}
EV_DEVICE void load_pair_once(const double* p, double& first, double& second) {
  const double2 both = __ldcs((const double2*)p);
  first = both.x;
  second = both.y;
}
// load_run: loads N > 1 contiguous elements that are read once, by one instruction for every 16 bytes. `p` is aligned
// to 16 bytes, or to the size of all N elements if that is less. load_again: the same for elements that are read again.
// store_run: stores such elements, which this kernel does not read.
template <int size> struct word_of { using type = int4; };
template <> struct word_of<8> { using type = int2; };
template <> struct word_of<4> { using type = int; };
template <> struct word_of<2> { using type = short; };
template <int N, class T> struct run_of {
  static constexpr int size = N * (int)sizeof(T), words = size < 16 ? 1 : size / 16;
  using word = typename word_of<(size < 16 ? size : 16)>::type;
  static_assert(size % sizeof(word) == 0, "whole words");
  union {
    word word_at[words];
    T each[N];
  };
};
template <int N, class T> EV_DEVICE void load_run(const T* p, T* to) {
  using run = run_of<N, T>;
  run all;
  #pragma unroll
  for (int k = 0; k < run::words; ++k) all.word_at[k] = __ldcs((const typename run::word*)p + k);
  #pragma unroll
  for (int k = 0; k < N; ++k) to[k] = all.each[k];
}
template <int N, class T> EV_DEVICE void load_again(const T* p, T* to) {
  using run = run_of<N, T>;
  run all;
  #pragma unroll
  for (int k = 0; k < run::words; ++k) all.word_at[k] = load_cached((const typename run::word*)p + k);
  #pragma unroll
  for (int k = 0; k < N; ++k) to[k] = all.each[k];
}
template <int N, class T> EV_DEVICE void store_run(T* p, const T* from) {
  using run = run_of<N, T>;
  run all;
  #pragma unroll
  for (int k = 0; k < N; ++k) all.each[k] = from[k];
  #pragma unroll
  for (int k = 0; k < run::words; ++k) __stcs((typename run::word*)p + k, all.word_at[k]);
}

// Hides a value from the compiler's optimizations, without changing it. Used after a loop: the compiler would otherwise
// move the code that follows into the paths around the loop (if it did not run, 0 + total is 0), and ptxas would then
// order the loads inside the loop in a slower way.
template <class T> EV_DEVICE void pin(T&) {}
EV_DEVICE void pin(float& v) { asm volatile("" : "+f"(v)); }
EV_DEVICE void pin(double& v) { asm volatile("" : "+d"(v)); }
EV_DEVICE void pin(int& v) { asm volatile("" : "+r"(v)); }
EV_DEVICE void pin(long long& v) { asm volatile("" : "+l"(v)); }
EV_DEVICE void pin(unsigned short& v) { asm volatile("" : "+h"(v)); }
EV_DEVICE void pin(unsigned& v) { asm volatile("" : "+r"(v)); }
EV_DEVICE void pin(unsigned long long& v) { asm volatile("" : "+l"(v)); }

// The product in 64 bits, by one instruction: the compiler extends what does not change in a loop before it, and then has
// to multiply in 64 bits.
EV_DEVICE long long wide_product(int a, int b) {
  long long product;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
}

#if __CUDA_ARCH__ >= 800
#define EV_MIN_NAN
EV_DEVICE float min_nan(float a, float b) {
  float found;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));
  return found;
}
EV_DEVICE float max_nan(float a, float b) {
  float found;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(found) : "f"(a), "f"(b));
  return found;
}
#endif

// A read-only array: a[i] is gathered, a.once(i) streams.
template <class T> struct in {
  const T* data;
  in() = default;
  EV_DEVICE in(const T* p) : data(p) {}
  template <class I> EV_DEVICE T operator[](I i) const { return load_cached(data + i); }
  template <class I> EV_DEVICE T once(I i) const { return load_once(data + i); }
};

// An array that is written, and may be read through the same view.
template <class T> struct out {
  T* data;
  out() = default;
  EV_DEVICE out(T* p) : data(p) {}
  template <class I> EV_DEVICE T& operator[](I i) const { return data[i]; }
};

// ---- atomics: they are relaxed, so only fences order other accesses. Each returns the old value ---------------------
// atomic_load and atomic_store are for values by which threads signal each other.
template <class T> EV_DEVICE T atomic_load(const T* p) { return *(const volatile T*)p; }
template <class T> EV_DEVICE void atomic_store(T* p, T v) { *(volatile T*)p = v; }
// A store to an element to which other threads may store the same value. Different values are a race, which target
// `simt` reports. who: the atom; -1 if only one value is ever stored.
template <class T> EV_DEVICE void store_contended(T* p, T v, long long who) { *(volatile T*)p = v; }
EV_DEVICE int atomic_add(int* p, int v) { return atomicAdd(p, v); }
EV_DEVICE long long atomic_add(long long* p, long long v) {
  return (long long)atomicAdd((unsigned long long*)p, (unsigned long long)v);  // two's complement: the same bits
}
EV_DEVICE unsigned atomic_add(unsigned* p, unsigned v) { return atomicAdd(p, v); }
EV_DEVICE unsigned long long atomic_add(unsigned long long* p, unsigned long long v) { return atomicAdd(p, v); }
EV_DEVICE float atomic_add(float* p, float v) { return atomicAdd(p, v); }
EV_DEVICE double atomic_add(double* p, double v) { return atomicAdd(p, v); }

// These are for integers of 32 and 64 bits, signed and unsigned. Floats have functions of their own below.
template <class T> EV_DEVICE T atomic_min(T* p, T v) { return atomicMin(p, v); }
template <class T> EV_DEVICE T atomic_max(T* p, T v) { return atomicMax(p, v); }
template <class T> EV_DEVICE T atomic_and(T* p, T v) { return atomicAnd(p, v); }
template <class T> EV_DEVICE T atomic_or(T* p, T v) { return atomicOr(p, v); }
template <class T> EV_DEVICE T atomic_xor(T* p, T v) { return atomicXor(p, v); }

EV_DEVICE int atomic_exchange(int* p, int v) { return atomicExch(p, v); }
EV_DEVICE long long atomic_exchange(long long* p, long long v) {
  return (long long)atomicExch((unsigned long long*)p, (unsigned long long)v);
}
EV_DEVICE unsigned atomic_exchange(unsigned* p, unsigned v) { return atomicExch(p, v); }
EV_DEVICE unsigned long long atomic_exchange(unsigned long long* p, unsigned long long v) { return atomicExch(p, v); }
EV_DEVICE float atomic_exchange(float* p, float v) { return atomicExch(p, v); }
EV_DEVICE double atomic_exchange(double* p, double v) {
  return __longlong_as_double((long long)atomicExch((unsigned long long*)p, (unsigned long long)__double_as_longlong(v)));
}

EV_DEVICE int atomic_compare_exchange(int* p, int expected, int v) { return atomicCAS(p, expected, v); }
EV_DEVICE long long atomic_compare_exchange(long long* p, long long expected, long long v) {
  return (long long)atomicCAS((unsigned long long*)p, (unsigned long long)expected, (unsigned long long)v);
}
EV_DEVICE unsigned atomic_compare_exchange(unsigned* p, unsigned expected, unsigned v) { return atomicCAS(p, expected, v); }
EV_DEVICE unsigned long long atomic_compare_exchange(unsigned long long* p, unsigned long long expected, unsigned long long v) {
  return atomicCAS(p, expected, v);
}

// One compare-and-swap on the bits of a floating-point value. seen: the value that the caller expects there.
EV_DEVICE float swap_bits(float* p, float seen, float v) {
  return __int_as_float(atomicCAS((int*)p, __float_as_int(seen), __float_as_int(v)));
}
EV_DEVICE double swap_bits(double* p, double seen, double v) {
  return __longlong_as_double((long long)atomicCAS((unsigned long long*)p, (unsigned long long)__double_as_longlong(seen),
                                                   (unsigned long long)__double_as_longlong(v)));
}
EV_DEVICE bool same_bits(float a, float b) { return __float_as_int(a) == __float_as_int(b); }
EV_DEVICE bool same_bits(double a, double b) { return __double_as_longlong(a) == __double_as_longlong(b); }

}  // namespace ev

#endif  // EV_HOST

namespace ev {

static constexpr unsigned full_warp = 0xffffffffu;
template <class A, class B> struct same_type { static constexpr bool value = false; };
template <class A> struct same_type<A, A> { static constexpr bool value = true; };
template <bool C, class A, class B> struct choose { using type = A; };
template <class A, class B> struct choose<false, A, B> { using type = B; };
EV_DEVICE unsigned lanes_through(int lane) { return full_warp >> (31 - lane); }  // lanes 0..lane
EV_DEVICE unsigned lanes_below(int lane) { return (1u << lane) - 1u; }
EV_DEVICE unsigned lanes_above(int lane) { return ~lanes_through(lane); }
EV_DEVICE int lowest_bit(unsigned long long m) {
  return (unsigned)m != 0 ? lowest_bit((unsigned)m) : 32 + lowest_bit((unsigned)(m >> 32));
}
EV_DEVICE constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// ---- ranges with a step that is known at run time -------------------------------------------------------------------
// Whether range(..., stop, step) has `i`, if it has what comes before. With a step of zero, which Python refuses, it is
// empty: a loop would not end. The emulator reports it.
template <class T> EV_DEVICE bool goes_on(T i, T stop, T step) {
#ifdef EV_HOST
  if (step == 0) assertion_failed("the step of a range is not zero");
#endif
  return step > 0 ? i < stop : step < 0 && i > stop;
}
// The position of that number, or the nearest one: a thread may look for work beyond all positions.
template <class pos> EV_DEVICE pos position(long long i) {
  if (sizeof(pos) == sizeof i) return (pos)i;
  return i > 2147483647 ? (pos)2147483647 : i < -2147483647 ? (pos)-2147483647 : (pos)i;
}

// ---- runs of contiguous elements (load_run) -------------------------------------------------------------------------
// aligned_runs: whether runs from `p` on are. whole_runs: the number of elements in whole runs, of `extent` elements from
// `p` on: at most `most`, and 0 if `p` is not aligned.
template <int N, class T> EV_DEVICE bool aligned_runs(const T* p) {
  constexpr int size = N * (int)sizeof(T);
  return (unsigned long long)p % (size < 16 ? size : 16) == 0;
}
template <int N, class T, class pos> EV_DEVICE pos whole_runs(const T* p, long long extent, pos most) {
  if (!aligned_runs<N>(p)) return 0;
  return extent < (long long)most ? (pos)extent / N * N : most;
}

// ---- local arrays ---------------------------------------------------------------------------------------------------
template <class T, int N> EV_DEVICE void fill(T (&array)[N], T value) {
  #pragma unroll
  for (int i = 0; i < N; ++i) array[i] = value;
}

}  // namespace ev
