// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "sortie/corpus.hpp"

namespace sortie::texts::cuda {

/// Finds the marks of a corpus that does not fit into memory, on a device, as host::StreamedMarks
/// does.
class StreamedMarks {
 public:
  /// Reads the corpus and counts hashes of anchors.
  /// \param memory  bytes on the device
  /// \pre there is no other corpus
  StreamedMarks(const Context& context, CorpusStream& corpus,
                const CorpusDeduplicationOptions& options, std::uint64_t memory);
  ~StreamedMarks();

  [[nodiscard]] const DeduplicationPlan& plan() const;
  [[nodiscard]] const std::vector<std::uint64_t>& begins() const;
  [[nodiscard]] const DeduplicationOptions& windows() const;
  /// The passes, after those of the state file.
  [[nodiscard]] DuplicateMarks find();
  /// Passes that find() took from the state file.
  [[nodiscard]] std::uint64_t resumed_passes() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace sortie::texts::cuda
