#pragma once

#include "sortie/apps/cli/job.hpp"
#include "sortie/apps/cli/spgemm_operands.hpp"

namespace sortie::cli {

/// `sortie spgemm --structure-only`: the structure of C, written as a pattern. The values of the
/// operands are let go first.
template <class Value, class Idx>
void multiply_structures(Job& job, const SpgemmCommand& command, Operands<Value, Idx> operands);

}  // namespace sortie::cli
