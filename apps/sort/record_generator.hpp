// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sortie/key_types.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::sorting {

/// Distribution of generated keys. A number below 2^width is drawn. An unsigned key is that number,
/// a signed key the one of the same rank in its type, and a floating-point key the number divided
/// by 2^width, in [0, 1].
enum class Distribution {
  uniform,
  normal,         ///< mean in the middle; parameter: standard deviation, as a part of the range
  zipf,           ///< number v >= 1 with a probability proportional to v^-parameter
  sorted,         ///< uniform, ascending
  reverse,        ///< uniform, descending
  nearly_sorted,  ///< sorted, places displaced normally; parameter: standard deviation in places
  entropy,        ///< parameter: number of uniform low bits; the others are 0
};

/// Writes a number to memory of any alignment.
using NumberWriter = void (*)(std::uint64_t number, char* into);

/// Writes a number below 2^width as a key of a type; see Distribution.
[[nodiscard]] NumberWriter key_writer(KeyType type);

struct GeneratedRecords {
  Distribution distribution = Distribution::uniform;
  std::uint64_t records = 0;
  std::uint64_t seed = 1;
  std::optional<double> parameter;  ///< default: normal 0.125, zipf 1, nearly sorted 16, entropy 16
};

/// Generates records; the value of a record is its index. The same on every machine, up to the
/// rounding of the mathematical library.
/// \throws Error (usage) the parameter is out of its range
[[nodiscard]] std::unique_ptr<RecordSource> generate_records(const GeneratedRecords& wanted,
                                                             const RecordFormat& format);

}  // namespace sortie::sorting
