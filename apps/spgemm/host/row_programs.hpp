// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_unit.hpp"

/// The sums of R * A * P for matrices whose rows repeat, as those of grids do.
namespace sortie::spgemm::host {

/// Numbers the patterns of the rows of a matrix. Rows i and j have the same pattern if their columns
/// less i and less j are equal.
template <Scalar Value, Index Idx>
class RowPatterns {
 public:
  using Matrix = Csr<Value, Idx>;

  /// \return empty if there are more than `most` patterns; `most` is at least 1
  static std::optional<std::vector<std::uint32_t>> numbers(const Matrix& matrix, std::size_t most) {
    const EqualShares shares{static_cast<std::uint64_t>(matrix.rows), worker_threads()};
    std::vector<RowPatterns> parts(shares.count, RowPatterns(matrix));
    std::vector<std::uint32_t> numbers;
    resize_for_overwrite(numbers, matrix.rows);
    for_each_task(shares.count, [&](std::uint64_t part) {
      const auto end = static_cast<std::int64_t>(shares.begin(part + 1));
      for (auto row = static_cast<std::int64_t>(shares.begin(part)); row < end; ++row) {
        numbers[row] = parts[part].number_of(row);
        if (parts[part].firsts_.size() > most) return;
      }
    });
    RowPatterns all(matrix);
    std::vector<std::vector<std::uint32_t>> in_all(shares.count);
    for (std::uint64_t part = 0; part < shares.count; ++part) {
      for (const std::int64_t row : parts[part].firsts_) in_all[part].push_back(all.number_of(row));
      if (std::max(parts[part].firsts_.size(), all.firsts_.size()) > most) return std::nullopt;
    }
    if (shares.count == 1) return numbers;
    for_each_task(shares.count, [&](std::uint64_t part) {
      for (std::uint64_t row = shares.begin(part); row < shares.begin(part + 1); ++row)
        numbers[row] = in_all[part][numbers[row]];
    });
    return numbers;
  }

  explicit RowPatterns(const Matrix& matrix) : matrix_(&matrix) {}

  /// Numbers are given in the order of first calls.
  std::uint32_t number_of(std::int64_t row) {
    if (!firsts_.empty() && same(row, firsts_[last_])) return last_;
    const auto next = static_cast<std::uint32_t>(firsts_.size());
    auto [begin, end] = numbers_.equal_range(hash(row));
    for (; begin != end; ++begin)
      if (same(row, firsts_[begin->second])) return last_ = begin->second;
    numbers_.emplace(hash(row), next);
    firsts_.push_back(row);
    return last_ = next;
  }

  [[nodiscard]] std::size_t size() const { return firsts_.size(); }

 private:
  [[nodiscard]] bool same(std::int64_t row, std::int64_t other) const {
    const std::int64_t* const begins = matrix_->row_ptr.data();
    const std::int64_t length = begins[row + 1] - begins[row];
    if (length != begins[other + 1] - begins[other]) return false;
    const Idx* const columns = matrix_->col_idx.data() + begins[row];
    const Idx* const others = matrix_->col_idx.data() + begins[other];
    const auto shift = static_cast<Idx>(row - other);
    Idx difference = 0;  // without a branch for each column
    for (std::int64_t i = 0; i < length; ++i) difference |= (columns[i] - others[i]) ^ shift;
    return difference == 0;
  }

  [[nodiscard]] std::uint64_t hash(std::int64_t row) const {
    std::uint64_t bits = 0;
    for (std::int64_t i = matrix_->row_ptr[row]; i < matrix_->row_ptr[row + 1]; ++i)
      bits = (bits + static_cast<std::uint64_t>(matrix_->col_idx[i] - row)) * 0x9e3779b97f4a7c15;
    return bits ^ (bits >> 32);
  }

  const Matrix* matrix_;
  std::vector<std::int64_t> firsts_;  ///< first row of each pattern
  std::unordered_multimap<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

/// The steps that compute a row of C = R * A * P, for all rows whose operands have the same structure
/// relative to the first column of the row of R. In the comments, "near" row l of P is one that an
/// entry of R * A multiplies.
template <Index Idx>
struct RowProgram {
  using Place = std::uint16_t;

  std::vector<Idx> rows_a;              ///< column of each entry of R, less the first one
  std::vector<std::uint32_t> patterns;  ///< RowPatterns of these rows of A
  std::vector<Place> near_of_products;  ///< for each product of R * A, the number of its column
  std::vector<Idx> near;                ///< the columns of R * A, ascending, less the first of R
  std::vector<Idx> lengths;             ///< of the near rows of P
  std::vector<Place> places;            ///< in the row of C, of each entry of the near rows of P
  std::vector<std::pair<Idx, Idx>> firsts;  ///< of each place, a near row of P and an entry in it
};

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

/// Loads up to eight numbers of each of eight arrays, and transposes them: lane l of out[i] is element
/// `begin` + i of array l.
SORTIE_INLINE_AVX512 void load_transposed(const double* const (&arrays)[8], std::int64_t begin,
                                          std::int64_t count, __m512d (&out)[8]) {
  constexpr __mmask8 all = 0xFF;  // see ShortRow
  const auto loaded = static_cast<__mmask8>((1U << count) - 1);
  __m512d pairs[8];  // of the numbers of two arrays
  for (int i = 0; i < 8; i += 2) {
    const __m512d first = _mm512_maskz_loadu_pd(loaded, arrays[i] + begin);
    const __m512d second = _mm512_maskz_loadu_pd(loaded, arrays[i + 1] + begin);
    pairs[i] = _mm512_maskz_unpacklo_pd(all, first, second);
    pairs[i + 1] = _mm512_maskz_unpackhi_pd(all, first, second);
  }
  for (int odd = 0; odd < 2; ++odd) {
    const __m512d* const of = pairs + odd;
    const __m512d low_a = _mm512_maskz_shuffle_f64x2(all, of[0], of[2], 0x44);
    const __m512d high_a = _mm512_maskz_shuffle_f64x2(all, of[0], of[2], 0xEE);
    const __m512d low_b = _mm512_maskz_shuffle_f64x2(all, of[4], of[6], 0x44);
    const __m512d high_b = _mm512_maskz_shuffle_f64x2(all, of[4], of[6], 0xEE);
    out[odd] = _mm512_maskz_shuffle_f64x2(all, low_a, low_b, 0x88);
    out[odd + 2] = _mm512_maskz_shuffle_f64x2(all, low_a, low_b, 0xDD);
    out[odd + 4] = _mm512_maskz_shuffle_f64x2(all, high_a, high_b, 0x88);
    out[odd + 6] = _mm512_maskz_shuffle_f64x2(all, high_a, high_b, 0xDD);
  }
}

SORTIE_END_INTRINSICS
#endif

/// Programs of all rows of C. Most rows of a grid share theirs, so that a plan takes no memory for
/// products: a program of the 729 products that aggregates of 27 points have with 27-point rows takes
/// 6 KB. Sums of `lanes` rows with the same program are computed at the same time, since the products of
/// an entry are added one after another: new values on the 27-point 100^3 grid take 30 ms instead of
/// 77 (Zen 5, one thread).
template <Scalar Value, Index Idx>
class RowPrograms {
 public:
  using Matrix = Csr<Value, Idx>;
  using Program = RowProgram<Idx>;

  /// \param offsets    of the products of R * A
  /// \param one_entry  every row of P has exactly one entry: products are added to C one at a time,
  ///                   not as entries of R * A
  /// \param budget     bytes
  /// \return null if the rows repeat too rarely, or the budget is exceeded
  static std::shared_ptr<const RowPrograms> find(const Matrix& r, const Matrix& a, const Matrix& p,
                                                 const std::vector<std::int64_t>& offsets,
                                                 bool one_entry, std::uint64_t budget) {
    if (bytes(r, a, p, offsets.back()) > budget || !repeats(a)) return nullptr;
    const auto patterns = RowPatterns<Value, Idx>::numbers(
        a, static_cast<std::size_t>(a.rows / rows_per_pattern + 1));
    if (!patterns) return nullptr;
    auto all = std::make_shared<RowPrograms>();
    all->one_entry_ = one_entry;
    return all->assign(r, a, p, *patterns, offsets) ? all : nullptr;
  }

  /// Upper bound of the memory of find(), its result and values().
  static std::uint64_t bytes(const Matrix& r, const Matrix& a, const Matrix& p,
                             std::int64_t products) {
    constexpr std::uint64_t of_pattern = 128;  // in a hash table
    constexpr std::uint64_t of_product = 2 * sizeof(Idx) + 2 * sizeof(typename Program::Place);
    return bytes_of({{a.rows, sizeof(std::uint32_t)},
                     {a.rows / rows_per_pattern + 1, of_pattern},
                     {r.rows, sizeof(std::uint32_t) + sizeof(Idx) + sizeof(Run)},
                     {most_steps(products), of_product},
                     {std::max(host_threads(), 1) *
                          (std::min(a.cols, place_limit) + std::min(p.cols, place_limit)),
                      sizeof(Sums)}});
  }

  /// Fills in the structure of C, and makes its values as many.
  void structure(const Matrix& r, const Matrix& p, Matrix& c) const {
    resize_for_overwrite(c.row_ptr, r.rows + 1);
    c.row_ptr[0] = 0;
    for (std::int64_t row = 0; row < r.rows; ++row)
      c.row_ptr[row + 1] =
          c.row_ptr[row] + static_cast<std::int64_t>(programs_[program_of_[row]].firsts.size());
    reserve_large_pages(c.col_idx, c.row_ptr.back());
    reserve_large_pages(c.values, c.row_ptr.back());
    resize_for_overwrite(c.col_idx, c.row_ptr.back());
    resize_for_overwrite(c.values, c.row_ptr.back());
    constexpr std::int64_t rows_per_block = 1 << 12;
    for_each_block_of(r.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        columns_of(programs_[program_of_[row]], r, p, row, c.col_idx.data() + c.row_ptr[row]);
    });
  }

  /// Computes the values of C, with the bits of GalerkinRow.
  void values(const HostContext& context, const Matrix& r, const Matrix& a, const Matrix& p,
              Matrix& c) const {
    one_entry_ ? values<true>(context, r, a, p, c) : values<false>(context, r, a, p, c);
  }

 private:
  template <bool OneEntry>
  void values(const HostContext& context, const Matrix& r, const Matrix& a, const Matrix& p,
              Matrix& c) const {
    const auto workers = host_threads();
    std::vector<Space> spaces(static_cast<std::size_t>(std::max(workers, 1)));
    for (Space& space : spaces) {
      space.sums.resize(most_places_);
      space.near.resize(most_near_);
    }
    std::vector<std::int64_t> numbers(windows_.size());
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    const Operands operands{r, a, p};
    const bool wide = has_vector_code<Value, Idx> && vector_unit() == VectorUnit::avx512;
    for_each_row(context, "galerkin", workers, numbers, [&](int worker, std::int64_t window) {
      for (std::int64_t i = windows_[window]; i < windows_[window + 1]; ++i) {
        const Run& run = runs_[i];
        const Program& program = programs_[run.program];
        for (std::int64_t at = run.begin; at < run.end;) {
          const Idx* const rows = order_.data() + at;
          const std::int64_t left = run.end - at;
          if (wide) {
            if constexpr (has_vector_code<Value, Idx>)
              compute<wide_lanes, OneEntry>(program, rows, left, operands, spaces[worker], c);
            at += wide_lanes;
          } else if (left >= lanes) {
            compute<lanes, OneEntry>(program, rows, left, operands, spaces[worker], c);
            at += lanes;
          } else {
            compute<1, OneEntry>(program, rows, left, operands, spaces[worker], c);
            ++at;
          }
        }
      }
    });
  }

  static constexpr int lanes = 4;
  static constexpr int wide_lanes = 8;  // of AVX-512
  // Rows of A that are prefetched. Into the L2 cache, since so many misses of the L1 cache cannot wait
  // at a time: with it, new values on the 27-point 100^3 grid take 32 instead of 41 ms.
  static constexpr std::int64_t entries_ahead = 12;
  static constexpr int into_l2 = 2;
  static constexpr std::int64_t rows_per_pattern = 16;
  // Rows with the same program are searched in windows of consecutive rows of so many products.
  static constexpr std::int64_t products_per_window = 1 << 18;
  static constexpr std::int64_t rows_per_window = 1 << 14;
  static constexpr std::int64_t place_limit = std::numeric_limits<typename Program::Place>::max();
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Run {  // rows of one program
    std::uint32_t program;
    std::int64_t begin, end;  // in order_
  };
  struct alignas(64) Sums {  // of rows that are computed at the same time
    Sums() { std::fill(std::begin(of), std::end(of), additive_identity<Value>()); }
    Value of[std::max<std::size_t>(wide_lanes, 64 / sizeof(Value))];  // without padding
  };
  struct Space {
    std::vector<Sums> sums;  ///< of each entry of a row of C
    std::vector<Sums> near;  ///< of each entry of a row of R * A; OneEntry: a value of P for it
  };
  struct Operands {
    const Matrix& r;
    const Matrix& a;
    const Matrix& p;
  };

  /// Products and near entries of P of all programs together.
  static std::int64_t most_steps(std::int64_t products) {
    constexpr std::int64_t products_per_step = 16;
    return products / products_per_step;
  }

  /// Guesses from samples whether few patterns have most rows.
  static bool repeats(const Matrix& a) {
    constexpr std::int64_t samples = 16;
    constexpr std::int64_t rows = 256;
    if (a.rows < samples * rows) return false;
    RowPatterns<Value, Idx> patterns(a);
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const std::int64_t first = a.rows / samples * sample;
      for (std::int64_t row = first; row < first + rows; ++row) patterns.number_of(row);
    }
    return static_cast<std::int64_t>(patterns.size()) <= samples * rows / rows_per_pattern;
  }

  static void columns_of(const Program& program, const Matrix& r, const Matrix& p, std::int64_t row,
                         Idx* columns) {
    if (program.firsts.empty()) return;
    const std::int64_t* const rows_p = p.row_ptr.data() + r.col_idx[r.row_ptr[row]];
    for (const auto& [near, entry] : program.firsts) *columns++ = p.col_idx[rows_p[near] + entry];
  }

  /// Whether the program computes the row.
  static bool fits(const Program& program, const Matrix& r, const Matrix& p,
                   const std::vector<std::uint32_t>& patterns, std::int64_t row,
                   std::vector<Idx>& columns) {
    const Idx* const rows_a = r.col_idx.data() + r.row_ptr[row];
    const std::size_t entries = r.row_ptr[row + 1] - r.row_ptr[row];
    if (entries != program.rows_a.size()) return false;
    if (entries == 0) return true;
    const Idx first = rows_a[0];
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < entries; ++i) {
      difference |= static_cast<std::uint64_t>((rows_a[i] - first) ^ program.rows_a[i]) |
                    (patterns[rows_a[i]] ^ program.patterns[i]);
    }
    if (difference != 0) return false;
    const std::int64_t* const rows_p = p.row_ptr.data() + first;
    for (std::size_t i = 0; i < program.near.size(); ++i) {
      const Idx near = program.near[i];
      difference |=
          static_cast<std::uint64_t>((rows_p[near + 1] - rows_p[near]) ^ program.lengths[i]);
    }
    if (difference != 0) return false;
    columns_of(program, r, p, row, columns.data());
    for (std::size_t i = 1; i < program.firsts.size(); ++i)
      if (columns[i] <= columns[i - 1]) return false;
    const typename Program::Place* place = program.places.data();
    for (std::size_t i = 0; i < program.near.size(); ++i) {
      const Idx* const columns_p = p.col_idx.data() + rows_p[program.near[i]];
      for (Idx j = 0; j < program.lengths[i]; ++j)
        difference |= static_cast<std::uint64_t>(columns_p[j] ^ columns[*place++]);
    }
    return difference == 0;
  }

  /// \return empty if places are too large
  static std::optional<Program> program_of(const Operands& operands,
                                           const std::vector<std::uint32_t>& patterns,
                                           std::int64_t row) {
    const auto& [r, a, p] = operands;
    Program program;
    const std::int64_t begin = r.row_ptr[row];
    const std::int64_t end = r.row_ptr[row + 1];
    if (begin == end) return program;
    const Idx first = r.col_idx[begin];
    std::vector<Idx> near;
    for (std::int64_t i = begin; i < end; ++i) {
      const Idx k = r.col_idx[i];
      program.rows_a.push_back(k - first);
      program.patterns.push_back(patterns[k]);
      near.insert(near.end(), a.col_idx.begin() + a.row_ptr[k],
                  a.col_idx.begin() + a.row_ptr[k + 1]);
    }
    const std::vector<Idx> of_products = near;
    const auto make_set = [](std::vector<Idx>& numbers) {
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    };
    make_set(near);
    std::vector<Idx> columns;
    for (const Idx l : near)
      columns.insert(columns.end(), p.col_idx.begin() + p.row_ptr[l],
                     p.col_idx.begin() + p.row_ptr[l + 1]);
    make_set(columns);
    if (std::max(near.size(), columns.size()) > place_limit) return std::nullopt;
    const auto place_in = [](const std::vector<Idx>& numbers, Idx number) {
      return static_cast<typename Program::Place>(
          std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
    };
    for (const Idx l : of_products) program.near_of_products.push_back(place_in(near, l));
    program.firsts.resize(columns.size(), {0, Idx{-1}});
    for (const Idx l : near) {
      program.near.push_back(l - first);
      program.lengths.push_back(static_cast<Idx>(p.row_ptr[l + 1] - p.row_ptr[l]));
      for (Idx j = 0; j < program.lengths.back(); ++j) {
        program.places.push_back(place_in(columns, p.col_idx[p.row_ptr[l] + j]));
        auto& of_place = program.firsts[program.places.back()];
        if (of_place.second < 0) of_place = {program.near.back(), j};
      }
    }
    return program;
  }

  /// The programs of consecutive rows.
  struct Part {
    std::vector<Program> programs;
    bool failed = false;
  };

  /// Finds the program of each row. \return false if there are too many
  bool assign(const Matrix& r, const Matrix& a, const Matrix& p,
              const std::vector<std::uint32_t>& patterns,
              const std::vector<std::int64_t>& offsets) {
    resize_for_overwrite(program_of_, r.rows);
    // Each share finds the programs of its rows anew.
    constexpr std::uint64_t least_rows = 256;
    const auto rows = static_cast<std::uint64_t>(r.rows);
    const EqualShares shares{rows,
                             std::min<std::uint64_t>(worker_threads(), rows / least_rows + 1)};
    std::vector<Part> parts(shares.count);
    const Operands operands{r, a, p};
    for_each_task(shares.count, [&](std::uint64_t number) {
      Part& part = parts[number];
      const auto begin = static_cast<std::int64_t>(shares.begin(number));
      const auto end = static_cast<std::int64_t>(shares.begin(number + 1));
      const std::int64_t most = most_steps(offsets[end] - offsets[begin]);
      part.failed = !assign_rows(operands, patterns, begin, end, most, part.programs);
    });
    for (std::uint64_t number = 0; number < shares.count; ++number) {
      Part& part = parts[number];
      if (part.failed) return false;
      const auto before = static_cast<std::uint32_t>(programs_.size());
      for (std::uint64_t row = shares.begin(number); row < shares.begin(number + 1); ++row)
        program_of_[row] += before;
      std::move(part.programs.begin(), part.programs.end(), std::back_inserter(programs_));
    }
    for (const Program& program : programs_) {
      most_places_ = std::max(most_places_, program.firsts.size());
      most_near_ = std::max(most_near_, program.near.size());
    }
    gather_runs(cut_rows(offsets, products_per_window, rows_per_window));
    return true;
  }

  /// Finds the programs of rows begin .. end - 1, numbered from 0.
  bool assign_rows(const Operands& operands, const std::vector<std::uint32_t>& patterns,
                   std::int64_t begin, std::int64_t end, std::int64_t steps_left,
                   std::vector<Program>& programs) {
    const Matrix& r = operands.r;
    std::unordered_multimap<std::uint64_t, std::uint32_t> numbers;
    std::vector<Idx> columns;
    std::uint32_t last = none;
    const auto fits_row = [&](std::uint32_t number, std::int64_t row) {
      return fits(programs[number], r, operands.p, patterns, row, columns);
    };
    for (std::int64_t row = begin; row < end; ++row) {
      if (last == none || !fits_row(last, row)) {
        std::uint64_t hash = 0;
        for (std::int64_t i = r.row_ptr[row]; i < r.row_ptr[row + 1]; ++i) {
          const Idx k = r.col_idx[i];
          hash = (hash + static_cast<std::uint64_t>(k - r.col_idx[r.row_ptr[row]])) *
                     0x9e3779b97f4a7c15 +
                 patterns[k];
        }
        auto [found, found_end] = numbers.equal_range(hash ^= hash >> 32);
        while (found != found_end && !fits_row(found->second, row)) ++found;
        if (found != found_end) {
          last = found->second;
        } else {
          std::optional<Program> program = program_of(operands, patterns, row);
          if (!program) return false;
          steps_left -=
              static_cast<std::int64_t>(program->near_of_products.size() + program->places.size());
          if (steps_left < 0) return false;
          last = static_cast<std::uint32_t>(programs.size());
          numbers.emplace(hash, last);
          columns.resize(std::max(columns.size(), program->firsts.size()));
          programs.push_back(std::move(*program));
        }
      }
      program_of_[row] = last;
    }
    return true;
  }

  /// Orders the rows of each window by their programs.
  void gather_runs(const std::vector<std::int64_t>& cuts) {
    resize_for_overwrite(order_, cuts.back());
    std::vector<std::vector<Run>> runs(cuts.size() - 1);
    for_each_task(runs.size(), [&](std::uint64_t window) {
      const std::int64_t begin = cuts[window];
      const std::int64_t end = cuts[window + 1];
      std::iota(order_.begin() + begin, order_.begin() + end, static_cast<Idx>(begin));
      std::stable_sort(order_.begin() + begin, order_.begin() + end,
                       [&](Idx x, Idx y) { return program_of_[x] < program_of_[y]; });
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint32_t program = program_of_[order_[i]];
        if (i == begin || program != runs[window].back().program)
          runs[window].push_back({program, i, i});
        ++runs[window].back().end;
      }
    });
    windows_.push_back(0);
    for (const std::vector<Run>& of_window : runs) {
      runs_.insert(runs_.end(), of_window.begin(), of_window.end());
      windows_.push_back(static_cast<std::int64_t>(runs_.size()));
    }
  }

  /// What the rows of C that are computed at the same time begin with.
  template <int Lanes>
  struct Tile {
    const Value* values_r[Lanes];
    const std::int64_t* rows_a[Lanes];
    const std::int64_t* next_a[Lanes];  ///< of the next rows
    const std::int64_t* rows_p[Lanes];
    const std::int64_t* next_p[Lanes];

    Tile(const Operands& operands, const Idx* rows, std::int64_t count, std::int64_t left) {
      const auto& [r, a, p] = operands;
      for (std::int64_t lane = 0; lane < Lanes; ++lane) {
        const std::int64_t begin = r.row_ptr[rows[lane < count ? lane : 0]];
        const std::int64_t next = r.row_ptr[rows[lane + Lanes < left ? lane + Lanes : 0]];
        values_r[lane] = r.values.data() + begin;
        rows_a[lane] = a.row_ptr.data() + r.col_idx[begin];
        next_a[lane] = a.row_ptr.data() + r.col_idx[next];
        rows_p[lane] = p.row_ptr.data() + r.col_idx[begin];
        next_p[lane] = p.row_ptr.data() + r.col_idx[next];
      }
    }

    /// Finds row i of A in the program for each lane, and prefetches later ones.
    [[gnu::always_inline]] void find_rows(const Program& program, const Matrix& a, std::int64_t i,
                                          const Value* (&values_a)[Lanes]) const {
      const auto entries = static_cast<std::int64_t>(program.rows_a.size());
      const Idx row_a = program.rows_a[i];
      const bool in_next = i + entries_ahead >= entries;
      const Idx ahead = program.rows_a[in_next ? (i + entries_ahead) % entries : i + entries_ahead];
      const std::int64_t length = rows_a[0][row_a + 1] - rows_a[0][row_a];
      for (int lane = 0; lane < Lanes; ++lane) {
        values_a[lane] = a.values.data() + rows_a[lane][row_a];
        if (lane % 3 == 0) __builtin_prefetch(next_a[lane] + row_a, 0, into_l2);
        const Value* const fetched = a.values.data() + (in_next ? next_a : rows_a)[lane][ahead];
        for (std::int64_t j = 0; j < length; j += 64 / sizeof(Value))
          __builtin_prefetch(fetched + j, 0, into_l2);
      }
    }
  };

  /// Computes the values of up to Lanes rows of C.
  /// \param left  rows from here on that the program computes
  template <int Lanes, bool OneEntry>
  void compute(const Program& program, const Idx* rows, std::int64_t left, const Operands& operands,
               Space& space, Matrix& c) const {
    const std::int64_t count = std::min<std::int64_t>(Lanes, left);
    if (program.rows_a.empty()) return;
    const Tile<Lanes> tile(operands, rows, count, left);
    if constexpr (Lanes == wide_lanes) {
      this->template add_wide<OneEntry>(program, tile, operands, space);
    } else {
      add<Lanes, OneEntry>(program, tile, operands, space);
    }
    Value* const sums = space.sums.data()->of;
    const auto columns = static_cast<std::int64_t>(program.firsts.size());
    for (std::int64_t lane = 0; lane < count; ++lane) {
      Value* const to = c.values.data() + c.row_ptr[rows[lane]];
      for (std::int64_t i = 0; i < columns; ++i) to[i] = sums[i * Lanes + lane];
    }
    std::fill_n(sums, columns * Lanes, additive_identity<Value>());
  }

  /// Adds the products of Lanes rows to their sums.
  template <int Lanes, bool OneEntry>
  void add(const Program& program, const Tile<Lanes>& tile, const Operands& operands,
           Space& space) const {
    const auto& [r, a, p] = operands;
    Value* __restrict const sums = space.sums.data()->of;
    Value* __restrict const near = space.near.data()->of;
    const auto near_rows = static_cast<std::int64_t>(program.near.size());
    const typename Program::Place* place = program.places.data();
    const typename Program::Place* product = program.near_of_products.data();
    if constexpr (OneEntry) {
      for (std::int64_t i = 0; i < near_rows; ++i)
        for (int lane = 0; lane < Lanes; ++lane)
          near[i * Lanes + lane] = p.values[tile.rows_p[lane][program.near[i]]];
    }
    for (std::size_t i = 0; i < program.rows_a.size(); ++i) {
      const std::int64_t* const row_a = tile.rows_a[0] + program.rows_a[i];
      const Value* values_a[Lanes];
      tile.find_rows(program, a, static_cast<std::int64_t>(i), values_a);
      for (std::int64_t j = 0; j < row_a[1] - row_a[0]; ++j, ++product) {
        const std::int64_t of_near = std::int64_t{*product} * Lanes;
        for (int lane = 0; lane < Lanes; ++lane) {
          const Value term = tile.values_r[lane][i] * values_a[lane][j];
          if constexpr (OneEntry) {
            sums[std::int64_t{place[*product]} * Lanes + lane] += term * near[of_near + lane];
          } else {
            near[of_near + lane] += term;
          }
        }
      }
    }
    if constexpr (!OneEntry) {
      for (std::int64_t i = 0; i < near_rows; ++i) {
        for (Idx j = 0; j < program.lengths[i]; ++j, ++place) {
          for (int lane = 0; lane < Lanes; ++lane) {
            sums[std::int64_t{*place} * Lanes + lane] +=
                near[i * Lanes + lane] * p.values[tile.rows_p[lane][program.near[i]] + j];
          }
        }
      }
      std::fill_n(near, near_rows * Lanes, additive_identity<Value>());
    }
  }

#ifdef SORTIE_HAVE_VECTOR_UNITS
  /// The same for eight rows in the lanes of a register.
  template <bool OneEntry>
  SORTIE_TARGET_AVX512 void add_wide(const Program& program, const Tile<8>& tile,
                                     const Operands& operands, Space& space) const {
    const auto& [r, a, p] = operands;
    double* const sums = space.sums.data()->of;
    double* const near = space.near.data()->of;
    const auto near_rows = static_cast<std::int64_t>(program.near.size());
    const typename Program::Place* place = program.places.data();
    const typename Program::Place* product = program.near_of_products.data();
    __m512d terms[8];
    if constexpr (OneEntry) {
      const double* values_p[8];
      for (int lane = 0; lane < 8; ++lane) values_p[lane] = p.values.data() + tile.rows_p[lane][0];
      for (std::int64_t i = 0; i < near_rows;) {
        std::int64_t count = 1;  // of consecutive rows of P
        while (count < 8 && i + count < near_rows &&
               program.near[i + count] == program.near[i] + count)
          ++count;
        load_transposed(values_p, program.near[i], count, terms);
        for (int lane = 0; lane < 8; lane += 2)
          __builtin_prefetch(p.values.data() + *tile.next_p[lane] + program.near[i], 0, into_l2);
        for (std::int64_t j = 0; j < count; ++j) _mm512_store_pd(near + 8 * i++, terms[j]);
      }
    }
    for (std::size_t i = 0; i < program.rows_a.size(); ++i) {
      const std::int64_t* const row_a = tile.rows_a[0] + program.rows_a[i];
      const std::int64_t length = row_a[1] - row_a[0];
      const double* values_a[8];
      tile.find_rows(program, a, static_cast<std::int64_t>(i), values_a);
      alignas(64) double of_r[8];
      for (int lane = 0; lane < 8; ++lane) of_r[lane] = tile.values_r[lane][i];
      const __m512d factors = _mm512_load_pd(of_r);
      for (std::int64_t j = 0; j < length; j += 8) {
        const std::int64_t steps = std::min<std::int64_t>(8, length - j);
        load_transposed(values_a, j, steps, terms);
        for (std::int64_t step = 0; step < steps; ++step) {
          const std::int64_t of_near = *product++;
          const __m512d term = _mm512_mul_pd(factors, terms[step]);
          if constexpr (OneEntry) {
            double* const to = sums + std::int64_t{place[of_near]} * 8;
            const __m512d of_p = _mm512_load_pd(near + of_near * 8);
            _mm512_store_pd(to, _mm512_add_pd(_mm512_load_pd(to), _mm512_mul_pd(term, of_p)));
          } else {
            double* const to = near + of_near * 8;
            _mm512_store_pd(to, _mm512_add_pd(_mm512_load_pd(to), term));
          }
        }
      }
    }
    if constexpr (!OneEntry) {
      for (std::int64_t i = 0; i < near_rows; ++i) {
        const double* values_p[8];
        for (int lane = 0; lane < 8; ++lane)
          values_p[lane] = p.values.data() + tile.rows_p[lane][program.near[i]];
        const __m512d factors = _mm512_load_pd(near + i * 8);
        for (std::int64_t j = 0; j < program.lengths[i]; j += 8) {
          const std::int64_t steps = std::min<std::int64_t>(8, program.lengths[i] - j);
          load_transposed(values_p, j, steps, terms);
          for (std::int64_t step = 0; step < steps; ++step) {
            double* const to = sums + std::int64_t{*place++} * 8;
            _mm512_store_pd(to,
                            _mm512_add_pd(_mm512_load_pd(to), _mm512_mul_pd(factors, terms[step])));
          }
        }
      }
      std::fill_n(near, near_rows * 8, additive_identity<double>());
    }
  }
#endif

  bool one_entry_ = false;
  std::vector<Program> programs_;
  std::vector<std::uint32_t> program_of_;  ///< of each row of C
  std::vector<Idx> order_;                 ///< rows of C, window by window, by their programs
  std::vector<Run> runs_;
  std::vector<std::int64_t> windows_;  ///< first run of each window
  std::size_t most_places_ = 0;
  std::size_t most_near_ = 0;
};

}  // namespace sortie::spgemm::host
