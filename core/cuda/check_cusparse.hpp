// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cusparse.h>

#include "core/cuda/check.hpp"
#include "sortie/error.hpp"

namespace sortie {

/// check_cuda() for cuSPARSE. In a header of its own, so that only its users link cuSPARSE.
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
