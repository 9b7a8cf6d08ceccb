// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/input_file.hpp"
#include "core/files/whole_file.hpp"
#include "sortie/genome_index.hpp"

namespace sortie::genomes {

/// A file of an index: written, or compared with an existing one. The bytes are appended, or are
/// written at offsets that were reserved; each byte once.
class IndexFile {
 public:
  /// \param check  compares with the file at `path`, instead of writing it
  IndexFile(std::string path, bool check);
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  /// Appends bytes. One thread at a time. \throws Error (output)
  void write(std::span<const char> bytes);
  void write_text(std::string_view text) { write(std::span<const char>(text.data(), text.size())); }
  /// Appends numbers, little-endian.
  template <class Number>
  void write_numbers(std::span<const Number> numbers) {
    write(
        std::span<const char>(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()));
  }
  template <class Number>
  void write_number(const Number& number) {
    write_numbers(std::span<const Number>(&number, 1));
  }
  /// Writes the whole file: lines that begin with a key. In checks, lines are compared that begin
  /// neither with '#' nor with an ignored key.
  void write_parameters(std::string_view text, std::initializer_list<std::string_view> ignored);
  /// Reserves the next bytes for write_at(). \return their offset
  [[nodiscard]] std::uint64_t reserve(std::uint64_t bytes);
  /// Writes reserved bytes. Several threads may call it, also while one appends. \throws Error
  /// (output)
  void write_at(std::uint64_t offset, std::span<const char> bytes);
  /// Prepares what is reserved for write_pages(). \throws Error (output)
  void open_direct();
  /// As WholeFile::write_pages(). In checks, it compares, and returns true.
  [[nodiscard]] bool write_pages(std::uint64_t offset, std::span<const char> bytes);
  /// Bytes appended and reserved.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Writes what is buffered. Once prepare() was called for a file, others should not need to
  /// write.
  /// \throws Error (output)
  void flush();
  /// Ends the file: all but the renaming, or the comparison of its size. \throws Error (output)
  void prepare();
  /// \pre prepare(), not a check \throws Error (output)
  void commit();
  /// What differs, and where: empty if nothing does. \pre prepare()
  [[nodiscard]] const std::string& difference() const { return difference_; }

 private:
  void compare(std::uint64_t offset, std::span<const char> bytes);

  std::string path_;
  std::uint64_t size_ = 0;
  bool compares_size_ = true;
  std::unique_ptr<WholeFile> written_;   ///< null in checks
  std::unique_ptr<InputFile> existing_;  ///< null otherwise, and where there is no such file
  std::mutex mutex_;                     ///< of the following
  std::optional<std::uint64_t> first_difference_;
  std::string difference_;
};

/// All files of all formats of an index. They get their names together, at the end.
class IndexOutputs {
 public:
  IndexOutputs(const GenomeIndexOptions& options, bool check) : options_(options), check_(check) {}
  IndexOutputs(const IndexOutputs&) = delete;
  IndexOutputs& operator=(const IndexOutputs&) = delete;
  ~IndexOutputs();

  /// Begins a file. \param suffix  what follows the prefix; "/NAME" in a folder, which is made
  /// \return valid as long as this object \throws Error (output)
  [[nodiscard]] IndexFile& add(std::string_view suffix) { return add_file(suffix, false); }
  /// The same for the file without which the tool finds no index: it is removed first, and gets its
  /// name last. So a process that is killed meanwhile leaves nothing that the tool would load.
  [[nodiscard]] IndexFile& add_required(std::string_view suffix) { return add_file(suffix, true); }

  /// Names a file that this index does not have, but that an older one may have left.
  void remove_old(std::string_view suffix) {
    old_.push_back(options_.prefix + std::string(suffix));
  }

  /// Completes all files, then removes existing files of their names, and old ones, then renames. If a file
  /// cannot be renamed, those that were are removed.
  /// \throws Error (output); (check) the first file that differs
  void finish();

  /// Paths and sizes.
  [[nodiscard]] std::vector<IndexFileSize> sizes() const;

 private:
  [[nodiscard]] IndexFile& add_file(std::string_view suffix, bool required);

  const GenomeIndexOptions& options_;
  bool check_;
  std::vector<std::unique_ptr<IndexFile>> files_;
  std::vector<IndexFile*> in_order_;  ///< in which files get names: required ones last
  std::size_t required_ = 0;
  std::vector<std::string> old_;
  std::string made_folder_;  ///< removed unless finish() has succeeded
};

}  // namespace sortie::genomes
