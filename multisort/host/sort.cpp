// SPDX-License-Identifier: Apache-2.0

// The array sort on the host. Threads are the devices.

#include <fmt/format.h>

#include <cstddef>
#include <new>

#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "multisort/backends.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

// sort_typed_definition.hpp; CMake generates a source file for each key width.
template <class Key>
void sort_keys_of(const Context& context, const Request& request, std::size_t devices);

std::size_t start_devices(const HostContext& context, int wanted) {
  if (wanted < 0 || wanted > most_devices)
    throw Error(ErrorKind::usage, fmt::format("sort: found {} devices, expected 1 to {}, or 0 for "
                                              "one for each thread",
                                              wanted, most_devices));
  start_host_runtime(context.threads);
  return static_cast<std::size_t>(wanted > 0 ? wanted : host_threads());
}

void sort_on_host(const Context& context, const Request& request) {
  const std::size_t devices = start_devices(context, request.options.devices);
  try {
    with_key_word(key_bytes(request.key_type),
                  [&]<class Word>(Word) { sort_keys_of<Word>(context, request, devices); });
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("the plan of the sort", request.num_items, host_memory_available());
  }
}

}  // namespace sortie::multisort
