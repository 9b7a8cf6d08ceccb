// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/backend_choice.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace sortie::cli {
namespace {

// Measured with -v on a machine with an H100 and 16 cores (docs/performance.md, "Which backend"),
// each command with --backend host and --backend cuda.

/// Seconds of the driver: its start, and the end of the process.
constexpr double device_start = 0.24;
constexpr double device_end = 0.06;
/// Copies between host and device, bytes a second.
constexpr double copy_rate = 10e9;

/// Items a second, of a thread of the host and of the device.
struct Rates {
  double host_thread;
  double device;
  /// Seconds of the device whatever the size: launches, and the loading of kernels.
  double device_constant;
};
constexpr Rates products{120e6, 8e9, 0.03};
constexpr Rates symbols{14e6, 2.5e9, 0.03};
constexpr Rates query_letters{2e6, 400e6, 0.02};
constexpr Rates sorted_bytes{130e6, 30e9, 0.02};
constexpr Rates deduplicated_bytes{70e6, 10e9, 0.03};

/// Threads beyond these add little: they share the memory.
constexpr int most_useful_threads = 32;

double host_seconds(const Rates& rates, double items, int threads) {
  return items / (rates.host_thread * std::min(threads, most_useful_threads));
}

double device_seconds(const Rates& rates, double items, double copied, double beside) {
  return std::max(0.0, device_start - beside) + device_end + rates.device_constant +
         items / rates.device + copied / copy_rate;
}

BackendSeconds seconds(const Rates& rates, double items, double copied, double beside,
                       int threads) {
  return {host_seconds(rates, items, threads), device_seconds(rates, items, copied, beside)};
}

}  // namespace

BackendSeconds spgemm_seconds(std::int64_t count, std::uint64_t operand_bytes, int threads) {
  return seconds(products, static_cast<double>(count), static_cast<double>(operand_bytes), 0,
                 threads);
}

BackendSeconds suffix_array_seconds(std::uint64_t count, double reading, int threads) {
  return seconds(symbols, static_cast<double>(count), 5 * static_cast<double>(count), reading,
                 threads);
}

BackendSeconds query_seconds(std::uint64_t text_symbols, std::uint64_t array_bytes,
                             std::uint64_t letters, int threads) {
  return seconds(query_letters, static_cast<double>(letters),
                 static_cast<double>(text_symbols + array_bytes), 0, threads);
}

BackendSeconds sort_seconds(std::uint64_t bytes, double reading, int threads) {
  // Copies are beside the reading and the writing, which are slower.
  return seconds(sorted_bytes, static_cast<double>(bytes), 0, reading, threads);
}

BackendSeconds deduplication_seconds(std::uint64_t bytes, double reading, int threads) {
  const auto items = static_cast<double>(bytes);
  return seconds(deduplicated_bytes, items, items, reading, threads);
}

std::uint64_t estimated_symbols(const char* path) {
  std::error_code is_no_file;
  if (!std::filesystem::is_regular_file(path, is_no_file)) return 0;
  const std::uint64_t bytes = std::filesystem::file_size(path, is_no_file);
  if (is_no_file) return 0;
  const std::string_view name(path);
  // Four letters are two bits each, and compress to little more.
  const bool compressed = name.ends_with(".gz") || name.ends_with(".zst") || name.ends_with(".bgz");
  return compressed ? 4 * bytes : bytes;
}

}  // namespace sortie::cli
