// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/device_context.hpp"
#include "core/host_runtime.hpp"
#include "core/uninitialised_vector.hpp"
#include "sortie/device_suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// The context with its memory budget, if any, reduced by `held` bytes. Without a budget, the free
/// memory of the device already excludes what is held.
[[nodiscard]] inline Context beside(const Context& context, std::uint64_t held) {
  Context rest = context;
  if (rest.memory_budget != 0) {
    rest.memory_budget = rest.memory_budget > held ? rest.memory_budget - held : 1;
  }
  return rest;
}

/// A text and its suffix array, copied from the host to the device.
template <class Pos>
struct Inputs {
  DeviceBuffer<std::uint8_t> symbols;
  DeviceBuffer<std::uint64_t> separators;
  DeviceBuffer<Pos> suffixes;

  Inputs(const DeviceContext& context, std::string_view what, const TextView& text,
         std::span<const Pos> array) {
    const std::uint64_t wanted =
        text.symbols.size_bytes() + text.separators.size_bytes() + array.size_bytes();
    require(context, what, wanted);
    WaitingPhase copy_in(context, "copy in", wanted);
    const auto copied = [&](auto host) {
      return copied_to_device(host, context.stream, threads_of(context));
    };
    symbols = copied(text.symbols);
    separators = copied(text.separators);
    suffixes = copied(array);
    copy_in.stop();
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return symbols.bytes() + separators.bytes() + suffixes.bytes();
  }
  [[nodiscard]] DeviceText text() const {
    return {{symbols.data(), symbols.size()}, {separators.data(), separators.size()}};
  }
  [[nodiscard]] std::span<const Pos> array() const { return {suffixes.data(), suffixes.size()}; }
};

/// Copies a result to the host. Waits for the stream.
template <class T>
[[nodiscard]] std::vector<T> to_host(const DeviceContext& context, const DeviceBuffer<T>& result) {
  WaitingPhase copy_out(context, "copy out", result.bytes());
  std::vector<T> host;
  resize_for_overwrite(host, static_cast<std::int64_t>(result.size()));
  copy_to_host_in_blocks(std::as_writable_bytes(std::span(host)), result.data(), context.stream,
                         threads_of(context));
  copy_out.stop();
  return host;
}

}  // namespace sortie::suffix_array::cuda
