#pragma once

#include <cstdint>
#include <span>

#include "sortie/matrices/csr.hpp"
#include "sortie/matrices/matrix_market.hpp"

/// Internal to matrices: from a list of entries to compressed rows.
namespace sortie::matrices::detail {

/// Entries begin .. end of a list.
struct EntryRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Entries in the order in which they stand in a file. Slots outside of all ranges hold nothing.
template <Scalar Value, Index Idx>
struct EntryList {
  const Idx* rows = nullptr;
  const Idx* cols = nullptr;
  const Value* values = nullptr;       ///< null: every entry is 1
  std::span<const EntryRange> ranges;  ///< ascending; at least one for each part asked for
};

/// Makes compressed rows of a list: a stable counting sort by row, then every row that is not yet
/// in order is sorted by column (stable), then duplicates are summed in list order.
///
/// Work space besides list and result:
///
///   | name       | elements                        | type         | lifetime                     |
///   |------------|---------------------------------|--------------|------------------------------|
///   | positions  | parts * rows                    | int64        | counting and scattering      |
///   | scratch    | nnz, touched for unsorted rows  | (Idx, Value) | sorting, if a row is unsorted|
///   | compressed | nnz without duplicates          | Idx, Value   | summing, if duplicates exist |
///
/// \param symmetry  not general: an entry off the diagonal also yields its mirror image
/// \param parts     into how many pieces the counting sort is cut, each a task of its own; fewer
/// are
///                  taken where positions would need more room than the entries. The result does
///                  not depend on it.
/// \pre indices are inside the matrix
/// Complexity O(entries + rows) plus n log n of every unsorted row.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> assemble_rows(std::int64_t rows, std::int64_t cols,
                                            const EntryList<Value, Idx>& entries, Symmetry symmetry,
                                            int parts);

/// Cuts [0, count) into `pieces` ranges of nearly equal size.
[[nodiscard]] std::vector<EntryRange> even_ranges(std::int64_t count, int pieces);

}  // namespace sortie::matrices::detail
