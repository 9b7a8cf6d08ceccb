#pragma once

#include <cstdint>

namespace sortie::spgemm::cuda {

/// Most columns of C that windows are made for: what a set of columns of a row takes in shared
/// memory grows with them.
inline constexpr std::int64_t most_window_columns = std::int64_t{1} << 23;

/// What what is known about the rows takes beside images, for each product of the rows.
inline constexpr std::int64_t window_bytes_per_product = 1;

/// Windows that the columns of C are divided into, each with about as many entries of B.
inline constexpr int column_windows = 64;

/// A row of C, or a part of one, that a block of threads makes.
struct WindowTask {
  std::uint32_t row;  ///< its number among the rows that are made in windows
  std::uint16_t first_window;
  std::uint16_t end_window;
};

/// Classes of tasks by number of entries of C; the last one has parts of rows.
inline constexpr int task_classes = 6;

/// Entries that a task of each class has at most; more, where a single window has more.
constexpr std::uint32_t class_entries(int task_class) {
  return task_class < 4 ? 512u << task_class : 6144u;
}

/// What the kernels find, and the host has to know.
struct WindowCounters {
  unsigned long long image_words;
  std::int64_t entries;  ///< of C in all rows, those that are not made in windows included
  std::uint32_t tasks[task_classes];  ///< of each class
};

}  // namespace sortie::spgemm::cuda
