// Neighbouring accesses of the same lanes to shared memory, merged as a GPU's compiler merges them.
//
// Four reads of consecutive words become one of 16 bytes where it can prove them aligned, which decides whether they
// conflict over banks. What it proves is taken from what happened: each lane went on where it had stopped, in a run that
// no store, atomic or collective interrupts, and every lane's first address is aligned. A loop whose trips are known only
// at run time can look like that by chance, which this does not see.
#pragma once
#include <vector>
#include "transactions.hpp"

namespace ev::sim {

class WideAccesses {
public:
  // One instruction as it was traced. `count` gets the Accesses of those that are complete.
  template <class Count> void add(const Accesses& accesses, const Count& count) {
    for (Run& run : runs)
      if (run.bytes + accesses.size <= widest && run.goes_on(accesses)) {
        run.bytes += accesses.size;
        return;
      }
    if (runs.size() == most_runs) {
      runs.front().split(count);
      runs.erase(runs.begin());
    }
    runs.push_back({accesses, accesses.size});
  }
  // What follows cannot be merged with what came before.
  template <class Count> void close(const Count& count) {
    for (const Run& run : runs) run.split(count);
    runs.clear();
  }

private:
  static constexpr int widest = 16;
  static constexpr std::size_t most_runs = 8;  // how far apart, in instructions, a compiler finds neighbours

  struct Run {
    Accesses first;
    int bytes;  // of a lane, from its first address

    bool goes_on(const Accesses& next) const {
      if (next.count != first.count || next.size != first.size) return false;
      for (int i = 0; i < next.count; ++i)
        if (next.lane[i] != first.lane[i] || next.address[i] != first.address[i] + bytes) return false;
      return true;
    }
    bool aligned(int offset, int width) const {
      for (int i = 0; i < first.count; ++i)
        if ((first.address[i] + offset) % width != 0) return false;
      return true;
    }
    template <class Count> void split(const Count& count) const {
      for (int offset = 0, width; offset < bytes; offset += width) {
        for (width = widest; width > first.size && (offset + width > bytes || !aligned(offset, width));) width /= 2;
        Accesses piece = first;
        piece.size = width;
        for (int i = 0; i < piece.count; ++i) piece.address[i] += offset;
        count(piece);
      }
    }
  };
  std::vector<Run> runs;  // oldest first
};

}  // namespace ev::sim
