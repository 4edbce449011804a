// Python's arithmetic, in plain C++: extremes, minima and maxima, // and %, powers of whole exponents.
#pragma once
#include "gpu.cuh"

namespace ev {

// ---- extremes: the identities of min and max ------------------------------------------------------------------------
template <class T> EV_DEVICE T lowest();
template <class T> EV_DEVICE T highest();
template <> EV_DEVICE int lowest<int>() { return -2147483647 - 1; }
template <> EV_DEVICE int highest<int>() { return 2147483647; }
template <> EV_DEVICE long long lowest<long long>() { return -9223372036854775807LL - 1; }
template <> EV_DEVICE long long highest<long long>() { return 9223372036854775807LL; }
template <> EV_DEVICE float lowest<float>() { return -infinity_float(); }
template <> EV_DEVICE float highest<float>() { return infinity_float(); }
template <> EV_DEVICE double lowest<double>() { return -infinity_double(); }
template <> EV_DEVICE double highest<double>() { return infinity_double(); }
template <> EV_DEVICE bool lowest<bool>() { return false; }
template <> EV_DEVICE bool highest<bool>() { return true; }

// ---- minimum and maximum: NaN if either is NaN, as NumPy's minimum and maximum --------------------------------------
// `x != x` is false for integers and folds away. If b is NaN, the result is b, since every comparison with it is false.
// -0.0 is less than 0.0, so that atomics and partial results give the same bits in any order.
template <class T> EV_DEVICE bool is_negative(T) { return false; }  // only called for zeros; integers have a single one
EV_DEVICE bool is_negative(float a) { return copysign(1.0f, a) < 0; }
EV_DEVICE bool is_negative(double a) { return copysign(1.0, a) < 0; }
template <class T> EV_DEVICE T minimum(T a, T b) { return a < b || a != a || (a == b && is_negative(a)) ? a : b; }
template <class T> EV_DEVICE T maximum(T a, T b) { return a > b || a != a || (a == b && is_negative(b)) ? a : b; }
#ifdef EV_MIN_NAN  // one instruction means all of this
EV_DEVICE float minimum(float a, float b) { return min_nan(a, b); }
EV_DEVICE float maximum(float a, float b) { return max_nan(a, b); }
#endif

// ---- // and %: Python's meaning (towards minus infinity, the sign of the divisor) -----------------------------------
// The divisor -1 is a special case, because the most negative integer divided by it overflows. It wraps, as in NumPy.
template <class T, class U> EV_DEVICE T floor_div_wrapping(T a, T b) {
  if (b == -1) return (T)((U)0 - (U)a);
  T q = a / b, r = a % b;
  return q - (T)(r != 0 && (r < 0) != (b < 0));
}
template <class T> EV_DEVICE T floor_mod_wrapping(T a, T b) {
  if (b == -1) return 0;
  T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
EV_DEVICE int floor_div(int a, int b) { return floor_div_wrapping<int, unsigned>(a, b); }
EV_DEVICE long long floor_div(long long a, long long b) { return floor_div_wrapping<long long, unsigned long long>(a, b); }
EV_DEVICE int floor_mod(int a, int b) { return floor_mod_wrapping(a, b); }
EV_DEVICE long long floor_mod(long long a, long long b) { return floor_mod_wrapping(a, b); }

// These follow Python's float_divmod, as NumPy does. The quotient is computed from the remainder, because floor(a / b)
// is wrong where a / b rounds up to an integer. Division by zero gives a / b, and NaN for the remainder.
template <class T> EV_DEVICE T float_floor_mod(T a, T b) {
  T r = fmod(a, b);
  if (r == 0) return copysign(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}
template <class T> EV_DEVICE T float_floor_div(T a, T b) {
  if (b == 0) return a / b;
  T r = fmod(a, b), q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return copysign((T)0, a / b);
  T whole = floor(q);
  return q - whole > (T)0.5 ? whole + 1 : whole;
}
EV_DEVICE float floor_div(float a, float b) { return float_floor_div(a, b); }
EV_DEVICE double floor_div(double a, double b) { return float_floor_div(a, b); }
EV_DEVICE float floor_mod(float a, float b) { return float_floor_mod(a, b); }
EV_DEVICE double floor_mod(double a, double b) { return float_floor_mod(a, b); }

// ---- base ** exponent for a non-negative integer exponent, by squaring. Integers wrap -------------------------------
template <class T, class U> EV_DEVICE T power_by_squaring(U base, long long exponent) {
  U result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return (T)result;
}
EV_DEVICE int power_int(int base, long long e) { return power_by_squaring<int, unsigned>((unsigned)base, e); }
EV_DEVICE long long power_int(long long base, long long e) {
  return power_by_squaring<long long, unsigned long long>((unsigned long long)base, e);
}
EV_DEVICE float power_int(float base, long long e) { return power_by_squaring<float, float>(base, e); }
EV_DEVICE double power_int(double base, long long e) { return power_by_squaring<double, double>(base, e); }

}  // namespace ev
