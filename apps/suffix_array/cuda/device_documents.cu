#include "sortie/apps/suffix_array/cuda/device_documents.hpp"

#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/cuda/device_phase.hpp"
#include "sortie/apps/suffix_array/cuda/for_each_item.cuh"
#include "sortie/apps/suffix_array/cuda/host_copies.hpp"
#include "sortie/apps/suffix_array/record_search.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

// Thread i owns entry i. The begins near the middle of each bisection are in the L1 cache.
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
                                                std::span<const std::uint64_t> record_begins) {
  if (suffixes.empty()) return {};
  const std::uint64_t wanted = suffixes.size() * sizeof(std::uint32_t);
  const std::uint64_t budget = device_memory_budget(context);
  if (wanted > budget) throw out_of_memory_error("the document array", wanted, budget);
  DevicePhase phase(context, "documents", suffixes.size_bytes() + wanted);
  DeviceBuffer<std::uint32_t> documents(suffixes.size(), context.stream);
  for_each_item<std::uint64_t>(suffixes.size(),
                               FindRecord<Index>{suffixes.data(), record_begins.data(),
                                                 record_begins.size(), documents.data()},
                               context.stream);
  phase.finish();
  return documents;
}

template <Position Pos>
std::vector<std::uint32_t> document_array(const Context& context, std::span<const Pos> suffixes,
                                          std::span<const std::uint64_t> record_begins) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the document array", {}, suffixes);
  const DeviceBuffer<std::uint64_t> begins(record_begins, context.stream);
  return to_host(context, documents_on_device<Pos>(beside(context, inputs.bytes() + begins.bytes()),
                                                   inputs.array(), {begins.data(), begins.size()}));
}

template DeviceBuffer<std::uint32_t> documents_on_device(const Context&,
                                                         std::span<const std::uint32_t>,
                                                         std::span<const std::uint64_t>);
template DeviceBuffer<std::uint32_t> documents_on_device(const Context&,
                                                         std::span<const std::uint64_t>,
                                                         std::span<const std::uint64_t>);
template std::vector<std::uint32_t> document_array(const Context&, std::span<const std::uint32_t>,
                                                   std::span<const std::uint64_t>);
template std::vector<std::uint32_t> document_array(const Context&, std::span<const std::uint64_t>,
                                                   std::span<const std::uint64_t>);

}  // namespace sortie::suffix_array::cuda
