// An order of basic blocks in which diverged lanes reconverge as soon as possible.
//
// It is a weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with widenings", FMPA 1993). No
// block from outside a loop stands between two blocks of the loop. Except for back edges to the heads of loops, a
// successor stands after its predecessor. A lane that goes back to the head of a loop first waits at a place after all
// blocks of the loop. A warp that always runs its rearmost lanes then reconverges after every branch, after every
// iteration of a loop, and after the loop. The order is made from the steps that lanes took, so the compiler's order of
// blocks does not matter.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace ev::sim {

class BlockOrder {
public:
  BlockOrder() : table(64) { add(0); }  // the place before the first block

  // Records that a lane went from one block to another. Blocks are numbered in the order in which they are first seen.
  void step(int from, int to) {
    Block& b = blocks[from];
    if (b.last_seen == to) return;
    b.last_seen = to;
    for (int s : b.next)
      if (s == to) return;
    b.next.push_back(to);
  }
  int number(std::uint32_t pc) {
    Entry& e = entry(pc);
    return e.number >= 0 ? e.number : add(pc);
  }
  // To be called when all steps are recorded, before `rank` and `arrival`.
  void finish() {
    visit(0);
    const int count = static_cast<int>(backwards.size());
    for (int i = 0; i < count; ++i) *backwards[i] = count - i;
  }
  // The place of a block in the order, and the place where a lane that comes from a block of this rank waits to enter
  // it.
  int rank(std::uint32_t pc) const { return blocks[entry(pc).number].rank; }
  int arrival(std::uint32_t pc, int from) const {
    const Block& b = blocks[entry(pc).number];
    return b.rank > from ? b.rank : b.round;
  }

private:
  struct Block {
    std::vector<int> next;
    int last_seen = -1;  // of `next`
    int found = 0;       // when the search reached it; 0 if it has not
    int rank = 0, round = 0;  // its own place; the end of the loop whose head it is
  };
  struct Entry {
    std::uint32_t pc = 0;
    int number = -1;
  };
  std::vector<Block> blocks;
  std::vector<Entry> table;  // by pc, open addressing, a power of two
  std::vector<int> open;
  std::vector<int*> backwards;  // the ranks and rounds, last first; `blocks` grows no more by then
  int time = 0;

  // ---- numbers ------------------------------------------------------------------------------------------------------
  Entry& entry(std::uint32_t pc) { return const_cast<Entry&>(static_cast<const BlockOrder*>(this)->entry(pc)); }
  const Entry& entry(std::uint32_t pc) const {
    std::size_t i = pc * 0x9e3779b1u >> 8;
    while (table[i % table.size()].number >= 0 && table[i % table.size()].pc != pc) ++i;
    return table[i % table.size()];
  }
  int add(std::uint32_t pc) {
    if (2 * blocks.size() >= table.size()) grow();
    entry(pc) = {pc, static_cast<int>(blocks.size())};
    blocks.emplace_back();
    return static_cast<int>(blocks.size()) - 1;
  }
  void grow() {
    std::vector<Entry> old(2 * table.size());
    old.swap(table);
    for (const Entry& e : old)
      if (e.number >= 0) entry(e.pc) = e;
  }

  // ---- Bourdoncle's search: strongly connected components; then, recursively, within each of them without its head --
  static constexpr int placed = std::numeric_limits<int>::max();

  int visit(int block) {
    open.push_back(block);
    int head = blocks[block].found = ++time;
    bool loops = false;
    for (int s : blocks[block].next) {
      const int least = blocks[s].found == 0 ? visit(s) : blocks[s].found;
      if (least > head) continue;
      head = least;
      loops = true;
    }
    if (head != blocks[block].found) return head;
    blocks[block].found = placed;
    for (int last = take(); last != block; last = take()) blocks[last].found = 0;
    if (loops) {
      backwards.push_back(&blocks[block].round);
      for (int s : blocks[block].next)
        if (blocks[s].found == 0) visit(s);
    }
    backwards.push_back(&blocks[block].rank);
    return head;
  }
  int take() {
    const int last = open.back();
    open.pop_back();
    return last;
  }
};

}  // namespace ev::sim
