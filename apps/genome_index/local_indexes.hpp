// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/genome_index/base_text.hpp"
#include "apps/genome_index/index_outputs.hpp"

/// The local indexes of HISAT2: of windows of 57344 letters, gaps included, that begin every 56320
/// letters of a record.
namespace sortie::genomes {

struct LocalWindow {
  std::uint64_t record = 0;  ///< among those that have bases
  std::uint64_t begin = 0;   ///< in the record
  std::uint64_t length = 0;
  std::uint64_t first_base = 0;
  std::uint64_t bases = 0;
  /// The first of the record's runs that end after the begin, and where it begins in the record.
  std::span<const BaseRun> runs;
  std::uint64_t run_begin = 0;
  std::uint64_t fragments = 0;  ///< of bases, between gaps

  [[nodiscard]] std::uint64_t index_bytes(std::uint64_t word) const;  ///< in file .5
  [[nodiscard]] std::uint64_t sample_bytes() const;                   ///< in file .6
};

/// The windows of all records that have bases.
[[nodiscard]] std::vector<LocalWindow> local_windows(const BaseText& text);

/// Writes files .5 and .6. \param codes  of the text  \param word  bytes of a global number
void write_local_indexes(std::span<const LocalWindow> windows, const std::uint8_t* codes,
                         std::uint64_t word, IndexFile& indexes, IndexFile& samples);

/// Sizes of files .5 and .6.
[[nodiscard]] std::uint64_t local_index_bytes(std::span<const LocalWindow> windows,
                                              std::uint64_t word);
[[nodiscard]] std::uint64_t local_sample_bytes(std::span<const LocalWindow> windows);

}  // namespace sortie::genomes
