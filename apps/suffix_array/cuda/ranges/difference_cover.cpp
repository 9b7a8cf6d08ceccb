// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/difference_cover.hpp"

namespace sortie::suffix_array::cuda {

DifferenceCover::DifferenceCover(std::uint32_t order) {
  const std::uint32_t r = order;
  const std::uint32_t period_length = period(order);
  // Distances between neighbours, and the number of times each occurs.
  struct Steps {
    std::uint32_t distance;
    std::uint32_t times;
  };
  const Steps steps[] = {
      {1, r}, {r + 1, 1}, {2 * r + 1, r}, {4 * r + 3, 2 * r + 1}, {2 * r + 2, r + 1}, {1, r}};
  std::uint32_t element = 0;
  elements_.push_back(0);
  for (const Steps& step : steps) {
    for (std::uint32_t i = 0; i < step.times; ++i) {
      element += step.distance;
      elements_.push_back(static_cast<std::uint16_t>(element));
    }
  }

  std::uint16_t smaller = 0;
  for (std::uint32_t residue = 0; residue < period_length; ++residue) {
    places_.push_back(smaller);
    if (smaller < elements_.size() && elements_[smaller] == residue) ++smaller;
  }
  starts_.resize(period_length);
  for (const std::uint16_t from : elements_) {
    for (const std::uint16_t to : elements_) {
      starts_[(to + period_length - from) % period_length] = from;
    }
  }
}

std::uint64_t DifferenceCover::positions_below(std::uint64_t positions) const {
  return positions / period() * elements_.size() + places_[positions % period()];
}

}  // namespace sortie::suffix_array::cuda
