// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/array.hpp"

sortie_array_view sortie_array_get(const sortie_array* array) {
  return array == nullptr ? sortie_array_view{} : array->view;
}

void sortie_array_destroy(sortie_array* array) {
  delete array;
}
