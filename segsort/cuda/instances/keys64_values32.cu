#include "sortie/segsort/cuda/launch.cuh"

namespace sortie::segsort {
template cudaError_t launch_sort<std::uint64_t, 4>(const LaunchPlan&,
                                                   const Arguments<std::uint64_t>&,
                                                   const WorkLists&);
}  // namespace sortie::segsort
