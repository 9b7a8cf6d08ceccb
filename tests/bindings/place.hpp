// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sortie/device_buffer.hpp"
#include "sortie/sortie.h"
#include "tests/support/backend.hpp"

/// Where the arrays of a call of the C interface are, and who works on them.
namespace sortie::test {

struct Place {
  sortie_memory memory = SORTIE_HOST_MEMORY;
  sortie_backend backend = SORTIE_BACKEND_HOST;

  [[nodiscard]] bool is_device() const { return memory == SORTIE_DEVICE_MEMORY; }
};

inline void PrintTo(const Place& place, std::ostream* out) {
  *out << (place.is_device() ? "device memory" : "host memory");
}

/// The places of the backend of this run.
inline std::vector<Place> places() {
  if (backend() == Backend::host) return {{}};
  return {{SORTIE_HOST_MEMORY, SORTIE_BACKEND_CUDA}, {SORTIE_DEVICE_MEMORY, SORTIE_BACKEND_CUDA}};
}

/// A context of the C interface for a place, destroyed at the end.
class CContext {
 public:
  explicit CContext(const Place& place = places().front()) {
    EXPECT_EQ(sortie_set_backend(get(), place.backend), SORTIE_OK);
  }
  [[nodiscard]] sortie_context* get() const { return context_.get(); }
  operator sortie_context*() const { return get(); }
  [[nodiscard]] std::string error() const { return sortie_last_error(get()); }

 private:
  std::unique_ptr<sortie_context, decltype(&sortie_context_destroy)> context_{
      sortie_context_create(), sortie_context_destroy};
};

/// An array at a place.
template <class T>
class PlacedArray {
 public:
  PlacedArray(const Place& place, std::vector<T> items)
      : place_(place), size_(items.size()), host_(std::move(items)) {
#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
    if (place_.is_device()) device_ = DeviceBuffer<T>(std::span<const T>(host_), nullptr);
#endif
  }
  PlacedArray(const Place& place, std::size_t size, const T& poison)
      : PlacedArray(place, std::vector<T>(size, poison)) {}

  [[nodiscard]] T* data() {
#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
    if (place_.is_device()) return device_.data();
#endif
    return host_.data();
  }
  /// The items, in host memory.
  [[nodiscard]] std::vector<T> items() {
#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
    if (place_.is_device()) copy_from_device(device_.data(), host_);
#endif
    return host_;
  }

#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
  static void copy_from_device(const T* device, std::vector<T>& host) {
    if (host.empty()) return;
    detail::copy_to_host(host.data(), device, host.size() * sizeof(T), nullptr);
    wait_for_device();
  }
#endif

 private:
#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
  /// A copy to pageable memory has ended when it returns; to page-locked memory it may not have.
  static void wait_for_device() {}
  DeviceBuffer<T> device_;
#endif
  Place place_;
  std::size_t size_;
  std::vector<T> host_;
};

/// The items of an array of the library, in host memory. Destroys it.
template <class T>
std::vector<T> taken(sortie_array* array) {
  const sortie_array_view view = sortie_array_get(array);
  std::vector<T> items(view.size);
#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
  if (view.memory == SORTIE_DEVICE_MEMORY) {
    PlacedArray<T>::copy_from_device(static_cast<const T*>(view.data), items);
    sortie_array_destroy(array);
    return items;
  }
#endif
  if (!items.empty()) std::memcpy(items.data(), view.data, items.size() * sizeof(T));
  sortie_array_destroy(array);
  return items;
}

}  // namespace sortie::test
