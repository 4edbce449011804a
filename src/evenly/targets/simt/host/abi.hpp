// What the three parts of an emulated program know of each other: the kernel's code (compiled with the primitives of
// gpu_host.hpp), the runtime (runtime.cpp), and Python, which loads both as one library.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define EV_API extern "C" __attribute__((visibility("default")))
// What is called for a kernel but is not the kernel's: its own memory accesses are nobody's business.
#define EV_QUIET __attribute__((no_sanitize("thread", "undefined")))

extern "C" {

struct ev_site { const char* file; int line; };  // where in the source; same call, same site

// ---- what primitives ask of the runtime --------------------------------------------------------------------------------
int ev_sim_thread_rank() __attribute__((const));
int ev_sim_block_threads() __attribute__((const));
int ev_sim_block_x() __attribute__((const));
int ev_sim_block_y() __attribute__((const));
int ev_sim_blocks_x() __attribute__((const));
int ev_sim_blocks_y() __attribute__((const));

enum ev_collective { ev_none, ev_barrier, ev_sync_warp, ev_shuffle, ev_vote };
void ev_sim_barrier(int id, int count, ev_site site);
uint64_t ev_sim_warp(ev_collective kind, unsigned mask, uint64_t offered, int source, ev_site site);
void ev_sim_fence(int device);  // 0: of the block

// A block's array, the same for every thread that asks with the same key.
void* ev_sim_shared(const void* key, size_t bytes, size_t item, const char* name);

// Elements of `size` bytes from p to the end of the array that p points into; -1 where memory is not checked.
int64_t ev_sim_extent(const void* p, size_t size);
void ev_sim_outside(const void* data, int64_t index, int64_t count, int write) __attribute__((noreturn));

// An atomic operation stands between the two; `begin` lets other threads go first.
enum ev_atomic { ev_atomic_load, ev_atomic_store, ev_atomic_update };
void ev_sim_atomic_begin(const void* p, size_t size, ev_atomic kind);
void ev_sim_store_begin(const void* p, size_t size, uint64_t bits, int64_t who);  // of store_contended
void ev_sim_atomic_end(const void* p, size_t size, ev_atomic kind, uint64_t before, uint64_t after);

// ---- what kernels say --------------------------------------------------------------------------------------------------
void ev_sim_print(char kind, const void* p, size_t size);  // a part of a line; kind 0 ends it
void ev_sim_assertion_failed(const char* text);

// ---- what Python asks of the runtime -----------------------------------------------------------------------------------
struct ev_array {
  uint64_t base, bytes;
  const char* name;
  uint32_t item;         // bytes an element
  uint32_t writable;     // 0: no kernel of the run may write it
  uint32_t initialised;  // 0: scratch, nobody has written it yet
};

struct ev_entry {  // of a kernel
  void (*call)(void* kernel, void** arguments);
  void* kernel;
  // A letter a parameter: b i j l m f d, B a byte, j and m unsigned, e of 16 bits, F and D complex, ? something else; of a pointer, what it points to,
  // with * before it, or & where that is const.
  const char* kinds;
};

enum ev_order { ev_random, ev_round_robin, ev_explore };

struct ev_options {
  uint64_t seed;      // random: 0 takes threads in order
  int32_t order;      // ev_order
  int32_t races;      // 0: no race detection
  int32_t resident;   // blocks in flight, 0: by their size
  int32_t record;     // for the counters; then nothing is checked
};

struct ev_launch {
  const ev_entry* entry;
  void** arguments;
  int32_t blocks_x, blocks_y, threads;
};

enum ev_status { ev_done, ev_more, ev_failed };

// A run: arrays, then launches one after another. One at a time in a process.
EV_API void ev_sim_start(const ev_array* arrays, int64_t count, const ev_options* options);
EV_API void ev_sim_launch(const ev_launch* launch);
EV_API int ev_sim_continue(uint64_t steps);  // ev_status; ev_more: not done after so many switches
EV_API void ev_sim_stop();
EV_API void ev_sim_forget();  // between runs: gives back the memory of stacks and shared arrays

// After ev_failed: what happened. Code addresses stand in it as {pc:1a2b}, offsets in this library.
EV_API const char* ev_sim_failure_kind();
EV_API const char* ev_sim_failure();

// What kernels have printed since it was asked for: records, see printing.py.
EV_API const char* ev_sim_printed(uint64_t* bytes);

// Every interleaving of the launch with at most `preemptions` switches away from a thread that could go on (-1: any),
// one after another: ev_more after each but the last one, after `limit` of them, and now and then within a long one. The
// arrays are reset between them.
EV_API void ev_sim_explore(const ev_launch* launch, int preemptions);
EV_API int ev_sim_explore_on(uint64_t limit);
EV_API uint64_t ev_sim_explored();   // interleavings
EV_API uint64_t ev_sim_outcomes();   // different final contents of the writable arrays
EV_API uint64_t ev_sim_outcome_bytes();
EV_API const uint8_t* ev_sim_outcome(uint64_t which);  // the writable arrays, one behind the other
EV_API const char* ev_sim_outcome_trace(uint64_t which);  // how it came about: thread after thread

// Counters of the last launch, where they were asked for: a record a warp (lockstep.hpp).
EV_API uint64_t ev_sim_warps();
EV_API const void* ev_sim_warp_records();

}
