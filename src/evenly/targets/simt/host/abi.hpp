// The interface between the three parts of an emulated program: the kernel's code (compiled with the primitives of
// gpu_host.hpp), the runtime (runtime.cpp), and Python, which loads both as one library.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define EV_API extern "C" __attribute__((visibility("default")))
// For functions that kernels call but that are not part of a kernel: their own memory accesses are not checked.
#ifdef EV_LOCKSTEP
#define EV_QUIET __attribute__((no_sanitize("thread", "undefined"), no_sanitize_coverage))
#else
#define EV_QUIET __attribute__((no_sanitize("thread", "undefined")))
#endif

extern "C" {

struct ev_site { const char* file; int place; };  // a line and column of the source; each call has its own

// ---- what primitives ask of the runtime -----------------------------------------------------------------------------
int ev_sim_thread_rank() __attribute__((const));
int ev_sim_block_threads() __attribute__((const));
int ev_sim_block_x() __attribute__((const));
int ev_sim_block_y() __attribute__((const));
int ev_sim_blocks_x() __attribute__((const));
int ev_sim_blocks_y() __attribute__((const));

enum ev_collective { ev_none, ev_barrier, ev_sync_warp, ev_shuffle, ev_vote };
void ev_sim_barrier(int id, int count, ev_site site);
uint64_t ev_sim_warp(ev_collective kind, unsigned mask, uint64_t offered, int source, ev_site site);
void ev_sim_fence(int how);  // of sequential consistency, or of acquire and release
void* ev_sim_dynamic_shared(size_t item, const char* name);  // of the size that the launch gives

// Returns a shared array of the block, the same for every thread that passes the same key.
void* ev_sim_shared(const void* key, size_t bytes, size_t item, int scalar, const char* name);

// Returns the number of elements of `size` bytes from p to the end of its array; -1 if memory is not checked.
int64_t ev_sim_extent(const void* p, size_t size);
void ev_sim_outside(const void* data, int64_t index, int64_t count, int write) __attribute__((noreturn));
void ev_sim_outside_local(int64_t index, int64_t count, const char* kind) __attribute__((noreturn));  // of a local or scratch array

// An atomic operation is two calls. `begin` lets other threads run first, and returns what is there; `end` writes.
enum ev_atomic { ev_atomic_load, ev_atomic_store, ev_atomic_update };
// how: the memory order, and whether the scope is the block's.
enum ev_how { ev_relaxed, ev_acquire, ev_release, ev_acq_rel, ev_seq_cst, ev_orders = 7, ev_of_block = 8 };
uint64_t ev_sim_atomic_begin(const void* p, size_t size, ev_atomic kind, int how);
uint64_t ev_sim_store_begin(const void* p, size_t size, uint64_t bits, int64_t who);  // of store_contended
void ev_sim_atomic_end(void* p, size_t size, ev_atomic kind, int how, uint64_t before, uint64_t after);

// ---- what kernels say -----------------------------------------------------------------------------------------------
void ev_sim_print(char kind, const void* p, size_t size);  // a part of a line; kind 0 ends it
void ev_sim_invoke(const char* name, int64_t argument);  // an operation begins, of which histories tell
void ev_sim_respond(int64_t result);                     // it ends
void ev_sim_assertion_failed(const char* text, const char* got);

// ---- what Python asks of the runtime --------------------------------------------------------------------------------
struct ev_array {
  uint64_t base, bytes;
  const char* name;
  uint32_t item;         // bytes of an element
  uint32_t writable;     // 0: no kernel of the run may write it
  uint32_t initialised;  // 0: scratch memory that has not been written yet
};

struct ev_entry {  // of a kernel
  void (*call)(void* kernel, void** arguments);
  void* kernel;
  // A letter for each parameter: b i j l m f d; B is a byte, j and m are unsigned, e has 16 bits, F and D are complex,
  // ? is another type. A pointer has the letter of its target, after * or, if the target is const, &.
  const char* kinds;
};

enum ev_order { ev_random, ev_round_robin, ev_pct };

struct ev_options {
  uint64_t seed;      // random: 0 takes threads in order
  int32_t order;      // ev_order
  int32_t depth;      // of ev_pct: one more than the changes of priorities
  int32_t races;      // 0: no race detection
  int32_t resident;   // blocks in flight; 0: depends on their size
  int32_t record;     // 1: record for the counters, and check nothing
  int32_t any_start;  // 1: blocks start in an order that the seed chooses; 0: by index
  int32_t relaxed;    // 1: loads may see older values, as the memory model allows; the order of threads is drawn
  int32_t lockstep;   // 1: of the lanes of a warp, only those run that are furthest behind in the code
  int32_t strict;     // 1: lanes that have left, and one mask at two places in the code, are mistakes
  uint64_t steps;     // turns in which no thread leaves or meets others, after which a run ends; 0: any number
};

struct ev_launch {
  const ev_entry* entry;
  void** arguments;
  int32_t blocks_x, blocks_y, threads;
  uint32_t shared;  // bytes of dynamic shared memory
  int32_t cooperative;  // whether all blocks are in flight at once
};

enum ev_status { ev_done, ev_more, ev_failed };

// A run gets arrays, then launches in sequence. A process has one run at a time.
EV_API void ev_sim_start(const ev_array* arrays, int64_t count, const ev_options* options);
EV_API void ev_sim_launch(const ev_launch* launch);
EV_API int ev_sim_continue(uint64_t steps);  // ev_status; ev_more: not done after so many switches
EV_API void ev_sim_left(uint64_t address);  // the failure is that launches have left something there
EV_API void ev_sim_stop();
EV_API void ev_sim_forget();  // between runs: frees the memory of stacks and shared arrays

// Describes the failure, after ev_failed. Code addresses have the form {pc:1a2b}, an offset in this library.
EV_API const char* ev_sim_failure_kind();
EV_API const char* ev_sim_failure();

// Returns records of what kernels have printed since the last call (see printing.py).
EV_API const char* ev_sim_printed(uint64_t* bytes);

// Runs the launch once for each of its execution graphs, or, if `preemptions` is not negative, in every interleaving with
// at most so many switches away from a thread that could go on. `sequential`: graphs of sequential consistency only.
// Returns ev_more after each run but the last one, after `limit` of them, and sometimes within a long one. The arrays are
// reset between runs.
EV_API void ev_sim_explore(const ev_launch* launch, int preemptions, int sequential);
EV_API int ev_sim_explore_on(uint64_t limit);
EV_API uint64_t ev_sim_explored();   // runs that count
EV_API uint64_t ev_sim_explore_tries();  // all runs: also those that turned out to be impossible, or to be others again
EV_API const char* ev_sim_explore_cut();  // why it is not complete; empty if nothing was left out
EV_API uint64_t ev_sim_outcomes();   // different final contents of the writable arrays
EV_API uint64_t ev_sim_outcome_bytes();
EV_API const uint8_t* ev_sim_outcome(uint64_t which);  // the writable arrays, in sequence
EV_API const char* ev_sim_outcome_history(uint64_t which);  // see History::text
EV_API const char* ev_sim_history();  // of the latest launch
EV_API const char* ev_sim_outcome_trace(uint64_t which);  // the sequence of threads that led to it

// The counters of the last launch, if they were recorded: a record for each warp (lockstep.hpp).
EV_API uint64_t ev_sim_warps();
EV_API const void* ev_sim_warp_records();

}
