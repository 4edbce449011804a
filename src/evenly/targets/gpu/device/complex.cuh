// Complex numbers with NumPy's arithmetic. The two parts are contiguous, and aligned so that one instruction loads
// both.
//
// Shuffles and atomics handle one part at a time. So an atomic returns no old value here, and a number that is loaded
// while other threads add to it may have one part from before an addition and one from after it.
#pragma once
#include "gpu.cuh"

namespace ev {

template <class T> struct alignas(2 * sizeof(T)) complex {
  T re, im;
  complex() = default;
  EV_DEVICE explicit complex(T real, T imaginary = 0) : re(real), im(imaginary) {}
  template <class U> EV_DEVICE explicit complex(const complex<U>& z) : re((T)z.re), im((T)z.im) {}
};
using complex64 = complex<float>;
using complex128 = complex<double>;

template <class T> EV_DEVICE complex<T> of_parts(T re, T im) { return complex<T>(re, im); }
template <class T> EV_DEVICE T real_part(const complex<T>& z) { return z.re; }
template <class T> EV_DEVICE T imaginary_part(const complex<T>& z) { return z.im; }
template <class T> EV_DEVICE complex<T> conjugate(const complex<T>& z) { return complex<T>(z.re, -z.im); }
template <class T> EV_DEVICE T absolute(const complex<T>& z) { return hypot(z.re, z.im); }

template <class T> EV_DEVICE complex<T> operator-(const complex<T>& a) { return complex<T>(-a.re, -a.im); }
template <class T> EV_DEVICE complex<T> operator+(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a.re + b.re, a.im + b.im);
}
template <class T> EV_DEVICE complex<T> operator-(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a.re - b.re, a.im - b.im);
}
template <class T> EV_DEVICE complex<T> operator*(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
template <class T> EV_DEVICE bool operator==(const complex<T>& a, const complex<T>& b) { return a.re == b.re && a.im == b.im; }
template <class T> EV_DEVICE bool operator!=(const complex<T>& a, const complex<T>& b) { return !(a == b); }

// Smith, "Algorithm 116: Complex division", CACM 5 (1962), with the same steps as in NumPy. It does not overflow where
// the square of a part would.
template <class T> EV_DEVICE complex<T> operator/(const complex<T>& a, const complex<T>& b) {
  const T re = fabs(b.re), im = fabs(b.im);
  if (re == 0 && im == 0) return complex<T>(a.re / re, a.im / re);
  if (re >= im) {
    const T ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
    return complex<T>((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
  }
  const T ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
  return complex<T>((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}

// ---- loads, atomics and shuffles, one part at a time ----------------------------------------------------------------
template <class T> EV_DEVICE complex<T> load_once(const complex<T>* p) {
  complex<T> z;
  load_pair_once(&p->re, z.re, z.im);
  return z;
}
template <class T> EV_DEVICE complex<T> atomic_load(const complex<T>* p) {
  return complex<T>(atomic_load(&p->re), atomic_load(&p->im));
}
template <class T> EV_DEVICE void store_contended(complex<T>* p, complex<T> z, long long who) {
  store_contended(&p->re, z.re, who);
  store_contended(&p->im, z.im, who);
}
template <class T> EV_DEVICE void atomic_store(complex<T>* p, complex<T> z) {
  atomic_store(&p->re, z.re);
  atomic_store(&p->im, z.im);
}
template <class T> EV_DEVICE void atomic_add(complex<T>* p, complex<T> z) {
  atomic_add(&p->re, z.re);
  atomic_add(&p->im, z.im);
}
template <class T> EV_DEVICE complex<T> shuffle_up(unsigned mask, complex<T> z, int n) {
  const T re = shuffle_up(mask, z.re, n), im = shuffle_up(mask, z.im, n);
  return complex<T>(re, im);
}
template <class T> EV_DEVICE complex<T> shuffle_down(unsigned mask, complex<T> z, int n) {
  const T re = shuffle_down(mask, z.re, n), im = shuffle_down(mask, z.im, n);
  return complex<T>(re, im);
}
template <class T> EV_DEVICE complex<T> shuffle_xor(unsigned mask, complex<T> z, int n) {
  const T re = shuffle_xor(mask, z.re, n), im = shuffle_xor(mask, z.im, n);
  return complex<T>(re, im);
}
template <class T> EV_DEVICE complex<T> shuffle_from(unsigned mask, complex<T> z, int lane, int width = 32) {
  const T re = shuffle_from(mask, z.re, lane, width), im = shuffle_from(mask, z.im, lane, width);
  return complex<T>(re, im);
}

}  // namespace ev
