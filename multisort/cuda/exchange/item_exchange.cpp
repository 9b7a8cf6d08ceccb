// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/exchange/item_exchange.hpp"

#include <algorithm>

#include "core/cuda/check.hpp"
#include "core/numa_node.hpp"
#include "multisort/cuda/exchange/host_link.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::multisort {

namespace {

/// Least number of copies from one source at which each source has a thread: their launches then take
/// longer than the start of a thread.
constexpr std::size_t copies_worth_a_thread = 32;

}  // namespace

ItemExchange::~ItemExchange() {
  for (const Staging& staging : staging_)
    for (const Block& block : staging.blocks)
      for (const CudaEvent* event : {&block.emptied, &block.filled})
        if (*event) static_cast<void>(cudaEventSynchronize(event->get()));
}

void ItemExchange::operator()(const std::vector<std::vector<plan::Transfer>>& by_source,
                              std::size_t key_bytes, std::size_t value_bytes,
                              const std::vector<RawItems>& from, const std::vector<RawItems>& to) {
  exchange(by_source, key_bytes, from, to, &RawItems::keys);
  if (value_bytes != 0) exchange(by_source, value_bytes, from, to, &RawItems::values);
}

void ItemExchange::exchange(const std::vector<std::vector<plan::Transfer>>& by_source,
                            std::size_t item_bytes, const std::vector<RawItems>& from,
                            const std::vector<RawItems>& to, std::byte* RawItems::*array) {
  group_.barrier();
  for (std::size_t d = 0; d < group_.size(); ++d) {
    const CurrentDevice current = group_.current(d);
    group_.wait(group_.stream_out(d), d, group_.stream(d));
    group_.wait(group_.stream_in(d), d, group_.stream(d));
  }
  const auto send = [&](std::size_t from_device) {
    for (const plan::Transfer& transfer : by_source[from_device]) {
      const std::byte* const source =
          from[transfer.source].*array + transfer.source_begin * item_bytes;
      std::byte* const destination =
          to[transfer.destination].*array + transfer.destination_begin * item_bytes;
      if (group_.reaches(transfer.source, transfer.destination)) {
        const CurrentDevice current = group_.current(transfer.source);
        check_cuda(cudaMemcpyAsync(destination, source, transfer.size * item_bytes,
                                   cudaMemcpyDefault, group_.stream_out(transfer.source)));
      } else {
        copy_through_host(transfer, item_bytes, source, destination);
      }
    }
  };
  const bool many = std::any_of(by_source.begin(), by_source.end(), [](const auto& transfers) {
    return transfers.size() >= copies_worth_a_thread;
  });
  if (many && group_.all_reach()) {
    run_on_threads(by_source.size(), send);
  } else {
    for (std::size_t d = 0; d < by_source.size(); ++d) send(d);
  }
  for (std::size_t d = 0; d < group_.size(); ++d) {
    for (std::size_t source = 0; source < group_.size(); ++source) {
      const CurrentDevice current = group_.current(source);
      group_.wait(group_.stream(d), source, group_.stream_out(source));
    }
    const CurrentDevice current = group_.current(d);
    group_.wait(group_.stream(d), d, group_.stream_in(d));
  }
}

ItemExchange::Block& ItemExchange::next_block(std::size_t source, int destination_ordinal) {
  if (staging_.empty()) staging_.resize(group_.size());
  Staging& staging = staging_[source];
  Block& block = staging.blocks[staging.next];
  staging.next ^= 1;
  if (!block.filled) {
    const CurrentDevice current = group_.current(source);
    const OnNumaNode on_node(numa_node_of(group_.ordinal(source)));
    block.bytes = PinnedBuffer<std::byte>(block_bytes);
    block.filled = make_event();
  }
  if (block.emptied_by != destination_ordinal) {
    // An event belongs to one CUDA device. The source's stream waits for the old event before it is
    // destroyed.
    if (block.emptied) {
      const CurrentDevice current = group_.current(source);
      check_cuda(cudaStreamWaitEvent(group_.stream_out(source), block.emptied.get(), 0));
    }
    const CurrentDevice current(destination_ordinal);
    block.emptied = make_event();
    block.emptied_by = destination_ordinal;
  }
  return block;
}

void ItemExchange::copy_through_host(const plan::Transfer& transfer, std::uint64_t item_bytes,
                                     const std::byte* from, std::byte* to) {
  const std::uint64_t bytes = transfer.size * item_bytes;
  for (std::uint64_t begin = 0; begin < bytes; begin += block_bytes) {
    const std::uint64_t size = std::min(block_bytes, bytes - begin);
    Block& block = next_block(transfer.source, group_.ordinal(transfer.destination));
    {
      const CurrentDevice current = group_.current(transfer.source);
      const cudaStream_t stream = group_.stream_out(transfer.source);
      check_cuda(cudaStreamWaitEvent(stream, block.emptied.get(), 0));
      check_cuda(
          cudaMemcpyAsync(block.bytes.data(), from + begin, size, cudaMemcpyDeviceToHost, stream));
      check_cuda(cudaEventRecord(block.filled.get(), stream));
    }
    const CurrentDevice current = group_.current(transfer.destination);
    const cudaStream_t stream = group_.stream_in(transfer.destination);
    check_cuda(cudaStreamWaitEvent(stream, block.filled.get(), 0));
    check_cuda(
        cudaMemcpyAsync(to + begin, block.bytes.data(), size, cudaMemcpyHostToDevice, stream));
    check_cuda(cudaEventRecord(block.emptied.get(), stream));
  }
}

}  // namespace sortie::multisort
