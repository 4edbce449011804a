// Floats of 16 bits, as arrays hold them. A value that is read is converted to float at once. A value that is stored is
// rounded to the nearest, ties to even.
#pragma once
#include "gpu.cuh"

namespace ev {

struct half {  // 5 bits of exponent, 10 of fraction
  static EV_DEVICE float value(unsigned short bits) { return half_value(bits); }
  static EV_DEVICE unsigned short bits(float v) { return half_bits(v); }
};
struct brain {  // the upper half of a float
  static EV_DEVICE float value(unsigned short bits) { return bits_float((unsigned)bits << 16); }
  static EV_DEVICE unsigned short bits(float v) {
    const unsigned all = float_bits(v);
    if (v != v) return (unsigned short)(all >> 16 | 0x40u);  // NaN; without its lower bits it might become infinity
    return (unsigned short)((all + 0x7fffu + (all >> 16 & 1)) >> 16);
  }
};

// Converts a double to a float, and sets the last bit if any bit was lost. If the float is then rounded to fewer bits,
// the result is the same as if the double had been rounded once (Boldo, Melquiond, "When double rounding is odd",
// 2005).
EV_DEVICE float rounded_to_odd(double v) {
  const float near = (float)v;
  if ((double)near == v) return near;
  const bool beyond = fabs((double)near) > fabs(v);
  return bits_float((float_bits(near) - (unsigned)beyond) | 1u);
}

template <class Format> struct narrow {
  unsigned short bits;
  narrow() = default;
  EV_DEVICE explicit narrow(float v) : bits(Format::bits(v)) {}
  EV_DEVICE explicit narrow(double v) : bits(Format::bits(rounded_to_odd(v))) {}
  EV_DEVICE explicit operator float() const { return Format::value(bits); }
};
using float16 = narrow<half>;
using bfloat16 = narrow<brain>;

template <class F> EV_DEVICE narrow<F> load_once(const narrow<F>* p) {
  narrow<F> v;
  v.bits = load_once(&p->bits);
  return v;
}
template <class F> EV_DEVICE narrow<F> atomic_load(const narrow<F>* p) {
  narrow<F> v;
  v.bits = atomic_load(&p->bits);
  return v;
}
template <class F> EV_DEVICE void store_contended(narrow<F>* p, narrow<F> v, long long who) { store_contended(&p->bits, v.bits, who); }
template <class F> EV_DEVICE void atomic_store(narrow<F>* p, narrow<F> v) { atomic_store(&p->bits, v.bits); }

}  // namespace ev
