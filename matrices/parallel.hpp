// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

/// Internal to matrices: parallel loops over the threads of the host runtime.
namespace sortie::matrices::detail {

/// Calls work(begin, end) for ranges of at most `grain` indices that together cover [0, count).
///
/// The ranges run on the threads of the host runtime if it has been started (start_host_runtime),
/// otherwise sequentially. If calls throw, the exception of the first range is rethrown after all
/// calls have returned.
void for_ranges(std::int64_t count, std::int64_t grain,
                const std::function<void(std::int64_t begin, std::int64_t end)>& work);

/// Number of threads that for_ranges() uses; at least 1.
[[nodiscard]] int worker_threads();

/// `count` elements of `bytes_each` bytes.
struct MemoryNeed {
  std::int64_t count = 0;
  std::uint64_t bytes_each = 0;
};

/// Bytes of all needs; the greatest number if these are more.
[[nodiscard]] std::uint64_t bytes_of(std::initializer_list<MemoryNeed> needs);

/// Checks that memory is available before it is allocated: a size line with 10^12 rows must result
/// in an error message, not in the system killing the program.
/// \throws Error (out_of_memory) naming `what`
void require_host_memory(const char* what, std::initializer_list<MemoryNeed> needs);

}  // namespace sortie::matrices::detail
