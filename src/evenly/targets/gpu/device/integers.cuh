// Integers of 8 to 64 bits: arithmetic that wraps at their width, comparisons, and functions of their bits.
//
// Integer data wraps, as in NumPy. Signed overflow is undefined in C++, so sums and products are computed with unsigned
// words. C++ computes types of 8 and 16 bits as int, so results are converted back.
#pragma once
#include "arithmetic.cuh"

namespace ev {

using int8 = signed char;
using int16 = short;
using uint8 = unsigned char;
using uint16 = unsigned short;

template <int size> struct unsigned_of_size { using type = unsigned long long; };
template <> struct unsigned_of_size<4> { using type = unsigned; };
template <> struct unsigned_of_size<2> { using type = uint16; };
template <> struct unsigned_of_size<1> { using type = uint8; };
// unsigned_of: the unsigned type of the same width. word_for: the one in which T is computed, of 32 bits or 64.
template <class T> using unsigned_of = typename unsigned_of_size<(int)sizeof(T)>::type;
template <class T> using word_for = typename unsigned_of_size<(sizeof(T) < 4 ? 4 : (int)sizeof(T))>::type;
template <class T> EV_DEVICE word_for<T> bits_of(T x) { return (unsigned_of<T>)x; }  // no copies of the sign above
template <class T> EV_DEVICE constexpr unsigned width_of() { return 8 * (unsigned)sizeof(T); }

template <class T> EV_DEVICE T add_wrapping(T a, T b) { return (T)((word_for<T>)a + (word_for<T>)b); }
template <class T> EV_DEVICE T sub_wrapping(T a, T b) { return (T)((word_for<T>)a - (word_for<T>)b); }
template <class T> EV_DEVICE T mul_wrapping(T a, T b) { return (T)((word_for<T>)a * (word_for<T>)b); }
template <class T> EV_DEVICE T negate_wrapping(T a) { return sub_wrapping((T)0, a); }
// A negative number may be shifted to the left, too. The shift count is not checked.
template <class T, class N> EV_DEVICE T shift_left(T a, N n) { return (T)((word_for<T>)a << n); }

// int and long long have functions of their own (gpu.cuh). The others are narrower than an int, or unsigned.
template <class T> EV_DEVICE T floor_div(T a, T b) {
  if constexpr (sizeof(T) < sizeof(int)) return (T)floor_div((int)a, (int)b);
  else return a / b;
}
template <class T> EV_DEVICE T floor_mod(T a, T b) {
  if constexpr (sizeof(T) < sizeof(int)) return (T)floor_mod((int)a, (int)b);
  else return a % b;
}
template <class T> EV_DEVICE T power_int(T base, long long e) { return power_by_squaring<T, word_for<T>>((word_for<T>)base, e); }
template <class T> EV_DEVICE T absolute(T a) { return a < 0 ? negate_wrapping(a) : a; }
EV_DEVICE float absolute(float a) { return fabsf(a); }
EV_DEVICE double absolute(double a) { return fabs(a); }

// ---- comparisons of an unsigned number and a signed one, which C++ would convert ------------------------------------
EV_DEVICE bool less(unsigned long long a, long long b) { return b > 0 && a < (unsigned long long)b; }
EV_DEVICE bool less(long long a, unsigned long long b) { return a < 0 || (unsigned long long)a < b; }
EV_DEVICE bool equal(unsigned long long a, long long b) { return b >= 0 && a == (unsigned long long)b; }
EV_DEVICE bool equal(long long a, unsigned long long b) { return equal(b, a); }

// ---- bits -----------------------------------------------------------------------------------------------------------
template <class T> EV_DEVICE int popcount(T x) { return count_bits(bits_of(x)); }
template <class T> EV_DEVICE int leading_zeros(T x) {
  return zeros_above(bits_of(x)) - (int)(width_of<word_for<T>>() - width_of<T>());
}
// A rotation by any number, modulo the width.
template <class T> EV_DEVICE T rotate_left(T x, T n) {
  const word_for<T> bits = bits_of(x);
  const unsigned by = (unsigned)n & (width_of<T>() - 1), rest = (width_of<T>() - by) & (width_of<T>() - 1);
  return (T)(bits << by | bits >> rest);
}
template <class T> EV_DEVICE T rotate_right(T x, T n) { return rotate_left(x, negate_wrapping(n)); }

}  // namespace ev
