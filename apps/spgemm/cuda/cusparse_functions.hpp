// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cusparse.h>

#include <source_location>

#include "core/cuda/check.hpp"
#include "sortie/error.hpp"

namespace sortie {

/// check_cuda() for cuSPARSE. Inline, so that only its users link cuSPARSE.
inline void check_cusparse(cusparseStatus_t status,
                           std::source_location where = std::source_location::current()) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const bool memory =
      status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
  throw Error(memory ? ErrorKind::out_of_memory : ErrorKind::device,
              describe(where) + ": found " + cusparseGetErrorName(status) + " (" +
                  cusparseGetErrorString(status) + "), expected the cuSPARSE call to succeed");
}

}  // namespace sortie

namespace sortie::spgemm::cuda {

/// What is called of cuSPARSE to read the descriptors of its users. Found in the library that the
/// process has loaded when it made the descriptor, so that Sortie is loaded without cuSPARSE.
struct CusparseFunctions {
  decltype(&cusparseSpMatGetFormat) get_format = nullptr;
  decltype(&cusparseConstCsrGet) get_csr = nullptr;
  decltype(&cusparseGetErrorName) error_name = nullptr;
};

/// \throws Error (unavailable) no cuSPARSE is in the process, and none is found
[[nodiscard]] const CusparseFunctions& cusparse_functions();

}  // namespace sortie::spgemm::cuda
