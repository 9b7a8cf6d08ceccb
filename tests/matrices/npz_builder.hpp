// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sortie::test {

/// A NumPy array: version 1.0, or 2.0 with four bytes of length.
inline std::string npy(std::string_view dictionary, std::string_view elements, char version = 1) {
  std::string text(dictionary);
  text += '\n';
  std::string array("\x93NUMPY");
  array += version;
  array += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    array += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return array + text + std::string(elements);
}

/// The bytes of numbers.
template <class T>
std::string bytes_of_all(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

/// An array of one dimension.
template <class T>
std::string npy_list(std::string_view descr, const std::vector<T>& numbers) {
  return npy("{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" +
                 std::to_string(numbers.size()) + ",), }",
             bytes_of_all(numbers));
}

/// The member that tells the format.
inline std::string npy_format(std::string_view format) {
  return npy("{'descr': '|S3', 'fortran_order': False, 'shape': (), }", format);
}

struct BuiltMember {
  std::string name;
  std::string content;
  bool deflated = false;
};

/// A zip archive in the oldest form, whose numbers have 16 and 32 bits.
inline std::string zip(const std::vector<BuiltMember>& members, std::string_view comment = "") {
  const auto number = [](int width, std::uint64_t value) {
    std::string text;
    for (int i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
  };
  std::string file;
  std::string directory;
  for (const BuiltMember& member : members) {
    std::string packed = member.content;
    if (member.deflated) {
      z_stream stream = {};
      if (deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2 failed");
      packed.resize(deflateBound(&stream, member.content.size()) + 16);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.content.data()));
      stream.avail_in = static_cast<uInt>(member.content.size());
      stream.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_out = static_cast<uInt>(packed.size());
      if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate failed");
      packed.resize(stream.total_out);
      deflateEnd(&stream);
    }
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(member.content.data()),
                           static_cast<uInt>(member.content.size()));
    const std::string common = number(2, 20) + number(2, 0) + number(2, member.deflated ? 8 : 0) +
                               number(4, 0) + number(4, crc) + number(4, packed.size()) +
                               number(4, member.content.size()) + number(2, member.name.size());
    directory += "PK\1\2" + number(2, 20) + common + number(2, 0) + number(2, 0) + number(2, 0) +
                 number(2, 0) + number(4, 0) + number(4, file.size()) + member.name;
    file += "PK\3\4" + common + number(2, 0) + member.name + packed;
  }
  return file + directory + "PK\5\6" + number(4, 0) + number(2, members.size()) +
         number(2, members.size()) + number(4, directory.size()) + number(4, file.size()) +
         number(2, comment.size()) + std::string(comment);
}

/// The members of a matrix of format csr; tests replace some of them.
struct CsrMembers {
  std::string format = npy_format("csr");
  std::string shape = npy_list<std::int64_t>("<i8", {3, 4});
  std::string indptr = npy_list<std::int32_t>("<i4", {0, 2, 2, 4});
  std::string indices = npy_list<std::int32_t>("<i4", {0, 2, 1, 3});
  std::string data = npy_list<double>("<f8", {1.5, 0, -2, 4});

  [[nodiscard]] std::vector<BuiltMember> members(bool deflated = false) const {
    return {{"indices.npy", indices, deflated},
            {"indptr.npy", indptr, deflated},
            {"format.npy", format, deflated},
            {"shape.npy", shape, deflated},
            {"data.npy", data, deflated}};
  }
  [[nodiscard]] std::string file(bool deflated = false) const { return zip(members(deflated)); }
};

}  // namespace sortie::test
