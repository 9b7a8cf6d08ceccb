// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/files/temporary_name.hpp"

namespace sortie {

/// An output file that is created atomically: written to a temporary file in the same folder,
/// renamed by commit(), removed by the destructor if commit() was not called. If the file system
/// supports it, the file has no name before commit(), so a killed process leaves nothing behind;
/// otherwise see remove_temporary_files_on_signals(). "-" writes to standard output. Existing devices and pipes are written directly. Small writes are
/// buffered. One thread at a time, but for read_at(), write_at() and write_pages().
class WholeFile {
 public:
  /// Pages of write_pages().
  static constexpr std::uint64_t page_bytes = 4096;

  /// \param named  the temporary file has a name from the beginning, by which other processes open
  ///               it. By default it has none where the system allows, and vanishes with the process
  /// \throws Error (output) if the folder cannot be written
  explicit WholeFile(const std::string& path, bool named = false);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Appends bytes. \throws Error (output) with the reason given by the system (disk full, ...)
  void write(std::span<const char> bytes);
  void write(std::string_view text) { write(std::span<const char>{text.data(), text.size()}); }
  // Strings convert to a span as well as to a view; these overloads avoid the ambiguity.
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const char* text) { write(std::string_view(text)); }

  /// Whether bytes can only be appended: standard output, pipes and devices.
  [[nodiscard]] bool is_stream() const { return stream_; }

  /// The name of the temporary file. \pre it was asked for a name, and not is_stream(), and neither
  /// prepare() nor commit() was called
  [[nodiscard]] std::string temporary_path() const { return temporary_.path(); }

  /// Reserves the next `bytes` bytes of the file for write_at(). What is appended later follows
  /// them. \pre not is_stream()
  /// \return their offset
  /// \throws Error (output), since it writes the buffer
  [[nodiscard]] std::uint64_t reserve(std::uint64_t bytes);

  /// Writes bytes at an offset, without a buffer. Several threads may call it at the same time for
  /// ranges that do not overlap, also while one thread appends.
  /// \pre not is_stream(); the bytes at the offset were reserved, and all of these are written
  ///      before commit()
  /// \throws Error (output)
  void write_at(std::uint64_t offset, std::span<const char> bytes) const;

  /// Lets write_at() copy large blocks into the pages of the file, if it is in a memory file system:
  /// several threads then write at the same time, where the kernel admits one call of pwrite() at a
  /// time (on 16 cores, 2.5 GB/s in total; by 8 threads that copy, 4.3). A file elsewhere, and a
  /// kernel that cannot prepare the pages (before Linux 5.14), write as before. It is slower for
  /// few threads: copying takes one page fault for each page.
  /// \pre not is_stream()
  void map_writes();

  /// Lets write_pages() pass the page cache by (O_DIRECT), where the file system can do so: all that
  /// is reserved gets its place on the disk now. In a memory file system it does nothing.
  /// \pre not is_stream(); called after reserve()
  /// \throws Error (output) the disk has not enough space
  void open_direct();

  /// Writes whole pages past the page cache. Which way is faster depends on the machine: copying to
  /// new pages of the cache, or waiting for the disk.
  /// \param offset  a multiple of page_bytes, as are the size of `bytes` and its address
  /// \return false, and nothing is written, if the system does not take them like this: write_at()
  ///         does
  /// \pre as write_at() \throws Error (output)
  [[nodiscard]] bool write_pages(std::uint64_t offset, std::span<const char> bytes) const;

  /// Reads back bytes that were written before. Several threads may call it at the same time. A
  /// file that is never committed serves as a temporary file beside the output like this.
  /// \pre not is_stream(); flush() was called since the bytes were appended
  /// \throws Error (input)
  void read_at(std::uint64_t offset, std::span<char> into) const;

  /// Writes the buffer. \throws Error (output)
  void flush();

  /// Whether rewrite() works for this path: regular and new files; not pipes, devices, "-".
  [[nodiscard]] static bool takes_rewrites(const std::string& path);

  /// Overwrites bytes that were written before, e.g. a header whose content is known only later.
  /// \pre takes_rewrites() for the path, and offset + text.size() <= bytes_written()
  /// \throws Error (output)
  void rewrite(std::uint64_t offset, std::string_view text);

  /// Does all of commit() that needs space or may report that earlier bytes were lost: flushes,
  /// gives the temporary file a name, closes it. Only renaming is left then. Of two files that
  /// belong together, both are prepared before one is committed. \throws Error (output)
  void prepare();

  /// Calls prepare() if that was not done, and renames. \throws Error (output)
  void commit();

  /// Bytes appended and reserved so far, those in the buffer included.
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  [[nodiscard]] std::string folder() const;
  void open_temporary(bool named);
  void give_name();
  /// \param offset  of the bytes; streams are written in order, whatever it is
  void write_through(std::uint64_t offset, std::span<const char> bytes) const;
  /// Copies bytes to mapped_. Returns false, with the bytes not written, if the pages are not
  /// available: the reason is told by pwrite().
  [[nodiscard]] bool copy_to_pages(std::uint64_t offset, std::span<const char> bytes) const;
  void unmap();
  void close_direct();

  std::string path_;
  TemporaryName temporary_;  ///< empty while nameless_, and for direct writes to path_
  std::string buffer_;
  int descriptor_ = -1;
  int direct_ = -1;  ///< of the same file, for write_pages()
  bool stream_ = true;
  bool nameless_ = false;
  std::uint64_t bytes_written_ = 0;
  std::span<char> mapped_;  ///< the file from its first byte, as long as its file system
  bool prepared_ = false;
  bool committed_ = false;
};

}  // namespace sortie
