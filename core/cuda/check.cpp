// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/check.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sortie/error.hpp"

namespace sortie {

std::string describe(std::source_location where) {
  // The folder is that of the build machine, which is of no use in a message.
  std::string_view file = where.file_name();
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, where.line());
}

void check_cuda(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  // Clears errors that are not sticky, which the next unrelated check would report again.
  static_cast<void>(cudaGetLastError());
  const ErrorKind kind =
      status == cudaErrorMemoryAllocation ? ErrorKind::out_of_memory : ErrorKind::device;
  throw Error(kind,
              fmt::format("{}: found {} ({}), expected the CUDA call to succeed", describe(where),
                          cudaGetErrorName(status), cudaGetErrorString(status)));
}

}  // namespace sortie
