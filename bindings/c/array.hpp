// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bindings/c/types.hpp"
#include "sortie/sortie.h"

struct sortie_array {
  sortie_array_view view{};
  std::shared_ptr<void> owner;  ///< frees the memory of the view
};

namespace sortie::c {

/// An array of host memory.
template <class T>
[[nodiscard]] sortie_array* to_array(std::vector<T> items) {
  auto owner = std::make_shared<std::vector<T>>(std::move(items));
  T* const data = owner->empty() ? nullptr : owner->data();
  return new sortie_array{{data, owner->size(), type_of<T>, SORTIE_HOST_MEMORY, 0},
                          std::move(owner)};
}

}  // namespace sortie::c
