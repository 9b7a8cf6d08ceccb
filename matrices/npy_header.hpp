// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Internal to matrices: the header of a NumPy array (.npy), after which its elements follow.
///
///   | bytes  | content                                                             |
///   |--------|---------------------------------------------------------------------|
///   | 0-5    | "\x93NUMPY"                                                         |
///   | 6-7    | version: 1.0, or 2.0 and 3.0 for long headers                       |
///   | 8-9    | length of the text that follows, little-endian; 8-11 from version 2 |
///   | 10-    | the text of a Python dictionary, spaces, a newline                  |
///
/// Source: NumPy, NEP 1, "A Simple File Format for NumPy Arrays".
namespace sortie::matrices::detail {

/// Bytes of the headers that npy_header() makes: those of all arrays of less than two dimensions.
inline constexpr std::size_t npy_header_bytes = 128;

/// Bytes from which npy_header_length() can tell the length of a header.
inline constexpr std::size_t npy_start_bytes = 12;

/// The header of an array.
/// \param descr  type of the elements: "<f8"
/// \param shape  as Python writes it: "()" for a single element, "(7,)" for seven
[[nodiscard]] std::string npy_header(std::string_view descr, std::string_view shape);

struct NpyHeader {
  std::string descr;
  std::vector<std::int64_t> shape;
};

/// Length of the header that begins with `start`, up to the first element.
/// \param place  file and member, for messages
/// \throws Error (input) it is not the begin of an array, or of an unknown version
[[nodiscard]] std::uint64_t npy_header_length(std::string_view place, std::string_view start);

/// \param header  the whole header
/// \throws Error (input)
[[nodiscard]] NpyHeader parse_npy_header(std::string_view place, std::string_view header);

}  // namespace sortie::matrices::detail
