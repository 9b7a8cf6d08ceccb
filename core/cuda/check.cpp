#include "sortie/core/cuda/check.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sortie/core/error.hpp"

namespace sortie {

std::string describe(std::source_location where) {
  // The folder is the build machine's and of no use to the reader.
  std::string_view file = where.file_name();
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, where.line());
}

void check_cuda(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  // Errors that are not sticky must not show up again in the next unrelated check.
  static_cast<void>(cudaGetLastError());
  const ErrorKind kind =
      status == cudaErrorMemoryAllocation ? ErrorKind::out_of_memory : ErrorKind::device;
  throw Error(kind,
              fmt::format("{}: found {} ({}), expected the CUDA call to succeed", describe(where),
                          cudaGetErrorName(status), cudaGetErrorString(status)));
}

}  // namespace sortie
