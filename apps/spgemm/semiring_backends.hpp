// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/semiring_spgemm.hpp"

/// What semiring_spgemm.hpp calls on each backend. The callers check shapes, semiring and filter.
namespace sortie::spgemm {

using matrices::Csr;
using matrices::Element;
using matrices::Index;
using matrices::Pattern;

namespace host {

/// The product without its filter. \pre the host runtime is running
template <Element Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> semiring_product(const HostContext& context, const Csr<Value, Idx>& a,
                                               const Csr<Value, Idx>& b,
                                               const ProductOptions<Idx>& options);

/// multiply_values(). \pre the host runtime is running
template <Element Value, Index Idx>
void semiring_values(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                     Semiring semiring, Csr<Value, Idx>& c);

/// Entries of `structure` that are not in `mask`, which has its shape, on all threads.
template <Index Idx>
[[nodiscard]] Pattern<Idx> without(const Pattern<Idx>& structure, const Pattern<Idx>& mask);

}  // namespace host

namespace cuda {

/// The product with its filter. \throws Error (unavailable) also if the build has no CUDA
template <Element Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> semiring_product(const Context& context, const Csr<Value, Idx>& a,
                                               const Csr<Value, Idx>& b,
                                               const ProductOptions<Idx>& options);

template <Element Value, Index Idx>
void semiring_values(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                     Semiring semiring, Csr<Value, Idx>& c);

}  // namespace cuda

}  // namespace sortie::spgemm

/// Calls `MACRO(Value)` for every type of semiring_spgemm.hpp but those of 16 bits, whose products
/// are computed in float.
#define SORTIE_SEMIRING_FOR_EACH_VALUE(MACRO) \
  MACRO(std::uint8_t)                         \
  MACRO(std::int32_t)                         \
  MACRO(std::int64_t)                         \
  MACRO(float)                                \
  MACRO(double)                               \
  MACRO(std::complex<float>)                  \
  MACRO(std::complex<double>)
#define SORTIE_SEMIRING_FOR_EACH_FLOAT16(MACRO) \
  MACRO(sortie::Float16)                        \
  MACRO(sortie::BFloat16)
