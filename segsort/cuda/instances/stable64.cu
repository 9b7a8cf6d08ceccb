#include "sortie/segsort/cuda/launch.cuh"

namespace sortie::segsort {
template cudaError_t launch_sort<Stable64>(const LaunchPlan&, const Arguments<std::uint64_t>&,
                                           const WorkLists&);
}  // namespace sortie::segsort
