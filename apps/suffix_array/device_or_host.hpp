#pragma once

#include <string>
#include <string_view>

#include "sortie/core/context.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::suffix_array {

/// Calls `on_device` where the context asks for CUDA, else `on_host`. What needs text and suffix
/// array in device memory at a time may not fit where the suffix array itself was made in ranges;
/// then the host does it, and the report says so: figure "NAME_on_host" is true. The memory budget
/// is the device's, so the host may take what is free there.
/// \param backend  resolved, see resolve_backend()
/// \param on_host  called with the context for it
template <class OnDevice, class OnHost>
auto device_or_host(const Context& context, Backend backend, std::string_view name,
                    const OnDevice& on_device, const OnHost& on_host) {
  if (backend != Backend::cuda) return on_host(context);
  try {
    return on_device();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
  }
  if (context.report != nullptr) context.report->set(std::string(name) + "_on_host", true);
  Context host = context;
  host.backend = Backend::host;
  host.memory_budget = 0;
  return on_host(host);
}

}  // namespace sortie::suffix_array
