// SPDX-License-Identifier: Apache-2.0
#include "sortie/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>

#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/uninitialised_vector.hpp"
#include "sortie/error.hpp"
#include "texts/content_blocks.hpp"
#include "texts/stream_state.hpp"

namespace sortie::texts {
namespace {

/// In the order of the enum.
constexpr std::array<std::string_view, 5> format_names = {"auto", "plain", "jsonl", "table",
                                                          "infini-gram"};

/// Part of the memory budget that blocks may take.
constexpr std::uint64_t budget_of_blocks = 4;
/// Text for each byte of a compressed file, at first.
constexpr std::uint64_t usual_compression = 4;

/// Expected size of the text, by the sizes of files and, of compressed ones, what they declare.
std::uint64_t expected_bytes(std::span<const CorpusFile> files) {
  std::uint64_t bytes = 0;
  for (const CorpusFile& file : files) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(file.path, failed)) continue;
    const std::uintmax_t size = std::filesystem::file_size(file.path, failed);
    if (failed) continue;
    if (!is_named_packed(file.path)) {
      bytes += size;
      continue;
    }
    // Both are lower bounds for files of several members or frames.
    std::uint64_t declared = 0;
    try {
      declared = ByteSource(file.path).content_size_hint();
    } catch (const Error&) {
      // The pass over the files throws it, in their order.
    }
    bytes += std::max<std::uint64_t>(declared, size * usual_compression);
  }
  return bytes;
}

/// Text to which several threads write while it grows.
class GrowingText {
 public:
  GrowingText(std::uint64_t expected, std::uint64_t most) : most_(most) {
    allocate(bytes_, std::min(expected, most));
  }

  /// Makes place for `size` bytes in all. One thread at a time, also while others write.
  /// \param beside  bytes of the corpus that are not text
  void reserve(std::uint64_t size, std::uint64_t beside) {
    if (size + beside > most_) throw out_of_memory_error("the corpus", size + beside, most_);
    if (size <= bytes_.size()) return;
    const std::uint64_t free = most_ - beside - std::min(bytes_.size(), most_ - beside);
    if (size > free) throw out_of_memory_error("the corpus", size + bytes_.size() + beside, most_);
    std::vector<std::uint8_t> larger;
    allocate(larger, std::clamp<std::uint64_t>(2 * size, size, free));
    const std::unique_lock lock(mutex_);
    if (!bytes_.empty()) std::memcpy(larger.data(), bytes_.data(), bytes_.size());
    bytes_ = std::move(larger);
  }

  /// Several threads may call it at the same time for different places.
  void write(std::uint64_t at, std::span<const std::uint8_t> bytes) {
    const std::shared_lock lock(mutex_);
    if (!bytes.empty()) std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
  }

  [[nodiscard]] std::vector<std::uint8_t> take(std::uint64_t size) {
    bytes_.resize(size);
    return std::move(bytes_);
  }

 private:
  static void allocate(std::vector<std::uint8_t>& bytes, std::uint64_t size) {
    try {
      resize_for_overwrite(bytes, static_cast<std::int64_t>(size));
    } catch (const std::bad_alloc&) {
      throw out_of_memory_error("the corpus", size, host_memory_available());
    }
  }

  std::uint64_t most_;
  std::shared_mutex mutex_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::string_view name(Format format) {
  return format_names.at(static_cast<std::size_t>(format));
}

Format parse_format(std::string_view text) {
  const auto found = std::ranges::find(format_names, text);
  if (found == format_names.end())
    throw Error(ErrorKind::usage,
                fmt::format("format: found {}, expected auto, plain, jsonl, table or infini-gram",
                            sortie::quoted(text)));
  return static_cast<Format>(found - format_names.begin());
}

std::size_t file_of(std::span<const CorpusFile> files, std::uint64_t document) {
  // Of files that begin at the same document, only the last has documents.
  const auto next = std::ranges::upper_bound(files, document, {}, &CorpusFile::first_document);
  return static_cast<std::size_t>(next - files.begin()) - 1;
}

std::vector<std::string> expand_paths(std::span<const std::string> paths) {
  std::vector<std::string> expanded;
  for (const std::string& path : paths) {
    if (!path.starts_with('@')) {
      expanded.push_back(path);
      continue;
    }
    const std::string list = path.substr(1);
    const std::size_t before = expanded.size();
    const ByteBuffer bytes = read_all(list);
    std::string_view rest(bytes.data.get(), bytes.size);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) expanded.emplace_back(line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (expanded.size() == before) throw input_error(list, 0, "no lines", "a path on each line");
  }
  return expanded;
}

Corpus read_corpus(const HostContext& context, std::span<const std::string> paths,
                   const CorpusOptions& options) {
  HostContext reading = context;
  if (context.memory_budget != 0)
    reading.memory_budget = std::max<std::uint64_t>(context.memory_budget / budget_of_blocks, 1);
  CorpusOptions in_parts = options;
  in_parts.split_documents = true;
  CorpusStream::State stream(reading, paths, in_parts);
  GrowingText text(expected_bytes(stream.files),
                   host_memory_limit(context) - reading.memory_budget);
  Corpus corpus;
  corpus.begins.clear();
  stream.pass({.work = {},
               .pass =
                   [&](int, const ParsedBlock& block) {
                     const CorpusBlock& part = block.text;
                     for (std::size_t i = part.continues ? 1 : 0; i < part.documents(); ++i) {
                       corpus.begins.push_back(part.first_byte + part.begins[i]);
                       corpus.lines.push_back(part.lines[i]);
                     }
                     text.reserve(part.first_byte + part.bytes.size(),
                                  corpus.begins.size() * 2 * sizeof(std::uint64_t));
                   },
               .finish =
                   [&](int, const ParsedBlock& block) {
                     text.write(block.text.first_byte, block.text.bytes);
                   }});
  corpus.begins.push_back(stream.text_bytes);
  corpus.bytes = text.take(stream.text_bytes);
  corpus.files = std::move(stream.files);
  return corpus;
}

}  // namespace sortie::texts
