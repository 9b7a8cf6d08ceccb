// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sortie::test {

/// Faults of pread(), for tests that link tests/support/read_faults.cpp.
struct ReadFaults {
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t error_at = none;  ///< a read that contains this offset fails with EIO
  std::uint64_t size = none;      ///< the file ends here, whatever its size was when it was opened
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();  ///< a read returns at most
  bool interrupted = false;  ///< every other read fails with EINTR
};

/// Injects faults while it exists. One at a time.
class InjectedReadFaults {
 public:
  explicit InjectedReadFaults(const ReadFaults& faults);
  ~InjectedReadFaults();
  InjectedReadFaults(const InjectedReadFaults&) = delete;
  InjectedReadFaults& operator=(const InjectedReadFaults&) = delete;

  /// Reads that failed or returned less than there was.
  [[nodiscard]] std::uint64_t injected() const;
};

}  // namespace sortie::test
