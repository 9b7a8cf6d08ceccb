// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "baselines/spgemm/baselines.hpp"

namespace sortie::suffix_array {

/// Registers the algorithms to which Sortie's suffix arrays are compared (apps/suffix_array/
/// construction.hpp): that of another library, and the reference of the tests.
void register_baselines();

}  // namespace sortie::suffix_array

namespace sortie::baselines {

/// Makes the baselines of SpGEMM and of suffix arrays known to the library, which then selects them
/// by name. Called first in main(). Those of the sorts are called by the benchmarks directly.
inline void register_all() {
  spgemm::baselines::register_all();
  suffix_array::register_baselines();
}

}  // namespace sortie::baselines
