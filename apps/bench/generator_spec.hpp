// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sortie::bench {

/// "gen:KIND:PARAMETER:...": a generated input, as specified on the command line.
class GeneratorSpec {
 public:
  /// True if `text` specifies a generator and not a file.
  [[nodiscard]] static bool matches(const std::string& text);

  explicit GeneratorSpec(const std::string& text);

  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] std::size_t parameters() const { return parameters_.size(); }

  /// Checks the number of parameters. \param form  expected form, e.g. "gen:er:ROWS:ROW_NNZ"
  /// \throws Error (usage)
  void require_parameters(std::size_t count, const std::string& form) const;
  /// Checks for at least `fewest` and at most `most` parameters.
  void require_parameters(std::size_t fewest, std::size_t most, const std::string& form) const;

  /// Parameter `index` (0-based) as text.
  [[nodiscard]] const std::string& parameter(std::size_t index) const {
    return parameters_.at(index);
  }
  /// Parameter `index` (0-based) as a count (K, M and G are powers of 1000) or as a real number.
  /// \throws Error (usage) not a number of this form
  [[nodiscard]] std::uint64_t count(std::size_t index) const {
    return as_count(parameters_.at(index));
  }
  /// Counts that are separated by x, such as 300x200x10.
  [[nodiscard]] std::vector<std::uint64_t> counts(std::size_t index) const;
  [[nodiscard]] double real(std::size_t index) const;

  /// Throws the error for an unknown kind. \param forms  the known forms
  [[noreturn]] void unknown(const std::string& forms) const;

 private:
  [[nodiscard]] std::uint64_t as_count(const std::string& field) const;

  std::string text_;
  std::string kind_;
  std::vector<std::string> parameters_;
};

}  // namespace sortie::bench
