#include "sortie/segsort/cuda/launch.cuh"

namespace sortie::segsort {
template cudaError_t launch_sort<Keys32>(const LaunchPlan&, const Arguments<std::uint32_t>&,
                                         const WorkLists&);
}  // namespace sortie::segsort
