// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <system_error>
#include <utility>

namespace sortie {

/// Work on a thread of its own, beside that of the caller: reading and writing, which mostly wait
/// for a device. It must not call the host runtime: Kokkos before 4.0 accepts parallel work only
/// from the thread that started it.
///
/// The destructor waits for the end of the work, and discards its exception: so what the work
/// refers to must live longer than this object.
class BackgroundTask {
 public:
  /// Starts the work. Where the system has no more threads, wait() does it.
  explicit BackgroundTask(std::function<void()> work) {
    try {
      end_ = std::async(std::launch::async, work);
    } catch (const std::system_error&) {
      end_ = std::async(std::launch::deferred, std::move(work));
    }
  }

  /// Waits for the end of the work. \pre not called before \throws what the work threw
  void wait() { end_.get(); }

 private:
  std::future<void> end_;  ///< its destructor waits
};

}  // namespace sortie
