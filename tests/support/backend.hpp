// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>

#include "sortie/context.hpp"

namespace sortie::test {

/// The backend that this run of the test program is for (SORTIE_TEST_BACKEND, default host).
inline Backend backend() {
  const char* text = std::getenv("SORTIE_TEST_BACKEND");
  return text != nullptr && std::string_view(text) == "cuda" ? Backend::cuda : Backend::host;
}

/// A context on that backend.
inline Context context() {
  Context context;
  context.backend = backend();
  return context;
}

}  // namespace sortie::test
