// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "apps/inverted_index/run.hpp"

namespace sortie::indexing {

/// Runs that threads have parsed and one thread sorts, one after the other.
///
///     one after the other           parse A, B |        |        | parse C, D |
///                                              | sort A | sort B |            | sort C | sort D
///     overlapped                    parse A | parse B | parse C | parse D
///                                           | sort A  | sort B  | sort C | sort D
class SortQueue {
 public:
  /// \param overlapped  whether threads parse while a run is sorted
  explicit SortQueue(bool overlapped) : overlapped_(overlapped) {}

  /// Waits until the thread may parse.
  void begin_parsing() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return overlapped_ || !sorting_; });
    ++parsing_;
  }
  /// Ends what begin_parsing() has begun, without a run.
  void end_parsing() {
    const std::lock_guard lock(mutex_);
    --parsing_;
    changed_.notify_all();
  }
  /// Ends parsing, and returns once the run is sorted. \throws what the sort throws
  void sort(TokenRun& run) {
    std::unique_lock lock(mutex_);
    Waiting waiting{&run};
    --parsing_;
    waiting_.push_back(&waiting);
    changed_.notify_all();
    changed_.wait(lock, [&] { return waiting.is_sorted; });
    if (waiting.error) std::rethrow_exception(waiting.error);
  }

  /// Sorts runs by `sort` until close() is called and none is left.
  void serve(const std::function<void(TokenRun&)>& sort) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] {
        return waiting_.empty() ? closed_ : overlapped_ || sorting_ || parsing_ == 0;
      });
      if (waiting_.empty()) return;
      Waiting& next = *waiting_.front();
      waiting_.pop_front();
      sorting_ = true;
      lock.unlock();
      try {
        sort(*next.run);
      } catch (...) {
        next.error = std::current_exception();
      }
      lock.lock();
      next.is_sorted = true;
      sorting_ = !waiting_.empty();
      changed_.notify_all();
    }
  }
  /// No run will follow.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  struct Waiting {
    TokenRun* run;
    bool is_sorted = false;
    std::exception_ptr error = {};
  };

  bool overlapped_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting*> waiting_;
  int parsing_ = 0;
  bool sorting_ = false;
  bool closed_ = false;
};

}  // namespace sortie::indexing
