// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sortie::suffix_array {

/// Registers the algorithms to which Sortie's suffix arrays are compared (apps/suffix_array/
/// construction.hpp): those of the paper and of other libraries, and the reference of the tests.
/// Called once, from main().
void register_baselines();

}  // namespace sortie::suffix_array
