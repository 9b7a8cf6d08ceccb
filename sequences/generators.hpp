// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/text.hpp"

/// Generators of texts with one record. The same seed gives the same text on every machine.
namespace sortie::sequences {

/// Letters A, C, G, T, uniform and independent.
[[nodiscard]] Text uniform_dna(std::uint64_t length, std::uint64_t seed);

/// Parameters of DNA that resembles a genome: families of interspersed repeats (slightly mutated
/// copies), tandem repeats and runs of N.
struct RepeatOptions {
  double interspersed_share = 0.45;  ///< share of the text covered by copies of repeat families
  double tandem_share = 0.03;
  double n_share = 0.02;
  double mutation_rate = 0.12;  ///< mutation probability of each copied letter
};
/// \throws Error (usage) a share or rate outside [0, 1], or shares that sum to more than 1
[[nodiscard]] Text repetitive_dna(std::uint64_t length, std::uint64_t seed,
                                  const RepeatOptions& options = {});

/// Concatenated copies of a text, similar to the chromosomes of many individuals: the first
/// `length` symbols of source, copy, copy, ... In the copies, each A, C, G and T is independently
/// replaced by another of the four with probability `mutation_rate`; all other symbols (gaps of N)
/// are kept. The records of the source are joined without separators.
/// \throws Error (usage) an empty source, or a rate outside [0, 1]
/// Complexity: O(length) for the copies and a logarithmic search for each mutation.
[[nodiscard]] Text mutated_copies(const Text& source, std::uint64_t length, double mutation_rate,
                                  std::uint64_t seed);

/// Prefix of the infinite Fibonacci word over A and B ("ABAABABA..."): a worst case for prefix
/// doubling.
[[nodiscard]] Text fibonacci_text(std::uint64_t length);

/// `letter`, repeated `length` times.
[[nodiscard]] Text one_letter(std::uint64_t length, std::uint8_t letter = 'A');

/// Random letters A, C, G, T, the first two different, repeated with a period.
/// \param distance  in each range of so many letters, one is replaced by N; 0: none is
/// \pre period > 0
[[nodiscard]] Text periodic_text(std::uint64_t length, std::uint64_t period, std::uint64_t distance,
                                 std::uint64_t seed);

}  // namespace sortie::sequences
