// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/error.hpp"

namespace sortie {

/// Bytes of host memory that can be allocated without swapping (MemAvailable, limited by the
/// control group).
[[nodiscard]] std::uint64_t host_memory_available();

/// `count` elements of `bytes_each` bytes.
struct MemoryNeed {
  std::int64_t count = 0;
  std::uint64_t bytes_each = 0;
};

/// Bytes of all needs; the greatest number if these are more.
[[nodiscard]] std::uint64_t bytes_of(std::initializer_list<MemoryNeed> needs);

/// The host memory that a call may take, its budget or all that is available, and what it holds.
class HostMemoryBudget {
 public:
  HostMemoryBudget() = default;
  explicit HostMemoryBudget(const HostContext& context) : budget_(context.memory_budget) {}

  /// Bytes that can be taken now. What is held already does not count as available memory.
  [[nodiscard]] std::uint64_t left() const {
    if (budget_ == 0) return host_memory_available();
    return budget_ > held_ ? budget_ - held_ : 0;
  }
  /// \throws Error (out_of_memory) fewer than `bytes` are left; `what` needs them
  void require(std::string_view what, std::uint64_t bytes) const {
    if (const std::uint64_t free = left(); bytes > free)
      throw out_of_memory_error(what, bytes, free);
  }
  /// Counts memory that the call keeps.
  void hold(std::uint64_t bytes) { held_ += bytes; }

 private:
  std::uint64_t budget_ = 0;
  std::uint64_t held_ = 0;
};

/// Bytes that a call may allocate: the memory budget of its context, or without one what is
/// available.
[[nodiscard]] inline std::uint64_t host_memory_limit(const HostContext& context) {
  return HostMemoryBudget(context).left();
}

/// Checks before an allocation that `bytes` are within host_memory_limit(), so that an input that
/// asks for 10^12 elements results in an error message, not in the system killing the program.
/// \throws Error (out_of_memory) naming `what`
inline void require_memory(const HostContext& context, std::string_view what, std::uint64_t bytes) {
  HostMemoryBudget(context).require(what, bytes);
}

/// The same for a budget only; without one, the allocation itself has to fail.
inline void require_budget(const HostContext& context, std::string_view what, std::uint64_t bytes) {
  if (context.memory_budget != 0) require_memory(context, what, bytes);
}

/// Highest resident size of this process so far, in bytes.
[[nodiscard]] std::uint64_t peak_host_memory();

/// Parses a size such as "4G", "512M", "1.5K" or "1000" (units are powers of 1024).
/// \throws Error (usage) naming the text if it is not a size.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// "1.50 GiB"
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// Advises the system to back memory that has not been touched yet with pages of 2 MiB, for fewer
/// page faults and fewer TLB misses.
void advise_large_pages(void* storage, std::size_t bytes);

/// Advises the system that the contents of this memory are not needed: it may take whole pages of
/// 2 MiB back until they are written again.
void let_system_take(void* storage, std::size_t bytes);

/// Allocates memory that begins at a cache line, in large pages where it contains whole ones; null
/// if there is none. Not by std::aligned_alloc(): up to glibc 2.37, its blocks are not used again
/// for requests of the same size, so each of several calls takes all page faults anew.
[[nodiscard]] void* allocate_lines(std::size_t bytes);

/// Frees memory of allocate_lines().
struct FreeMemory {
  void operator()(void* memory) const;
};

/// An array whose elements are numbers, or other types without constructors.
template <class T>
using HostArray = std::unique_ptr<T[], FreeMemory>;

/// An array whose elements are not initialised, aligned to cache lines, in large pages. Pages are
/// faulted in by the threads that use them. \throws std::bad_alloc
template <class T>
[[nodiscard]] HostArray<T> allocate_array(std::uint64_t size) {
  static_assert(alignof(T) <= 64);
  HostArray<T> array(static_cast<T*>(allocate_lines(size * sizeof(T))));
  if (array == nullptr) throw std::bad_alloc();
  return array;
}

/// The same within the memory budget of the context.
/// \throws Error (out_of_memory) naming `what`
template <class T>
[[nodiscard]] HostArray<T> allocate_array(const HostContext& context, std::string_view what,
                                          std::uint64_t size) {
  require_budget(context, what, size * sizeof(T));
  try {
    return allocate_array<T>(size);
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error(what, size * sizeof(T), host_memory_available());
  }
}

/// Takes the page faults of unused memory, which is overwritten, on several threads, with large
/// pages where the system grants them. Does nothing for small blocks.
void touch_new_memory(void* storage, std::size_t bytes);

/// A vector of zeros, in large pages.
template <class T>
[[nodiscard]] std::vector<T> allocate_vector(std::uint64_t size) {
  std::vector<T> vector;
  vector.reserve(size);
  // All threads touch its pages here, because a single thread writes the zeros.
  touch_new_memory(vector.data(), size * sizeof(T));
  advise_large_pages(vector.data(), size * sizeof(T));
  vector.resize(size);
  return vector;
}

}  // namespace sortie
