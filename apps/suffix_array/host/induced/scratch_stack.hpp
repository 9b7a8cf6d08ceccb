// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/host_memory.hpp"

namespace sortie::suffix_array::host {

/// Arrays that are taken and given back in the order of a stack, from blocks of memory that have no
/// other use for now. What no block can hold is allocated.
class ScratchStack {
 public:
  explicit ScratchStack(std::array<std::span<std::byte>, 2> blocks)
      : left_{std::span<std::byte>(), blocks[0], blocks[1]} {}

  /// Memory that is taken before that of the blocks, in this scope until the next call.
  void lend(std::span<std::byte> block) { left_[0] = block; }

  /// An array that is not initialised, at the begin of a cache line, until the scope ends in which it
  /// was taken.
  template <class T>
  [[nodiscard]] std::span<T> take(std::uint64_t count) {
    for (std::span<std::byte>& left : left_) {
      void* first = left.data();
      std::size_t bytes = left.size();
      if (std::align(64, count * sizeof(T), first, bytes) == nullptr) continue;
      left = left.last(bytes - count * sizeof(T));
      return {static_cast<T*>(first), count};
    }
    allocated_.push_back(allocate_array<std::byte>(count * sizeof(T)));
    return {reinterpret_cast<T*>(allocated_.back().get()), count};
  }

  /// Gives back what was taken since it was made.
  class Scope {
   public:
    explicit Scope(ScratchStack& stack)
        : stack_(stack), left_(stack.left_), allocated_(stack.allocated_.size()) {}
    ~Scope() {
      stack_.left_ = left_;
      stack_.allocated_.resize(allocated_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ScratchStack& stack_;
    std::array<std::span<std::byte>, 3> left_;
    std::size_t allocated_;
  };

 private:
  std::array<std::span<std::byte>, 3> left_;  ///< of what is lent, and of each block
  std::vector<HostArray<std::byte>> allocated_;
};

}  // namespace sortie::suffix_array::host
