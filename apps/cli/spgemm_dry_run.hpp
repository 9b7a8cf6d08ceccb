#pragma once

#include "sortie/apps/cli/job.hpp"
#include "sortie/apps/cli/spgemm_operands.hpp"

namespace sortie::cli {

/// `sortie spgemm --dry-run`: shows and reports what the product would take, and multiplies
/// nothing. A product that would not fit its memory is told, not refused.
template <class Value, class Idx>
void show_estimate(Job& job, const SpgemmCommand& command, const Operands<Value, Idx>& operands);

}  // namespace sortie::cli
