// The sort of host memory on GPUs: copies shares in, sorts them as chunks, copies them back.

#include <cstddef>
#include <span>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/backend.hpp"
#include "sortie/multisort/cuda/chunk_sort.hpp"
#include "sortie/multisort/plan/shares.hpp"

namespace sortie::multisort {

void sort_on_cuda(const Context& context, const Request& request) {
  const std::vector<int> ordinals = spread_over_gpus(context, request.options.devices);
  const ChunkSort sort = chunk_sort(request.options.algorithm);
  if (request.num_items == 0) return;
  const DeviceGroup group(ordinals, request.options.transport);
  const std::vector<std::uint64_t> sizes = plan::equal_shares(request.num_items, group.size());
  const std::vector<std::uint64_t> begins = plan::begins_of(sizes);
  const auto share = [&](void* array, int bytes, std::size_t device) {
    return std::span<std::byte>(
        static_cast<std::byte*>(array) + begins[device] * static_cast<std::uint64_t>(bytes),
        array == nullptr ? 0 : sizes[device] * static_cast<std::uint64_t>(bytes));
  };
  const int width = key_bytes(request.key_type);

  GroupPhase copy_in(context, group, "copy in");
  std::vector<DeviceBuffer<std::byte>> keys;
  std::vector<DeviceBuffer<std::byte>> values;
  ChunkRequest chunks{{}, request.key_type, request.value_bytes, request.options};
  for (std::size_t d = 0; d < group.size(); ++d) {
    const CurrentDevice current = group.current(d);
    keys.emplace_back(share(request.keys, width, d), group.stream(d));
    values.emplace_back(share(request.values, request.value_bytes, d), group.stream(d));
    chunks.chunks.push_back({keys[d].data(), values[d].data(), sizes[d], group.ordinal(d)});
  }
  copy_in.stop();
  sort(context, group, chunks);
  GroupPhase copy_out(context, group, "copy out");
  for (std::size_t d = 0; d < group.size(); ++d) {
    const CurrentDevice current = group.current(d);
    keys[d].copy_to(share(request.keys, width, d));
    values[d].copy_to(share(request.values, request.value_bytes, d));
  }
  group.synchronise();
  copy_out.stop();
}

}  // namespace sortie::multisort
