// The memory that a kernel may access: global arrays, which are passed with their bounds, and shared arrays of blocks.
#pragma once
#include <cstring>
#include <string>
#include <vector>
#include "abi.hpp"
#include "fiber.hpp"
#include "shadow.hpp"

namespace ev::sim {

constexpr std::uint64_t poison = 0xa5a5a5a5a5a5a5a5ull;  // the bits of an undefined value

// A range of memory: an array of the run, or a shared array of a block.
struct Region {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::string name;
  std::uint32_t item = 1;
  bool writable = true;
  bool checks_init = false;
  bool gaps = true;  // whether an element may have bytes that are never written, as between a struct's members
  std::vector<std::uint8_t> written;  // by byte, where checks_init

  bool holds(std::uintptr_t a) const { return a - base < bytes; }
  bool ready(std::size_t offset, std::size_t size) const {
    return !checks_init || std::memchr(written.data() + offset, 0, size) == nullptr;
  }
  bool begun(std::size_t offset, std::size_t size) const {  // something of it has been written
    return !checks_init || std::memchr(written.data() + offset, 1, size) != nullptr;
  }
  void fill(std::size_t offset, std::size_t size) {
    if (checks_init) std::memset(written.data() + offset, 1, size);
  }
};

struct GlobalArray : Region {
  Shadow shadow;
};

class GlobalMemory {
public:
  void set(const ev_array* given, std::int64_t count) {
    arrays.clear();
    checked = count >= 0;
    for (std::int64_t i = 0; i < count; ++i) {
      GlobalArray a;
      a.base = given[i].base;
      a.bytes = given[i].bytes;
      a.name = given[i].name;
      a.item = given[i].item;
      a.writable = given[i].writable != 0;
      a.checks_init = given[i].initialised == 0;
      if (a.checks_init) a.written.assign(a.bytes, 0);
      if (a.writable) a.shadow = Shadow(a.bytes);
      arrays.push_back(std::move(a));
    }
  }
  GlobalArray* find(std::uintptr_t a) {
    if (last < arrays.size() && arrays[last].holds(a)) return &arrays[last];
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i].holds(a)) { last = i; return &arrays[i]; }
    return nullptr;
  }
  // The array that ends just before the address, or begins just after it, which an index has probably missed.
  const GlobalArray* missed(std::uintptr_t a) const {
    const GlobalArray* best = nullptr;
    std::size_t least = 4096;
    for (auto& r : arrays) {
      std::size_t distance = a < r.base ? r.base - a : a - (r.base + r.bytes);
      if (distance < least) { least = distance; best = &r; }
    }
    return best;
  }

  std::vector<GlobalArray> arrays;
  bool checked = false;  // false: a C++ caller has passed no arrays

private:
  std::size_t last = 0;
};

// Shared memory of one block. There are gaps between arrays, so that an index beyond one hits no other.
class SharedMemory {
public:
  static constexpr std::size_t most = 48 * 1024;  // CUDA's limit for arrays whose sizes are known at compile time
  static constexpr std::size_t gap = 128;

  SharedMemory() : pages(2 * most + gap), shadow(2 * most + gap) {}

  void clear() {
    for (auto& a : arrays) std::memset(reinterpret_cast<void*>(a.base), static_cast<int>(poison & 0xff), a.bytes);
    arrays.clear();
    keys.clear();
    used = gap;
    bytes = 0;
  }
  // Returns null if there is no room.
  void* get(const void* key, std::size_t size, std::size_t item, bool scalar, const char* name) {
    for (std::size_t i = 0; i < keys.size(); ++i) if (keys[i] == key) return reinterpret_cast<void*>(arrays[i].base);
    if (bytes + size > most) return nullptr;
    Region a;
    a.base = reinterpret_cast<std::uintptr_t>(pages.data()) + used;
    a.bytes = size;
    a.name = name;
    a.item = static_cast<std::uint32_t>(item);
    a.checks_init = true;
    a.gaps = !scalar;
    a.written.assign(size, 0);
    std::memset(pages.data() + used, static_cast<int>(poison & 0xff), size);
    used = (used + size + 2 * gap - 1) / gap * gap;
    bytes += size;
    arrays.push_back(std::move(a));
    keys.push_back(key);
    return reinterpret_cast<void*>(arrays.back().base);
  }
  bool holds(std::uintptr_t a) const { return pages.holds(a); }
  std::size_t offset(std::uintptr_t a) const { return a - reinterpret_cast<std::uintptr_t>(pages.data()); }
  Region* find(std::uintptr_t a) {
    for (auto& r : arrays) if (r.holds(a)) return &r;
    return nullptr;
  }
  // The array that an index has left. Most indices are too high, and those that are too low are so by little.
  const Region* missed(std::uintptr_t a) const {
    const Region* before = nullptr;
    for (auto& r : arrays) {
      if (r.base > a && r.base - a <= 16) return &r;
      if (r.base <= a && (!before || r.base > before->base)) before = &r;
    }
    return before;
  }

  std::size_t bytes = 0;

private:
  Pages pages;
  std::vector<Region> arrays;
  std::vector<const void*> keys;
  std::size_t used = gap;

public:
  Shadow shadow;
};

}  // namespace ev::sim
