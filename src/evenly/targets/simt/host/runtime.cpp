// The runtime of the emulator: the functions that Python calls.
#include "abi.hpp"
#include <dlfcn.h>
#include "explore.hpp"
#include "watchdog.hpp"

using namespace ev::sim;

namespace {
std::unique_ptr<Order> order;
std::unique_ptr<Graphs> drawn;  // of the launch, in relaxed memory
Failure failed;
Watchdog watchdog;
Explored explored;
struct {
  ev_launch launch;
  std::unique_ptr<Explorer> explorer;  // of interleavings
  std::unique_ptr<Graphs> graphs;      // or of execution graphs
  std::vector<std::uint8_t> before;
  bool underway;  // a run has begun
} exploring;

std::unique_ptr<Order> order_of(const ev_options& o) {
  if (o.lockstep) return std::make_unique<LockStep>(o.seed);
  if (o.order == ev_round_robin) return std::make_unique<RoundRobin>();
  if (o.order == ev_pct) return std::make_unique<Priorities>(o.seed, o.depth);
  return std::make_unique<SeededOrder>(o.seed);
}

Order& order_explored() {
  if (exploring.graphs) return *exploring.graphs;
  return *exploring.explorer;
}

int failed_in(const std::string& trace) {
  if (failed.text.back() != '\n') failed.text += '\n';
  failed.text += "  in the interleaving (block.thread, turn after turn) " + trace;
  return ev_failed;
}

void add_outcome(const std::string& trace) {
  ++explored.interleavings;
  explored.outcomes.try_emplace({Contents::of(machine().global), machine().history.text()}, trace);
}

int after_interleaving(int status) {
  Explorer& explorer = *exploring.explorer;
  if (status == ev_failed && failed.kind != "progress") return failed_in(explorer.trace);
  if (status == ev_failed) explored.cut = failed.text;
  else add_outcome(explorer.trace);
  return explorer.advance() ? ev_more : ev_done;
}

int after_graph(int status) {
  Machine& m = machine();
  Graphs& graphs = *exploring.graphs;
  if (status == ev_failed && !graphs.impossible()) return failed_in(graphs.trace);
  if (status == ev_done && !graphs.was_dropped()) {
    if (m.finished()) add_outcome(graphs.trace);
    else if (graphs.polls_in_vain()) {
      failed = m.deadlock();
      return failed_in(graphs.trace);
    }
  }
  explored.cut = graphs.cut;
  return graphs.finished() ? ev_done : ev_more;
}

decltype(explored.outcomes)::const_iterator outcome(std::uint64_t which) {
  auto it = explored.outcomes.begin();
  std::advance(it, which);
  return it;
}
}  // namespace

extern "C" {

void ev_sim_start(const ev_array* arrays, int64_t count, const ev_options* options) {
  Machine& m = machine();
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&ev_sim_start), &info)) m.library = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  m.start(arrays, count, *options);
  order = order_of(*options);
  watchdog.start();
}

void ev_sim_launch(const ev_launch* launch) {
  Machine& m = machine();
  if (m.options.relaxed) {
    drawn = Graphs::drawn(m.options.seed);
    drawn->prepare(*launch);
    m.graphs = drawn.get();
    m.exploring = true;
  }
  m.begin(*launch, m.options.relaxed ? *drawn : *order);
}

int ev_sim_continue(uint64_t steps) {
  try {
    if (!machine().proceed(steps)) return ev_more;  // the order remembers whose turn it was
    machine().current = nullptr;
    if (drawn && !machine().finished()) throw drawn->was_dropped() ? Failure{"memory", drawn->cut} : machine().deadlock();
    return ev_done;
  } catch (const Failure& f) {
    machine().current = nullptr;
    failed = f;
    return ev_failed;
  }
}

void ev_sim_left(uint64_t address) { failed = machine().left_behind(address); }

void ev_sim_stop() {
  watchdog.stop();
  Machine& m = machine();
  m.current = nullptr;
  m.blocks.clear();
  m.graphs = nullptr;
  drawn.reset();
  m.exploring = false;
}

void ev_sim_forget() { machine().forget(); }

const char* ev_sim_printed(uint64_t* bytes) {
  static std::string given;
  given.swap(machine().printed);
  machine().printed.clear();
  *bytes = given.size();
  return given.data();
}

const char* ev_sim_failure_kind() { return failed.kind.c_str(); }
const char* ev_sim_failure() { return failed.text.c_str(); }

void ev_sim_explore(const ev_launch* launch, int preemptions, int sequential) {
  Machine& m = machine();
  explored = {};
  exploring = {*launch, nullptr, nullptr, Contents::of(m.global), false};
  if (preemptions >= 0) exploring.explorer = std::make_unique<Explorer>(preemptions);
  else exploring.graphs = std::make_unique<Graphs>(sequential != 0);
  m.graphs = exploring.graphs.get();
  m.exploring = true;
}

int ev_sim_explore_on(uint64_t limit) {
  Machine& m = machine();
  if (!exploring.underway) {
    if (explored.interleavings == limit) return ev_more;
    Contents::restore(m.global, exploring.before);
    if (m.graphs) m.graphs->prepare(exploring.launch);
    m.begin(exploring.launch, order_explored());
    exploring.underway = true;
  }
  const int status = ev_sim_continue(1u << 20);
  if (status == ev_more) return status;
  exploring.underway = false;
  ++explored.tries;
  return m.graphs ? after_graph(status) : after_interleaving(status);
}

const char* ev_sim_explore_cut() { return explored.cut.c_str(); }
uint64_t ev_sim_explore_tries() { return explored.tries; }
uint64_t ev_sim_explored() { return explored.interleavings; }
uint64_t ev_sim_outcomes() { return explored.outcomes.size(); }
uint64_t ev_sim_outcome_bytes() { return explored.outcomes.empty() ? 0 : explored.outcomes.begin()->first.first.size(); }
const uint8_t* ev_sim_outcome(uint64_t which) { return outcome(which)->first.first.data(); }
const char* ev_sim_outcome_history(uint64_t which) { return outcome(which)->first.second.c_str(); }
const char* ev_sim_history() {
  static std::string text;
  text = machine().history.text();
  return text.c_str();
}
const char* ev_sim_outcome_trace(uint64_t which) { return outcome(which)->second.c_str(); }

uint64_t ev_sim_warps() { return machine().counters.size(); }
const void* ev_sim_warp_records() { return machine().counters.data(); }

}
