#include "sortie/core/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <utility>

#include "sortie/core/control_group.hpp"
#include "sortie/core/error.hpp"

namespace sortie {

namespace {

/// Value in bytes of the line "KEY: N kB" of a /proc file; 0 without one.
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

Error not_a_size(std::string_view text) {
  return {ErrorKind::usage,
          fmt::format("found {}, expected a size such as 1000, 512M, 1.5G", quoted(text))};
}

/// Power of 1024 that "K", "KB", "KiB" (any case) stands for, -1 when it is none of them.
int unit_exponent(std::string_view unit) {
  if (unit.empty()) return 0;
  static constexpr std::string_view letters = "BKMGTP";
  const std::size_t exponent =
      letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
  if (exponent == std::string_view::npos) return -1;
  unit.remove_prefix(1);
  if (exponent == 0) return unit.empty() ? 0 : -1;
  const bool known = unit.empty() || unit == "B" || unit == "b" || unit == "iB" || unit == "ib";
  return known ? static_cast<int>(exponent) : -1;
}

}  // namespace

std::uint64_t host_memory_available() {
  const std::uint64_t machine = proc_value("/proc/meminfo", "MemAvailable:");
  return std::min(machine, control_group_limits().memory_left.value_or(machine));
}

std::uint64_t peak_host_memory() {
  return proc_value("/proc/self/status", "VmHWM:");
}

std::uint64_t parse_bytes(std::string_view text) {
  // from_chars would take "inf", "nan" and "-1", which are no sizes.
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
  // A plain count is read as an integer: a double would round it beyond 2^53.
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
  // 1023.995 would be printed as 1024.00 of the smaller unit.
  while (value >= 1023.995 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f} {}", value, units[unit]);
}

}  // namespace sortie
