// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/byte_buffer.hpp"
#include "core/files/input_file.hpp"

/// Internal to matrices: zip archives, as far as .npz files need them.
///
/// Libraries of zip archives neither tell where the bytes of a member are nor write several blocks of
/// one at the same time, both of which parallel input and output need. What is left of the format
/// without compression is three records, so they are read and written here; deflated members are
/// decompressed by libdeflate.
///
/// Source: PKWARE, APPNOTE.TXT, ".ZIP File Format Specification", 6.3.
namespace sortie::matrices::detail {

/// CRC-32 and length of bytes. Sums of blocks are made on several threads, then appended in order.
struct ContentSum {
  std::uint32_t crc = 0;
  std::uint64_t bytes = 0;

  void append(const ContentSum& next);
  friend bool operator==(const ContentSum&, const ContentSum&) = default;
};
[[nodiscard]] ContentSum sum_of(std::span<const char> bytes);

/// A member as the directory of the archive describes it.
struct ZipMember {
  std::string name;
  ContentSum content;           ///< decompressed
  std::uint64_t packed = 0;     ///< bytes in the archive
  std::uint64_t header_at = 0;  ///< offset of the header before them
  unsigned method = 0;          ///< stored or deflated
};

inline constexpr unsigned zip_stored = 0;
inline constexpr unsigned zip_deflated = 8;

/// The first bytes of an archive that has members.
inline constexpr std::string_view zip_magic = "PK\3\4";

/// Length of the header before a member.
[[nodiscard]] std::size_t zip_local_header_bytes(std::string_view name);

/// The header before a stored member. Like the directory, it always has the fields for sizes of 64
/// bits, so its length does not depend on the size, and no form is used by huge files only. Dated
/// 1 January 1980, the first day that the format has.
[[nodiscard]] std::string zip_local_header(const ZipMember& member);

/// The end of an archive: the directory, and where it is.
/// \param offset  of the directory in the file
[[nodiscard]] std::string zip_directory(std::span<const ZipMember> members, std::uint64_t offset);

/// An archive for reading: a file, or bytes in memory.
class ZipArchive {
 public:
  /// \pre file->is_regular()
  /// \throws Error (input) "FILE: found ..., expected ...": no archive, one that is cut short, of
  ///         several disks
  explicit ZipArchive(std::unique_ptr<InputFile> file);
  ZipArchive(std::string name, ByteBuffer bytes);

  [[nodiscard]] const std::string& name() const { return name_; }

  /// The member of that name, the last one if there are several; null if there is none.
  [[nodiscard]] const ZipMember* find(std::string_view name) const;

  /// Offset of the first byte of a member.
  /// \throws Error (input) there is another header, it is encrypted, or neither stored nor deflated
  [[nodiscard]] std::uint64_t content_begin(const ZipMember& member) const;

  /// Bytes of the archive. Several threads may call it. \throws Error (input) it has shrunk
  void read(std::uint64_t offset, std::span<char> into) const;

  /// The first bytes of a member, decompressed; fewer than asked for only at its end.
  /// \throws Error (input)
  [[nodiscard]] std::string first_bytes(const ZipMember& member, std::size_t bytes) const;

  /// Decompresses a deflated member, without a check of its checksum.
  /// \param into  of the size of the content
  /// \throws Error (input)
  /// Memory: the compressed bytes.
  void inflate(const ZipMember& member, std::span<char> into) const;

  /// "FILE: MEMBER", the place in messages.
  [[nodiscard]] std::string place(const ZipMember& member) const;

 private:
  void read_directory();
  [[nodiscard]] std::string text_at(std::uint64_t offset, std::uint64_t bytes) const;

  std::string name_;
  std::unique_ptr<InputFile> file_;  ///< null: in memory
  ByteBuffer memory_;
  std::uint64_t size_ = 0;
  std::uint64_t directory_at_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace sortie::matrices::detail
