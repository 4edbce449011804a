// Floating-point min, max and compare-exchange by atomics. CUDA has none.
#pragma once
#include "arithmetic.cuh"

namespace ev {

// Floats compare by value, as Python does: -0.0 equals 0.0, and a NaN equals nothing.
template <class T, class F> EV_DEVICE T atomic_update(T* p, F next) {
  T seen = atomic_load(p);
  for (;;) {
    T wanted = next(seen);
    if (same_bits(wanted, seen)) return seen;
    T old = swap_bits(p, seen, wanted);
    if (same_bits(old, seen)) return old;
    seen = old;
  }
}
// The bits of floats that are not negative are in the order of the floats, as signed integers, and negative floats come
// before. The bits of negative floats are in the opposite order, as unsigned integers, and others come before. So min
// and max of a float are one atomic on its bits, which does not loop where many threads meet. Only a NaN is out of order:
// who has replaced one puts it back.
template <class To, class From> EV_DEVICE To bits_as(From v) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  union { From from; To to; } both = {v};
  return both.to;
}
template <class Signed, class Unsigned, bool Min, class T> EV_DEVICE T atomic_by_bits(T* p, T v) {
  auto next = [=](T s) { return Min ? minimum(s, v) : maximum(s, v); };
  if (v != v) return atomic_update(p, next);
  const T seen = atomic_load(p);
  if (same_bits(next(seen), seen)) return seen;  // a load is cheaper than an atomic
  T old;
  if (same_bits(copysign(v, (T)1), v))
    old = bits_as<T>(Min ? atomic_min((Signed*)p, bits_as<Signed>(v)) : atomic_max((Signed*)p, bits_as<Signed>(v)));
  else
    old = bits_as<T>(Min ? atomic_max((Unsigned*)p, bits_as<Unsigned>(v)) : atomic_min((Unsigned*)p, bits_as<Unsigned>(v)));
  if (old != old) atomic_exchange(p, old);
  return old;
}
EV_DEVICE float atomic_min(float* p, float v) { return atomic_by_bits<int, unsigned, true>(p, v); }
EV_DEVICE float atomic_max(float* p, float v) { return atomic_by_bits<int, unsigned, false>(p, v); }
EV_DEVICE double atomic_min(double* p, double v) { return atomic_by_bits<long long, unsigned long long, true>(p, v); }
EV_DEVICE double atomic_max(double* p, double v) { return atomic_by_bits<long long, unsigned long long, false>(p, v); }
EV_DEVICE float atomic_compare_exchange(float* p, float e, float v) {
  return atomic_update(p, [=](float s) { return s == e ? v : s; });
}
EV_DEVICE double atomic_compare_exchange(double* p, double e, double v) {
  return atomic_update(p, [=](double s) { return s == e ? v : s; });
}

}  // namespace ev
