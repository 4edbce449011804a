// Histories: the calls of operations that a kernel announces (ev::invoke, ev::respond), and which came before which.
//
// Where interleavings are run, a call that has returned before another begins comes before it. Where execution graphs are
// run, it has to be among the other's causes: of calls that know nothing of each other, neither comes first.
#pragma once
#include <algorithm>
#include <string>
#include <vector>
#include "graph.hpp"

namespace ev::sim {

struct Call {
  int thread = 0;
  std::string name, who;
  std::int64_t argument = 0, result = 0;
  bool returned = false;
  std::uint64_t began = 0, ended = 0;  // a time, or the thread's number of operations
  Causes causes;                       // of its beginning; empty where interleavings are run
};

class History {
public:
  void clear() { calls.clear(); time = 0; }
  bool empty() const { return calls.empty(); }
  std::uint64_t now() { return ++time; }
  void begin(Call c) { calls.push_back(std::move(c)); }
  // False if the thread has begun none.
  bool end(int thread, std::int64_t result, std::uint64_t at) {
    for (std::size_t i = calls.size(); i-- > 0;)
      if (calls[i].thread == thread) {
        if (calls[i].returned) return false;
        calls[i].result = result;
        calls[i].ended = at;
        return calls[i].returned = true;
      }
    return false;
  }
  // A line for each call, in order of threads: who, name, argument, result (? if it has not returned), and the numbers of
  // the calls before it.
  std::string text() const {
    std::vector<const Call*> sorted;
    for (auto& c : calls) sorted.push_back(&c);
    std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->thread < b->thread; });
    std::string all;
    for (auto* c : sorted) {
      all += c->who + " " + c->name + " " + std::to_string(c->argument) + " " + (c->returned ? std::to_string(c->result) : "?");
      for (std::size_t i = 0; i < sorted.size(); ++i)
        if (before(*sorted[i], *c)) all += " " + std::to_string(i);
      all += "\n";
    }
    return all;
  }

private:
  std::vector<Call> calls;
  std::uint64_t time = 0;

  static bool before(const Call& a, const Call& b) {
    if (!a.returned || &a == &b) return false;
    if (a.thread == b.thread || b.causes.empty()) return a.ended <= b.began && &a < &b;
    return a.ended > a.began && static_cast<std::uint64_t>(b.causes[a.thread]) >= a.ended;
  }
};

}  // namespace ev::sim
