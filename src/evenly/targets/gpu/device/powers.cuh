// Powers of e without branches, which keep several atoms of a thread from being computed at once.
//
//     exponential(x)      in double precision to about one unit in the last place; in single precision the machine's own
//     exp_minus_abs(x)    e to the power -|x|, a weight in a sum. What counts is the error beside 1, so a product with
//                         log2(e) may be rounded, and weights below 2**-1021, or 2**-126, may be 0.
//
// x is n ln 2 + r, after Cody and Waite, "Software Manual for the Elementary Functions" (1980). nan gives nan.
#pragma once
#include "gpu.cuh"

namespace ev {

struct whole_powers {
  static constexpr double log2_e = 1.4426950408889634, ln_2 = 0.6931471805599453, ln_2_rest = 2.3190468138462996e-17;
  static constexpr double shift = 6755399441055744.0;  // sums with it are whole numbers, in the low word

  // e to the power r, |r| up to ln(2)/2, to 2**-55: interpolated at Chebyshev's nodes.
  static EV_DEVICE double rest(double r) {
    double p = 2.510038549551032e-08;
    p = fma(p, r, 2.7620088445409746e-07);
    p = fma(p, r, 2.7557268459997064e-06);
    p = fma(p, r, 2.4801521295954376e-05);
    p = fma(p, r, 0.00019841269863053618);
    p = fma(p, r, 0.0013888888917213717);
    p = fma(p, r, 0.008333333333330062);
    p = fma(p, r, 0.04166666666662413);
    p = fma(p, r, 0.16666666666666669);
    p = fma(p, r, 0.5000000000000001);
    p = fma(p, r, 1.0);
    return fma(p, r, 1.0);
  }
};

EV_DEVICE float exponential(float x) { return exp(x); }
EV_DEVICE double exponential(double x) {
  using of = whole_powers;
  const double a = fabs(x) > 746.0 ? copysign(746.0, x) : x;  // inf and 0 from there on
  const double moved = fma(a, of::log2_e, of::shift), n = moved - of::shift;
  const double r = fma(n, -of::ln_2_rest, fma(n, -of::ln_2, a));
  const int all = low_word(moved), half = all >> 1;  // subnormal numbers are rounded once, by the last factor
  return of::rest(r) * power_of_two(half) * power_of_two(all - half);
}

EV_DEVICE float exp_minus_abs(float x) { return exp2_approximate(fabsf(x) * -(float)whole_powers::log2_e); }
EV_DEVICE double exp_minus_abs(double x) {
  using of = whole_powers;
  const double moved = fma(fabs(x), -of::log2_e, of::shift);
  const double power = of::rest(fma(moved - of::shift, -of::ln_2, -fabs(x))) * power_of_two(low_word(moved));  // a product, for nan
  return fabs(x) > 708.0 ? 0.0 : power;
}

}  // namespace ev
