#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sortie/apps/spgemm/cuda/fused/kernel_group.hpp"
#include "sortie/apps/spgemm/cuda/fused/operands.hpp"
#include "sortie/apps/spgemm/cuda/fused/row_bins.hpp"
#include "sortie/apps/spgemm/cuda/fused/window_task.hpp"

namespace sortie::spgemm::cuda {

/// What is known about the rows that are made in windows, numbered as RowBins lists them. All but
/// the images lie in one piece of memory.
struct WindowRows {
  DeviceBuffer<std::byte> room;        ///< empty where there are no such rows
  DeviceBuffer<std::uint32_t> images;  ///< sets of columns, as bits
  WindowCounters* counters{};          ///< null where there are no such rows
  std::uint32_t* bounds{};             ///< first stretch of 1024 columns of each window
  std::uint32_t* counts{};             ///< entries of C of each row that is counted itself
  std::uint32_t* window_starts{};      ///< windows + 1 a row: entries before each window
  std::uint64_t* image_at{};           ///< where each row's image is, or which row's it has
  WindowTask* tasks{};                 ///< one list a class
  std::uint32_t first_of_long = 0;     ///< first row that has window_starts
  std::array<std::uint32_t, task_classes> capacity{};  ///< of each list
};

/// Bytes of shared memory that a block may have on the current device, beside what kernels have by
/// themselves.
[[nodiscard]] std::size_t most_bytes_of_block();

/// Most bytes of shared memory that a block needs; for long rows of a C of many columns more.
template <class Value>
[[nodiscard]] std::size_t window_shared_memory(std::int64_t columns);

/// Words for images that are enough where rows of C have not much fewer entries than products, and
/// are close together or have up to some 100 000 columns. Rows for which none are left take one
/// more walk.
[[nodiscard]] constexpr std::int64_t image_words_for(std::int64_t products) {
  return products / 2;
}

/// Divides the columns of B, and finds room. Launches nothing where no row is made in windows.
/// \param image_words  room for the images of rows
template <class Value>
[[nodiscard]] WindowRows find_window_rows(const ProductOperands<Value>& operands,
                                          const RowBins& bins, std::int64_t image_words,
                                          cudaStream_t stream);

/// Counts the entries of C in the rows beyond the sorted bins: counts[row]; those of rows that are
/// like the one before are there after list_window_tasks().
template <class Value>
void count_window_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       WindowRows& rows, std::int64_t* counts, KernelGroup& group);

/// Lists the tasks that make the rows, which have been counted.
/// \param counts  as for count_window_rows()
void list_window_tasks(const RowBins& bins, WindowRows& rows, std::int64_t* counts,
                       cudaStream_t stream);

/// Writes to memory of the host what the kernels have found, and the number of C's entries.
/// \param rows     may be without rows: then only that number is not 0
/// \param entries  on the device
void post_counters(const WindowRows& rows, const std::int64_t* entries, WindowCounters* posted,
                   cudaStream_t stream);

/// Makes those rows, from c.row_ptr[row] on.
/// \param found  counters of `rows`
template <class Value>
void make_window_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const WindowRows& rows, const WindowCounters& found,
                      const ProductRows<Value>& c, KernelGroup& group);

}  // namespace sortie::spgemm::cuda
