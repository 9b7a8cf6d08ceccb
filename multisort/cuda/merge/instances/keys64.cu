#include "sortie/multisort/cuda/merge/sort_typed.cuh"

namespace sortie::multisort::merge {

void sort_keys64(const Context& context, const DeviceGroup& group, const ChunkRequest& request,
                 Method method) {
  sort_typed<std::uint64_t>(context, group, request, method);
}

}  // namespace sortie::multisort::merge
