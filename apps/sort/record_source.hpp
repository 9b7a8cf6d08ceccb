#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sortie/apps/sort/record_format.hpp"
#include "sortie/multisort/key_types.hpp"

namespace sortie::sorting {

/// Records that are read from front to back, once.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  /// Fills `into`, a whole number of records, from the front as far as there are records; returns
  /// the number of records, fewer than asked for only at the end.
  /// \throws Error (input)
  [[nodiscard]] virtual std::uint64_t read(std::span<char> into) = 0;

  /// Records in all, where that is known before they are read.
  [[nodiscard]] virtual std::optional<std::uint64_t> records() const = 0;
};

/// A raw file ("-": standard input). Its bytes are taken as they are: unlike the text formats of
/// other subcommands it is not decompressed, as keys may begin with the bytes of any format.
/// \throws Error (input) it cannot be opened, is a folder, or, as soon as that is known, its length
///         is not a multiple of a record
[[nodiscard]] std::unique_ptr<RecordSource> open_record_file(const std::string& path,
                                                             const RecordFormat& format);

/// How generated keys are distributed. Numbers are drawn for the width of the key; a signed key has
/// the same place in the order of its type, and a floating-point key is the number divided by
/// 2^width, in [0, 1].
enum class Distribution {
  uniform,
  normal,         ///< mean in the middle; the parameter is the deviation as a part of the range
  zipf,           ///< number v >= 1 with a probability proportional to v^-parameter
  sorted,         ///< uniform, ascending
  reverse,        ///< uniform, descending
  nearly_sorted,  ///< sorted, displaced by a normal deviation of so many places as the parameter
  entropy,        ///< as many low bits as the parameter uniform, the others 0
};

/// Writes a number to memory of any alignment.
using NumberWriter = void (*)(std::uint64_t number, char* into);

/// Writes a number below 2^width as the key that has its place in the order of a type, as
/// Distribution says.
[[nodiscard]] NumberWriter key_writer(multisort::KeyType type);

struct GeneratedRecords {
  Distribution distribution = Distribution::uniform;
  std::uint64_t records = 0;
  std::uint64_t seed = 1;
  std::optional<double> parameter;  ///< normal 0.125, zipf 1, nearly sorted 16, entropy 16
};

/// Records made from numbers; the value of a record is its number from 0. The same on every machine
/// up to the rounding of its mathematical library.
/// \throws Error (usage) a parameter out of its range
[[nodiscard]] std::unique_ptr<RecordSource> generate_records(const GeneratedRecords& wanted,
                                                             const RecordFormat& format);

}  // namespace sortie::sorting
