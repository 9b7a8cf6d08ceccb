// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <type_traits>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::spgemm {

/// Receives the next finished rows of C as a matrix of these rows only. The sink may modify the
/// matrix; every call gets newly computed rows.
template <matrices::Scalar Value, matrices::Index Idx>
using ProductSink = std::function<void(matrices::Csr<Value, Idx>& rows)>;

/// True for the algorithms that return a large C in several chunks: all of Algorithm, but not those
/// that a program has registered.
[[nodiscard]] SORTIE_API bool makes_chunks(Algorithm algorithm);

/// C = A * B, bitwise equal to multiply(), passed to `sink` in chunks of rows from the first row to
/// the last. For a C that is too large for memory:
///
///     MatrixMarketRows<double, std::int32_t> file(context, "C.mtx", a.rows, b.cols);
///     multiply_in_chunks(context, a, b, [&](auto& rows) { file.append(rows); });
///     file.commit();
///
/// A chunk has at least one row and at most as many entries as fit the memory budget. Without a
/// budget the limit is the device memory, or 256 MiB on the host. On CUDA each chunk is copied to
/// the host through page-locked memory. If makes_chunks(algorithm) is false, all of C is one chunk.
///
/// \param context  as multiply(); the budget applies to the work space (on CUDA including the chunk
///                 on the device) and separately to the chunk passed to `sink`
/// \param sink     called from the calling thread, at least once if C has rows; an exception from
///                 it aborts the product
/// \throws Error as multiply()
/// Memory: as multiply(), with a chunk in place of C.
template <matrices::Scalar Value, matrices::Index Idx>
SORTIE_API void multiply_in_chunks(const Context& context, const matrices::Csr<Value, Idx>& a,
                                   const matrices::Csr<Value, Idx>& b,
                                   const std::type_identity_t<ProductSink<Value, Idx>>& sink,
                                   Algorithm algorithm = Algorithm::automatic);

}  // namespace sortie::spgemm
