#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// Bytes of host memory that could be taken without swapping (MemAvailable, limited by the
/// control group).
[[nodiscard]] std::uint64_t host_memory_available();

/// Highest resident size of this process so far, in bytes.
[[nodiscard]] std::uint64_t peak_host_memory();

/// Reads a size as users write it: "4G", "512M", "1.5K", "1000" (powers of 1024).
/// \throws Error (usage) naming the text when it is not one.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// "1.50 GiB"
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace sortie
