// SPDX-License-Identifier: Apache-2.0
#include "papers/papers.hpp"

#include "multisort/backends.hpp"

#ifdef SORTIE_HAVE_CUDA
#include "papers/bitonic/bitonic.hpp"
#include "papers/het/het_sort.hpp"
#include "papers/ics17/sort_ics17.hpp"
#include "papers/rmg/rmg_sort.hpp"
#include "papers/tanasic/tanasic.hpp"
#include "segsort/cuda/device_request.hpp"
#endif
#ifdef SORTIE_PAPERS_HAVE_SUFFIX_ARRAYS
#include "papers/dc3/dc3.hpp"
#include "papers/pdss/pdss.hpp"
#endif

namespace sortie::papers {

void register_all() {
  using multisort::register_algorithm;
#ifdef SORTIE_HAVE_CUDA
  register_algorithm({rmg, "rmg", rmg_sort_chunks, rmg_sort_host});
  register_algorithm({tanasic, "tanasic", tanasic_sort_chunks});
  register_algorithm({het, "het", nullptr, het_sort});
  register_algorithm({bitonic, "bitonic", bitonic_sort_chunks});
  register_algorithm({rmg_repair, "rmg-repair", nullptr, rmg_repair_sort_host});
  segsort::register_policy(ics17, segsort::ics17::sort_on_device);
#else
  register_algorithm({rmg, "rmg"});
  register_algorithm({tanasic, "tanasic"});
  register_algorithm({het, "het"});
  register_algorithm({bitonic, "bitonic"});
  register_algorithm({rmg_repair, "rmg-repair"});
#endif
#ifdef SORTIE_PAPERS_HAVE_SUFFIX_ARRAYS
  suffix_array::register_algorithms({suffix_array::dc3(), suffix_array::pdss()});
#endif
}

}  // namespace sortie::papers
