#pragma once

#include <cusparse.h>

#include <source_location>
#include <string>

#include "sortie/core/cuda/check.hpp"
#include "sortie/core/error.hpp"

namespace sortie {

/// Throws when a cuSPARSE call failed; the message names the call's place, the error and its text.
/// Lack of memory or of resources becomes ErrorKind::out_of_memory, everything else
/// ErrorKind::device. In a header of its own, so that only its users link cuSPARSE.
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
