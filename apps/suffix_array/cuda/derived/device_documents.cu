// SPDX-License-Identifier: Apache-2.0

// The document array: a binary search for each entry.
#include "sortie/device_suffix_array.hpp"

#include "apps/suffix_array/binary_search.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

// Thread i owns entry i. The first steps of all searches read the same begins, which stay in L1.
template <class Index>
struct FindRecord {
  const Index* suffixes;
  const std::uint64_t* begins;
  std::uint64_t records;
  std::uint32_t* documents;

  __device__ void operator()(std::uint64_t i) const {
    documents[i] = record_at(begins, records, suffixes[i]);
  }
};

}  // namespace

template <Position Index>
DeviceBuffer<std::uint32_t> documents_on_device(const Context& context,
                                                std::span<const Index> suffixes,
                                                std::span<const std::uint64_t> record_begins,
                                                CUstream_st* stream) {
  const DeviceCall call(context, stream);
  if (suffixes.empty()) return {};
  const std::uint64_t wanted = suffixes.size() * sizeof(std::uint32_t);
  const std::uint64_t budget = device_memory_budget(call);
  if (wanted > budget) throw out_of_memory_error("the document array", wanted, budget);
  WaitingPhase phase(call, "documents", suffixes.size_bytes() + wanted);
  DeviceBuffer<std::uint32_t> documents(suffixes.size(), stream);
  for_each_item<std::uint64_t>(suffixes.size(),
                               FindRecord<Index>{suffixes.data(), record_begins.data(),
                                                 record_begins.size(), documents.data()},
                               stream);
  phase.stop();
  return documents;
}

template DeviceBuffer<std::uint32_t> documents_on_device(const Context&,
                                                         std::span<const std::uint32_t>,
                                                         std::span<const std::uint64_t>,
                                                         CUstream_st*);
template DeviceBuffer<std::uint32_t> documents_on_device(const Context&,
                                                         std::span<const std::uint64_t>,
                                                         std::span<const std::uint64_t>,
                                                         CUstream_st*);

}  // namespace sortie::suffix_array::cuda
