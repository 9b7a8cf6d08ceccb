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

// Thread j owns entries gathered * j .. of the transform: it has that many random reads in flight
// at a time, and a warp writes 128 consecutive bytes.
template <class Index>
struct GatherSymbolsBefore {
  const std::uint8_t* symbols;
  std::uint64_t size;
  const Index* suffixes;
  std::uint8_t* transform;  ///< aligned to `gathered` bytes

  __device__ std::uint8_t symbol_before(std::uint64_t i) const {
    const std::uint64_t position = suffixes[i];
    return symbols[(position == 0 ? size : position) - 1];
  }
  __device__ void operator()(std::uint64_t j) const {
    const std::uint64_t first = gathered * j;
    if (first + gathered <= size) {
      uchar4 read;
      read.x = symbol_before(first);
      read.y = symbol_before(first + 1);
      read.z = symbol_before(first + 2);
      read.w = symbol_before(first + 3);
      *reinterpret_cast<uchar4*>(transform + first) = read;
      return;
    }
    for (std::uint64_t i = first; i < size; ++i) transform[i] = symbol_before(i);
  }
};

}  // namespace

template <Position Index>
DeviceBuffer<Index> inverse_on_device(const Context& context, std::span<const Index> suffixes,
                                      CUstream_st* stream) {
  const DeviceCall call(context, stream);
  if (suffixes.empty()) return {};
  require(call, "the inverse suffix array", suffixes.size_bytes());
  WaitingPhase phase(call, "inverse", 2 * suffixes.size_bytes());
  DeviceBuffer<Index> ranks(suffixes.size(), stream);
  for_each_item<Index>(
      suffixes.size(),
      [suffixes = suffixes.data(), ranks = ranks.data()] __device__(Index i) {
        ranks[suffixes[i]] = i;
      },
      stream);
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
  for_each_item<std::uint64_t>(
      (size + gathered - 1) / gathered,
      GatherSymbolsBefore<Index>{text.symbols.data(), size, suffixes.data(), transform.data()},
      stream);
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
  for_each_item<std::uint64_t>(
      suffixes.size(),
      [suffixes = suffixes.data(), begins = record_begins.data(), records = record_begins.size(),
       documents = documents.data()] __device__(std::uint64_t i) {
        documents[i] = record_at(begins, records, suffixes[i]);
      },
      stream);
  phase.stop();
  return documents;
}

SORTIE_INSTANTIATE_FOR_POSITIONS(inverse_on_device);
SORTIE_INSTANTIATE_FOR_POSITIONS(burrows_wheeler_on_device);
SORTIE_INSTANTIATE_FOR_POSITIONS(documents_on_device);

}  // namespace sortie::suffix_array::cuda
