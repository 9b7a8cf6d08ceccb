// SPDX-License-Identifier: Apache-2.0
#include "apps/text_deduplication/host/state_file.hpp"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "core/files/checksum.hpp"
#include "core/files/whole_file.hpp"

namespace sortie::texts::host {
namespace {

constexpr std::uint64_t magic = 0x31'70'75'64'65'64'74'73;  // "stdedup1"

template <class T>
std::span<const char> chars_of(std::span<T> items) {
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

constexpr std::size_t figures_begin = 4;
constexpr std::size_t header_words = 6 + PowerHistogram().size() + 3;
constexpr std::size_t words_of_windows = 3;

}  // namespace

StateFile::StateFile(std::string path, const DeduplicationOptions& options, std::size_t other_file,
                     std::span<const CorpusFile> files, std::uint64_t method)
    : path_(std::move(path)) {
  std::vector<std::uint64_t> words = {options.min_length,
                                      static_cast<std::uint64_t>(options.keep),
                                      options.protect_first ? 1U : 0U,
                                      options.across_documents ? 1U : 0U,
                                      other_file,
                                      method};
  for (const CorpusFile& file : files) {
    words.insert(words.end(), {file.content_bytes, file.checksum,
                               static_cast<std::uint64_t>(file.format), file.text_bytes});
  }
  fingerprint_ = block_checksum(std::as_bytes(std::span(words)));
}

Progress StateFile::read(DuplicateMarks& marks) const {
  std::ifstream file(path_, std::ios::binary);
  StreamChecksum checksum;
  const auto read_words = [&](std::span<std::uint64_t> into) {
    file.read(reinterpret_cast<char*>(into.data()),
              static_cast<std::streamsize>(into.size_bytes()));
    if (file) {
      const auto bytes = chars_of(into);
      checksum.extend({bytes.data(), bytes.size()});
    }
    return static_cast<bool>(file);
  };
  std::vector<std::uint64_t> header(header_words);
  const std::span<std::uint64_t> removed = marks.removed.words();
  const std::span<std::uint64_t> kept = marks.kept.words();
  if (path_.empty() || !read_words(header) || header[0] != magic || header[1] != fingerprint_ ||
      header[header_words - 2] != removed.size() || header[header_words - 1] != kept.size())
    return {};
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(file.tellg());
  const std::uint64_t windows = header[header_words - 3];
  const std::uint64_t words =
      header_words + windows * words_of_windows + removed.size() + kept.size() + 1;
  if (size != words * sizeof(std::uint64_t)) return {};
  file.seekg(static_cast<std::streamoff>(header_words * sizeof(std::uint64_t)));
  std::vector<std::uint64_t> fields(windows * words_of_windows);
  std::uint64_t found = 0;
  const bool is_read = read_words(fields) && read_words(removed) && read_words(kept);
  const std::uint64_t expected = checksum.value();
  if (!is_read || !read_words({&found, 1}) || found != expected) {
    std::ranges::fill(removed, 0);
    std::ranges::fill(kept, 0);
    return {};
  }
  marks.duplicate_windows = header[figures_begin];
  marks.least_copies = header[figures_begin + 1];
  std::copy_n(header.begin() + figures_begin + 2, marks.copies.size(), marks.copies.begin());
  for (std::size_t i = 0; i < fields.size(); i += words_of_windows)
    marks.first_windows.push_back({fields[i], fields[i + 1], fields[i + 2]});
  return {header[2], header[3]};
}

void StateFile::write(DuplicateMarks& marks, const Progress& progress) const {
  if (path_.empty()) return;
  WholeFile file(path_);
  StreamChecksum checksum;
  const auto write_words = [&](std::span<const std::uint64_t> words) {
    const std::span<const char> bytes = chars_of(words);
    checksum.extend({bytes.data(), bytes.size()});
    file.write(bytes);
  };
  std::vector<std::uint64_t> header = {magic,
                                       fingerprint_,
                                       progress.bins,
                                       progress.passes,
                                       marks.duplicate_windows,
                                       marks.least_copies};
  header.insert(header.end(), marks.copies.begin(), marks.copies.end());
  header.insert(header.end(), {marks.first_windows.size(), marks.removed.words().size(),
                               marks.kept.words().size()});
  write_words(header);
  std::vector<std::uint64_t> fields;
  for (const FirstWindows& each : marks.first_windows)
    fields.insert(fields.end(), {each.begin, each.copies, each.windows});
  write_words(fields);
  write_words(marks.removed.words());
  write_words(marks.kept.words());
  const std::uint64_t value = checksum.value();
  file.write(chars_of(std::span(&value, 1)));
  file.commit();
}

}  // namespace sortie::texts::host
