// Atomics with memory orders and scopes, for kernels that are written by hand: ev::atomic_add<ev::acq_rel>(p, 1),
// ev::atomic_load<ev::acquire, ev::of_block>(p). Without an order they are relaxed (gpu.cuh). Each returns the old value.
//
// On a GPU they are relaxed, with fences around them, which order at least as much: a fence, then a relaxed store, is a
// release; a relaxed load, then a fence, an acquire (PTX ISA, "Release and Acquire Patterns"). Target `simt` executes the
// order that is written.
#pragma once
#include "float_atomics.cuh"

namespace ev {

enum memory_order { relaxed, acquire, release, acq_rel, seq_cst };  // as in host/abi.hpp
enum memory_scope { of_device = 0, of_block = 8 };

template <memory_order O> struct order_of {
  static constexpr bool acquires = O == acquire || O == acq_rel || O == seq_cst, releases = O == release || O == acq_rel || O == seq_cst;
};
template <class T> struct ordered_type {
  static constexpr bool integer = same_type<T, int>::value || same_type<T, unsigned>::value || same_type<T, long long>::value ||
                                  same_type<T, unsigned long long>::value;
  static constexpr bool word = integer || same_type<T, float>::value || same_type<T, double>::value;
};
template <class T> using given = typename choose<true, T, T>::type;  // its type follows from the pointer's

template <memory_order O = acq_rel, memory_scope S = of_device> EV_DEVICE void fence() {
  static_assert(O != relaxed, "ev::fence takes acquire, release, acq_rel or seq_cst");
#ifdef EV_HOST
  ev_sim_fence(O | S);
#else
  S == of_block ? fence_block() : O == seq_cst ? fence_device() : fence_acq_rel();
#endif
}

// How an atomic is made, with its order. relaxed: the same without one.
#ifdef EV_HOST
#define EV_ORDERED(kind, relaxed, next) return sim::update<O | S>(p, kind, [=](T s) { return T(next); })
#else
#define EV_ORDERED(kind, relaxed, next)               \
  if constexpr (order_of<O>::releases) fence<O, S>(); \
  const T old = relaxed;                              \
  if constexpr (order_of<O>::acquires) fence<O, S>(); \
  return old
#endif

template <memory_order O, memory_scope S = of_device, class T> EV_DEVICE T atomic_load(const T* place) {
  static_assert(O != release && O != acq_rel, "ev::atomic_load takes relaxed, acquire or seq_cst: a load releases nothing");
  static_assert(ordered_type<T>::word, "ev::atomic_load with a memory order takes int, unsigned, long long, unsigned long long, float or double");
  T* p = const_cast<T*>(place);
  EV_ORDERED(ev_atomic_load, atomic_load(p), s);
}
template <memory_order O, memory_scope S = of_device, class T> EV_DEVICE void atomic_store(T* p, given<T> v) {
  static_assert(O != acquire && O != acq_rel, "ev::atomic_store takes relaxed, release or seq_cst: a store acquires nothing");
  static_assert(ordered_type<T>::word, "ev::atomic_store with a memory order takes int, unsigned, long long, unsigned long long, float or double");
#ifdef EV_HOST
  sim::update<O | S>(p, ev_atomic_store, [=](T) { return v; });
#else
  if constexpr (order_of<O>::releases) fence<O, S>();
  atomic_store(p, v);
#endif
}
template <memory_order O, memory_scope S = of_device, class T> EV_DEVICE T atomic_exchange(T* p, given<T> v) {
  static_assert(ordered_type<T>::word, "ev::atomic_exchange with a memory order takes int, unsigned, long long, unsigned long long, float or double");
  EV_ORDERED(ev_atomic_update, atomic_exchange(p, v), v);
}
#define EV_ORDERED_UPDATE(name, next)                                                                                                        \
  template <memory_order O, memory_scope S = of_device, class T> EV_DEVICE T name(T* p, given<T> v) {                                        \
    static_assert(ordered_type<T>::integer, "ev::" #name " with a memory order takes int, unsigned, long long or unsigned long long"); \
    EV_ORDERED(ev_atomic_update, name(p, v), next);                                                                                          \
  }
EV_ORDERED_UPDATE(atomic_add, (unsigned long long)s + (unsigned long long)v)
EV_ORDERED_UPDATE(atomic_min, s < v ? s : v)
EV_ORDERED_UPDATE(atomic_max, s > v ? s : v)
EV_ORDERED_UPDATE(atomic_and, s & v)
EV_ORDERED_UPDATE(atomic_or, s | v)
EV_ORDERED_UPDATE(atomic_xor, s ^ v)
#undef EV_ORDERED_UPDATE
#undef EV_ORDERED
// If it fails, it stores nothing, and releases nothing.
template <memory_order O, memory_scope S = of_device, class T> EV_DEVICE T atomic_compare_exchange(T* p, given<T> expected, given<T> v) {
  static_assert(ordered_type<T>::integer, "ev::atomic_compare_exchange with a memory order takes int, unsigned, long long or unsigned long long");
#ifdef EV_HOST
  constexpr int failing = O == seq_cst ? seq_cst : order_of<O>::acquires ? acquire : relaxed;
  return sim::compare_exchange<O | S, failing | S>(p, expected, v);
#else
  if constexpr (order_of<O>::releases) fence<O, S>();
  const T old = atomic_compare_exchange(p, expected, v);
  if constexpr (order_of<O>::acquires) fence<O, S>();
  return old;
#endif
}

}  // namespace ev
