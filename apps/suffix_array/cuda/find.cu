// The host's way to the GPU and back for queries; the search is in device_find.cu.
#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/cuda/device_find.hpp"
#include "sortie/apps/suffix_array/cuda/host_copies.hpp"
#include "sortie/core/cuda/device_scope.hpp"

namespace sortie::suffix_array::cuda {

template <Position Pos>
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the suffix array query", text, suffixes);
  const DeviceBuffer<std::uint8_t> letters(patterns.letters, context.stream);
  const DeviceBuffer<std::uint64_t> begins(patterns.begins, context.stream);
  return to_host(context, find_on_device<Pos>(
                              context, inputs.text(), inputs.array(),
                              {{letters.data(), letters.size()}, {begins.data(), begins.size()}}));
}

template std::vector<EntryRange> find(const Context&, const TextView&,
                                      std::span<const std::uint32_t>, const PatternView&);
template std::vector<EntryRange> find(const Context&, const TextView&,
                                      std::span<const std::uint64_t>, const PatternView&);

}  // namespace sortie::suffix_array::cuda
