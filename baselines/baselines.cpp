// SPDX-License-Identifier: Apache-2.0
#include "baselines/baselines.hpp"

#include "baselines/spgemm/baselines.hpp"

namespace sortie::baselines {

void register_all() {
  spgemm::baselines::register_all();
  suffix_array::register_baselines();
}

}  // namespace sortie::baselines
