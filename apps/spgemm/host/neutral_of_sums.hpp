#pragma once

#include <complex>
#include <concepts>

#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm::host {

/// What a sum starts from so that the first product comes out with its own bits: -0.0 + x is x for
/// every x, where +0.0 + -0.0 would lose the sign.
template <matrices::Scalar Value>
[[nodiscard]] constexpr Value neutral_of_sums() {
  if constexpr (std::same_as<Value, std::complex<double>>) {
    return {-0.0, -0.0};
  } else {
    return static_cast<Value>(-0.0);
  }
}

}  // namespace sortie::spgemm::host
