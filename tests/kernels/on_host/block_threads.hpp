// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/sanitizers.hpp"

#if SORTIE_TEST_SANITIZED
#include <barrier>
#include <thread>
#else
#include <ucontext.h>
#include <csetjmp>
#endif

/// The threads of a CUDA block on the host, in two forms.
///
/// Under a sanitizer, each is a host thread, so that the tool sees what one does while others do
/// something else. Otherwise they are contexts of one host thread: a context runs until it has to
/// wait, and then the next one continues. Host threads, which wait for each other at every barrier,
/// take more than a hundred times as long on two cores. The order of contexts is the same in every
/// run. A missing barrier still fails a test: a context then reads what others have not yet written.
namespace cuda_on_host {
struct Index {
  unsigned int x = 0;
};
}  // namespace cuda_on_host

#if SORTIE_TEST_SANITIZED
inline thread_local cuda_on_host::Index threadIdx;
#else
inline cuda_on_host::Index threadIdx;  ///< of the running context
#endif

namespace cuda_on_host {

#if SORTIE_TEST_SANITIZED

using Barrier = std::barrier<>;

/// Lets other threads of the block go on.
inline void yield() {
  std::this_thread::yield();
}

/// Runs body() as each thread of a block.
template <class Body>
void run_threads(unsigned int threads, const Body& body) {
  std::vector<std::thread> all;
  all.reserve(threads);
  for (unsigned int thread = 0; thread < threads; ++thread)
    all.emplace_back([thread, &body] {
      threadIdx.x = thread;
      body();
    });
  for (std::thread& one : all) one.join();
}

#else

/// The contexts of a block.
class Contexts {
 public:
  template <class Body>
  void run(unsigned int threads, const Body& body) {
    while (stacks_.size() < threads) stacks_.emplace_back(new std::byte[stack_bytes]);
    body_ = [](const void* object) { (*static_cast<const Body*>(object))(); };
    object_ = &body;
    states_.assign(threads, State{});
    current_ = 0;
    running_ = threads;
    if (_setjmp(caller_) == 0) go_on();
  }

  /// Continues with the next context that has not ended.
  [[gnu::noinline]] void yield() {
    if (_setjmp(states_[current_].place) == 0) next();
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 18;

  struct State {
    bool has_begun = false;
    bool has_ended = false;
    std::jmp_buf place;
  };

  [[noreturn]] void next() {
    do {
      current_ = current_ + 1 == states_.size() ? 0 : current_ + 1;
    } while (states_[current_].has_ended);
    go_on();
  }

  [[noreturn]] void go_on();
  static void begin();

  std::vector<std::unique_ptr<std::byte[]>> stacks_;
  std::vector<State> states_;
  std::size_t current_ = 0;
  std::size_t running_ = 0;
  std::jmp_buf caller_;
  void (*body_)(const void* object) = nullptr;
  const void* object_ = nullptr;
};
inline Contexts contexts;

inline void Contexts::begin() {
  contexts.body_(contexts.object_);
  contexts.states_[contexts.current_].has_ended = true;
  if (--contexts.running_ == 0) _longjmp(contexts.caller_, 1);
  contexts.next();
}

// Contexts begin by setcontext() and continue by _longjmp(), which makes no system call.
inline void Contexts::go_on() {
  threadIdx.x = static_cast<unsigned int>(current_);
  State& state = states_[current_];
  if (state.has_begun) _longjmp(state.place, 1);
  state.has_begun = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks_[current_].get();
  context.uc_stack.ss_size = stack_bytes;
  context.uc_link = nullptr;
  makecontext(&context, &Contexts::begin, 0);
  setcontext(&context);
  __builtin_unreachable();
}

inline void yield() {
  contexts.yield();
}

class Barrier {
 public:
  explicit Barrier(std::ptrdiff_t threads) : threads_(threads) {}

  void arrive_and_wait() {
    const std::uint64_t round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      return;
    }
    while (round_ == round) yield();
  }

 private:
  std::ptrdiff_t threads_;
  std::ptrdiff_t arrived_ = 0;
  std::uint64_t round_ = 0;
};

template <class Body>
void run_threads(unsigned int threads, const Body& body) {
  contexts.run(threads, body);
}

#endif

}  // namespace cuda_on_host
