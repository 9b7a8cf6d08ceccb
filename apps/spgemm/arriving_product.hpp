// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <type_traits>

#include "matrices/rows_view.hpp"
#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::spgemm {

/// Receives the next finished rows of C, whose copy from the device may not be complete.
template <matrices::Scalar Value, matrices::Index Idx>
using ArrivingSink = std::function<void(matrices::ArrivingRows<Value, Idx> rows)>;

/// multiply_in_chunks() that does not wait for the copies to the host: the sink may keep the rows,
/// and format and write them while later rows are computed, or after the return. On the host, and
/// if all of C fits on the device, C is one chunk.
///
/// Memory: as multiply_in_chunks(), with the chunks that the sink keeps. A chunk leaves the device
/// before the next is computed.
template <matrices::Scalar Value, matrices::Index Idx>
void multiply_arriving(const Context& context, const matrices::Csr<Value, Idx>& a,
                       const matrices::Csr<Value, Idx>& b,
                       const std::type_identity_t<ArrivingSink<Value, Idx>>& sink,
                       Algorithm algorithm);

}  // namespace sortie::spgemm
