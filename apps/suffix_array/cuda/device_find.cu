#include "sortie/apps/suffix_array/cuda/device_find.hpp"

#include "sortie/apps/suffix_array/binary_search.hpp"
#include "sortie/apps/suffix_array/cuda/device_phase.hpp"
#include "sortie/apps/suffix_array/cuda/for_each_item.cuh"
#include "sortie/apps/suffix_array/cuda/pack.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

// Thread i looks for pattern i. Its reads are at random places, so what counts is how many threads
// have one under way: no more than a few registers are held.
template <class Index>
struct FindPattern {
  PatternSearch<Index> search;
  const std::uint8_t* letters;
  const std::uint64_t* begins;
  EntryRange* ranges;

  __device__ void operator()(std::uint64_t i) const {
    ranges[i] = search(letters + begins[i], begins[i + 1] - begins[i]);
  }
};

}  // namespace

template <Position Index>
DeviceBuffer<EntryRange> find_on_device(const Context& context, const DeviceText& text,
                                        std::span<const Index> suffixes,
                                        const PatternView& patterns) {
  const std::uint64_t size = text.symbols.size();
  const std::uint64_t wanted = patterns.size() * sizeof(EntryRange) + size / 8;
  const std::uint64_t budget = device_memory_budget(context);
  if (wanted > budget) throw out_of_memory_error("the suffix array query", wanted, budget);
  DevicePhase phase(context, "query", patterns.letters.size());
  const DeviceBuffer<std::uint32_t> separator_bits = mark_separators(text, context.stream);
  DeviceBuffer<EntryRange> ranges(patterns.size(), context.stream);
  for_each_item<std::uint64_t>(patterns.size(),
                               FindPattern<Index>{{text.symbols.data(), suffixes.data(),
                                                   RecordEnds{separator_bits.data(), size}},
                                                  patterns.letters.data(),
                                                  patterns.begins.data(),
                                                  ranges.data()},
                               context.stream);
  phase.finish();
  return ranges;
}

template DeviceBuffer<EntryRange> find_on_device(const Context&, const DeviceText&,
                                                 std::span<const std::uint32_t>,
                                                 const PatternView&);
template DeviceBuffer<EntryRange> find_on_device(const Context&, const DeviceText&,
                                                 std::span<const std::uint64_t>,
                                                 const PatternView&);

}  // namespace sortie::suffix_array::cuda
