// SPDX-License-Identifier: Apache-2.0
#include "core/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

#include "core/host_runtime.hpp"
#include "sortie/error.hpp"

namespace sortie {

namespace {

/// madvise() for the whole pages of so many bytes in some memory.
[[maybe_unused]] void advise_pages(void* storage, std::size_t bytes, std::uintptr_t page,
                                   int advice) {
  const auto begin = reinterpret_cast<std::uintptr_t>(storage);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t end = (begin + bytes) / page * page;
  // Ignored advice is not an error.
  if (first < end) static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, advice));
}

/// Value in bytes of the line "KEY: N kB" of a /proc file; 0 if there is none.
std::uint64_t proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t digit = line.find_first_of("0123456789");
    if (digit == std::string::npos) return 0;
    std::uint64_t kibibytes = 0;
    std::from_chars(line.data() + digit, line.data() + line.size(), kibibytes);
    return kibibytes * 1024;
  }
  return 0;
}

/// Unused memory, without the caches that the kernel would free: less than MemAvailable.
std::uint64_t free_memory() {
  struct sysinfo info = {};
  if (sysinfo(&info) != 0) return 0;
  return (std::uint64_t{info.freeram} + info.bufferram) * info.mem_unit;
}

Error not_a_size(std::string_view text) {
  return {ErrorKind::usage,
          fmt::format("found {}, expected a size such as 1000, 512M, 1.5G", sortie::quoted(text))};
}

/// Exponent of 1024 for "K", "KB", "KiB" and so on (any case); -1 for an unknown unit.
int unit_exponent(std::string_view unit) {
  if (unit.empty()) return 0;
  static constexpr std::string_view letters = "BKMGTP";
  const std::size_t exponent =
      letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
  unit.remove_prefix(1);
  const bool power = unit == "B" || unit == "b" || unit == "iB" || unit == "ib";
  const bool known =
      exponent != std::string_view::npos && (unit.empty() || (power && exponent > 0));
  return known ? static_cast<int>(exponent) : -1;
}

constexpr std::size_t page_bytes = 4096;

/// Bytes per thread: their page faults take about as long as starting a thread.
constexpr std::size_t bytes_per_thread = std::size_t{16} << 20;

}  // namespace

std::uint64_t host_memory_available() {
  std::uint64_t machine = proc_value("/proc/meminfo", "MemAvailable:");
  // There may be no /proc, as in a root folder that nothing is mounted in.
  if (machine == 0) machine = free_memory();
  return std::min(machine, control_group_limits().memory_left.value_or(machine));
}

std::uint64_t bytes_of(std::initializer_list<MemoryNeed> needs) {
  std::uint64_t bytes = 0;
  for (const MemoryNeed& need : needs) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(need.count), need.bytes_each, &product) ||
        __builtin_add_overflow(bytes, product, &bytes))
      return std::numeric_limits<std::uint64_t>::max();
  }
  return bytes;
}

std::uint64_t peak_host_memory() {
  return proc_value("/proc/self/status", "VmHWM:");
}

std::uint64_t parse_bytes(std::string_view text) {
  // from_chars would accept "inf", "nan" and "-1", which are not sizes.
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0)
    throw not_a_size(text);
  const char* const last = text.data() + text.size();
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  const int exponent = unit_exponent({end, static_cast<std::size_t>(last - end)});
  if (status != std::errc() || exponent < 0) throw not_a_size(text);
  if (exponent > 0) {
    const double bytes = std::ldexp(number, 10 * exponent);
    if (bytes >= 0x1p64) throw not_a_size(text);
    return static_cast<std::uint64_t>(bytes);
  }
  // A plain count is parsed as an integer: a double would round it beyond 2^53.
  std::uint64_t count = 0;
  const auto [integer_end, integer_status] = std::from_chars(text.data(), last, count);
  if (integer_status != std::errc() || integer_end != end) throw not_a_size(text);
  return count;
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // From 1023.995, two decimals would round to 1024.00 of the smaller unit.
  for (; value >= 1023.995 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.2f} {}", value, units[unit]);
}

void advise_large_pages([[maybe_unused]] void* storage, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  advise_pages(storage, bytes, page_bytes, MADV_HUGEPAGE);
#endif
}

void let_system_take([[maybe_unused]] void* storage, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_FREE
  // Only whole pages of 2 MiB, so that none of them is split.
  constexpr std::uintptr_t large_page = std::uintptr_t{2} << 20;
  advise_pages(storage, bytes, large_page, MADV_FREE);
#endif
}

void* allocate_lines(std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  constexpr std::size_t least_advised = std::size_t{2} << 20;
  void* const block = std::malloc(bytes + sizeof(void*) + line_bytes);
  if (block == nullptr) return nullptr;
  const auto behind = reinterpret_cast<std::uintptr_t>(block) + sizeof(void*);
  auto* const memory = static_cast<char*>(block) + sizeof(void*) + (0 - behind) % line_bytes;
  std::memcpy(memory - sizeof(void*), &block, sizeof(void*));
  if (bytes >= least_advised) advise_large_pages(memory, bytes);
  return memory;
}

void FreeMemory::operator()(void* memory) const {
  void* block = nullptr;
  std::memcpy(&block, static_cast<char*>(memory) - sizeof(void*), sizeof(void*));
  std::free(block);
}

// Uses plain threads: Kokkos before 4.0 accepts parallel work only from the thread that started it,
// and any thread may call this function.
void touch_new_memory(void* storage, std::size_t bytes) {
  if (bytes < bytes_per_thread) return;
  advise_large_pages(storage, bytes);
  const std::size_t most = static_cast<std::size_t>(default_host_threads());
  const std::size_t threads = std::clamp<std::size_t>(bytes / bytes_per_thread, 1, most);
  const std::size_t share = (bytes / threads + page_bytes - 1) / page_bytes * page_bytes;
  char* const begin = static_cast<char*>(storage);
  char* const end = begin + bytes;
  std::vector<std::jthread> team;
  try {
    for (std::size_t t = 0; t < threads; ++t) {
      const std::size_t first = std::min(bytes, t * share);
      char* const last = t + 1 == threads ? end : begin + std::min(bytes, first + share);
      team.emplace_back([=] {
        for (char* page = begin + first; page < last; page += page_bytes)
          *static_cast<volatile char*>(page) = 0;
      });
    }
  } catch (const std::system_error&) {
    // The system has no more threads. The first use touches the rest.
  }
}

}  // namespace sortie
