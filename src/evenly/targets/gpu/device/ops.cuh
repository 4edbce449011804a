// Functions that emitted code calls besides the primitives: arithmetic that wraps, and a leader's value for its group.
#pragma once
#include "gpu.cuh"
#include "group.cuh"

namespace ev {

// Integer data wraps, as in NumPy. Signed overflow is undefined in C++, so these compute with unsigned integers.
EV_DEVICE int add_wrapping(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
EV_DEVICE int sub_wrapping(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
EV_DEVICE int mul_wrapping(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
EV_DEVICE long long add_wrapping(long long a, long long b) { return (long long)((unsigned long long)a + (unsigned long long)b); }
EV_DEVICE long long sub_wrapping(long long a, long long b) { return (long long)((unsigned long long)a - (unsigned long long)b); }
EV_DEVICE long long mul_wrapping(long long a, long long b) { return (long long)((unsigned long long)a * (unsigned long long)b); }
EV_DEVICE int negate_wrapping(int a) { return sub_wrapping(0, a); }
EV_DEVICE long long negate_wrapping(long long a) { return sub_wrapping(0LL, a); }
// A negative number may be shifted to the left, too. The shift count is not checked.
template <class N> EV_DEVICE int shift_left(int a, N n) { return (int)((unsigned)a << n); }
template <class N> EV_DEVICE long long shift_left(long long a, N n) { return (long long)((unsigned long long)a << n); }

EV_DEVICE int absolute(int a) { return a < 0 ? negate_wrapping(a) : a; }
EV_DEVICE long long absolute(long long a) { return a < 0 ? negate_wrapping(a) : a; }
EV_DEVICE float absolute(float a) { return fabsf(a); }
EV_DEVICE double absolute(double a) { return fabs(a); }

// Newton's step rounds to the nearest, so that the root of a cube is whole; libraries are a bit off for 27.
template <class T> EV_DEVICE T cube_root(T x) {
  T root = cbrt(x);
  return root == 0 || !isfinite(root) ? root : root - (root - x / (root * root)) / 3;
}

template <class T> EV_DEVICE T not_a_number() { return (T)infinity_float() * (T)0; }

template <class T> struct leaders_value {
  T value;
  template <class F> EV_DEVICE leaders_value each(F f) const { return {f(value)}; }
  static EV_DEVICE leaders_value combine(const leaders_value& a, const leaders_value&) { return a; }
};
// Folding in order of rank, first one wins: rank 0's value in every member.
template <class Team, class T> EV_DEVICE T from_leader(const Team& team, T value) {
  return team.reduce(leaders_value<T>{value}).value;
}

}  // namespace ev
