// SPDX-License-Identifier: Apache-2.0

// Suffix arrays from host memory to host memory: in one step (device_build.cu) if that fits, else
// in ranges (ranges/range_build.cu).
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "apps/suffix_array/cuda/ranges/range_build.hpp"
#include "apps/suffix_array/cuda/ranges/ranges_to_host.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/append_to_host.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "core/phase_timer.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

// Thread i widens position i.
__global__ void __launch_bounds__(element_threads)
    widen_kernel(const std::uint32_t* narrow, std::uint64_t count, std::uint64_t* wide) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (i < count) wide[i] = narrow[i];
}

/// Converts positions to the width of the result. Widened on the device, where that costs nothing
/// compared with the copy, in memory that the construction has freed.
template <class Pos, class Index>
DeviceBuffer<Pos> with_width(DeviceBuffer<Index> positions, cudaStream_t stream) {
  if constexpr (sizeof(Pos) == sizeof(Index)) {
    return positions;
  } else {
    DeviceBuffer<Pos> wide(positions.size(), stream);
    widen_kernel<<<blocks_for(wide.size()), element_threads, 0, stream>>>(positions.data(),
                                                                          wide.size(), wide.data());
    check_cuda(cudaGetLastError());
    return wide;
  }
}

/// Whether the steps before the rounds fit. The rounds check their own memory.
template <class Index>
bool fits_before_rounds(const DeviceContext& context, const TextView& text) {
  const std::uint64_t wanted = text.symbols.size_bytes() + text.separators.size_bytes() +
                               bytes_before_rounds<Index>(text.size());
  return wanted <= device_memory_budget(context);
}

/// Builds in one step, with positions of type Index on the device.
/// \throws Error (out_of_memory, device)
template <class Pos, class Index>
std::vector<Pos> build_at_once(const DeviceContext& context, const TextView& text) {
  const cudaStream_t stream = context.stream;
  WaitingPhase copy_in(context, "copy in", text.size());
  DeviceBuffer<std::uint8_t> symbols(text.symbols, stream);
  DeviceBuffer<std::uint64_t> separators(text.separators, stream);
  copy_in.stop();

  DeviceBuffer<Index> positions = build_on_device<Index>(
      beside(context, symbols.bytes() + separators.bytes()),
      {{symbols.data(), symbols.size()}, {separators.data(), separators.size()}}, stream);

  WaitingPhase copy_out(context, "copy out", text.size() * sizeof(Pos));
  const DeviceBuffer<Pos> result = with_width<Pos>(std::move(positions), stream);
  std::vector<Pos> suffixes;
  append_to_host(result.data(), result.size(), suffixes, stream);
  copy_out.stop();
  return suffixes;
}

/// Builds one range after another; the copy of a range overlaps the sort of the next.
template <class Pos, class Index>
std::vector<Pos> build_by_ranges(const DeviceContext& context, const TextView& text) {
  RangesToHost<Pos> to_host(context, text.size());
  build_in_ranges<Index>(context, text, sizeof(Pos), [&](DeviceBuffer<Index> positions) {
    WaitingPhase copy_out(context, "copy out", positions.size() * sizeof(Pos));
    to_host.wait();
    to_host.start(with_width<Pos>(std::move(positions), context.stream));
    copy_out.stop();
  });
  const PhaseTimer copy_out(context, "copy out");
  return to_host.finish();
}

/// Builds in one step if that fits, else in ranges.
template <class Pos, class Index>
std::vector<Pos> build_by(const DeviceContext& context, const TextView& text) {
  if (fits_before_rounds<Index>(context, text)) {
    try {
      return build_at_once<Pos, Index>(context, text);
    } catch (const Error& error) {
      // The rounds do not fit: the text has too many long repeats.
      if (error.kind() != ErrorKind::out_of_memory) throw;
    }
  }
  return build_by_ranges<Pos, Index>(context, text);
}

}  // namespace

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text) {
  const DeviceCall call(context);
  if (text.size() <= max_symbols<std::uint32_t>) return build_by<Pos, std::uint32_t>(call, text);
  if constexpr (sizeof(Pos) == sizeof(std::uint64_t)) {
    return build_by<Pos, std::uint64_t>(call, text);
  }
  throw Error(ErrorKind::usage,
              "suffix array: found more symbols than 32-bit positions can address");
}

template std::vector<std::uint32_t> build_prefix_doubling(const Context&, const TextView&);
template std::vector<std::uint64_t> build_prefix_doubling(const Context&, const TextView&);

}  // namespace sortie::suffix_array::cuda
