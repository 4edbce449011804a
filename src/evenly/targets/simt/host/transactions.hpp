// Computes the cost of the accesses of one instruction of a warp: sectors of global memory, wavefronts of shared
// memory.
#pragma once
#include <cstdint>

namespace ev::sim {

constexpr int warp_lanes = 32;

// Lanes in ascending order, each with the address that it reads or writes.
struct Accesses {
  int count = 0;
  int size = 0;  // bytes; the same for all lanes of an instruction
  int lane[warp_lanes];
  std::uint64_t address[warp_lanes];

  void add(int which, std::uint64_t where, int bytes) {
    lane[count] = which;
    address[count++] = where;
    size = bytes;
  }
};

// Global memory moves in sectors of 32 bytes. Sizes up to 32.
class Sectors {
public:
  explicit Sectors(const Accesses& accesses) {
    for (int i = 0; i < accesses.count; ++i) touch(accesses.address[i], accesses.size);
  }
  int count() const { return used; }
  int bytes() const {  // bytes that some lane accesses, each counted once
    int sum = 0;
    for (int i = 0; i < used; ++i) sum += __builtin_popcount(wanted[i]);
    return sum;
  }

private:
  int used = 0;
  std::uint64_t number[2 * warp_lanes];  // an access may span two
  std::uint32_t wanted[2 * warp_lanes];  // a bit for each byte

  void touch(std::uint64_t address, int size) {
    const int offset = static_cast<int>(address % 32), inside = size < 32 - offset ? size : 32 - offset;
    wanted[find(address / 32)] |= static_cast<std::uint32_t>(((1ull << inside) - 1) << offset);
    if (inside < size) touch(address + inside, size - inside);
  }
  int find(std::uint64_t sector) {  // from the back, since neighbours often share one
    for (int i = used; i-- > 0;)
      if (number[i] == sector) return i;
    number[used] = sector;
    wanted[used] = 0;
    return used++;
  }
};

// Shared memory has 32 banks of 4 bytes. A wavefront reads a word from each, which any number of lanes may share.
// Accesses of 8 bytes per lane are made by half warps, those of 16 bytes by quarter warps. Two consecutive parts are
// merged if each lane shares its address with the next lane, or each with the one after that (measured: a broadcast of
// 16 bytes takes two wavefronts).
struct Wavefronts {
  int count = 0;
  int ideal = 0;  // without bank conflicts

  explicit Wavefronts(const Accesses& accesses) {
    const int words = accesses.size <= 4 ? 1 : accesses.size / 4, lanes = warp_lanes / words;
    for (int from = 0, to; from < accesses.count; from = to) {
      to = behind(accesses, from, lanes);
      const int pair = words > 1 ? behind(accesses, from, 2 * lanes) : to;
      if (pair > to && (shared_with(accesses, from, pair, 1) || shared_with(accesses, from, pair, 2))) to = pair;
      count += deepest_bank(accesses, from, to, words);
      ++ideal;
    }
  }

private:
  // The first access after those of the same group of `lanes` lanes.
  static int behind(const Accesses& accesses, int from, int lanes) {
    int to = from;
    while (to < accesses.count && accesses.lane[to] / lanes == accesses.lane[from] / lanes) ++to;
    return to;
  }
  static bool shared_with(const Accesses& accesses, int from, int to, int distance) {
    for (int i = from; i < to; ++i)
      for (int k = i + 1; k < to && accesses.lane[k] <= accesses.lane[i] + distance; ++k)
        if (accesses.lane[k] == (accesses.lane[i] ^ distance) && accesses.address[k] != accesses.address[i]) return false;
    return true;
  }
  static int deepest_bank(const Accesses& accesses, int from, int to, int words) {
    int used = 0, deepest = 0, depth[32] = {};
    std::uint64_t taken[warp_lanes];
    for (int i = from; i < to; ++i)
      for (int w = 0; w < words; ++w) {
        const std::uint64_t word = accesses.address[i] / 4 + w;
        bool seen = false;
        for (int k = used; k-- > 0 && !seen;) seen = taken[k] == word;
        if (seen) continue;
        taken[used++] = word;
        if (++depth[word % 32] > deepest) deepest = depth[word % 32];
      }
    return deepest;
  }
};

// Atomic operations of one instruction. Lanes at one address wait for each other, and each round moves its own sectors.
struct Rounds {
  int sectors = 0;
  int collisions = 0;  // lanes that wait: all but the first at each address

  explicit Rounds(const Accesses& accesses) {
    Accesses left = accesses;
    while (left.count > 0) {
      Accesses now, later;
      for (int i = 0; i < left.count; ++i) {
        bool taken = false;
        for (int k = now.count; k-- > 0 && !taken;) taken = now.address[k] == left.address[i];
        (taken ? later : now).add(left.lane[i], left.address[i], left.size);
      }
      sectors += Sectors(now).count();
      if (left.count == accesses.count) collisions = later.count;
      left = later;
    }
  }
};

}  // namespace ev::sim
