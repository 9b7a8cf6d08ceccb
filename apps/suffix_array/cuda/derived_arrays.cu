// The host's way to the GPU and back for what follows from a suffix array: text and suffix array
// in, LCP array, transform or inverse out. The algorithms are in device_lcp.cu and
// device_arrays.cu.
#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/cuda/device_arrays.hpp"
#include "sortie/apps/suffix_array/cuda/device_lcp.hpp"
#include "sortie/apps/suffix_array/cuda/device_phase.hpp"
#include "sortie/core/cuda/append_to_host.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// A text and its suffix array, copied to the device.
template <class Pos>
struct Inputs {
  DeviceBuffer<std::uint8_t> symbols;
  DeviceBuffer<std::uint64_t> separators;
  DeviceBuffer<Pos> suffixes;

  Inputs(const Context& context, std::string_view what, const TextView& text,
         std::span<const Pos> array) {
    const std::uint64_t wanted =
        text.symbols.size_bytes() + text.separators.size_bytes() + array.size_bytes();
    const std::uint64_t budget = device_memory_budget(context);
    if (wanted > budget) throw out_of_memory_error(what, wanted, budget);
    DevicePhase copy_in(context, "copy in", wanted);
    symbols = {text.symbols, context.stream};
    separators = {text.separators, context.stream};
    suffixes = {array, context.stream};
    copy_in.finish();
  }
  [[nodiscard]] DeviceText text() const {
    return {{symbols.data(), symbols.size()}, {separators.data(), separators.size()}};
  }
  [[nodiscard]] std::span<const Pos> array() const { return {suffixes.data(), suffixes.size()}; }
};

template <class T>
std::vector<T> to_host(const Context& context, const DeviceBuffer<T>& result) {
  DevicePhase copy_out(context, "copy out", result.bytes());
  std::vector<T> host;
  append_to_host(result.data(), result.size(), host, context.stream);
  copy_out.finish();
  return host;
}

}  // namespace

template <Position Pos>
std::vector<Pos> invert(const Context& context, std::span<const Pos> suffixes) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the inverse suffix array", {}, suffixes);
  return to_host(context, inverse_on_device<Pos>(context, inputs.array()));
}

template <Position Pos>
std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the LCP array", text, suffixes);
  return to_host(context, lcp_on_device<Pos>(context, inputs.text(), inputs.array()));
}

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the Burrows-Wheeler transform", text, suffixes);
  return to_host(context, burrows_wheeler_on_device<Pos>(context, inputs.text(), inputs.array()));
}

template std::vector<std::uint32_t> invert(const Context&, std::span<const std::uint32_t>);
template std::vector<std::uint64_t> invert(const Context&, std::span<const std::uint64_t>);
template std::vector<std::uint32_t> lcp_array(const Context&, const TextView&,
                                              std::span<const std::uint32_t>);
template std::vector<std::uint64_t> lcp_array(const Context&, const TextView&,
                                              std::span<const std::uint64_t>);
template std::vector<std::uint8_t> burrows_wheeler_transform(const Context&, const TextView&,
                                                             std::span<const std::uint32_t>);
template std::vector<std::uint8_t> burrows_wheeler_transform(const Context&, const TextView&,
                                                             std::span<const std::uint64_t>);

}  // namespace sortie::suffix_array::cuda
