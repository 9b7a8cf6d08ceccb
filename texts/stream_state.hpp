// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/reserved_memory.hpp"
#include "sortie/corpus.hpp"
#include "texts/content_blocks.hpp"

namespace sortie::texts {

/// A block with the content that its documents come from.
struct ParsedBlock {
  CorpusBlock text;
  std::string_view content;
  std::span<const ByteRange> lines;  ///< of the documents in the content; none in plain files
  bool is_first = false;             ///< of the file
  bool is_last = false;
};

struct ParsedSteps {
  using Step = std::function<void(int worker, const ParsedBlock& block)>;

  Step work;
  Step pass;
  Step finish;
};

/// Where a block begins, known from the first pass.
struct BlockBegin {
  std::uint64_t document = 0;
  std::uint64_t byte = 0;
  std::uint64_t line = 0;  ///< lines of the file before

  friend bool operator==(const BlockBegin&, const BlockBegin&) = default;
};

/// A block of a compressed file that is kept for later passes.
struct KeptBlock {
  char* bytes = nullptr;  ///< in State::kept_content
  std::size_t size = 0;
  std::uint64_t offset = 0;
  std::shared_ptr<const DocumentBegins> begins;
  bool is_first = false;
  bool is_last = false;
  int file = 0;
  Format format = Format::plain;
  Compression compression = Compression::none;
  std::uint64_t file_bytes = 0;
};

/// The passes of a CorpusStream.
///
/// | thread                            | work of a block                                          |
/// |-----------------------------------|----------------------------------------------------------|
/// | one for each file read ahead      | decompresses, divides at lines                           |
/// | each worker, one at a time (take) | reads a plain file, or takes a block that is ready       |
/// | each worker (work)                | opens and reads a small file as a whole; parses JSON     |
/// | each worker, in order (pass)      | numbers documents, adds up checksums, throws faults      |
struct CorpusStream::State {
  State(const HostContext& context, std::span<const std::string> paths,
        const CorpusOptions& options);

  void pass(const ParsedSteps& steps);
  /// The settings of the next passes, whose blocks remain the same.
  void use(const HostContext& settings);

  HostContext context;
  CorpusOptions options;
  std::vector<CorpusFile> files;
  int workers;
  int files_ahead;              ///< files that are open at the same time
  std::uint64_t limit;          ///< bytes of blocks
  std::size_t block_bytes;      ///< options.block_bytes, or less
  std::uint64_t most_kept = 0;  ///< bytes of `kept`
  ReservedMemory kept_content;
  bool has_passed = false;
  std::vector<BlockBegin> blocks;  ///< of the first pass; later ones have the same blocks
  std::deque<KeptBlock> kept;      ///< all of them, or none

  /// Whether the blocks of a pass are those that were kept, not read.
  [[nodiscard]] bool has_kept() const { return has_passed && !kept.empty(); }

  std::uint64_t documents = 0;
  std::uint64_t text_bytes = 0;
};

/// Checks the options. \throws Error (usage)
void require_valid(std::span<const std::string> paths, const CorpusOptions& options);

}  // namespace sortie::texts
