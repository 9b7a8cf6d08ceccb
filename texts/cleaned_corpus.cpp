// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/files/whole_folder.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "texts/compressed_output.hpp"
#include "texts/json_lines.hpp"
#include "texts/stream_state.hpp"

namespace sortie::texts {
namespace {

namespace fs = std::filesystem;

/// Names of the files in the folder: without their folders if that distinguishes them, else below
/// the deepest folder that is common to all.
std::vector<fs::path> names_in_folder(std::span<const CorpusFile> files) {
  const auto are_distinct = [](const std::vector<fs::path>& names) {
    return std::set(names.begin(), names.end()).size() == names.size();
  };
  std::vector<fs::path> names;
  for (const CorpusFile& file : files) names.push_back(fs::path(file.path).filename());
  if (are_distinct(names)) return names;
  names.clear();
  for (const CorpusFile& file : files) names.push_back(fs::absolute(file.path).lexically_normal());
  fs::path common = names.front().parent_path();
  for (const fs::path& name : names) {
    const fs::path folder = name.parent_path();
    const auto ends = std::ranges::mismatch(common, folder);
    fs::path shared;
    for (auto part = common.begin(); part != ends.in1; ++part) shared /= *part;
    common = shared;
  }
  for (fs::path& name : names) name = name.lexically_relative(common);
  if (!are_distinct(names))
    throw Error(ErrorKind::usage, "corpus: found the same file twice, expected different files");
  return names;
}

/// Lets the passes of a corpus have other settings for a scope.
class OtherSettings {
 public:
  OtherSettings(CorpusStream::State& stream, const HostContext& settings)
      : stream_(stream), before_(stream.context) {
    stream.use(settings);
  }
  ~OtherSettings() { stream_.use(before_); }
  OtherSettings(const OtherSettings&) = delete;
  OtherSettings& operator=(const OtherSettings&) = delete;

 private:
  CorpusStream::State& stream_;
  HostContext before_;
};

/// Documents less ranges of their text.
class Cleaner {
 public:
  Cleaner(const CorpusStream::State& stream, std::span<const ByteRange> ranges,
          const CleaningOptions& options)
      : stream_(stream), ranges_(ranges), options_(options) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].begin <= ranges[i].end &&
          ranges[i].end <= (i + 1 < ranges.size() ? ranges[i + 1].begin : stream.text_bytes))
        continue;
      throw Error(ErrorKind::usage,
                  fmt::format("range {}: found bytes {} to {}, expected ascending ranges within {} "
                              "bytes",
                              i + 1, ranges[i].begin, ranges[i].end, stream.text_bytes));
    }
    const auto is_special = [](char byte) {
      return byte == '"' || byte == '\\' || static_cast<unsigned char>(byte) < 0x20;
    };
    if (options.annotate && std::ranges::any_of(options.annotation, is_special))
      throw Error(ErrorKind::usage, fmt::format("annotation: found {}, expected a name without "
                                                "quotes, backslashes and control characters",
                                                sortie::quoted(options.annotation)));
    for (const CorpusFile& file : stream.files) {
      if (file.format == Format::table || file.format == Format::infini_gram)
        throw Error(ErrorKind::usage,
                    fmt::format("{}: found the format {}, expected plain or jsonl, which can be "
                                "written again",
                                file.path, name(file.format)));
      if (!options.annotate || file.format == Format::jsonl) continue;
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: found a plain file, expected JSONL, which annotations need", file.path));
    }
  }

  struct Output {
    std::string bytes;
    CleaningResult result;
    std::vector<ByteRange> of_document;
  };

  void clean(const ParsedBlock& block, Output& output) const {
    output.bytes.clear();
    output.result = {};
    if (stream_.files[block.text.file].format == Format::plain) return clean_plain(block, output);
    auto next = first_range(block.text.first_byte);
    std::size_t copied = 0;  // bytes of the content
    for (std::size_t i = 0; i < block.text.documents(); ++i) {
      const ByteRange line = block.lines[i];
      output.bytes.append(block.content.substr(copied, line.begin - copied));
      copied = line.end;
      const std::size_t begin = block.text.begins[i];
      const std::size_t end = block.text.begins[i + 1];
      const std::uint64_t removed =
          take_ranges(block.text.first_byte + begin, block.text.bytes.subspan(begin, end - begin),
                      next, output);
      output.result.bytes_removed += removed;
      if (options_.drop_empty && removed != 0 && removed == end - begin && !options_.annotate) {
        ++output.result.dropped;
        copied = std::min(copied + 1, block.content.size());  // with the end of the line
        continue;
      }
      ++output.result.documents;
      append_line(block, i, output);
    }
    output.bytes.append(block.content.substr(copied));
  }

 private:
  using Next = std::span<const ByteRange>::iterator;

  [[nodiscard]] Next first_range(std::uint64_t offset) const {
    return std::ranges::upper_bound(ranges_, offset, {}, &ByteRange::end);
  }

  /// Puts the parts of the ranges that are in a document, in bytes of it, into the output.
  /// \param next  the first range that ends behind its begin; moves on
  /// \return their bytes
  std::uint64_t take_ranges(std::uint64_t offset, std::span<const std::uint8_t> document,
                            Next& next, Output& output) const {
    output.of_document.clear();
    const std::uint64_t end = offset + document.size();
    std::uint64_t bytes = 0;
    for (; next != ranges_.end() && next->begin < end; ++next) {
      const ByteRange part = whole_characters(
          document,
          {std::max(next->begin, offset) - offset, std::clamp(next->end, offset, end) - offset});
      bytes += part.end - part.begin;
      if (part.begin != part.end) output.of_document.push_back(part);
      if (next->end > end) break;  // the next document has the rest
    }
    return bytes;
  }

  void append_line(const ParsedBlock& block, std::size_t document, Output& output) const {
    const ByteRange range = block.lines[document];
    const std::string_view line = block.content.substr(range.begin, range.end - range.begin);
    JsonValue value;
    if (options_.annotate) {
      if (find_fields(line, options_.annotation, value) != 0)
        throw input_error(stream_.files[block.text.file].path, block.text.lines[document],
                          fmt::format("the field {}", sortie::quoted(options_.annotation)),
                          "an object without it, since it is to be added");
      const std::size_t end = std::min(line.rfind('}'), line.size());
      output.bytes.append(line.substr(0, end));
      append_annotation(output);
      output.bytes.append(line.substr(end));
    } else if (output.of_document.empty() || find_fields(line, stream_.options.field, value) == 0) {
      output.bytes.append(line);
    } else {
      output.bytes.append(line.substr(0, value.begin));
      append_without(line.substr(value.begin, value.end - value.begin), output.of_document,
                     output.bytes);
      output.bytes.append(line.substr(value.end));
    }
  }

  void append_annotation(Output& output) const {
    auto out = std::back_inserter(output.bytes);
    fmt::format_to(out, ",\"{}\":[", options_.annotation);
    for (std::size_t i = 0; i < output.of_document.size(); ++i)
      fmt::format_to(out, "{}[{},{}]", i == 0 ? "" : ",", output.of_document[i].begin,
                     output.of_document[i].end);
    output.bytes.push_back(']');
  }

  void clean_plain(const ParsedBlock& block, Output& output) const {
    const std::uint64_t offset = block.text.first_byte;
    const std::string_view content = block.content;
    std::size_t copied = 0;
    for (auto next = first_range(offset);
         next != ranges_.end() && next->begin < offset + content.size(); ++next) {
      const std::size_t begin = std::max(next->begin, offset) - offset;
      const std::size_t end = std::min<std::uint64_t>(next->end - offset, content.size());
      output.bytes.append(content.substr(copied, begin - copied));
      output.result.bytes_removed += end - begin;
      copied = end;
    }
    output.bytes.append(content.substr(copied));
    output.result.documents = block.text.continues ? 0 : 1;
  }

  const CorpusStream::State& stream_;
  std::span<const ByteRange> ranges_;
  const CleaningOptions& options_;
};

}  // namespace

CleaningResult write_cleaned_corpus(const HostContext& context, CorpusStream& corpus,
                                    std::span<const ByteRange> ranges, const std::string& path,
                                    const CleaningOptions& options) {
  CorpusStream::State& stream = *corpus.state_;
  if (!stream.has_passed)
    throw Error(ErrorKind::usage, "corpus: found no pass before the one that writes, expected one");
  const Cleaner cleaner(stream, ranges, options);
  std::optional<WholeFolder> folder;
  std::vector<fs::path> names;
  if (stream.files.size() > 1) {
    names = names_in_folder(stream.files);
    folder.emplace(path);
  }
  struct Worker {
    Cleaner::Output output;
    PackedBlock packed;
  };
  const OtherSettings settings(stream, context);
  std::vector<Worker> workers(static_cast<std::size_t>(stream.workers));
  std::unique_ptr<CompressedFile> file;
  CleaningResult result;
  stream.pass({.work =
                   [&](int worker, const ParsedBlock& block) {
                     Worker& state = workers[worker];
                     cleaner.clean(block, state.output);
                     state.packed.pack(stream.files[block.text.file].compression,
                                       state.output.bytes);
                   },
               .pass =
                   [&](int worker, const ParsedBlock& block) {
                     const Worker& state = workers[worker];
                     const CorpusFile& read = stream.files[block.text.file];
                     if (block.is_first)
                       file = std::make_unique<CompressedFile>(
                           folder ? folder->file(names[block.text.file]) : path, read.compression,
                           stream.workers, read.content_bytes);
                     file->append(state.packed);
                     result.documents += state.output.result.documents;
                     result.dropped += state.output.result.dropped;
                     result.bytes_removed += state.output.result.bytes_removed;
                     if (block.is_last && folder) file->commit();
                   },
               .finish = {}});
  // A single file gets its name only now, when all of the corpus is known to be the same.
  if (folder) {
    folder->commit();
  } else {
    file->commit();
  }
  return result;
}

}  // namespace sortie::texts
