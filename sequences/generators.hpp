#pragma once

#include <cstdint>

#include "sortie/sequences/text.hpp"

/// Texts of one record made from a seed; the same seed gives the same text on every machine.
namespace sortie::sequences {

/// Letters A, C, G, T, uniform and independent.
[[nodiscard]] Text uniform_dna(std::uint64_t length, std::uint64_t seed);

/// DNA as genomes have it: families of interspersed repeats (copies mutated by some percent),
/// tandem repeats and runs of N.
struct RepeatOptions {
  double interspersed_share = 0.45;  ///< share of the text that is copies of repeat families
  double tandem_share = 0.03;
  double n_share = 0.02;
  double mutation_rate = 0.12;  ///< of each copied letter
};
/// \throws Error (usage) a share or rate outside of [0, 1], or shares that sum to more than 1
[[nodiscard]] Text repetitive_dna(std::uint64_t length, std::uint64_t seed,
                                  const RepeatOptions& options = {});

/// Copies of a text behind each other, as the chromosomes of many individuals are: the first
/// `length` symbols of source, copy, copy, ... In the copies each A, C, G and T is replaced by
/// another of the four with probability `mutation_rate`, independently; all other symbols (gaps of
/// N) stay. The records of the source follow each other without separators. \throws Error (usage)
/// an empty source, or a rate outside of [0, 1] Complexity: O(length) copied bytes, and O(log) for
/// each mutation.
[[nodiscard]] Text mutated_copies(const Text& source, std::uint64_t length, double mutation_rate,
                                  std::uint64_t seed);

/// Prefix of the infinite Fibonacci word over A and B ("ABAABABA..."): the worst case of prefix
/// doubling among simple texts.
[[nodiscard]] Text fibonacci_text(std::uint64_t length);

/// `length` times `letter`.
[[nodiscard]] Text one_letter(std::uint64_t length, std::uint8_t letter = 'A');

}  // namespace sortie::sequences
