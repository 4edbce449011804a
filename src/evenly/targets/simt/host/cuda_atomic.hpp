// cuda::atomic_ref and cuda::atomic of libcu++, with orders and scopes, for hand-written CUDA C++.
#pragma once
#include "gpu_host.hpp"

namespace cuda {

enum memory_order { memory_order_relaxed = ev_relaxed, memory_order_consume = ev_acquire, memory_order_acquire = ev_acquire, memory_order_release = ev_release,
                    memory_order_acq_rel = ev_acq_rel, memory_order_seq_cst = ev_seq_cst };
enum thread_scope { thread_scope_system = 0, thread_scope_device = 0, thread_scope_block = ev_of_block, thread_scope_thread = ev_of_block };
namespace std {
using cuda::memory_order;
using cuda::memory_order_relaxed, cuda::memory_order_acquire, cuda::memory_order_release, cuda::memory_order_acq_rel, cuda::memory_order_seq_cst;
}  // namespace std

EV_DEVICE void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order != memory_order_relaxed) ev_sim_fence(order | scope);
}

// Orders are run-time values, and are constants to the compiler in all but odd code.
template <class Self, class T, thread_scope scope> struct operations {
  EV_DEVICE T load(memory_order order = memory_order_seq_cst) const {
    const uint64_t bits = ev_sim_atomic_begin(at(), sizeof(T), ev_atomic_load, order | scope);
    return finish(ev_atomic_load, order, bits, bits);
  }
  EV_DEVICE void store(T v, memory_order order = memory_order_seq_cst) const {
    ev_sim_atomic_begin(at(), sizeof(T), ev_atomic_store, order | scope);
    finish(ev_atomic_store, order, ~ev::sim::to_bits(v), ev::sim::to_bits(v));
  }
  EV_DEVICE T exchange(T v, memory_order order = memory_order_seq_cst) const {
    const uint64_t bits = ev_sim_atomic_begin(at(), sizeof(T), ev_atomic_update, order | scope);
    return finish(ev_atomic_update, order, bits, ev::sim::to_bits(v));
  }
  EV_DEVICE bool compare_exchange_strong(T& expected, T v, memory_order order, memory_order failing) const {
    const uint64_t bits = ev_sim_atomic_begin(at(), sizeof(T), ev_atomic_update, order | scope);
    const T old = ev::sim::exchange_quietly(at(), bits, expected, v, order | scope, failing | scope);
    const bool taken = ev::sim::to_bits(old) == ev::sim::to_bits(expected);
    if (!taken) expected = old;
    return taken;
  }
  EV_DEVICE bool compare_exchange_strong(T& expected, T v, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, v, order, order == memory_order_release ? memory_order_relaxed : order == memory_order_acq_rel ? memory_order_acquire : order);
  }
  EV_DEVICE bool compare_exchange_weak(T& expected, T v, memory_order order, memory_order failing) const { return compare_exchange_strong(expected, v, order, failing); }
  EV_DEVICE bool compare_exchange_weak(T& expected, T v, memory_order order = memory_order_seq_cst) const { return compare_exchange_strong(expected, v, order); }
#define EV_FETCH(name, next)                                                                             \
  EV_DEVICE T name(T v, memory_order order = memory_order_seq_cst) const {                               \
    const uint64_t bits = ev_sim_atomic_begin(at(), sizeof(T), ev_atomic_update, order | scope);            \
    return finish(ev_atomic_update, order, bits, ev::sim::to_bits<T>(next(ev::sim::from_bits<T>(bits), v))); \
  }
  EV_FETCH(fetch_add, plus)
  EV_FETCH(fetch_sub, minus)
  EV_FETCH(fetch_and, [](T a, T b) { return T(a & b); })
  EV_FETCH(fetch_or, [](T a, T b) { return T(a | b); })
  EV_FETCH(fetch_xor, [](T a, T b) { return T(a ^ b); })
  EV_FETCH(fetch_min, [](T a, T b) { return b < a ? b : a; })
  EV_FETCH(fetch_max, [](T a, T b) { return a < b ? b : a; })
#undef EV_FETCH
  EV_DEVICE operator T() const { return load(); }
  EV_DEVICE T operator=(T v) const { return store(v), v; }
  EV_DEVICE T operator++() const { return plus(fetch_add(T(1)), T(1)); }
  EV_DEVICE T operator++(int) const { return fetch_add(T(1)); }
  EV_DEVICE T operator--() const { return minus(fetch_sub(T(1)), T(1)); }
  EV_DEVICE T operator--(int) const { return fetch_sub(T(1)); }
  EV_DEVICE T operator+=(T v) const { return plus(fetch_add(v), v); }
  EV_DEVICE T operator-=(T v) const { return minus(fetch_sub(v), v); }

private:
  EV_DEVICE T* at() const { return static_cast<const Self*>(this)->place(); }
  EV_QUIET T finish(ev_atomic kind, memory_order order, uint64_t before, uint64_t after) const {
    ev_sim_atomic_end(at(), sizeof(T), kind, order | scope, before, after);
    return ev::sim::from_bits<T>(before);
  }
  // Integers wrap.
  EV_QUIET static T plus(T a, T b) {
    if constexpr (::std::is_integral_v<T>) return T(uint64_t(a) + uint64_t(b));
    else return a + b;
  }
  EV_QUIET static T minus(T a, T b) {
    if constexpr (::std::is_integral_v<T>) return T(uint64_t(a) - uint64_t(b));
    else return a - b;
  }
};

template <class T, thread_scope scope = thread_scope_system> struct atomic_ref : operations<atomic_ref<T, scope>, T, scope> {
  EV_DEVICE explicit atomic_ref(T& value) : p(&value) {}
  EV_DEVICE T* place() const { return p; }
  using operations<atomic_ref, T, scope>::operator=;

private:
  T* p;
};

template <class T, thread_scope scope = thread_scope_system> struct atomic : operations<atomic<T, scope>, T, scope> {
  EV_DEVICE T* place() const { return const_cast<T*>(&value); }
  using operations<atomic, T, scope>::operator=;

private:
  T value;
};

}  // namespace cuda
