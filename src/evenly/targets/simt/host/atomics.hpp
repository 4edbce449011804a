// Atomics on the CPU: a fiber may switch before one, never within one.
#pragma once
#include "gpu_host.hpp"

namespace ev {
namespace sim {
template <class T, int how, class F> EV_QUIET inline T update_quietly(T* p, ev_atomic kind, uint64_t bits, F next) {
  const T old = from_bits<T>(bits);
  ev_sim_atomic_end(p, sizeof(T), kind, how, bits, to_bits<T>(next(old)));
  return old;
}
template <int how = ev_relaxed, class T, class F> EV_DEVICE T update(T* p, ev_atomic kind, F next) {
  // Called from the kernel's code, so that the return address tells the place.
  const uint64_t bits = ev_sim_atomic_begin(p, sizeof(T), kind, how);
  return update_quietly<T, how>(p, kind, bits, next);
}
template <int how = ev_relaxed, class T, class F> EV_DEVICE T update(T* p, F next) { return update<how>(p, ev_atomic_update, next); }
// If it fails, it writes and publishes nothing, and has the order `failing`.
template <class T> EV_QUIET inline T exchange_quietly(T* p, uint64_t bits, T expected, T v, int how, int failing) {
  const bool taken = bits == to_bits(expected);
  ev_sim_atomic_end(p, sizeof(T), taken ? ev_atomic_update : ev_atomic_load, taken ? how : failing, bits, taken ? to_bits(v) : bits);
  return from_bits<T>(bits);
}
template <int how = ev_relaxed, int failing = how, class T> EV_DEVICE T compare_exchange(T* p, T expected, T v) {
  const uint64_t bits = ev_sim_atomic_begin(p, sizeof(T), ev_atomic_update, how);
  return exchange_quietly(p, bits, expected, v, how, failing);
}
}  // namespace sim

template <class T> EV_DEVICE T atomic_load(const T* p) { return sim::update(const_cast<T*>(p), ev_atomic_load, [](T s) { return s; }); }
template <class T> EV_DEVICE void atomic_store(T* p, T v) { sim::update(p, ev_atomic_store, [=](T) { return v; }); }
template <class T> EV_DEVICE void store_contended(T* p, T v, long long who) {
  const uint64_t bits = ev_sim_store_begin(p, sizeof(T), sim::to_bits(v), who);
  sim::update_quietly<T, ev_relaxed>(p, ev_atomic_store, bits, [=](T) { return v; });
}
EV_DEVICE int atomic_add(int* p, int v) { return sim::update(p, [=](int s) { return int(unsigned(s) + unsigned(v)); }); }
EV_DEVICE long long atomic_add(long long* p, long long v) {
  return sim::update(p, [=](long long s) { return (long long)((unsigned long long)s + (unsigned long long)v); });
}
EV_DEVICE unsigned atomic_add(unsigned* p, unsigned v) { return sim::update(p, [=](unsigned s) { return s + v; }); }
EV_DEVICE unsigned long long atomic_add(unsigned long long* p, unsigned long long v) {
  return sim::update(p, [=](unsigned long long s) { return s + v; });
}
EV_DEVICE float atomic_add(float* p, float v) { return sim::update(p, [=](float s) { return s + v; }); }
EV_DEVICE double atomic_add(double* p, double v) { return sim::update(p, [=](double s) { return s + v; }); }
template <class T> EV_DEVICE T atomic_min(T* p, T v) { return sim::update(p, [=](T s) { return s < v ? s : v; }); }
template <class T> EV_DEVICE T atomic_max(T* p, T v) { return sim::update(p, [=](T s) { return s > v ? s : v; }); }
template <class T> EV_DEVICE T atomic_and(T* p, T v) { return sim::update(p, [=](T s) { return s & v; }); }
template <class T> EV_DEVICE T atomic_or(T* p, T v) { return sim::update(p, [=](T s) { return s | v; }); }
template <class T> EV_DEVICE T atomic_xor(T* p, T v) { return sim::update(p, [=](T s) { return s ^ v; }); }
template <class T> EV_DEVICE T atomic_exchange(T* p, T v) { return sim::update(p, [=](T) { return v; }); }
template <class T> EV_DEVICE T atomic_compare_exchange(T* p, T expected, T v) { return sim::compare_exchange(p, expected, v); }
template <class T> EV_DEVICE bool same_bits(T a, T b) { return sim::to_bits(a) == sim::to_bits(b); }
template <class T> EV_DEVICE T swap_bits(T* p, T seen, T v) { return sim::compare_exchange(p, seen, v); }

}  // namespace ev
