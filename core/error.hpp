#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sortie {

/// What went wrong, as far as a caller may want to react differently to it.
enum class ErrorKind {
  input,          ///< The user's data is not what it has to be (file, shape, symbol).
  usage,          ///< A call or command line that makes no sense whatever the data is.
  output,         ///< A result could not be written.
  out_of_memory,  ///< Host or device memory did not suffice.
  unavailable,    ///< The backend or algorithm asked for is not in this build or on this machine.
  device,         ///< A CUDA or cuSPARSE call failed.
  check,          ///< A result did not pass its verification.
};

/// The one exception type that Sortie throws.
///
/// `what()` is a single line without a trailing newline: "PLACE: what was found, what was
/// expected".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// Builds the error for bad input: "FILE:LINE: found FOUND, expected EXPECTED".
///
/// \param file      name of the input as the user gave it ("-" reads "<stdin>")
/// \param line      1-based line number; 0 when the fault has no line (then "FILE: found ...")
/// \param found     what stands there, e.g. "row index 0"
/// \param expected  what should stand there, e.g. "an index from 1 to 27"
[[nodiscard]] Error input_error(std::string_view file, std::uint64_t line, std::string_view found,
                                std::string_view expected);

/// Builds the error for memory that could not be had: names the bytes wanted and the bytes free.
[[nodiscard]] Error out_of_memory_error(std::string_view what, std::uint64_t bytes_wanted,
                                        std::uint64_t bytes_free);

/// Shows `text` in an error message: quoted, cut after 40 bytes, control bytes escaped.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace sortie
