#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sortie::bench {

/// "gen:KIND:PARAMETER:...": an input that is generated instead of read, as given on a command
/// line.
class GeneratorSpec {
 public:
  /// True when `text` asks for a generator and does not name a file.
  [[nodiscard]] static bool matches(const std::string& text);

  explicit GeneratorSpec(const std::string& text);

  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] std::size_t parameters() const { return parameters_.size(); }

  /// Checks the number of parameters. \param form  how it should look, e.g. "gen:er:ROWS:ROW_NNZ"
  /// \throws Error (usage)
  void require_parameters(std::size_t count, const std::string& form) const;
  /// The same where some at the end may be left out: at least `fewest`, at most `most`.
  void require_parameters(std::size_t fewest, std::size_t most, const std::string& form) const;

  /// Parameter `index` (from 0) as it was given.
  [[nodiscard]] const std::string& parameter(std::size_t index) const {
    return parameters_.at(index);
  }
  /// Parameter `index` (from 0) as a count, with K, M or G as powers of 1000; as a real number.
  /// \throws Error (usage) not a number of that sort
  [[nodiscard]] std::uint64_t count(std::size_t index) const;
  [[nodiscard]] double real(std::size_t index) const;

  /// The error for a kind that nobody knows. \param forms  what would have been understood
  [[noreturn]] void unknown(const std::string& forms) const;

 private:
  std::string text_;
  std::string kind_;
  std::vector<std::string> parameters_;
};

}  // namespace sortie::bench
