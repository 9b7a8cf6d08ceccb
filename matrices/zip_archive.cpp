// SPDX-License-Identifier: Apache-2.0
#include "matrices/zip_archive.hpp"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "sortie/error.hpp"

namespace sortie::matrices::detail {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view directory_entry_magic = "PK\1\2"sv;
constexpr std::string_view end_magic = "PK\5\6"sv;
constexpr std::string_view wide_end_magic = "PK\6\6"sv;
constexpr std::string_view wide_locator_magic = "PK\6\7"sv;

constexpr std::size_t local_header_bytes = 30;
constexpr std::size_t directory_entry_bytes = 46;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t wide_end_bytes = 56;
constexpr std::size_t wide_locator_bytes = 20;
constexpr std::size_t most_comment_bytes = 0xffff;

constexpr unsigned wide_version = 45;     // of the format: fields of 64 bits
constexpr unsigned unix_system = 3 << 8;  // attributes are those of Unix
constexpr unsigned first_date = 1 << 5 | 1;
constexpr unsigned wide_field_id = 1;
constexpr std::uint64_t owner_may_read_and_write = 0600;
/// The value of a field whose number is among the fields of 64 bits.
constexpr std::uint64_t elsewhere16 = 0xffff;
constexpr std::uint64_t elsewhere32 = 0xffffffff;

constexpr unsigned encrypted_flag = 1;

/// Largest expansion factor of deflate.
constexpr std::uint64_t most_expansion = 1032;

/// Appends little-endian numbers of a given width.
class RecordText {
 public:
  explicit RecordText(std::string_view magic) : text_(magic) {}
  RecordText& add(int width, std::uint64_t number) {
    for (int i = 0; i < width; ++i) text_ += static_cast<char>(number >> (8 * i) & 0xff);
    return *this;
  }
  RecordText& add(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::uint64_t number_at(std::string_view text, std::size_t at, int width) {
  std::uint64_t number = 0;
  for (int i = width; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
  return number;
}

/// The fields common to the header of a member and its entry in the directory, up to the length of
/// the name.
void add_common_fields(RecordText& record, const ZipMember& member) {
  record.add(2, wide_version).add(2, 0).add(2, zip_stored).add(2, 0).add(2, first_date);
  record.add(4, member.content.crc).add(4, elsewhere32).add(4, elsewhere32);
  record.add(2, member.name.size());
}

[[noreturn]] void fail_archive(const std::string& name, const std::string& found,
                               const std::string& expected) {
  throw input_error(name, 0, found, expected);
}

/// Takes the sizes and the offset of an entry from its fields of 64 bits, where they are elsewhere.
/// Returns false if they are missing.
bool resolve_wide_fields(std::string_view extra, ZipMember& member) {
  std::array<std::uint64_t*, 3> wanted = {&member.content.bytes, &member.packed, &member.header_at};
  std::string_view fields;
  while (extra.size() >= 4) {
    const std::uint64_t id = number_at(extra, 0, 2);
    const std::uint64_t length = number_at(extra, 2, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) return false;
    if (id == wide_field_id) fields = extra.substr(0, length);
    extra.remove_prefix(length);
  }
  for (std::uint64_t* const number : wanted) {
    if (*number != elsewhere32) continue;
    if (fields.size() < 8) return false;
    *number = number_at(fields, 0, 8);
    fields.remove_prefix(8);
  }
  return true;
}

}  // namespace

void ContentSum::append(const ContentSum& next) {
  crc = static_cast<std::uint32_t>(crc32_combine(crc, next.crc, static_cast<z_off_t>(next.bytes)));
  bytes += next.bytes;
}

ContentSum sum_of(std::span<const char> bytes) {
  return {libdeflate_crc32(0, bytes.data(), bytes.size()), bytes.size()};
}

std::size_t zip_local_header_bytes(std::string_view name) {
  constexpr std::size_t extra = 4 + 2 * 8;
  return local_header_bytes + name.size() + extra;
}

std::string zip_local_header(const ZipMember& member) {
  RecordText record(zip_magic);
  add_common_fields(record, member);
  record.add(2, 4 + 2 * 8).add(member.name);
  record.add(2, wide_field_id).add(2, 2 * 8).add(8, member.content.bytes).add(8, member.packed);
  return record.text();
}

std::string zip_directory(std::span<const ZipMember> members, std::uint64_t offset) {
  std::string text;
  for (const ZipMember& member : members) {
    RecordText entry(directory_entry_magic);
    entry.add(2, unix_system | wide_version);
    add_common_fields(entry, member);
    entry.add(2, 4 + 3 * 8).add(2, 0).add(2, 0).add(2, 0);  // no comment, first disk, binary
    entry.add(4, owner_may_read_and_write << 16).add(4, elsewhere32).add(member.name);
    entry.add(2, wide_field_id).add(2, 3 * 8).add(8, member.content.bytes).add(8, member.packed);
    entry.add(8, member.header_at);
    text += entry.text();
  }
  const std::uint64_t length = text.size();
  RecordText end(wide_end_magic);
  end.add(8, wide_end_bytes - 12).add(2, unix_system | wide_version).add(2, wide_version);
  end.add(4, 0).add(4, 0).add(8, members.size()).add(8, members.size()).add(8, length);
  end.add(8, offset);
  end.add(wide_locator_magic).add(4, 0).add(8, offset + length).add(4, 1);
  end.add(end_magic).add(2, 0).add(2, 0).add(2, elsewhere16).add(2, elsewhere16);
  end.add(4, elsewhere32).add(4, elsewhere32).add(2, 0);
  return text + end.text();
}

ZipArchive::ZipArchive(std::unique_ptr<InputFile> file)
    : name_(file->name()), file_(std::move(file)), size_(file_->size()) {
  read_directory();
}

ZipArchive::ZipArchive(std::string name, ByteBuffer bytes)
    : name_(std::move(name)), memory_(std::move(bytes)), size_(memory_.size) {
  read_directory();
}

void ZipArchive::read(std::uint64_t offset, std::span<char> into) const {
  std::uint64_t got = 0;
  if (file_) {
    got = file_->read_at(offset, into);
  } else if (offset <= size_) {
    got = std::min<std::uint64_t>(into.size(), size_ - offset);
    if (got != 0) std::memcpy(into.data(), memory_.data.get() + offset, got);
  }
  if (got != into.size()) {
    fail_archive(name_, fmt::format("the end of the file at byte {}", offset + got),
                 fmt::format("{} bytes more", into.size() - got));
  }
}

std::string ZipArchive::text_at(std::uint64_t offset, std::uint64_t bytes) const {
  std::string text(bytes, '\0');
  read(offset, text);
  return text;
}

void ZipArchive::read_directory() {
  if (const std::string start = text_at(0, std::min<std::uint64_t>(size_, zip_magic.size()));
      start != zip_magic) {
    fail_archive(name_, sortie::quoted(start), R"(a zip archive, which begins with "PK\x03\x04")");
  }
  // The last record ends the file, but for a comment.
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(size_, end_bytes + most_comment_bytes);
  const std::string tail = text_at(size_ - tail_bytes, tail_bytes);
  std::size_t at = tail.size();
  do {
    at = at == 0 ? std::string::npos : tail.rfind(end_magic, at - 1);
    if (at == std::string::npos) {
      fail_archive(name_, "no directory of the zip archive at the end",
                   "one; the file may be cut short");
    }
  } while (at + end_bytes > tail.size() ||
           at + end_bytes + number_at(tail, at + 20, 2) != tail.size());
  const std::uint64_t end_at = size_ - tail_bytes + at;
  std::uint64_t disks = number_at(tail, at + 4, 2) | number_at(tail, at + 6, 2);
  std::uint64_t count = number_at(tail, at + 10, 2);
  std::uint64_t length = number_at(tail, at + 12, 4);
  std::uint64_t offset = number_at(tail, at + 16, 4);
  std::uint64_t records_end = end_at;  // the directory ends before
  if (end_at >= wide_locator_bytes) {
    const std::string locator = text_at(end_at - wide_locator_bytes, wide_locator_bytes);
    if (locator.starts_with(wide_locator_magic)) {
      const std::uint64_t wide_at = number_at(locator, 8, 8);
      if (wide_at > size_ - wide_locator_bytes || size_ - wide_at < wide_end_bytes)
        fail_archive(name_, fmt::format("a directory at byte {}", wide_at), "one in the file");
      const std::string wide = text_at(wide_at, wide_end_bytes);
      if (!wide.starts_with(wide_end_magic)) {
        fail_archive(name_,
                     fmt::format("{} at byte {}", sortie::quoted(wide.substr(0, 4)), wide_at),
                     R"("PK\x06\x06", the end of the directory)");
      }
      disks = number_at(wide, 16, 4) | number_at(wide, 20, 4);
      count = number_at(wide, 32, 8);
      length = number_at(wide, 40, 8);
      offset = number_at(wide, 48, 8);
      records_end = wide_at;
    }
  }
  if (disks != 0) fail_archive(name_, "a zip archive of several parts", "one in a single file");
  if (offset > records_end || length > records_end - offset) {
    fail_archive(name_, fmt::format("a directory of {} bytes at byte {}", length, offset),
                 fmt::format("one before byte {}", records_end));
  }
  directory_at_ = offset;
  const std::string text = text_at(offset, length);
  std::string_view rest = text;
  for (std::uint64_t entry = 0; entry < count; ++entry) {
    const auto damaged = [&] {
      fail_archive(name_, fmt::format("a damaged entry {} in the directory of the archive", entry),
                   fmt::format("{} entries", count));
    };
    if (rest.size() < directory_entry_bytes || !rest.starts_with(directory_entry_magic)) damaged();
    const std::uint64_t name_bytes = number_at(rest, 28, 2);
    const std::uint64_t extra_bytes = number_at(rest, 30, 2);
    const std::uint64_t whole =
        directory_entry_bytes + name_bytes + extra_bytes + number_at(rest, 32, 2);
    if (rest.size() < whole) damaged();
    ZipMember member;
    member.method = static_cast<unsigned>(number_at(rest, 10, 2));
    member.content = {static_cast<std::uint32_t>(number_at(rest, 16, 4)), number_at(rest, 24, 4)};
    member.packed = number_at(rest, 20, 4);
    member.header_at = number_at(rest, 42, 4);
    member.name = rest.substr(directory_entry_bytes, name_bytes);
    if (!resolve_wide_fields(rest.substr(directory_entry_bytes + name_bytes, extra_bytes), member))
      damaged();
    if (member.method == zip_stored && member.packed != member.content.bytes) damaged();
    rest.remove_prefix(whole);
    members_.push_back(std::move(member));
  }
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found = std::find_if(members_.rbegin(), members_.rend(),
                                  [&](const ZipMember& member) { return member.name == name; });
  return found == members_.rend() ? nullptr : &*found;
}

std::string ZipArchive::place(const ZipMember& member) const {
  return fmt::format("{}: {}", name_, member.name);
}

std::uint64_t ZipArchive::content_begin(const ZipMember& member) const {
  const std::string place = this->place(member);
  if (member.method != zip_stored && member.method != zip_deflated) {
    fail_archive(place, fmt::format("compression method {}", member.method),
                 "0 (stored) or 8 (deflated)");
  }
  if (member.content.bytes / most_expansion > member.packed) {
    fail_archive(place, fmt::format("{} bytes from {}", member.content.bytes, member.packed),
                 "no more than deflate data can hold");
  }
  const auto header_fits = [&](std::uint64_t bytes) {
    return member.header_at <= directory_at_ && bytes <= directory_at_ - member.header_at;
  };
  if (!header_fits(local_header_bytes)) {
    fail_archive(place, fmt::format("its begin at byte {}", member.header_at),
                 fmt::format("one before the directory at byte {}", directory_at_));
  }
  const std::string header = text_at(member.header_at, local_header_bytes);
  if (!header.starts_with(zip_magic)) {
    fail_archive(
        place, fmt::format("{} at byte {}", sortie::quoted(header.substr(0, 4)), member.header_at),
        R"(the header of the member, "PK\x03\x04")");
  }
  if ((number_at(header, 6, 2) & encrypted_flag) != 0)
    fail_archive(place, "an encrypted member", "one that is not");
  const std::uint64_t whole =
      local_header_bytes + number_at(header, 26, 2) + number_at(header, 28, 2);
  if (!header_fits(whole) || member.packed > directory_at_ - member.header_at - whole) {
    fail_archive(place, fmt::format("{} bytes after byte {}", member.packed, member.header_at),
                 fmt::format("all before the directory at byte {}", directory_at_));
  }
  return member.header_at + whole;
}

std::string ZipArchive::first_bytes(const ZipMember& member, std::size_t bytes) const {
  const std::uint64_t begin = content_begin(member);
  const auto wanted = std::min<std::uint64_t>(bytes, member.content.bytes);
  if (member.method == zip_stored) return text_at(begin, wanted);
  // zlib, since libdeflate decompresses nothing less than all.
  constexpr std::uint64_t enough_packed = std::uint64_t{1} << 17;
  std::string packed = text_at(begin, std::min(enough_packed, member.packed));
  std::string content(wanted, '\0');
  z_stream stream = {};
  constexpr int raw_deflate = -15;
  if (inflateInit2(&stream, raw_deflate) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  const int status = ::inflate(&stream, Z_SYNC_FLUSH);
  const std::size_t missing = stream.avail_out;
  inflateEnd(&stream);
  if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) || missing != 0)
    fail_archive(place(member), "damaged deflate data", "that of an array");
  return content;
}

void ZipArchive::inflate(const ZipMember& member, std::span<char> into) const {
  const auto damaged = [&] {
    fail_archive(place(member), "damaged deflate data",
                 fmt::format("{} bytes of content", member.content.bytes));
  };
  const std::uint64_t begin = content_begin(member);
  ByteBuffer copy;
  std::span<const char> packed = memory_.span();
  if (file_) {
    copy = {std::make_unique_for_overwrite<char[]>(member.packed), member.packed};
    read(begin, {copy.data.get(), copy.size});
    packed = copy.span();
  } else {
    packed = packed.subspan(begin, member.packed);
  }
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decoder(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (decoder == nullptr) throw std::bad_alloc();
  std::size_t filled = 0;
  const auto status = libdeflate_deflate_decompress(decoder.get(), packed.data(), packed.size(),
                                                    into.data(), into.size(), &filled);
  if (status != LIBDEFLATE_SUCCESS || filled != into.size()) damaged();
}

}  // namespace sortie::matrices::detail
