// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/galerkin.hpp"

/// What galerkin.hpp calls on each backend, for the types of SORTIE_SPGEMM_FOR_EACH_TYPE.
/// \pre the shapes conform
namespace sortie::spgemm {

namespace host {

/// \param programs  if not null, receives what galerkin_values() needs, or null
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] matrices::Csr<Value, Idx> galerkin(
    const HostContext& context, const matrices::Csr<Value, Idx>& r,
    const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& p,
    std::shared_ptr<const RowPrograms<Value, Idx>>* programs);

/// Computes the values of a C that has the structure of R * A * P, with the bits of galerkin().
/// \param programs  those of galerkin(), may be null
template <matrices::Scalar Value, matrices::Index Idx>
void galerkin_values(const HostContext& context, const matrices::Csr<Value, Idx>& r,
                     const matrices::Csr<Value, Idx>& a, const matrices::Csr<Value, Idx>& p,
                     const RowPrograms<Value, Idx>* programs, matrices::Csr<Value, Idx>& c);

template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] WorkSpace galerkin_space(const HostContext& context,
                                       const matrices::Csr<Value, Idx>& r,
                                       const matrices::Csr<Value, Idx>& a,
                                       const matrices::Csr<Value, Idx>& p);

}  // namespace host

namespace cuda {

/// \throws Error (unavailable) the build has no CUDA
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] matrices::Csr<Value, Idx> galerkin(const Context& context,
                                                 const matrices::Csr<Value, Idx>& r,
                                                 const matrices::Csr<Value, Idx>& a,
                                                 const matrices::Csr<Value, Idx>& p);

template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] WorkSpace galerkin_space(const Context& context, const matrices::Csr<Value, Idx>& r,
                                       const matrices::Csr<Value, Idx>& a,
                                       const matrices::Csr<Value, Idx>& p);

}  // namespace cuda

}  // namespace sortie::spgemm
