// The sort of one array on the host: Kokkos threads are the devices, and run what the plans say.

#include <cstdint>
#include <new>

#include "sortie/core/error.hpp"
#include "sortie/core/host_memory.hpp"
#include "sortie/multisort/host/devices.hpp"
#include "sortie/multisort/host/sort_typed.hpp"

namespace sortie::multisort {

void sort_on_host(const Context& context, const Request& request) {
  const std::size_t devices = start_devices(context, request.options.devices);
  try {
    switch (key_bytes(request.key_type)) {
      case 1:
        return sort_keys_of<std::uint8_t>(context, request, devices);
      case 2:
        return sort_keys_of<std::uint16_t>(context, request, devices);
      case 4:
        return sort_keys_of<std::uint32_t>(context, request, devices);
      default:
        return sort_keys_of<std::uint64_t>(context, request, devices);
    }
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("the plan of the sort", request.num_items, host_memory_available());
  }
}

}  // namespace sortie::multisort
