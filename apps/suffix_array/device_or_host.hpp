// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array {

/// Calls `on_device` if the context's backend is CUDA, else `on_host`; both with the context.
/// \param on_device  a generic lambda, which builds without CUDA do not instantiate: they have no
///                   definition of what it calls
template <class OnDevice, class OnHost>
auto on_backend(const Context& context, [[maybe_unused]] const OnDevice& on_device,
                const OnHost& on_host) {
  [[maybe_unused]] const Backend backend = resolve_backend(context);
#ifdef SORTIE_HAVE_CUDA
  if (backend == Backend::cuda) return on_device(context);
#endif
  return on_host(context);
}

/// The same for an array derived from a suffix array; an empty one gives an empty result. If
/// `on_device` runs out of memory, `on_host` is called instead: a suffix array that was built in
/// ranges may not fit in device memory together with its text. The report then has the figure
/// "NAME_on_host" (true). The memory budget is that of the device, so the host may use all free
/// host memory.
template <class OnDevice, class OnHost>
auto device_or_host(const Context& context, bool is_empty, std::string_view name,
                    const OnDevice& on_device, const OnHost& on_host) {
  using Result = decltype(on_host(context));
  const auto device_first = [&](const auto& here) -> Result {
    try {
      return on_device(here);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
    }
    if (here.report != nullptr) here.report->set(std::string(name) + "_on_host", true);
    Context host = here;
    host.backend = Backend::host;
    host.memory_budget = 0;
    return on_host(host);
  };
  if (is_empty) {
    (void)resolve_backend(context);  // still refuses a backend that cannot run
    return Result();
  }
  return on_backend(context, device_first, on_host);
}

}  // namespace sortie::suffix_array
