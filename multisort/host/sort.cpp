// SPDX-License-Identifier: Apache-2.0

// The array sort on the host. Kokkos threads are the devices.

#include <cstddef>
#include <cstdint>
#include <new>

#include "core/host_memory.hpp"
#include "multisort/backends.hpp"
#include "multisort/host/devices.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

// sort_typed_definition.hpp; CMake generates a source file for each key width.
template <class Key>
void sort_keys_of(const Context& context, const Request& request, std::size_t devices);

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
