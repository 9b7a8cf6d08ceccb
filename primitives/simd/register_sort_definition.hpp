// SPDX-License-Identifier: Apache-2.0

// Definitions of register_sort.hpp, which includes this file once for each vector unit, in the
// namespace of the unit: GCC inlines an intrinsic only into functions compiled for its unit, and the
// attribute that says so cannot depend on a template parameter. The including file defines
// SORTIE_TARGET_UNIT, SORTIE_INLINE_UNIT and the template UnitVector, a register of the unit.

/// Sorts `Rows` rows of one register each by the network: Exchange::exchange(first, second) leaves
/// the lesser words in the first row. No step depends on a word, and all indices are constants, so
/// the rows stay in registers.
template <class Exchange, std::size_t Rows, class Row, std::size_t... I>
SORTIE_INLINE_UNIT void sort_by_network([[maybe_unused]] Row* rows, std::index_sequence<I...>) {
  (Exchange::exchange(rows[comparators<Rows>[I].first], rows[comparators<Rows>[I].second]), ...);
}
template <class Exchange, std::size_t Rows, class Row>
SORTIE_INLINE_UNIT void sort_by_network(Row* rows) {
  // In parentheses, the name is looked up in this namespace only.
  (sort_by_network<Exchange, Rows>)(rows, std::make_index_sequence<count_comparators<Rows>()>());
}

#ifdef SORTIE_HAVE_VECTOR_UNITS

/// Sorts a few words in registers, by a network: no branch depends on a word.
///
/// Words are laid out in up to 16 rows of one register each. More words are split in two halves,
/// which are sorted one after the other and then merged; the registers hold both halves for the
/// merge. First all columns are sorted at once, by Batcher's odd-even merge sort over the rows.
/// Then groups of 1, 2, 4, ... neighbouring columns are merged in pairs by bitonic mergers, so that
/// the words of a group ascend along its first row, then its second, and so on. After the last
/// merge, the rows follow each other in order. (Layout of Google's vqsort: Blacher, Giesen,
/// Sanders, Wassenberg, Vectorized and performance-portable Quicksort, 2022.)
///
/// Not stable: for words in which all bits are compared.
template <std::unsigned_integral Word>
class RegisterSort {
  using Vector = UnitVector<Word>;
  static constexpr std::size_t lanes = Vector::lanes;

 public:
  static constexpr std::size_t most_rows = 16;
  /// Capacity in words: twice as many rows, as two sorted halves are merged.
  static constexpr std::size_t most_words = 2 * most_rows * lanes;

  /// Sorts n <= most_words words.
  SORTIE_TARGET_UNIT static void sort(Word* words, std::size_t n) {
    if (n <= 1) return;
    if (n <= lanes) return sort_in_rows<1>(words, n);
    if (n <= 2 * lanes) return sort_in_rows<2>(words, n);
    if (n <= 4 * lanes) return sort_in_rows<4>(words, n);
    if (n <= 8 * lanes) return sort_in_rows<8>(words, n);
    if (n <= 16 * lanes) return sort_in_rows<16>(words, n);
    constexpr std::size_t half = most_words / 2;
    sort_in_rows<16>(words, half);
    sort(words + half, n - half);
    merge_halves(words, n);
  }

  /// Sorts the words of `Rows` registers; the first register receives the least.
  template <std::size_t Rows>
  SORTIE_INLINE_UNIT static void sort_rows(Vector* rows) {
    (sort_by_network<Vector, Rows>)(rows);
    merge_columns<Rows, 1>(rows);
  }

  /// Merges the words of `Rows` registers whose lower and upper halves are sorted.
  template <std::size_t Rows>
  SORTIE_INLINE_UNIT static void merge_rows(Vector* rows) {
    constexpr int last_lane = static_cast<int>(lanes) - 1;
    std::array<Vector, Rows / 2> descending;
#pragma GCC unroll 8
    for (std::size_t row = 0; row < Rows / 2; ++row)
      descending[row] = rows[Rows - 1 - row].template flipped<last_lane>();
#pragma GCC unroll 8
    for (std::size_t row = 0; row < Rows / 2; ++row) {
      rows[Rows / 2 + row] = descending[row];
      Vector::exchange(rows[row], rows[Rows / 2 + row]);
    }
    merge_bitonic<Rows / 2>(rows);
    merge_bitonic<Rows / 2>(rows + Rows / 2);
  }

 private:
  /// Steps of bitonic mergers that compare different rows. Afterwards, within each group of Flip +
  /// 1 columns, no word of a row exceeds a word of a later row.
  ///
  /// One half of the columns of a group is read in reverse, in rows and in columns, so that both
  /// halves together are bitonic; they remain bitonic after each step.
  template <std::size_t Rows, int Flip>
  SORTIE_INLINE_UNIT static void halve_rows(Vector* rows) {
    if constexpr (Rows > 1) {
      std::array<Vector, Rows> halves;
#pragma GCC unroll 8
      for (std::size_t row = 0; row < Rows / 2; ++row) {
        halves[row] = rows[row];
        halves[Rows / 2 + row] = rows[Rows - 1 - row].template flipped<Flip>();
        Vector::exchange(halves[row], halves[Rows / 2 + row]);
      }
#pragma GCC unroll 16
      for (std::size_t row = 0; row < Rows; ++row) rows[row] = halves[row];
      halve_rows<Rows / 2, Flip>(rows);
      halve_rows<Rows / 2, Flip>(rows + Rows / 2);
    }
  }

  /// Steps that compare lanes of a row: first lane i with lane i ^ Flip, then lanes at half the
  /// distance, a quarter, and so on.
  template <std::size_t Rows, int Flip, int Distance>
  SORTIE_INLINE_UNIT static void halve_lanes(Vector* rows) {
#pragma GCC unroll 16
    for (std::size_t row = 0; row < Rows; ++row)
      rows[row] = rows[row].template ordered<Distance>(rows[row].template flipped<Flip>());
    if constexpr (Distance > 1) halve_lanes<Rows, Distance / 2, Distance / 2>(rows);
  }

  /// Sorts the words of rows that form one bitonic sequence.
  template <std::size_t Rows>
  SORTIE_INLINE_UNIT static void merge_bitonic(Vector* rows) {
    if constexpr (Rows > 1) {
#pragma GCC unroll 8
      for (std::size_t row = 0; row < Rows / 2; ++row)
        Vector::exchange(rows[row], rows[Rows / 2 + row]);
      merge_bitonic<Rows / 2>(rows);
      merge_bitonic<Rows / 2>(rows + Rows / 2);
    } else {
      constexpr int half = static_cast<int>(lanes) / 2;
      halve_lanes<1, half, half>(rows);
    }
  }

  /// Merges sorted groups of `Columns` columns in pairs until one group is left.
  template <std::size_t Rows, int Columns>
  SORTIE_INLINE_UNIT static void merge_columns(Vector* rows) {
    halve_rows<Rows, 2 * Columns - 1>(rows);
    halve_lanes<Rows, 2 * Columns - 1, Columns>(rows);
    if constexpr (2 * Columns < static_cast<int>(lanes)) merge_columns<Rows, 2 * Columns>(rows);
  }

  /// Merges the first most_words / 2 words with the rest; both ranges are sorted.
  SORTIE_TARGET_UNIT static void merge_halves(Word* words, std::size_t n) {
    constexpr int last_lane = static_cast<int>(lanes) - 1;
    const Vector last = Vector::all(std::numeric_limits<Word>::max());
    std::array<Vector, most_rows> lower;
    std::array<Vector, most_rows> upper;
#pragma GCC unroll 16
    for (std::size_t row = 0; row < most_rows; ++row) {
      const std::size_t first = (2 * most_rows - 1 - row) * lanes;
      lower[row] = Vector::load(words + row * lanes);
      upper[row] =
          (first < n ? Vector::load(words + first, Vector::low_lanes(n - first), last) : last)
              .template flipped<last_lane>();
      Vector::exchange(lower[row], upper[row]);
    }
    merge_bitonic<most_rows>(lower.data());
#pragma GCC unroll 16
    for (std::size_t row = 0; row < most_rows; ++row) lower[row].store(words + row * lanes);
    merge_bitonic<most_rows>(upper.data());
#pragma GCC unroll 16
    for (std::size_t row = 0; row < most_rows; ++row) {
      const std::size_t first = (most_rows + row) * lanes;
      if (first < n) upper[row].store(words + first, Vector::low_lanes(n - first));
    }
  }

  template <std::size_t Rows>
  SORTIE_TARGET_UNIT static void sort_in_rows(Word* words, std::size_t n) {
    const Vector last = Vector::all(std::numeric_limits<Word>::max());
    std::array<Vector, Rows> rows;
#pragma GCC unroll 16
    for (std::size_t row = 0; row < Rows; ++row) {
      const std::size_t first = row * lanes;
      rows[row] =
          first < n ? Vector::load(words + first, Vector::low_lanes(n - first), last) : last;
    }
    sort_rows<Rows>(rows.data());
#pragma GCC unroll 16
    for (std::size_t row = 0; row < Rows; ++row) {
      const std::size_t first = row * lanes;
      if (first < n) rows[row].store(words + first, Vector::low_lanes(n - first));
    }
  }
};

#endif
