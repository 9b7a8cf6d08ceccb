#pragma once

#include <complex>
#include <cstdint>

/// Internal to matrices: applies MACRO(Value, Idx) to every pair of entry and index type for which
/// the templates of this library are compiled.
#define SORTIE_MATRICES_FOR_EACH_TYPE(MACRO) \
  MACRO(float, std::int32_t)                 \
  MACRO(float, std::int64_t)                 \
  MACRO(double, std::int32_t)                \
  MACRO(double, std::int64_t)                \
  MACRO(std::complex<double>, std::int32_t)  \
  MACRO(std::complex<double>, std::int64_t)
