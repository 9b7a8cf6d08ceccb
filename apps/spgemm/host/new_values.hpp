// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/context.hpp"
#include "sortie/csr.hpp"

namespace sortie::spgemm::host {

/// Computes the values of C = A * B where C has its structure, as multiply() gives it, and its values
/// are overwritten. The sums have the order and the bits of multiply(). Each row is added up in one
/// sum per column of C; only those of the row's columns are read and reset.
///
/// \pre the host runtime is running; columns ascend in every row of A and B
/// \throws Error (out_of_memory) the sums of one thread do not fit the budget
/// Complexity: O(products), on all threads. Extra memory: sizeof(Value) per column of C and thread.
template <matrices::Scalar Value, matrices::Index Idx>
void compute_values(const HostContext& context, const matrices::Csr<Value, Idx>& a,
                    const matrices::Csr<Value, Idx>& b, matrices::Csr<Value, Idx>& c);

}  // namespace sortie::spgemm::host
