// Functions that emitted code calls besides the primitives and those of integers.
#pragma once
#include "gpu.cuh"
#include "group.cuh"
#include "integers.cuh"
#include "powers.cuh"

namespace ev {

// Newton's step rounds to the nearest, so that the root of a cube is whole; libraries are a bit off for 27.
template <class T> EV_DEVICE T cube_root(T x) {
  T root = cbrt(x);
  return root == 0 || !isfinite(root) ? root : root - (root - x / (root * root)) / 3;
}

template <class T> EV_DEVICE T not_a_number() { return (T)infinity_float() * (T)0; }

template <class T> struct leaders_value {
  T value;
  template <class F> EV_DEVICE leaders_value each(F f) const { return {f(value)}; }
};
template <class Team, class T> EV_DEVICE T from_leader(const Team& team, T value) {
  return team.from_leader(leaders_value<T>{value}).value;
}

}  // namespace ev
