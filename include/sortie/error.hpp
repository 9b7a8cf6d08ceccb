// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sortie/export.hpp"

namespace sortie {

/// Category of an error. Callers may handle each one differently.
enum class ErrorKind {
  input,          ///< The user's data is invalid (file, shape, symbol).
  usage,          ///< The call or command line is invalid, whatever the data.
  output,         ///< A result could not be written.
  out_of_memory,  ///< Host or device memory was insufficient.
  unavailable,    ///< The requested backend or algorithm is not in this build or on this machine.
  device,         ///< A CUDA or cuSPARSE call failed.
  check,          ///< A result failed its verification.
};

/// The only exception type that Sortie throws. `what()` is a single line without its newline:
/// "PLACE: what was found, what was expected".
class SORTIE_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// Builds the error for bad input: "FILE:LINE: found FOUND, expected EXPECTED".
/// \param file      name of the input as the user gave it ("-" reads "<stdin>")
/// \param line      1-based line number; 0 when the error has no line (then "FILE: found ...")
/// \param found     what the file contains, e.g. "row index 0"
/// \param expected  what was expected instead, e.g. "an index from 1 to 27"
[[nodiscard]] SORTIE_API Error input_error(std::string_view file, std::uint64_t line,
                                           std::string_view found, std::string_view expected);

/// Builds the error for a failed allocation: names the bytes required and the bytes free.
[[nodiscard]] SORTIE_API Error out_of_memory_error(std::string_view what,
                                                   std::uint64_t bytes_wanted,
                                                   std::uint64_t bytes_free);

/// Formats `text` for an error message: quoted, truncated to 40 bytes, control bytes escaped.
[[nodiscard]] SORTIE_API std::string quoted(std::string_view text);

}  // namespace sortie
