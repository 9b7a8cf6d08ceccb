// SPDX-License-Identifier: Apache-2.0

// Inverse suffix array, Burrows-Wheeler transform and document array: gathers, scatters and binary
// searches of single items.
#include "apps/suffix_array/cuda/sizes.hpp"
#include "sortie/device_suffix_array.hpp"

#include "apps/suffix_array/binary_search.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// Consecutive entries whose symbols one thread gathers and writes as one word.
constexpr int gathered = 4;

}  // namespace

template <Position Index>
DeviceBuffer<Index> inverse_on_device(const Context& context, std::span<const Index> suffixes,
                                      CUstream_st* stream) {
  const DeviceCall call(context, stream);
  if (suffixes.empty()) return {};
  require(call, "the inverse suffix array", suffixes.size_bytes());
  WaitingPhase phase(call, "inverse", 2 * suffixes.size_bytes());
  DeviceBuffer<Index> ranks(suffixes.size(), stream);
  const auto write_rank = [suffixes = suffixes.data(), ranks = ranks.data()] __device__(Index i) {
    ranks[suffixes[i]] = i;
  };
  for_each_item<Index>(suffixes.size(), write_rank, stream);
  phase.stop();
  return ranks;
}

template <Position Index>
DeviceBuffer<std::uint8_t> burrows_wheeler_on_device(const Context& context, const DeviceText& text,
                                                     std::span<const Index> suffixes,
                                                     CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  if (size == 0) return {};
  require(call, "the Burrows-Wheeler transform", size);
  WaitingPhase phase(call, "bwt", size * (2 + sizeof(Index)));
  DeviceBuffer<std::uint8_t> transform(size, stream);
  // Thread j owns entries gathered * j .. of the transform: it has that many random reads in flight
  // at a time, and a warp writes 128 consecutive bytes.
  const auto gather = [symbols = text.symbols.data(), size, suffixes = suffixes.data(),
                       transform = transform.data()] __device__(std::uint64_t j) {
    const auto symbol_before = [&](std::uint64_t i) {
      const std::uint64_t position = suffixes[i];
      return symbols[(position == 0 ? size : position) - 1];
    };
    const std::uint64_t first = gathered * j;
    if (first + gathered <= size) {
      *reinterpret_cast<uchar4*>(transform + first) =
          uchar4{symbol_before(first), symbol_before(first + 1), symbol_before(first + 2),
                 symbol_before(first + 3)};
      return;
    }
    for (std::uint64_t i = first; i < size; ++i) transform[i] = symbol_before(i);
  };
  for_each_item<std::uint64_t>((size + gathered - 1) / gathered, gather, stream);
  phase.stop();
  return transform;
}

template <Position Index>
DeviceBuffer<std::uint32_t> documents_on_device(const Context& context,
                                                std::span<const Index> suffixes,
                                                std::span<const std::uint64_t> record_begins,
                                                CUstream_st* stream) {
  const DeviceCall call(context, stream);
  if (suffixes.empty()) return {};
  const std::uint64_t wanted = suffixes.size() * sizeof(std::uint32_t);
  require(call, "the document array", wanted);
  WaitingPhase phase(call, "documents", suffixes.size_bytes() + wanted);
  DeviceBuffer<std::uint32_t> documents(suffixes.size(), stream);
  // The first steps of all searches read the same begins, which stay in L1.
  const auto find_record = [suffixes = suffixes.data(), begins = record_begins.data(),
                            records = record_begins.size(),
                            documents = documents.data()] __device__(std::uint64_t i) {
    documents[i] = record_at(begins, records, suffixes[i]);
  };
  for_each_item<std::uint64_t>(suffixes.size(), find_record, stream);
  phase.stop();
  return documents;
}

SORTIE_INSTANTIATE_FOR_POSITIONS(inverse_on_device);
SORTIE_INSTANTIATE_FOR_POSITIONS(burrows_wheeler_on_device);
SORTIE_INSTANTIATE_FOR_POSITIONS(documents_on_device);

}  // namespace sortie::suffix_array::cuda
