// SPDX-License-Identifier: Apache-2.0

// Definitions of vector_sort.cpp, which includes this file once for each vector unit, in the
// namespace of the unit (see register_sort_definition.hpp).

/// Partitions words by a pivot, in place.
/// Reads eight registers at a time, from that end of the unread range next to which less free space
/// remains. Of each register, the lesser words are written to the front, the others to the back.
/// (Bramas, A novel hybrid quicksort algorithm vectorized using AVX-512 on Intel Skylake, 2017;
/// Blacher et al., see RegisterSort.)
template <std::unsigned_integral Word>
class Partition {
  using Vector = UnitVector<Word>;
  using Bits = typename Vector::Bits;
  static constexpr std::size_t lanes = Vector::lanes;
  /// Registers read at a time. The choice of the end is unpredictable, so fewer registers would
  /// cause more mispredicted branches; a branch-free choice is slower still.
  static constexpr std::size_t registers = 8;
  static constexpr std::size_t step = registers * lanes;
  using Registers = std::array<Vector, registers>;

 public:
  /// Least number of words that can be partitioned.
  static constexpr std::size_t fewest = 2 * step;

  struct Result {
    std::size_t lesser;  ///< number of words not above `last`, which are now first
    Word least;          ///< of all words; only set if requested
  };

  /// Moves the words that are not above `last` to the front.
  /// \tparam Least   whether to determine the least word
  /// \tparam Encode  whether the words are keys that are to be encoded by `codec`; not with Least
  /// \pre n >= fewest
  template <bool Least, bool Encode = false>
  [[nodiscard]] SORTIE_TARGET_UNIT static Result divide(Word* words, std::size_t n, Word last,
                                                        const KeyCodec<Word>& codec = {}) {
    static_assert(!Least || !Encode, "lanes beyond the words would count");
    Partition ends(words, n, last, codec);
    // Words read into these registers first are written last, which frees space at both ends.
    Registers front;
    Registers back;
    for (std::size_t i = 0; i < registers; ++i) front[i] = Vector::load(words + i * lanes);
    for (std::size_t i = 0; i < registers; ++i)
      back[i] = Vector::load(words + n - step + i * lanes);
    std::size_t unread = step;
    std::size_t unread_end = n - step;
    while (unread_end - unread >= step) {
      // The free space at both ends adds up to 2 * step. Reading from the side with less leaves at
      // least `step` on both sides, of which each register but the last leaves the space of one
      // register.
      const bool from_right = ends.right_ - unread_end < unread - ends.left_;
      unread_end -= from_right ? step : 0;
      const std::size_t place = from_right ? unread_end : unread;
      unread += from_right ? 0 : step;
      Registers next;
      for (std::size_t i = 0; i < registers; ++i) next[i] = Vector::load(words + place + i * lanes);
      for (std::size_t i = 0; i < registers; ++i)
        ends.template write<Least, Encode, true>(next[i], lanes);
    }
    const std::size_t rest = unread_end - unread;
    Registers middle;
    std::array<std::size_t, registers> there;
    for (std::size_t i = 0; i < registers; ++i) {
      there[i] = std::min(lanes, rest > i * lanes ? rest - i * lanes : 0);
      middle[i] = Vector::load(words + unread + i * lanes, Vector::low_lanes(there[i]), ends.last_);
    }
    for (std::size_t i = 0; i < registers; ++i)
      ends.template write<Least, Encode, false>(middle[i], there[i]);
    for (const Vector& from : front) ends.template write<Least, Encode, false>(from, lanes);
    for (const Vector& from : back) ends.template write<Least, Encode, false>(from, lanes);
    if constexpr (Least) {
      std::array<Word, lanes> least;
      ends.least_.store(least.data());
      return {ends.left_, *std::min_element(least.begin(), least.end())};
    }
    return {ends.left_, 0};
  }

 private:
  SORTIE_TARGET_UNIT Partition(Word* words, std::size_t n, Word last, const KeyCodec<Word>& codec)
      : words_(words),
        left_(0),
        right_(n),
        last_(Vector::all(last)),
        least_(last_),
        negative_flip_(Vector::all(codec.negative_flip())),
        flip_(Vector::all(codec.flip())) {}

  /// Writes those of the lowest `count` words that are not above `last` from `left_` on, and the
  /// others so that they end at `right_`.
  /// \tparam WholeRegister  whole registers may be written at both places
  template <bool Least, bool Encode, bool WholeRegister>
  SORTIE_INLINE_UNIT void write(Vector from, std::size_t count) {
    if constexpr (Encode) from = from.encoded(negative_flip_, flip_);
    if constexpr (Least) least_ = least_.least(from);
    Bits lesser = from.not_above(last_);
    if constexpr (!WholeRegister)
      lesser = static_cast<Bits>(lesser & ((std::size_t{1} << count) - 1));
    const auto num_lesser = static_cast<std::size_t>(std::popcount(lesser));
    from.template write_parts<WholeRegister>(lesser, num_lesser, count, words_ + left_,
                                             words_ + right_);
    left_ += num_lesser;
    right_ -= count - num_lesser;
  }

  Word* words_;
  std::size_t left_;   ///< end of the words not above `last`
  std::size_t right_;  ///< begin of the others
  Vector last_;
  Vector least_;
  Vector negative_flip_;  ///< as KeyCodec has it
  Vector flip_;
};

template <std::unsigned_integral Word>
class VectorSort {
  using Vector = UnitVector<Word>;
  static constexpr std::size_t lanes = Vector::lanes;

 public:
  SORTIE_TARGET_UNIT static void sort(Word* words, std::size_t n, Word below_key, int depth) {
    static_assert(RegisterSort<Word>::most_words >= Partition<Word>::fewest);
    while (n > RegisterSort<Word>::most_words) {
      if (depth-- == 0) return std::sort(words, words + n);
      const Sample sample = sample_of(words, n);
      const auto key = static_cast<Word>(sample.median & static_cast<Word>(~below_key));
      std::size_t lesser = 0;
      if (sample.least < key) {
        lesser = Partition<Word>::template divide<false>(words, n, key - 1).lesser;
        sort(words, lesser, below_key, depth);
      } else {
        // The pivot may be the least key: then the words with this key come first and need no
        // further sorting.
        const auto found = Partition<Word>::template divide<true>(words, n, key | below_key);
        lesser = found.lesser;
        if (found.least < key) {
          if (lesser == n) {
            // The pivot is the greatest key, and so frequent that the sample has no other.
            n = Partition<Word>::template divide<false>(words, n, key - 1).lesser;
            continue;
          }
          sort(words, lesser, below_key, depth);
        }
      }
      words += lesser;
      n -= lesser;
    }
    // Sorting two registers is as fast as the test.
    const bool may_have_one_key = below_key != 0 && n > 2 * lanes;
    if (!may_have_one_key || !have_one_key(words, n, below_key)) RegisterSort<Word>::sort(words, n);
  }

  template <bool Encode>
  [[nodiscard]] SORTIE_TARGET_UNIT static std::size_t divide(Word* words, std::size_t n,
                                                             const KeyCodec<Word>& codec = {}) {
    std::array<Word, 255> sample;
    const std::size_t stride = n / sample.size();
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const Word word = words[i * stride];
      sample[i] = Encode ? codec.encoded(word) : word;
    }
    sort(sample.data(), sample.size(), 0, 2 * static_cast<int>(std::bit_width(n)));
    const Word pivot = sample[sample.size() / 2];
    const std::size_t divided =
        Partition<Word>::template divide<false, Encode>(words, n, pivot > 0 ? pivot - 1 : 0, codec)
            .lesser;
    if (divided > 0 && (pivot > 0 || divided < n)) return divided;
    if (pivot == 0) return 0;
    const std::size_t equal = Partition<Word>::template divide<false>(words, n, pivot).lesser;
    return equal < n ? equal : 0;
  }

 private:
  /// Least word and median of a sample spread over all words: one register, or four where a better
  /// median saves more time than it costs.
  struct Sample {
    Word least;
    Word median;
  };

  /// Whether all words agree in all bits but those of `below_key`. True of parts with one frequent
  /// key; otherwise the first register mostly disproves it.
  /// \pre n > 0
  [[nodiscard]] SORTIE_TARGET_UNIT static bool have_one_key(const Word* words, std::size_t n,
                                                            Word below_key) {
    const auto last_word = static_cast<Word>(words[0] | below_key);
    const Vector first = Vector::all(last_word - below_key);
    const Vector last = Vector::all(last_word);
    for (std::size_t i = 0; i < n; i += lanes) {
      const Vector from = Vector::load(words + i, Vector::low_lanes(n - i), last);
      if ((first.not_above(from) & from.not_above(last)) != Vector::all_bits) return false;
    }
    return true;
  }

  /// Least number of words for which the sample has four registers.
  static constexpr std::size_t fewest_well_divided = 2048;

  [[nodiscard]] SORTIE_TARGET_UNIT static Sample sample_of(const Word* words, std::size_t n) {
    return n < fewest_well_divided ? sample_rows<1>(words, n) : sample_rows<4>(words, n);
  }
  template <std::size_t Rows>
  [[nodiscard]] SORTIE_TARGET_UNIT static Sample sample_rows(const Word* words, std::size_t n) {
    // Gather offsets of 32-bit words have 31 bits: beyond 2^31 words, only the first ones are
    // sampled.
    constexpr std::size_t farthest = std::size_t{1} << 27;
    const std::size_t stride = std::min((n - Rows) / (lanes - 1), farthest);
    std::array<Vector, Rows> rows;
    for (std::size_t row = 0; row < Rows; ++row)
      rows[row] = Vector::load_strided(words + row, stride);
    RegisterSort<Word>::template sort_rows<Rows>(rows.data());
    std::array<Word, Rows * lanes> sample;
    for (std::size_t row = 0; row < Rows; ++row) rows[row].store(sample.data() + row * lanes);
    return {sample[0], sample[Rows * lanes / 2]};
  }
};
