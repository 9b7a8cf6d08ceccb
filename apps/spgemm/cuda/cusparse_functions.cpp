// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/cusparse_functions.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// The library from which functions are taken: the process itself, if cuSPARSE is linked to it.
void* cusparse_library() {
  if (dlsym(RTLD_DEFAULT, "cusparseConstCsrGet") != nullptr) return RTLD_DEFAULT;
  const std::string name = fmt::format("libcusparse.so.{}", CUSPARSE_VER_MAJOR);
  if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr)
    return library;
  throw Error(ErrorKind::unavailable,
              fmt::format("SpGEMM on CUDA: found no cuSPARSE ({}), expected the library of the "
                          "matrix's descriptor",
                          dlerror()));
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM on CUDA: found a cuSPARSE without {}, expected version {}.{}",
                            name, CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR));
}

}  // namespace

const CusparseFunctions& cusparse_functions() {
  static const CusparseFunctions functions = [] {
    void* const library = cusparse_library();
    CusparseFunctions found;
    find(library, "cusparseSpMatGetFormat", found.get_format);
    find(library, "cusparseConstCsrGet", found.get_csr);
    find(library, "cusparseGetErrorName", found.error_name);
    return found;
  }();
  return functions;
}

}  // namespace sortie::spgemm::cuda
