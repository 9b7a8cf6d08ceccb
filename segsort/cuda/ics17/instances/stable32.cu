#include "sortie/segsort/cuda/ics17/launch.cuh"

namespace sortie::segsort::ics17 {
template cudaError_t launch_sort<Stable32>(const LaunchPlan&, const Arguments<std::uint32_t>&,
                                           const WorkLists&);
}  // namespace sortie::segsort::ics17
