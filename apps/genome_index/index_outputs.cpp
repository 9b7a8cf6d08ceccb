// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/index_outputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sortie/error.hpp"

namespace sortie::genomes {

IndexFile::IndexFile(std::string path, bool check) : path_(std::move(path)) {
  if (!check) {
    written_ = std::make_unique<WholeFile>(path_);
    if (written_->is_stream())
      throw Error(ErrorKind::output,
                  fmt::format("{}: found a pipe or a device, expected a file", path_));
  } else if (std::filesystem::is_regular_file(path_)) {
    existing_ = std::make_unique<InputFile>(path_);
  } else {
    difference_ = fmt::format("{}: found no such file, expected a file of the index", path_);
  }
}

void IndexFile::write(std::span<const char> bytes) {
  if (written_) {
    written_->write(bytes);
  } else {
    compare(size_, bytes);
  }
  size_ += bytes.size();
}

std::uint64_t IndexFile::reserve(std::uint64_t bytes) {
  const std::uint64_t offset = size_;
  size_ += bytes;
  return written_ ? written_->reserve(bytes) : offset;
}

void IndexFile::write_at(std::uint64_t offset, std::span<const char> bytes) {
  if (written_) return written_->write_at(offset, bytes);
  compare(offset, bytes);
}

void IndexFile::open_direct() {
  if (written_) written_->open_direct();
}

bool IndexFile::write_pages(std::uint64_t offset, std::span<const char> bytes) {
  if (written_) return written_->write_pages(offset, bytes);
  compare(offset, bytes);
  return true;
}

void IndexFile::compare(std::uint64_t offset, std::span<const char> bytes) {
  if (!existing_) return;
  constexpr std::size_t compared_bytes = std::size_t{1} << 18;
  std::string found(std::min(bytes.size(), compared_bytes), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t wanted = std::min(bytes.size() - done, compared_bytes);
    const std::size_t size = existing_->read_at(offset + done, {found.data(), wanted});
    const auto expected = bytes.subspan(done, size);
    const auto [left, right] = std::ranges::mismatch(expected, found.substr(0, size));
    if (left != expected.end()) {
      const std::uint64_t at = offset + done + static_cast<std::uint64_t>(left - expected.begin());
      const std::lock_guard lock(mutex_);
      if (first_difference_ && *first_difference_ <= at) return;
      first_difference_ = at;
      difference_ = fmt::format(
          "{}, byte {}: found {:#04x}, expected {:#04x}", path_, at,
          static_cast<unsigned char>(found[static_cast<std::size_t>(left - expected.begin())]),
          static_cast<unsigned char>(*left));
      return;
    }
    if (size < wanted) return;  // prepare() compares the sizes
    done += size;
  }
}

void IndexFile::write_parameters(std::string_view text,
                                 std::initializer_list<std::string_view> ignored) {
  if (written_) return write_text(text);
  size_ = text.size();
  if (!existing_) return;
  compares_size_ = false;
  std::string found(existing_->size(), '\0');
  found.resize(existing_->read_at(0, found));
  const auto compared_lines = [&](std::string_view all) {
    std::vector<std::string_view> lines;
    while (!all.empty()) {
      const std::string_view line = all.substr(0, all.find('\n'));
      all.remove_prefix(std::min(line.size() + 1, all.size()));
      const auto begins_line = [&](std::string_view key) { return line.starts_with(key); };
      if (!line.starts_with('#') && std::ranges::none_of(ignored, begins_line))
        lines.push_back(line);
    }
    lines.emplace_back("no line");
    return lines;
  };
  const auto found_lines = compared_lines(found);
  const auto expected_lines = compared_lines(text);
  const auto [left, right] = std::ranges::mismatch(found_lines, expected_lines);
  if (left == found_lines.end() || right == expected_lines.end()) return;
  difference_ = fmt::format("{}: found {}, expected {}", path_, sortie::quoted(*left),
                            sortie::quoted(*right));
}

void IndexFile::flush() {
  if (written_) written_->flush();
}

void IndexFile::prepare() {
  if (written_) return written_->prepare();
  if (existing_ && compares_size_ && difference_.empty() && existing_->size() != size_)
    difference_ = fmt::format("{}: found {} bytes, expected {}", path_, existing_->size(), size_);
}

void IndexFile::commit() {
  written_->commit();
}

IndexOutputs::~IndexOutputs() {
  files_.clear();
  if (!made_folder_.empty()) ::rmdir(made_folder_.c_str());
}

IndexFile& IndexOutputs::add_file(std::string_view suffix, bool required) {
  if (!check_ && suffix.starts_with('/') && !std::filesystem::is_directory(options_.prefix)) {
    if (std::filesystem::exists(options_.prefix))
      throw Error(ErrorKind::output,
                  fmt::format("{}: found a file, expected the folder of the index (--prefix)",
                              options_.prefix));
    if (::mkdir(options_.prefix.c_str(), 0777) != 0)
      throw Error(ErrorKind::output, fmt::format("{}: cannot make the folder of the index: {}",
                                                 options_.prefix, std::strerror(errno)));
    made_folder_ = options_.prefix;
  }
  IndexFile& file = *files_.emplace_back(
      std::make_unique<IndexFile>(options_.prefix + std::string(suffix), check_));
  in_order_.insert(in_order_.end() - static_cast<std::ptrdiff_t>(required ? 0 : required_), &file);
  if (required) ++required_;
  return file;
}

void IndexOutputs::finish() {
  for (const auto& file : files_) file->flush();
  for (const auto& file : files_) file->prepare();
  if (check_) {
    for (const auto& file : files_)
      if (!file->difference().empty()) throw Error(ErrorKind::check, file->difference());
    return;
  }
  // Files of two indexes are never mixed: those of an older one go before the first new one comes.
  for (auto file = in_order_.rbegin(); file != in_order_.rend(); ++file)
    ::unlink((*file)->path().c_str());
  for (const std::string& path : old_) ::unlink(path.c_str());
  for (std::size_t done = 0; done < in_order_.size(); ++done) {
    try {
      in_order_[done]->commit();
    } catch (...) {
      while (done-- > 0) ::unlink(in_order_[done]->path().c_str());
      throw;
    }
  }
  made_folder_.clear();
}

std::vector<IndexFileSize> IndexOutputs::sizes() const {
  std::vector<IndexFileSize> sizes;
  for (const auto& file : files_) sizes.push_back({file->path(), file->size()});
  return sizes;
}

}  // namespace sortie::genomes
