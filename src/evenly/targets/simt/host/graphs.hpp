// Explores a small launch under a memory model: runs it once for each execution graph that the model allows.
//
// A run follows a graph: each thread executes the operations that the graph has, and no read before the write that it
// sees. Then the first thread that can go on does. A new read sees the newest write, and a graph is kept for each other
// write that it may see. A new write is the last one on its place; graphs are kept for the other positions, and for reads
// that may see it instead of what they saw (the algorithm TruSt: see Graph::newest).
#pragma once
#include <map>
#include "order.hpp"
#include "weak.hpp"

namespace ev::sim {

class Graphs : public Order {
public:
  explicit Graphs(bool sequential) : sequential(sequential) { todo.emplace_back(); }
  // One run with a graph that is drawn as it goes on.
  static std::unique_ptr<Graphs> drawn(std::uint64_t seed) {
    auto made = std::make_unique<Graphs>(false);
    made->chance = std::make_unique<Random>(seed);
    return made;
  }

  // ---- between runs -------------------------------------------------------------------------------------------------
  bool prepare(const ev_launch& launch);  // for the next graph; false if there is none
  bool finished() const { return todo.empty(); }
  bool consistent() const {
    const Consistency c = rules();
    return sequential ? c.have_one_order() : c.fences_have_order();
  }
  bool impossible() const { return dropped || !consistent(); }  // whether the run, up to here, is none that can be
  bool was_dropped() const { return dropped; }
  // Whether no polling thread would see another value. Otherwise, the run with that value belongs to another graph.
  bool polls_in_vain() const;

  std::string trace;  // the thread of each turn: block.thread
  std::string cut;    // why some graphs are left out; empty if none is

  // ---- during a run -------------------------------------------------------------------------------------------------
  Thread* next(Ready& ready, Thread* last) override;
  void stands_before_operation(Thread& t, std::uint64_t state);
  std::uint64_t read(Thread& t, std::uintptr_t address, std::size_t size, bool updates);
  void write(Thread& t, std::uintptr_t address, std::size_t size, std::uint64_t value, bool exclusive);
  const Causes& causes(const Thread& t) const { return threads[number(t)].causes; }
  bool polls(const Thread& t) const { return threads[number(t)].polls; }
  std::uint64_t operations(const Thread& t) const { return threads[number(t)].at; }
  static int number(const Thread& t) { return static_cast<int>(t.block->linear) * t.block->size() + t.rank; }
  void borrow(const Thread& t, std::uintptr_t address, std::size_t size, std::uint64_t value, bool writes);
  void settle(Thread& t) { if (borrowed.size > 0) give_back(t); }
  Published& published() { return latest; }  // by the write that the latest read sees, or by the latest write
  void written_plainly(Thread& t, std::uintptr_t address, std::size_t size);
  void fenced(const Thread& t, std::uint32_t clock, bool device);
  void met(const std::vector<Thread*>& members);

private:
  static constexpr int most_visits = 64;     // of a thread at one place in the code
  static constexpr int most_drawn = 20'000;  // operations of a graph that is drawn

  struct Place {
    std::uintptr_t address = 0;
    std::size_t size = 0;
    std::uint64_t before = 0;  // the initial value
    bool used = false;
  };
  struct Progress {
    std::vector<int> own;  // its operations
    std::size_t at = 0;    // the next of them
    Causes causes;
    bool local = true;     // whether it stands elsewhere than before an operation
    bool held = false;     // whether it came by one place too often, and is left out
    bool wants_newest = false;  // it has polled in vain
    bool polls = false;    // whether it goes round in a loop until it sees another value
    std::size_t round = 0;  // the operation with which the round began
    std::vector<std::pair<std::uint64_t, std::size_t>> states;  // since it last changed memory, each with `at`
    std::map<std::uint32_t, int> visits;
  };

  bool sequential;
  std::unique_ptr<Random> chance;
  std::vector<Graph> todo;
  std::map<std::pair<std::uintptr_t, int>, int> names;  // of places: an address, and how many plain writes it has had
  // of the run
  Graph graph;
  std::vector<Done> done;
  std::vector<Fence> fences;
  std::vector<Progress> threads;
  std::vector<Place> places;
  std::map<std::uintptr_t, int> resets;
  int left = 0;  // operations of the graph that have not been executed
  bool dropped = false;
  Published latest;
  struct { std::uintptr_t address; std::size_t size; std::uint64_t held; bool writes; } borrowed{};

  Consistency rules() const { return {graph, done, fences}; }
  bool may_go_on(const Thread& t) const;
  int place_of(std::uintptr_t address, std::size_t size);
  int begin(const Thread& t, Operation o);
  void end(int which);
  void drop();
  void give_back(Thread& t);
  void cut_off(std::string why);
  void left_out(std::string why) { if (cut.empty()) cut = std::move(why); }
  void choose_write(int which);
  void draw_write(int which, bool updates);
  void choose_position(int which);
  int drawn_position(int which, int least);
  bool in_vain(const Progress& p) const;
  void revisit(int write);
  void insert(Graph& g, int write, int least);
  std::uint64_t value_of(int place, int write) const { return write == initial ? places[place].before : done[write].value; }
  int newest_done(int place) const;
};

}  // namespace ev::sim
