// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bindings/c/array.hpp"
#include "bindings/c/context.hpp"
#include "bindings/c/types.hpp"
#include "sortie/sortie.h"

/// Suffix arrays of the C interface, and what is derived from them.
namespace sortie::c {

/// A text and its suffix array, as the functions receive them. \pre checked
struct Indexed {
  const sortie_text& text;
  sortie_type position_type;
  const void* suffixes;
};

/// Results of the calls on device memory, in the order of `stream`.
/// \throws Error (unavailable) in builds without CUDA or without such a device; (out_of_memory, device)
struct DeviceSuffixes {
  const Context& context;
  CUstream_st* stream;

  [[nodiscard]] sortie_array* build(const sortie_text& text, sortie_type position_type) const;
  [[nodiscard]] sortie_array* inverse(sortie_type position_type, const void* suffixes,
                                      std::uint64_t size) const;
  [[nodiscard]] sortie_array* lcp(const Indexed& indexed) const;
  [[nodiscard]] sortie_array* bwt(const Indexed& indexed) const;
  void check(const Indexed& indexed) const;
  void find(const Indexed& indexed, const sortie_patterns& patterns, std::uint64_t* begins,
            std::uint64_t* ends) const;
  [[nodiscard]] sortie_array* locate(const Indexed& indexed, const sortie_patterns& patterns,
                                     std::uint64_t most, std::uint64_t* begins) const;
};

}  // namespace sortie::c
