// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"

/// Products with a mask, over a semiring, of which only some entries are kept.
namespace sortie::spgemm {

/// Addition and multiplication of a product. The name gives the addition first.
///
/// | semiring   | sum of products                | product of x and y  | types                    |
/// |------------|--------------------------------|---------------------|--------------------------|
/// | plus_times | sum; bool: or                  | x * y; bool: and    | all                      |
/// | plus_pair  | number of products; bool: or   | 1                   | all                      |
/// | min_plus   | least                          | x + y               | all but bool and complex |
/// | max_plus   | greatest                       | x + y               | all but bool and complex |
/// | max_times  | greatest                       | x * y               | all but bool and complex |
/// | or_and     | 1 if a product is 1            | 1 if x, y are not 0 | all                      |
/// | any_pair   | 1                              | 1                   | all                      |
///
/// Integers wrap around. Least and greatest ignore NaN, unless all products are NaN. Products and
/// sums of Float16 and BFloat16 are computed in float. Each sum is rounded once, to the type of A
/// and B as in cuSPARSE and PyTorch: for sums in float, convert A and B.
enum class Semiring { plus_times, plus_pair, min_plus, max_plus, max_times, or_and, any_pair };

/// "plus-times", "min-plus", ...
[[nodiscard]] SORTIE_API std::string_view name(Semiring semiring);
/// The inverse of name(). \throws Error (usage) unknown name
[[nodiscard]] SORTIE_API Semiring parse_semiring(std::string_view text);
/// All semirings.
[[nodiscard]] SORTIE_API std::span<const Semiring> semirings();
/// Whether the type has the semiring.
template <matrices::Element Value>
[[nodiscard]] SORTIE_API bool has_semiring(Semiring semiring);
/// \throws Error (usage) the type lacks the semiring; names those that it has
template <matrices::Element Value>
SORTIE_API void check_semiring(Semiring semiring);

/// Entries of a row that are kept. The columns of a row stay in order.
struct RowFilter {
  /// The entries of largest absolute value; of equal ones, those of lower columns. NaN counts as
  /// larger than all numbers. At least 1.
  std::optional<std::int64_t> keep_top = {};
  /// Entries whose absolute value is less are left out. NaN is kept. At least 0.
  double drop_below = 0;

  [[nodiscard]] bool keeps_all() const { return !keep_top && drop_below == 0; }
};

/// What C = A * B means.
template <matrices::Index Idx>
struct ProductOptions {
  Semiring semiring = Semiring::plus_times;
  /// If set, C has entries only at the positions of the mask, which has the shape of C; with
  /// `complement`, only at other positions. Values of a mask do not count.
  const matrices::Pattern<Idx>* mask = nullptr;
  bool complement = false;
  RowFilter filter = {};  ///< applied to the entries of the product
};

/// \throws Error (usage) keep_top < 1, or drop_below negative or NaN
SORTIE_API void check_filter(const RowFilter& filter);

/// C = A * B with a mask, over a semiring, filtered.
///
/// Value is Float16, BFloat16, float, double, std::complex<float>, std::complex<double>,
/// std::int32_t, std::int64_t or std::uint8_t (a bool). C has an entry wherever a product is, whatever its value. Columns ascend
/// in every row. The result is bitwise reproducible for any number of threads: the products of an
/// entry are added in the order of the entries of A.
///
/// \param context  backend, device, threads, progress; memory budget of the work space; report:
///                 figures "products" and "nnz_c"; phases "structure" (without mask or with its
///                 complement), "values", "filter"
/// \throws Error (input)         shapes of A, B and the mask do not conform
/// \throws Error (usage)         a semiring that Value lacks; as check_filter()
/// \throws Error (unavailable)   CUDA and 2^32 rows, columns or entries of B, or more
/// \throws Error (out_of_memory)
/// Complexity: O(products). With a mask, a row of B is not read but searched for the columns of the
/// row of the mask if these are few: O(min(length of the row, columns * log length)) each. Without
/// one, or with a complement, the structure of A * B is computed first (multiply_structure()).
/// Extra memory on the host: a sum per column and thread, or of the longest row of C if C has far
/// more columns than products. With a mask, a value and a byte for each of its entries. For Float16
/// and BFloat16, copies of A, B and the values of C in float.
/// Source: Gustavson: Two Fast Algorithms for Sparse Matrices (ACM TOMS 1978).
template <matrices::Element Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API matrices::Csr<Value, Idx> multiply(const Context& context,
                                                            const matrices::Csr<Value, Idx>& a,
                                                            const matrices::Csr<Value, Idx>& b,
                                                            const ProductOptions<Idx>& options);

/// New values of C = A * B on an old structure: that of a product over any semiring, with or
/// without mask, before a filter. Values have the bits of multiply().
/// \param c  its values are overwritten. An entry without products becomes the neutral element of
///           the addition
/// \throws Error as multiply()
/// Complexity: O(products).
template <matrices::Element Value, matrices::Index Idx>
SORTIE_API void multiply_values(const Context& context, const matrices::Csr<Value, Idx>& a,
                                const matrices::Csr<Value, Idx>& b, Semiring semiring,
                                matrices::Csr<Value, Idx>& c);

/// Leaves out the entries that the filter does not keep, on the host.
/// \throws Error as check_filter()
/// Complexity: O(nnz). Extra memory: 8 bytes for each entry of the longest row and thread; a copy
/// of the entries that are kept.
template <matrices::Element Value, matrices::Index Idx>
SORTIE_API void filter_rows(const HostContext& context, matrices::Csr<Value, Idx>& c,
                            const RowFilter& filter);

/// Checks C against a plain product, computed row by row with sorted products. Values of a sum of
/// floating-point products may differ by the bound of ProductCheck (spgemm_check.hpp), all others
/// not at all. The filter is not checked: `options.filter` is ignored.
/// \throws Error (check) naming the first row and column that differ, counted from 1
/// Complexity: O(products * log(row products)), on one thread.
template <matrices::Element Value, matrices::Index Idx>
SORTIE_API void check_product(const matrices::Csr<Value, Idx>& a,
                              const matrices::Csr<Value, Idx>& b,
                              const ProductOptions<Idx>& options,
                              const matrices::Csr<Value, Idx>& c);

/// Checks the rows of C against those of the product that it was filtered from, by sorting them.
/// \throws Error (check) naming the first row that differs, counted from 1
/// Complexity: O(nnz * log(row nnz)), on one thread.
template <matrices::Element Value, matrices::Index Idx>
SORTIE_API void check_filtered(const matrices::Csr<Value, Idx>& product, const RowFilter& filter,
                               const matrices::Csr<Value, Idx>& c);

}  // namespace sortie::spgemm
