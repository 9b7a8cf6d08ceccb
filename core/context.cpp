// SPDX-License-Identifier: Apache-2.0
#include "sortie/context.hpp"

#include <fmt/format.h>

#include "sortie/devices.hpp"
#include "sortie/error.hpp"

namespace sortie {

std::string_view name(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::cuda:
      return "cuda";
    case Backend::host:
      return "host";
  }
  throw Error(ErrorKind::usage, fmt::format("no backend has the number {}", int(backend)));
}

Backend resolve_backend(const Context& context) {
  if (context.backend == Backend::host) return Backend::host;
  const int devices = cuda_device_count();
  if (devices == 0) {
    if (context.backend == Backend::automatic) return Backend::host;
    throw Error(ErrorKind::unavailable,
                fmt::format("the cuda backend cannot run: {}", why_no_cuda()));
  }
  if (context.device < 0 || context.device >= devices)
    throw Error(ErrorKind::unavailable,
                fmt::format("found no CUDA device {}, expected a number from 0 to {}",
                            context.device, devices - 1));
  return Backend::cuda;
}

}  // namespace sortie
