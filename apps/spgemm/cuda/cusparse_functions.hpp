// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cusparse.h>

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
