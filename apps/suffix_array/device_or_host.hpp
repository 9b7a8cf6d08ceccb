// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array {

/// Calls `on_device` if the backend is CUDA, else `on_host`. If `on_device` runs out of memory,
/// `on_host` is called instead: a suffix array that was built in ranges may not fit in device
/// memory together with its text. The report then has the figure "NAME_on_host" (true). The memory
/// budget is that of the device, so the host may use all free host memory.
/// \param backend  resolved, see resolve_backend()
/// \param on_host  called with the context to use
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
