// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "core/byte_source.hpp"
#include "sortie/error.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::sorting {
namespace {

class RecordFile : public RecordSource {
 public:
  RecordFile(const std::string& path, const RecordFormat& format)
      : source_(path, ByteSource::Content::raw), format_(format) {
    // Standard input may have been read in part; its length is known only at its end.
    if (path == "-" || !std::filesystem::is_regular_file(path)) return;
    check_length(source_.size_hint());
    records_ = source_.size_hint() / format_.record_bytes();
  }

  std::uint64_t read(std::span<char> into) override {
    const std::size_t filled = source_.read(into);
    bytes_ += filled;
    if (filled < into.size()) check_length(bytes_);
    return filled / format_.record_bytes();
  }

  [[nodiscard]] std::optional<std::uint64_t> records() const override { return records_; }

 private:
  void check_length(std::uint64_t bytes) const {
    if (bytes % format_.record_bytes() == 0) return;
    throw input_error(
        source_.name(), 0, fmt::format("{} bytes", bytes),
        fmt::format("a multiple of the {} bytes of {}", format_.record_bytes(), describe(format_)));
  }

  ByteSource source_;
  RecordFormat format_;
  std::optional<std::uint64_t> records_;
  std::uint64_t bytes_ = 0;  ///< read so far
};

}  // namespace

std::unique_ptr<RecordSource> open_record_file(const std::string& path,
                                               const RecordFormat& format) {
  return std::make_unique<RecordFile>(path, format);
}

RecordFormat parse_record_format(std::string_view key, std::string_view value) {
  RecordFormat format{parse_key_type(key), std::nullopt};
  if (value.empty()) return format;
  format.value = parse_key_type(value);
  if (format.value_bytes() < 4)
    throw Error(ErrorKind::usage, fmt::format("values: found {}, expected a type of 4 or 8 bytes",
                                              name(*format.value)));
  return format;
}

std::string describe(const RecordFormat& format) {
  std::string text = fmt::format("{} keys", name(format.key));
  if (format.value) text += fmt::format(" with {} values", name(*format.value));
  return text;
}

}  // namespace sortie::sorting
