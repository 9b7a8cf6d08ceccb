// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/cli/job.hpp"
#include "apps/cli/spgemm/spgemm_operands.hpp"

/// The modes of `sortie spgemm` other than the product as a whole.
namespace sortie::cli {

/// `sortie spgemm --dry-run`: prints and reports the size and the memory requirement of the product
/// without computing it. A product that would not fit in memory is reported, not an error.
template <class Value, class Idx>
void show_estimate(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands);

/// `sortie spgemm --structure-only`: the structure of C, written as a pattern. Frees the values of
/// the operands first.
template <class Value, class Idx>
void multiply_structures(Job& job, const SpgemmCommand& command, Operands<Value, Idx> operands);

/// True if C is written to its file in chunks of rows as they are finished, and never held in
/// memory as a whole: the memory is limited (--max-memory), C may be larger than the limit, the
/// algorithm produces chunks, and the output is a regular file.
template <class Value, class Idx>
[[nodiscard]] bool wants_streaming(const Context& context, const SpgemmCommand& command,
                                   const Operands<Value, Idx>& operands);

/// `sortie spgemm` if wants_streaming(). Drops zeros and verifies rows chunk by chunk; the expected
/// rows of a chunk, which --verify requires, do not count as limited memory. The report contains
/// "streamed" and "chunks" instead of "checksum_c".
/// \throws Error (check) a chunk is wrong; no file is written
template <class Value, class Idx>
void stream_product(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands);

}  // namespace sortie::cli
