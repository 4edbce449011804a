// Merges contiguous accesses of the same lanes to shared memory, as a GPU's compiler does.
//
// The compiler turns four reads of consecutive words into one of 16 bytes if it can prove that they are aligned. That
// determines whether there are bank conflicts. Here the proof is replaced by what happened: each lane continued where
// it had stopped, no store, atomic or collective came between, and every lane's first address is aligned. A loop whose
// trip count is only known at run time may look the same by chance, which this does not detect.
#pragma once
#include <vector>
#include "transactions.hpp"

namespace ev::sim {

class WideAccesses {
public:
  // Takes one instruction of a trace. `count` gets the Accesses of those that are complete.
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
  // Ends all runs: later accesses cannot be merged with earlier ones.
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
