// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace sortie {

/// Divides a caller's temporary storage into consecutive aligned arrays. With a null base it
/// returns null pointers and only adds up the bytes, so both phases of a two-phase call run the
/// same code.
class StorageCarver {
 public:
  /// \param alignment  alignment in bytes of each array relative to `base`, which should have the
  ///                   same alignment
  explicit StorageCarver(void* base, std::size_t alignment = 16)
      : base_(static_cast<char*>(base)), alignment_(alignment) {}

  /// The next array: `count` objects of type T, not constructed.
  template <class T>
  T* take(std::uint64_t count) {
    char* const place = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (count * sizeof(T) + alignment_ - 1) / alignment_ * alignment_;
    return reinterpret_cast<T*>(place);
  }

  /// Bytes taken so far.
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  char* base_;
  std::size_t alignment_;
  std::size_t used_ = 0;
};

}  // namespace sortie
