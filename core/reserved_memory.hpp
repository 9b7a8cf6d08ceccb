// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace sortie {

/// Address space for bytes whose number is known later. Pages take memory when they are written, so
/// nothing is moved while the bytes grow, and several threads may fill their parts.
class ReservedMemory {
 public:
  ReservedMemory() = default;
  /// Reserves `most` bytes, in large pages where the system has them. A system that counts
  /// reservations as memory may refuse; then half as much is reserved, and so on.
  explicit ReservedMemory(std::size_t most);
  ~ReservedMemory();
  ReservedMemory(ReservedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ReservedMemory& operator=(ReservedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[nodiscard]] char* data() const { return data_; }
  /// Bytes that are reserved: at most those asked for.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Gives back all but the first bytes. \pre bytes <= size()
  void shrink(std::size_t bytes);

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sortie
