#pragma once

#include <functional>
#include <type_traits>

#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/context.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm {

/// Takes the next finished rows of C, as a matrix of these rows alone. It may change them; they are
/// made anew for the next call.
template <matrices::Scalar Value, matrices::Index Idx>
using ProductSink = std::function<void(matrices::Csr<Value, Idx>& rows)>;

/// True for the algorithms that hand C out in several chunks where it is large: automatic, essc and
/// fused on CUDA; automatic, essc and row_wise on the host.
[[nodiscard]] bool makes_chunks(Algorithm algorithm);

/// C = A * B as multiply() makes it, bit for bit, handed out in chunks of rows as they are
/// finished, from the first row to the last, for a C that no memory holds as a whole:
///
///     MatrixMarketRows<double, std::int32_t> file(context, "C.mtx", a.rows, b.cols);
///     multiply_in_chunks(context, a, b, [&](auto& rows) { file.append(rows); });
///     file.commit();
///
/// A chunk has at most as many entries as fit the memory budget, but a row at least; without a
/// budget as many as fit the device, or 256 MiB on the host. On CUDA a chunk leaves the
/// device through page-locked memory before it is handed out. Algorithms that are not among
/// makes_chunks() hand out all of C at once.
///
/// \param context  as multiply(); the budget is for the work space, on CUDA with the chunk on the
///                 device, and once more for the chunk that is handed out
/// \param sink     called at least once where C has rows, from the calling thread; what it throws
///                 ends the product
/// \throws Error as multiply()
/// Memory: as multiply(), with a chunk in place of C.
template <matrices::Scalar Value, matrices::Index Idx>
void multiply_in_chunks(const Context& context, const matrices::Csr<Value, Idx>& a,
                        const matrices::Csr<Value, Idx>& b,
                        const std::type_identity_t<ProductSink<Value, Idx>>& sink,
                        Algorithm algorithm = Algorithm::automatic);

}  // namespace sortie::spgemm
