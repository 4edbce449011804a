// Shadow cells record the latest accesses to each word of memory, to detect data races.
//
// A cell has the last plain write, and every later read and atomic operation that is not ordered before a newer one of
// its kind. So whether two accesses race never depends on which came first, or on how many came between.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace ev::sim {

enum class Access : std::uint8_t { read, write, atomic, atomic_read, store };
inline bool is_atomic(Access a) { return a == Access::atomic || a == Access::atomic_read; }
constexpr std::size_t most_values = 8;

struct Touch {
  std::uint32_t block = 0, rank = 0, clock = 0;  // clock 0: nobody
  std::uint32_t pc = 0;                          // offset in the library
  bool by(const Touch& o) const { return block == o.block && rank == o.rank; }
};

// A list with one entry for each thread. If it is long, a table is used for look-ups. When it is emptied, it keeps its
// memory, since the threads of the next block will access the same words.
template <class T> class TouchesOf {
public:
  template <class Ordered> void add(const T& t, Ordered ordered) {
    if (table.empty()) {
      for (auto& e : list) if (e.by(t)) { e = t; return; }
      for (auto& e : list) if (ordered(e)) { e = t; return; }  // ordered before this one: not needed any more
      list.push_back(t);
      if (list.size() > few) tabulate(128);
      return;
    }
    std::uint32_t& at = place(t);
    if (at != 0) { list[at - 1] = t; return; }
    list.push_back(t);
    at = static_cast<std::uint32_t>(list.size());
    if (2 * list.size() > table.size()) tabulate(4 * table.size());
  }
  template <class Ordered> const T* unordered(Ordered ordered) const {
    for (auto& e : list) if (!ordered(e)) return &e;
    return nullptr;
  }
  const T* of_thread(const Touch& t) const {
    for (auto& e : list) if (e.by(t)) return &e;
    return nullptr;
  }
  void clear() { list.clear(); table.clear(); }

private:
  static constexpr std::size_t few = 48;
  std::vector<T> list;
  std::vector<std::uint32_t> table;  // of a power of two, open addressing: places in the list, from 1 on; 0: none

  std::uint32_t& place(const Touch& t) {
    const std::size_t mask = table.size() - 1;
    std::size_t i = (t.block * 0x9e3779b1u + t.rank) & mask;
    while (table[i] != 0 && !list[table[i] - 1].by(t)) i = (i + 1) & mask;
    return table[i];
  }
  void tabulate(std::size_t size) {
    table.assign(size, 0);
    for (std::size_t i = 0; i < list.size(); ++i) place(list[i]) = static_cast<std::uint32_t>(i + 1);
  }
};

using Touches = TouchesOf<Touch>;

// An atomic write, or what an atomic read has observed. A store begins a chain, and each update goes on with it.
struct Observed : Touch {
  std::uint32_t chain = 0, version = 0;
  bool narrow = false;  // of the block's scope
};

// Stores to an element to which other threads may store the same value (store_contended in gpu.cuh), by value.
struct Storing : Touch {
  std::int64_t who = -1;  // the atom that stores; -1: only one value is ever stored
};
struct Stored { std::uint64_t bits; std::int64_t who; };
struct Stores {
  std::uint64_t bits;
  TouchesOf<Storing> by;
};

struct Cell {
  struct More {
    Touches reads;
    TouchesOf<Observed> atomics, atomic_reads;
    std::uint32_t chain = 0, version = 0;  // of the latest atomic write
    bool narrow = false;                   // whether an atomic had the block's scope
    std::vector<Stores> stores;
    void clear() { reads.clear(); atomics.clear(); atomic_reads.clear(); stores.clear(); narrow = false; }
  };
  Touch write, read;            // one read is here; more of them, and atomics, are in `more`
  std::uint32_t stamp = 0;      // if it is that of another launch or block, the cell is empty
  std::unique_ptr<More> more;
  std::unique_ptr<Cell[]> bytes;  // four, from the first access on that is narrower than a word

  void renew(std::uint32_t now) {
    if (stamp == now) return;
    stamp = now;
    write = read = Touch{};
    if (more) more->clear();
    bytes.reset();
  }
};

// The latest write of a cell, a plain one or an atomic; null if nobody has written.
inline const Touch* latest_write(const Cell& cell) {
  const Touch* latest = cell.write.clock != 0 ? &cell.write : nullptr;
  if (cell.more)
    cell.more->atomics.unordered([&](const Observed& o) {
      if (o.version == cell.more->version) latest = &o;
      return true;
    });
  return latest;
}

struct Conflict { Touch before; Access kind; };

// Finds an atomic write that is not ordered before a plain access. One that an ordered atomic has observed, itself or
// through a chain of updates, is: the last block may clear a counter to which all have added. (PTX ISA, "Causality
// Order": what precedes in observation order, then in base causality order.)
template <class Ordered> const Touch* unobserved(const Cell::More& more, Ordered ordered) {
  if (!more.atomics.unordered(ordered)) return nullptr;
  std::uint32_t seen = 0;
  auto observe = [&](const Observed& o) {
    if (o.chain == more.chain && ordered(o)) seen = seen > o.version ? seen : o.version;
    return true;
  };
  more.atomics.unordered(observe);
  more.atomic_reads.unordered(observe);
  return more.atomics.unordered([&](const Observed& o) { return ordered(o) || (o.chain == more.chain && o.version <= seen); });
}

// How an atomic is made: whether it sees what it replaces, and whether its scope is the block's.
struct How { bool reads = true, narrow = false; };

inline Observed observed(const Touch& me, const Cell::More& more, How how) {
  Observed o;
  static_cast<Touch&>(o) = me;
  o.chain = more.chain;
  o.version = more.version;
  o.narrow = how.narrow;
  return o;
}

// Records an access. If it races, returns true and the other access. `ordered` tells whether a touch comes before this
// one.
template <class Ordered> bool touch(Cell& cell, Access kind, How how, const Touch& me, Ordered ordered, Conflict& found) {
  auto free = [&](const Touch& t) { return t.clock == 0 || ordered(t); };
  if (!free(cell.write)) { found = {cell.write, Access::write}; return true; }
  if (!is_atomic(kind) && cell.more)
    if (auto* t = unobserved(*cell.more, ordered)) { found = {*t, Access::atomic}; return true; }
  if (kind == Access::write || kind == Access::atomic) {
    if (!free(cell.read)) { found = {cell.read, Access::read}; return true; }
    if (cell.more)
      if (auto* t = cell.more->reads.unordered(ordered)) { found = {*t, Access::read}; return true; }
  }
  if (is_atomic(kind) && (how.narrow || (cell.more && cell.more->narrow))) {
    if (!cell.more) cell.more.reset(new Cell::More);
    cell.more->narrow |= how.narrow;
    auto fits = [&](const Observed& o) { return o.block == me.block || !(o.narrow || how.narrow) || ordered(o); };
    if (auto* t = cell.more->atomics.unordered(fits)) { found = {*t, Access::atomic}; return true; }
    if (kind == Access::atomic)
      if (auto* t = cell.more->atomic_reads.unordered(fits)) { found = {*t, Access::atomic_read}; return true; }
  }
  if (kind == Access::write && cell.more)
    if (auto* t = cell.more->atomic_reads.unordered(ordered)) { found = {*t, Access::atomic_read}; return true; }
  switch (kind) {
    case Access::write:
      cell.write = me;
      cell.read = Touch{};
      if (cell.more) cell.more->clear();
      break;
    case Access::read:
      if (free(cell.read)) cell.read = me;
      else {
        if (!cell.more) cell.more.reset(new Cell::More);
        cell.more->reads.add(me, ordered);
      }
      break;
    case Access::atomic:
      if (!cell.more) cell.more.reset(new Cell::More);
      ++cell.more->version;
      if (!how.reads) cell.more->chain = cell.more->version;
      cell.more->atomics.add(observed(me, *cell.more, how), ordered);
      break;
    case Access::atomic_read:
      if (!cell.more) cell.more.reset(new Cell::More);
      cell.more->atomic_reads.add(observed(me, *cell.more, how), ordered);
      break;
    case Access::store:
      break;  // an atomic one: see `differs`
  }
  return false;
}

// Records the value of an atomic store that did not race. Returns true and the other access if another atom has stored
// a different value: on another thread that is not ordered before this one, or earlier on this one by the same
// statement.
template <class Ordered> bool differs(Cell& cell, const Stored& what, const Touch& me, Ordered ordered, Conflict& found) {
  auto& all = cell.more->stores;
  Stores* same = nullptr;
  for (auto& s : all) {
    if (s.bits == what.bits) { same = &s; continue; }
    const Storing* there = s.by.unordered(ordered);
    if (!there) {
      there = s.by.of_thread(me);
      if (there && (there->pc != me.pc || there->who == what.who || what.who < 0)) there = nullptr;
    }
    if (there) { found = {*there, Access::store}; return true; }
  }
  if (!same) {
    if (all.size() == most_values) all.erase(all.begin());  // of one atom that goes on storing; its last values are enough
    all.push_back({what.bits, {}});
    same = &all.back();
  }
  Storing mine;
  static_cast<Touch&>(mine) = me;
  mine.who = what.who;
  same->by.add(mine, [](const Touch&) { return false; });
  return false;
}

// The cells of a range of memory. A page of them is allocated at its first access.
class Shadow {
public:
  explicit Shadow(std::size_t bytes = 0) : pages(bytes / page_bytes + 1) {}

  // Applies f to the cells of [offset, offset + size): those of whole words, or of the accessed bytes of one word.
  template <class F> bool each(std::size_t offset, std::size_t size, std::uint32_t stamp, F f) {
    for (std::size_t end = offset + size; offset < end;) {
      Cell& word = at(offset / 4, stamp);
      std::size_t part = 4 - offset % 4 < end - offset ? 4 - offset % 4 : end - offset;
      if (part == 4 && !word.bytes) {
        if (f(word)) return true;
      } else {
        if (!word.bytes) split(word);
        for (std::size_t i = 0; i < part; ++i) if (f(word.bytes[offset % 4 + i])) return true;
      }
      offset += part;
    }
    return false;
  }

private:
  static constexpr std::size_t page_cells = 256, page_bytes = page_cells * 4;
  std::vector<std::unique_ptr<Cell[]>> pages;

  Cell& at(std::size_t word, std::uint32_t stamp) {
    auto& page = pages[word / page_cells];
    if (!page) page.reset(new Cell[page_cells]);
    Cell& cell = page[word % page_cells];
    cell.renew(stamp);
    return cell;
  }
  static void split(Cell& word) {
    word.bytes.reset(new Cell[4]);
    for (int i = 0; i < 4; ++i) {
      Cell& b = word.bytes[i];
      b.write = word.write;
      b.read = word.read;
      b.stamp = word.stamp;
      if (word.more) b.more.reset(new Cell::More(*word.more));
    }
  }
};

}  // namespace ev::sim
