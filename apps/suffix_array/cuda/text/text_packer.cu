// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/text/text_packer.hpp"

#include <algorithm>

#include "core/cuda/block_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/host_runtime.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::cuda {

void DeviceTextPacker::copy(const TextView& text) {
  const std::uint64_t begin = first_block(part_.number) * packed_block;
  const std::uint64_t end = std::min(symbols_, first_block(part_.number + 1) * packed_block);
  const auto symbols = text.symbols.subspan(begin, end - begin);
  const auto first = std::ranges::lower_bound(text.separators, begin);
  const auto last = std::ranges::lower_bound(text.separators, end);
  WaitingPhase copy_in(context_, "copy in", symbols.size_bytes());
  const int threads = threads_of(context_);
  copied_ = copied_to_device(symbols, context_.stream, threads);
  const DeviceBuffer<std::uint64_t> separators =
      copied_to_device(std::span(first, last), context_.stream, threads);
  marked_ =
      mark_separators({{copied_.data(), copied_.size()}, {separators.data(), separators.size()}},
                      context_.stream, begin);
  copy_in.stop();
}

void DeviceTextPacker::copy_mirrored(std::span<const std::uint8_t> half) {
  WaitingPhase copy_in(context_, "copy in", half.size_bytes());
  copied_ = {symbols_, context_.stream};
  copy_to_device_in_blocks(copied_.data(), std::as_bytes(half), context_.stream,
                           threads_of(context_));
  const auto mirror = [symbols = copied_.data(), last = symbols_ - 1] __device__(std::uint64_t i) {
    symbols[last - i] = static_cast<std::uint8_t>(3 - symbols[i]);
  };
  for_each_item<std::uint64_t>(half.size(), mirror, context_.stream);
  marked_ = mark_separators({{copied_.data(), copied_.size()}, {}}, context_.stream);
  copy_in.stop();
}

LetterSet DeviceTextPacker::find_letters() {
  WaitingPhase packing(context_, "pack");
  return cuda::find_letters(marked_, context_.stream);
}

void DeviceTextPacker::pack(const LetterSet& letters) {
  WaitingPhase packing(context_, "pack", 2 * copied_.size());
  // None of them is rare.
  const PrefixCode code = plan_prefix_code(letters, {}, 32);
  packed_ = packed_memory(symbols_, code, context_.stream);
  const std::uint64_t first = first_block(part_.number);
  pack_blocks(marked_, code, first, first_block(part_.number + 1) - first, packed_,
              context_.stream);
  packed_.stream.first_symbols = 0;  // no sort by this code
  marked_ = {};
  copied_.reset();
  check_cuda(cudaStreamSynchronize(context_.stream));
}

std::span<std::byte> DeviceTextPacker::packed_part(std::uint64_t number) {
  const auto word = [&](std::uint64_t part) {
    return part == part_.parts
               ? packed_.words.size()
               : first_block(part) * static_cast<std::uint64_t>(packed_.stream.bits);
  };
  const std::uint64_t begin = word(number);
  return std::as_writable_bytes(std::span(packed_.words.data() + begin, word(number + 1) - begin));
}

std::uint64_t DeviceTextPacker::first_block(std::uint64_t number) const {
  return EqualShares{symbols_ / packed_block + 1, part_.parts}.begin(number);
}

}  // namespace sortie::suffix_array::cuda
