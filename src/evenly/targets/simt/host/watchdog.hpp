// Detects a thread that runs forever without an access, such as a loop on a flag that the compiler correctly reads only
// once. No hook is called any more, so a timer of processor time checks whether there is progress.
#pragma once
#include "machine.hpp"
#if defined(__linux__)
#include <csignal>
#include <ctime>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#endif

namespace ev::sim {

#if defined(__linux__)
class Watchdog {
public:
  static constexpr int seconds = 2;  // at least, twice that at most

  void start() {
    struct sigaction handler{};
    handler.sa_sigaction = look;
    handler.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;  // it may never return
    sigaction(number(), &handler, &before);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number();
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    running = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
    const itimerspec each{{seconds, 0}, {seconds, 0}};
    if (running) timer_settime(timer, 0, &each, nullptr);
  }
  void stop() {
    if (running) timer_delete(timer);
    running = false;
    sigaction(number(), &before, nullptr);
  }

private:
  timer_t timer{};
  bool running = false;
  struct sigaction before{};

  static int number() { return SIGRTMIN + 7; }
  static void look(int, siginfo_t*, void* context) {
    static std::uint64_t last = ~std::uint64_t{0};
    Machine& m = machine();
    const std::uint64_t now = m.progress();
    if (m.current && now == last) m.fail("deadlock", format("%s goes on and touches no memory: it loops for ever\n  it runs {pc:%x}", m.name(*m.current).c_str(), where(context)));
    last = m.current ? now : ~std::uint64_t{0};
  }
  static std::uint32_t where([[maybe_unused]] void* context) {
#if defined(__x86_64__)
    return machine().offset(reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP])) + 1;
#else
    return 0;
#endif
  }
};
#else
struct Watchdog {
  void start() {}
  void stop() {}
};
#endif

}  // namespace ev::sim
