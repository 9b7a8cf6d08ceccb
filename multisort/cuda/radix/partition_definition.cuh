// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "multisort/cuda/radix/count_kernels.cuh"
#include "multisort/cuda/radix/move_kernel.cuh"

/// Launches of the kernels of a partition. Included only by the instances that CMake generates.

namespace sortie::multisort {

template <class Lookup>
struct LookupType {};

/// Calls body(LookupType<Lookup>()) with the type of look-up for `lookup`.
template <class Word, class Body>
auto with_lookup(const GroupLookup& lookup, const Body& body) {
  if (lookup.direct) return body(LookupType<DirectLookup<Word>>());
  if (TreeLookup<Word, true>::fits(lookup)) return body(LookupType<TreeLookup<Word, true>>());
  return body(LookupType<TreeLookup<Word, false>>());
}

template <class Word>
cudaError_t launch_count(const CountArguments& arguments, std::uint32_t tile, cudaStream_t stream) {
  const std::uint32_t batches = arguments.end_batch - arguments.first_batch;
  if (batches == 0) return cudaSuccess;
  with_lookup<Word>(arguments.lookup, [&]<class Lookup>(LookupType<Lookup>) {
    count_kernel<Word, Lookup><<<batches, count_threads, 0, stream>>>(arguments, tile);
  });
  return cudaGetLastError();
}

/// Enough blocks to occupy every multiprocessor of a GPU and finish at about the same time.
inline constexpr unsigned int busy_blocks = 2048;

template <class Word>
cudaError_t launch_refine(const RefineArguments& arguments, cudaStream_t stream) {
  if (arguments.size == 0) return cudaSuccess;
  const std::size_t shared =
      (std::size_t{4} << arguments.digit_bits) * static_cast<std::size_t>(arguments.refinements) +
      sizeof(std::uint32_t);
  const cudaError_t status = cudaFuncSetAttribute(
      refine_kernel<Word>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  refine_kernel<Word><<<busy_blocks, count_threads, shared, stream>>>(arguments);
  return cudaGetLastError();
}

template <class Word>
cudaError_t launch_sample(const SampleArguments& arguments, cudaStream_t stream) {
  if (arguments.samples == 0) return cudaSuccess;
  sample_kernel<Word>
      <<<(arguments.samples - 1) / count_threads + 1, count_threads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

template <class Word>
cudaError_t launch_encode(void* keys, std::uint64_t n, KeyOrder order, bool decode,
                          cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto blocks =
      static_cast<unsigned int>(std::min<std::uint64_t>((n - 1) / count_threads + 1, busy_blocks));
  if (decode) {
    encode_kernel<Word, true>
        <<<blocks, count_threads, 0, stream>>>(static_cast<Word*>(keys), n, order);
  } else {
    encode_kernel<Word, false>
        <<<blocks, count_threads, 0, stream>>>(static_cast<Word*>(keys), n, order);
  }
  return cudaGetLastError();
}

template <class Word, int ValueBytes, class Lookup>
cudaError_t launch_move_by(const MoveArguments& arguments, cudaStream_t stream) {
  constexpr MoveShape shape = move_shape<Word, ValueBytes>;
  void (*kernel)(MoveArguments) = nullptr;
  std::size_t shared = 0;
  if constexpr (ValueBytes == 0) {
    kernel = move_keys_kernel<Word, Lookup>;
    shared = sizeof(MoveKeyTile<Word, shape, Lookup::is_costly>);
  } else {
    kernel = move_pairs_kernel<Word, ValueBytes, Lookup>;
    shared = sizeof(MovePairTile<Word, ValueBytes, shape>);
  }
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (status != cudaSuccess) return status;
  const auto tiles = static_cast<unsigned int>(arguments.end_tile - arguments.first_tile);
  kernel<<<tiles, static_cast<unsigned int>(shape.threads), shared, stream>>>(arguments);
  return cudaGetLastError();
}

template <class Word, int ValueBytes>
cudaError_t launch_move(const MoveArguments& arguments, cudaStream_t stream) {
  if (arguments.first_tile == arguments.end_tile) return cudaSuccess;
  return with_lookup<Word>(arguments.lookup, [&]<class Lookup>(LookupType<Lookup>) {
    return launch_move_by<Word, ValueBytes, Lookup>(arguments, stream);
  });
}

/// The kernels for values of 0, 4 and 8 bytes.
template <class Word>
const PartitionKernels& kernels_of(int value_bytes) {
  static constexpr auto with = [](MoveShape shape, auto* move) {
    return PartitionKernels{static_cast<std::uint32_t>(shape.tile()),
                            launch_count<Word>,
                            launch_refine<Word>,
                            launch_sample<Word>,
                            move,
                            launch_encode<Word>};
  };
  static const PartitionKernels kernels[] = {with(move_shape<Word, 0>, launch_move<Word, 0>),
                                             with(move_shape<Word, 4>, launch_move<Word, 4>),
                                             with(move_shape<Word, 8>, launch_move<Word, 8>)};
  return kernels[value_bytes / 4];
}

}  // namespace sortie::multisort
