// SPDX-License-Identifier: Apache-2.0
#include "sequences/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/random.hpp"
#include "sortie/error.hpp"

namespace sortie::sequences {
namespace {

constexpr std::array<std::uint8_t, 4> bases = {'A', 'C', 'G', 'T'};

using Symbols = std::vector<std::uint8_t>;

Text one_record(std::string record_name, Symbols symbols) {
  Text text;
  text.records.push_back({std::move(record_name), 0, symbols.size()});
  text.symbols = std::move(symbols);
  return text;
}

// Each random number yields 32 letters of two bits.
void append_uniform(Random& random, std::uint64_t length, Symbols& out) {
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < length; ++i) {
    if (i % 32 == 0) bits = random.next();
    out.push_back(bases[bits & 3]);
    bits >>= 2;
  }
}

// Lengths, in letters, of the elements of a genome, with the orders of magnitude of the human
// genome: short and long interspersed elements (Alu 300, L1 6000), satellites, assembly gaps.
struct Range {
  std::uint64_t low;
  std::uint64_t high;

  [[nodiscard]] std::uint64_t draw(Random& random) const {
    return low + random.below(high - low + 1);
  }
  [[nodiscard]] double mean() const { return 0.5 * static_cast<double>(low + high); }
};
constexpr Range unique_length = {200, 4000};
constexpr Range family_length = {300, 6000};
constexpr Range copy_length = {100, 3000};
constexpr Range tandem_unit = {2, 60};
constexpr Range tandem_length = {50, 2000};
constexpr Range gap_length = {100, 20000};

// Letters of text per family of repeats, up to the maximum number of families.
constexpr std::uint64_t letters_a_family = 20000;
constexpr std::uint64_t most_families = 200;

class GenomeMaker {
 public:
  GenomeMaker(std::uint64_t length, std::uint64_t seed, const RepeatOptions& options)
      : length_(length), options_(options), random_(seed) {
    const std::uint64_t count =
        std::clamp<std::uint64_t>(length / letters_a_family, 1, most_families);
    families_.resize(count);
    for (Symbols& family : families_) {
      append_uniform(random_, family_length.draw(random_), family);
    }
    out_.reserve(length);
  }

  Symbols make() {
    // The probability of an element is proportional to its share of the text over its mean length.
    const double interspersed = options_.interspersed_share / copy_length.mean();
    const double tandem = options_.tandem_share / tandem_length.mean();
    const double gap = options_.n_share / gap_length.mean();
    const double unique_share =
        1 - options_.interspersed_share - options_.tandem_share - options_.n_share;
    const double unique = std::max(unique_share, 0.0) / unique_length.mean();
    while (out_.size() < length_) {
      const double draw = random_.uniform() * (interspersed + tandem + gap + unique);
      if (draw < interspersed) {
        append_copy();
      } else if (draw < interspersed + tandem) {
        append_tandem();
      } else if (draw < interspersed + tandem + gap) {
        out_.insert(out_.end(), room(gap_length.draw(random_)), 'N');
      } else {
        append_uniform(random_, room(unique_length.draw(random_)), out_);
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::uint64_t room(std::uint64_t wanted) const {
    return std::min(wanted, length_ - out_.size());
  }

  std::uint8_t mutated(std::uint8_t base) {
    return random_.uniform() < options_.mutation_rate ? bases[random_.below(4)] : base;
  }

  // Appends part of a member of a family, on either strand.
  void append_copy() {
    const Symbols& family = families_[random_.below(families_.size())];
    const std::uint64_t wanted = std::min<std::uint64_t>(copy_length.draw(random_), family.size());
    const std::uint64_t begin = random_.below(family.size() - wanted + 1);
    const bool reverse = random_.below(2) == 1;
    const std::uint64_t count = room(wanted);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint8_t base =
          reverse ? complement(family[begin + wanted - 1 - i]) : family[begin + i];
      out_.push_back(mutated(base));
    }
  }

  void append_tandem() {
    Symbols unit;
    append_uniform(random_, tandem_unit.draw(random_), unit);
    const std::uint64_t count = room(tandem_length.draw(random_));
    for (std::uint64_t i = 0; i < count; ++i) out_.push_back(mutated(unit[i % unit.size()]));
  }

  std::uint64_t length_;
  RepeatOptions options_;
  Random random_;
  std::vector<Symbols> families_;
  Symbols out_;
};

/// Draws the number of letters before the next mutation from a geometric distribution: one random
/// number per mutation instead of one per letter.
class MutationGaps {
 public:
  explicit MutationGaps(double rate) {
    // survival_[k] is the probability of more than k letters without a mutation. Computed by IEEE
    // products instead of a logarithm, whose results differ between libraries.
    double survival = 1;
    for (double& chance : survival_) chance = survival *= 1 - rate;
  }

  /// Returns the number of letters; a result of at least `most` means `most` or more.
  std::uint64_t draw(Random& random, std::uint64_t most) const {
    std::uint64_t gap = 0;
    while (gap < most) {
      const double drawn = random.uniform();
      // The first k with survival_[k] <= drawn. Beyond the table the search restarts, since the
      // distribution is memoryless.
      const auto found = std::partition_point(survival_.begin(), survival_.end(),
                                              [&](double chance) { return chance > drawn; });
      gap += static_cast<std::uint64_t>(found - survival_.begin());
      if (found != survival_.end()) break;
    }
    return gap;
  }

 private:
  std::array<double, 1024> survival_{};
};

/// 0..3 for A, C, G, T; 4 for any other symbol.
std::size_t base_index(std::uint8_t symbol) {
  return static_cast<std::size_t>(std::find(bases.begin(), bases.end(), symbol) - bases.begin());
}

void require_share(double share, std::string_view what) {
  if (share >= 0 && share <= 1) return;
  throw Error(ErrorKind::usage, fmt::format("{}: found {}, expected 0 to 1", what, share));
}

}  // namespace

Text uniform_dna(std::uint64_t length, std::uint64_t seed) {
  Random random(seed);
  Symbols symbols;
  symbols.reserve(length);
  append_uniform(random, length, symbols);
  return one_record(fmt::format("uniform DNA, {} letters, seed {}", length, seed),
                    std::move(symbols));
}

Text repetitive_dna(std::uint64_t length, std::uint64_t seed, const RepeatOptions& options) {
  require_share(options.interspersed_share, "interspersed share");
  require_share(options.tandem_share, "tandem share");
  require_share(options.n_share, "N share");
  require_share(options.mutation_rate, "mutation rate");
  require_share(options.interspersed_share + options.tandem_share + options.n_share,
                "sum of the shares of repeats and N");
  return one_record(fmt::format("repetitive DNA, {} letters, seed {}", length, seed),
                    GenomeMaker(length, seed, options).make());
}

Text mutated_copies(const Text& source, std::uint64_t length, double mutation_rate,
                    std::uint64_t seed) {
  require_share(mutation_rate, "mutation rate");
  Symbols letters;
  letters.reserve(source.letters());
  for (const Record& record : source.records) {
    const auto begin = source.symbols.begin() + static_cast<std::ptrdiff_t>(record.offset);
    letters.insert(letters.end(), begin, begin + static_cast<std::ptrdiff_t>(record.length));
  }
  if (letters.empty())
    throw Error(ErrorKind::usage, "mutated copies: found an empty source, expected letters");

  Symbols symbols;
  symbols.reserve(length);
  while (symbols.size() < length) {
    const std::uint64_t count = std::min<std::uint64_t>(letters.size(), length - symbols.size());
    symbols.insert(symbols.end(), letters.begin(),
                   letters.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (mutation_rate > 0) {
    Random random(seed);
    const MutationGaps gaps(mutation_rate);
    for (std::uint64_t at = letters.size();; ++at) {
      at += gaps.draw(random, length);
      if (at >= length) break;
      const std::size_t base = base_index(symbols[at]);
      if (base < bases.size()) symbols[at] = bases[(base + 1 + random.below(3)) % bases.size()];
    }
  }
  return one_record(fmt::format("copies of {} letters, {} in all, {} mutated, seed {}",
                                letters.size(), length, mutation_rate, seed),
                    std::move(symbols));
}

Text fibonacci_text(std::uint64_t length) {
  Symbols symbols(length, 'A');
  if (length > 1) symbols[1] = 'B';
  // Word k is word k-1 followed by word k-2, which is a prefix of it.
  std::uint64_t word = 2;
  std::uint64_t previous_word = 1;
  while (word < length) {
    std::copy_n(symbols.data(), std::min(previous_word, length - word), symbols.data() + word);
    previous_word = std::exchange(word, word + previous_word);
  }
  return one_record(fmt::format("Fibonacci word, {} letters", length), std::move(symbols));
}

Text one_letter(std::uint64_t length, std::uint8_t letter) {
  return one_record(fmt::format("{} times the byte {}", length, letter), Symbols(length, letter));
}

Text periodic_text(std::uint64_t length, std::uint64_t period, std::uint64_t distance,
                   std::uint64_t seed) {
  Symbols symbols = uniform_dna(period, seed).symbols;
  if (period > 1) std::copy_n("AC", 2, symbols.begin());
  symbols.resize(length);
  for (std::uint64_t i = period; i < length; ++i) symbols[i] = symbols[i - period];
  for (std::uint64_t i = distance / 2; distance != 0 && i < length; i += distance) symbols[i] = 'N';
  return one_record(fmt::format("period {}, {} letters", period, length), std::move(symbols));
}

}  // namespace sortie::sequences
