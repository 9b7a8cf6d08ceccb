// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>

/// Internal to matrices: expands MACRO(Value, Idx) for every pair of value and index type for which
/// the templates are instantiated.
#define SORTIE_MATRICES_FOR_EACH_TYPE(MACRO) \
  MACRO(float, std::int32_t)                 \
  MACRO(float, std::int64_t)                 \
  MACRO(double, std::int32_t)                \
  MACRO(double, std::int64_t)                \
  MACRO(std::complex<double>, std::int32_t)  \
  MACRO(std::complex<double>, std::int64_t)
