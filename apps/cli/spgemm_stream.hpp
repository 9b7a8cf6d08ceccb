#pragma once

#include "sortie/apps/cli/job.hpp"
#include "sortie/apps/cli/spgemm_operands.hpp"

namespace sortie::cli {

/// True where C goes to its file in chunks of rows as they are finished, and is never in memory as
/// a whole: the memory was limited (--max-memory), C may be larger than that, the algorithm makes
/// chunks, and the output is a file that can be gone back in.
template <class Value, class Idx>
[[nodiscard]] bool wants_streaming(const Context& context, const SpgemmCommand& command,
                                   const Operands<Value, Idx>& operands);

/// `sortie spgemm` where wants_streaming(). Zeros are dropped, and rows verified, chunk by chunk;
/// the expected rows of a chunk, which --verify needs, are not counted as limited memory. The
/// report has "streamed" and "chunks" in place of "checksum_c". \throws Error (check) a chunk is
/// wrong: then there is no file
template <class Value, class Idx>
void stream_product(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands);

}  // namespace sortie::cli
