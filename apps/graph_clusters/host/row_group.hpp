// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "apps/graph_clusters/markov.hpp"
#include "core/host_memory.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/host/sort_segment.hpp"

namespace sortie::graphs::host {

struct Entry {
  std::int32_t column;
  float value;
};

/// A row of an iterand; columns ascend.
struct Row {
  const Entry* entries = nullptr;
  std::int64_t size = 0;
};

/// Rows that are computed together.
inline constexpr int lanes = 8;

/// A value of each row of a group.
struct alignas(64) Lanes {
  double of[lanes];
};

/// Columns of a byte of the summary of marks.
inline constexpr std::size_t columns_per_line = 512;

/// Adds factors.of[l] * value to lane l of the sums of every entry of a row, and marks its column.
template <bool Summarised>
[[gnu::always_inline]] inline void add_row_lanes(const Entry* entries, std::int64_t size,
                                                 Lanes factors, Lanes* sums, std::uint8_t* marks,
                                                 std::uint8_t* lines) {
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t column = entries[i].column;
    const auto value = static_cast<double>(entries[i].value);
    Lanes& sum = sums[column];
    for (int l = 0; l < lanes; ++l) sum.of[l] += factors.of[l] * value;
    marks[column] = 1;
    if constexpr (Summarised) lines[static_cast<std::size_t>(column) / columns_per_line] = 1;
  }
}
#ifdef SORTIE_HAVE_VECTOR_UNITS
template <bool Summarised>
SORTIE_TARGET_AVX2 void add_row_avx2(const Entry* entries, std::int64_t size, const Lanes& factors,
                                     Lanes* sums, std::uint8_t* marks, std::uint8_t* lines) {
  const __m256d low = _mm256_load_pd(factors.of);
  const __m256d high = _mm256_load_pd(factors.of + 4);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t column = entries[i].column;
    double* const sum = sums[column].of;
    const __m256d value = _mm256_set1_pd(static_cast<double>(entries[i].value));
    _mm256_store_pd(sum, _mm256_add_pd(_mm256_load_pd(sum), _mm256_mul_pd(low, value)));
    _mm256_store_pd(sum + 4, _mm256_add_pd(_mm256_load_pd(sum + 4), _mm256_mul_pd(high, value)));
    marks[column] = 1;
    if constexpr (Summarised) lines[static_cast<std::size_t>(column) / columns_per_line] = 1;
  }
}
template <bool Summarised>
SORTIE_TARGET_AVX512 void add_row_avx512(const Entry* entries, std::int64_t size,
                                         const Lanes& factors, Lanes* sums, std::uint8_t* marks,
                                         std::uint8_t* lines) {
  const __m512d mine = _mm512_load_pd(factors.of);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t column = entries[i].column;
    double* const sum = sums[column].of;
    const __m512d value = _mm512_set1_pd(static_cast<double>(entries[i].value));
    _mm512_store_pd(sum, _mm512_add_pd(_mm512_load_pd(sum), _mm512_mul_pd(mine, value)));
    marks[column] = 1;
    if constexpr (Summarised) lines[static_cast<std::size_t>(column) / columns_per_line] = 1;
  }
}
#endif

/// Computes rows of the next iterand, 8 at a time; for one thread.
///
/// An entry (k, column) of the matrix is read once for all rows of the group that have an entry k:
/// it is multiplied by a vector of these entries, and added to a vector of sums. Rows of one
/// cluster have many columns in common, and no sum needs a gather or a scatter. A lane without an
/// entry k adds 0, which changes no sum: each sum receives its products in the order of k, whatever
/// rows are in the group. A sum of doubles, whose products are exact, is rounded to an entry.
///
/// Work space, in order of size:
///   sums_    columns        8 double sums of each column; 0 between groups
///   slots_   columns        int32    index of the factors of a k; -1 between groups
///   marks_   columns        byte     1 for columns with a sum; 0 between groups
///   lines_   columns / 512  byte     1 for lines of marks_ that are not zero; only for groups with
///                                    too few entries to traverse all of marks_
///   columns_ distinct       uint32   columns of the group, ascending
///   kept_    8 * distinct   Entry    of each row
class RowGroup {
 public:
  RowGroup(std::int64_t columns, const ClusterOptions& options)
      : options_(options),
        inflation_{options.inflation},
        unit_(vector_unit()),
        sums_(allocate_array<Lanes>(columns)) {
    std::fill_n(sums_.get(), columns, Lanes{});
    slots_.assign(columns, -1);
    lines_.assign((columns + columns_per_line - 1) / columns_per_line, 0);
    marks_.assign(lines_.size() * columns_per_line, 0);
  }

  /// Bytes of the work space that does not depend on the rows.
  static std::uint64_t bytes(std::int64_t columns) {
    return columns * (sizeof(Lanes) + sizeof(std::int32_t) + sizeof(std::uint8_t));
  }

  /// Computes the rows with these numbers, at most `lanes`.
  /// \param take  called as take(row, entries): std::span<const Entry>, overwritten afterwards
  /// \return the greatest chaos of the rows
  template <class Take>
  double compute(std::span<const Row> matrix, std::span<const std::int32_t> rows,
                 const Take& take) {
    const std::int64_t steps = gather_terms(matrix, rows);
    const bool summarised = std::ssize(lines_) > steps / steps_per_line;
    if (summarised) {
      expand<true>(matrix);
    } else {
      expand<false>(matrix);
    }
    list_columns(summarised);
    prune(static_cast<int>(rows.size()));
    double chaos = 0;
    for (std::size_t l = 0; l < rows.size(); ++l) {
      const std::span<Entry> row = kept(static_cast<int>(l));
      const RowSums sums = sums_of(row);
      chaos = std::max(chaos, sums.chaos());
      take(rows[l], inflate(row, sums));
    }
    for (const std::uint32_t column : columns_) sums_[column] = {};
    return chaos;
  }

  /// Products of the matrix entries so far.
  [[nodiscard]] std::int64_t products() const { return products_; }

 private:
  // Traversing a line of marks takes about as long as setting its byte as often as this.
  static constexpr std::int64_t steps_per_line = 32;
  static constexpr std::size_t rows_ahead = 6;

  /// Transposes the entries of the rows: a vector of factors for each k.
  /// \return vector operations of the expansion
  std::int64_t gather_terms(std::span<const Row> matrix, std::span<const std::int32_t> rows) {
    terms_.clear();
    factors_.clear();
    std::int64_t steps = 0;
    for (std::size_t l = 0; l < rows.size(); ++l) {
      const Row& row = matrix[rows[l]];
      for (std::int64_t i = 0; i < row.size; ++i) {
        const auto [k, value] = row.entries[i];
        if (slots_[k] < 0) {
          slots_[k] = static_cast<std::int32_t>(terms_.size());
          terms_.push_back(k);
          factors_.push_back(Lanes{});
          steps += matrix[k].size;
        }
        factors_[slots_[k]].of[l] = static_cast<double>(value);
        products_ += matrix[k].size;
      }
    }
    scratch_.resize(std::max(scratch_.size(), terms_.size()));
    segsort::sort_segment(terms_.data(), terms_.size(), scratch_.data());
    return steps;
  }

  template <bool Summarised>
  void expand(std::span<const Row> matrix) {
    const std::size_t terms = terms_.size();
    for (std::size_t i = 0; i < terms; ++i) {
      if (i + 2 * rows_ahead < terms) __builtin_prefetch(&matrix[terms_[i + 2 * rows_ahead]]);
      if (i + rows_ahead < terms) {
        const auto* const ahead =
            reinterpret_cast<const char*>(matrix[terms_[i + rows_ahead]].entries);
        for (int line = 0; line < 4; ++line) __builtin_prefetch(ahead + 64 * line);
      }
      const Row& row = matrix[terms_[i]];
      const Lanes& factors = factors_[std::exchange(slots_[terms_[i]], -1)];
#ifdef SORTIE_HAVE_VECTOR_UNITS
      if (unit_ == VectorUnit::avx512) {
        add_row_avx512<Summarised>(row.entries, row.size, factors, sums_.get(), marks_.data(),
                                   lines_.data());
        continue;
      }
      if (unit_ == VectorUnit::avx2) {
        add_row_avx2<Summarised>(row.entries, row.size, factors, sums_.get(), marks_.data(),
                                 lines_.data());
        continue;
      }
#endif
      add_row_lanes<Summarised>(row.entries, row.size, factors, sums_.get(), marks_.data(),
                                lines_.data());
    }
  }

  /// Lists the marked columns and clears the marks.
  void list_columns(bool summarised) {
    columns_.clear();
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      if (summarised && std::exchange(lines_[line], 0) == 0) continue;
      for (std::size_t i = 0; i < columns_per_line; i += 32) {
        const std::size_t first = line * columns_per_line + i;
        for (std::uint32_t left = take_marks(marks_.data() + first); left != 0; left &= left - 1)
          columns_.push_back(static_cast<std::uint32_t>(first + std::countr_zero(left)));
      }
    }
  }

  /// Bits of 32 marks, which are cleared.
  std::uint32_t take_marks(std::uint8_t* marks) const {
#ifdef SORTIE_HAVE_VECTOR_UNITS
    if (unit_ != VectorUnit::baseline) return take_marks_avx2(marks);
#endif
    std::uint32_t bits = 0;
    for (int i = 0; i < 32; ++i) bits |= std::uint32_t{std::exchange(marks[i], 0)} << i;
    return bits;
  }
#ifdef SORTIE_HAVE_VECTOR_UNITS
  SORTIE_TARGET_AVX2 static std::uint32_t take_marks_avx2(std::uint8_t* marks) {
    auto* const at = reinterpret_cast<__m256i*>(marks);
    const __m256i found = _mm256_loadu_si256(at);
    if (_mm256_testz_si256(found, found) != 0) return 0;
    _mm256_storeu_si256(at, _mm256_setzero_si256());
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(found, 7)));
  }
#endif

  /// The kept entries of lane `l`.
  [[nodiscard]] std::span<Entry> kept(int l) {
    return {kept_.data() + l * std::ssize(columns_), kept_sizes_[l]};
  }

  /// Lists the entries of at least `least` of the lanes in `wanted`, a bit each.
  void list_entries(float least, unsigned wanted) {
    const auto stride = std::ssize(columns_);
    for (int l = 0; l < lanes; ++l)
      if ((wanted >> l & 1) != 0) kept_sizes_[l] = 0;
    for (const std::uint32_t column : columns_) {
      const Lanes& sum = sums_[column];
      for (unsigned left = lanes_from(least, sum) & wanted; left != 0; left &= left - 1) {
        const int l = std::countr_zero(left);
        kept_[l * stride + kept_sizes_[l]++] = {static_cast<std::int32_t>(column),
                                                static_cast<float>(sum.of[l])};
      }
    }
  }

  /// Bits of the lanes whose value is at least `least`.
  [[nodiscard]] unsigned lanes_from(float least, const Lanes& sum) const {
#ifdef SORTIE_HAVE_VECTOR_UNITS
    if (unit_ != VectorUnit::baseline) return lanes_from_avx2(least, sum);
#endif
    unsigned bits = 0;
    for (int l = 0; l < lanes; ++l) bits |= static_cast<float>(sum.of[l]) >= least ? 1U << l : 0U;
    return bits;
  }
#ifdef SORTIE_HAVE_VECTOR_UNITS
  SORTIE_TARGET_AVX2 static unsigned lanes_from_avx2(float least, const Lanes& sum) {
    const __m256 values = _mm256_set_m128(_mm256_cvtpd_ps(_mm256_load_pd(sum.of + 4)),
                                          _mm256_cvtpd_ps(_mm256_load_pd(sum.of)));
    return static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_cmp_ps(values, _mm256_set1_ps(least), _CMP_GE_OQ)));
  }
#endif

  /// Lists the entries that are kept after expansion.
  void prune(int rows) {
    const Pruning& rule = options_.pruning;
    if (std::ssize(kept_) < lanes * std::ssize(columns_)) kept_.resize(lanes * columns_.size());
    list_entries(least_expanded(rule), (1U << rows) - 1);
    unsigned recovered = 0;  // lanes whose largest entries take the place of those listed
    std::array<std::int64_t, lanes> most{};
    for (int l = 0; l < rows; ++l) {
      keep_largest(l, rule.keep_top);
      if (std::ssize(kept(l)) >= rule.recover_top) continue;
      double mass = 0;
      for (const Entry& entry : kept(l)) mass += static_cast<double>(entry.value);
      most[l] = mass < rule.recover_below ? rule.recover_top : 1;
      if (mass < rule.recover_below || kept(l).empty()) recovered |= 1U << l;
    }
    if (recovered == 0) return;
    list_entries(std::numeric_limits<float>::denorm_min(), recovered);
    for (unsigned left = recovered; left != 0; left &= left - 1) {
      const int l = std::countr_zero(left);
      keep_largest(l, most[l]);
    }
  }

  /// Keeps the `most` largest entries of lane `l`, and those that equal the last of them, up to
  /// twice as many in all.
  void keep_largest(int l, std::int64_t most) {
    const std::span<Entry> row = kept(l);
    if (std::ssize(row) <= most) return;
    values_.clear();
    for (const Entry& entry : row) values_.push_back(entry.value);
    std::nth_element(values_.begin(), values_.begin() + (most - 1), values_.end(),
                     std::greater<>());
    const float limit = values_[most - 1];
    const auto greater = std::count_if(values_.begin(), values_.begin() + most,
                                       [&](float value) { return value > limit; });
    std::int64_t equal = 2 * most - greater;
    std::size_t left = 0;
    for (const Entry& entry : row) {
      if (entry.value < limit || (entry.value == limit && equal-- <= 0)) continue;
      row[left++] = entry;
    }
    kept_sizes_[l] = left;
  }

  [[nodiscard]] RowSums sums_of(std::span<const Entry> row) const {
    RowSums sums;
    sums.entries = std::ssize(row);
    for (const Entry& entry : row) {
      const auto value = static_cast<double>(entry.value);
      sums.sum += value;
      sums.squares += value * value;
      sums.greatest = std::max(sums.greatest, entry.value);
    }
    for (const Entry& entry : row)
      sums.inflated += static_cast<double>(inflation_(entry.value, sums.greatest));
    return sums;
  }

  /// Inflates a row in place. \return what remains of it
  [[nodiscard]] std::span<const Entry> inflate(std::span<Entry> row, const RowSums& sums) const {
    const auto scale = static_cast<float>(1 / sums.inflated);
    const float least = std::min(least_inflated(options_.pruning),
                                 inflation_(sums.greatest, sums.greatest) * scale);
    std::size_t left = 0;
    for (const Entry& entry : row) {
      const float value = inflation_(entry.value, sums.greatest) * scale;
      row[left] = {entry.column, value};
      left += value >= least ? 1 : 0;
    }
    return row.first(left);
  }

  const ClusterOptions& options_;
  Inflation inflation_;
  VectorUnit unit_;
  HostArray<Lanes> sums_;
  std::vector<std::int32_t> slots_;
  std::vector<std::uint8_t> marks_;
  std::vector<std::uint8_t> lines_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::uint32_t> terms_;  ///< the k of the rows, ascending
  std::vector<std::uint32_t> scratch_;
  std::vector<Lanes> factors_;  ///< by slots_
  std::vector<float> values_;
  std::vector<Entry> kept_;
  std::array<std::size_t, lanes> kept_sizes_;
  std::int64_t products_ = 0;
};

}  // namespace sortie::graphs::host
