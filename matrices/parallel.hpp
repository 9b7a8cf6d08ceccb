#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

/// Internal to matrices: loops over the threads of the host runtime.
namespace sortie::matrices::detail {

/// Calls work(begin, end) for ranges of at most `grain` indices that together cover [0, count).
///
/// Ranges run on the threads of the host runtime when it has been started (start_host_runtime),
/// otherwise one after the other. When calls throw, the exception of the lowest range is rethrown
/// after all have ended.
void for_ranges(std::int64_t count, std::int64_t grain,
                const std::function<void(std::int64_t begin, std::int64_t end)>& work);

/// Threads that for_ranges uses: at least 1.
[[nodiscard]] int worker_threads();

/// `count` elements of `bytes_each` bytes.
struct MemoryNeed {
  std::int64_t count = 0;
  std::uint64_t bytes_each = 0;
};

/// Checks that memory can be had before it is asked for: a size line that announces 10^12 rows must
/// end in a message, not in the system killing the program.
/// \throws Error (out_of_memory) naming `what`
void require_host_memory(const char* what, std::initializer_list<MemoryNeed> needs);

}  // namespace sortie::matrices::detail
