#pragma once

#include <cstdint>
#include <optional>

#include "sortie/apps/spgemm/host/column_words.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm::host {

/// A and B, and B's columns in such other forms as are worth their memory; all threads share them.
template <matrices::Scalar Value, matrices::Index Idx>
struct RowOperands {
  const matrices::Csr<Value, Idx>& a;
  const matrices::Csr<Value, Idx>& b;
  std::optional<ColumnWords<Idx, std::uint64_t>> words;  ///< B's columns, 64 together
  std::optional<ColumnWords<Idx, std::uint8_t>> eights;  ///< and 8 together
};

}  // namespace sortie::spgemm::host
