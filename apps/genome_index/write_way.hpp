// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace sortie::genomes {

/// Which of two ways to write large amounts is faster here: through the page cache, or past it. The
/// first costs a copy and new pages, the second waits for the disk. Each is tried; then the faster
/// one is used, and the other is tried again after 16, 32, 64, ... batches: a page cache that is
/// full becomes slow.
class WriteWay {
 public:
  /// Whether the next batch goes past the page cache.
  [[nodiscard]] bool is_direct() const {
    const bool faster = rates_[1] >= rates_[0];
    if (rates_[0] == 0 || rates_[1] == 0) return rates_[1] == 0;
    return batches_ == next_trial_ ? !faster : faster;
  }
  /// \param direct  how the batch was written
  void add(bool direct, std::uint64_t bytes, double seconds) {
    constexpr std::uint64_t least_measured = std::uint64_t{1} << 20;
    if (bytes < least_measured) return;
    rates_[direct ? 1 : 0] = static_cast<double>(bytes) / (seconds + 1e-9);
    if (batches_++ == next_trial_) next_trial_ *= 2;
  }

 private:
  std::array<double, 2> rates_{};  ///< bytes a second of the last batch; 0: not tried
  std::uint64_t batches_ = 0;
  std::uint64_t next_trial_ = 16;
};

}  // namespace sortie::genomes
