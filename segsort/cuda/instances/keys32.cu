#include "sortie/segsort/cuda/launch.cuh"

namespace sortie::segsort {
template cudaError_t launch_sort<std::uint32_t, 0>(const LaunchPlan&,
                                                   const Arguments<std::uint32_t>&,
                                                   const WorkLists&);
}  // namespace sortie::segsort
