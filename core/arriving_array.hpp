// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sortie {

/// An array in host memory whose copy from a device may not be complete: what is written to a file
/// from its beginning need not wait for its end. Copies share the items.
template <class T>
class ArrivingArray {
 public:
  ArrivingArray() = default;

  /// A complete array.
  explicit ArrivingArray(std::vector<T> array) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(array));
    items_ = *owner;
    owner_ = std::move(owner);
  }

  /// A complete array that the caller owns.
  [[nodiscard]] static ArrivingArray borrowed(std::span<const T> items) {
    return {items, nullptr, {}};
  }

  /// \param items  the memory
  /// \param owner  keeps the memory
  /// \param await  see await()
  ArrivingArray(std::span<const T> items, std::shared_ptr<const void> owner,
                std::function<void(std::uint64_t end)> await)
      : items_(items), owner_(std::move(owner)), await_(std::move(await)) {}

  [[nodiscard]] std::uint64_t size() const { return items_.size(); }
  /// The items, of which those may be read that await() has returned for.
  [[nodiscard]] std::span<const T> items() const { return items_; }
  /// Returns once items [0, end) have been copied. Several threads may call it.
  /// \throws Error (device) the copy failed
  void await(std::uint64_t end) const {
    if (await_) await_(end);
  }

 private:
  std::span<const T> items_;
  std::shared_ptr<const void> owner_;
  std::function<void(std::uint64_t end)> await_;
};

}  // namespace sortie
