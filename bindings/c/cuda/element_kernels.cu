// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/cuda/element_kernels.hpp"

#include "primitives/cuda/launch.cuh"

namespace sortie::c {
namespace {

/// Bits to exchange so that signed keys ascend as unsigned ones.
std::uint32_t sign_bit(KeyType type) {
  return kind_of(type) == KeyKind::signed_integer ? std::uint32_t{1} << (key_bits(type) - 1) : 0;
}

template <class Word>
void widen(const Word* narrow, std::uint32_t* wide, std::uint32_t sign, std::uint64_t size,
           cudaStream_t stream) {
  const auto convert = [=] __device__(std::uint64_t i) { wide[i] = narrow[i] ^ sign; };
  for_each_item<std::uint64_t>(size, convert, stream);
}

template <class Word>
void shorten(const std::uint32_t* wide, Word* narrow, std::uint32_t sign, std::uint64_t size,
             cudaStream_t stream) {
  const auto convert = [=] __device__(std::uint64_t i) {
    narrow[i] = static_cast<Word>(wide[i] ^ sign);
  };
  for_each_item<std::uint64_t>(size, convert, stream);
}

template <class Word, class Position>
void gather_words(const void* from, const Position* positions, void* to, std::uint64_t size,
                  std::uint64_t words, cudaStream_t stream) {
  const auto* const source = static_cast<const Word*>(from);
  auto* const target = static_cast<Word*>(to);
  const auto move = [=] __device__(std::uint64_t i) {
    target[i] = source[std::uint64_t{positions[i / words]} * words + i % words];
  };
  for_each_item<std::uint64_t>(size * words, move, stream);
}

template <class Offset>
void copy_outside_of(const Offset* offsets, std::uint64_t count, const char* from, char* to,
                     std::uint64_t size, std::uint64_t element_bytes, cudaStream_t stream) {
  // Few threads: there is mostly nothing to copy.
  constexpr std::uint64_t threads = 16 * element_threads;
  const auto copy = [=] __device__(std::uint64_t thread) {
    const std::uint64_t begin = static_cast<std::uint64_t>(offsets[0]) * element_bytes;
    const std::uint64_t end = static_cast<std::uint64_t>(offsets[count]) * element_bytes;
    for (std::uint64_t i = thread; i < begin; i += threads) to[i] = from[i];
    for (std::uint64_t i = end + thread; i < size * element_bytes; i += threads) to[i] = from[i];
  };
  for_each_item<std::uint64_t>(threads, copy, stream);
}

template <class From, class To>
void convert(const void* from, void* to, std::uint64_t size, cudaStream_t stream) {
  const auto* const source = static_cast<const From*>(from);
  auto* const target = static_cast<To*>(to);
  const auto copy = [=] __device__(std::uint64_t i) { target[i] = static_cast<To>(source[i]); };
  for_each_item<std::uint64_t>(size, copy, stream);
}

}  // namespace

template <class Position>
void fill_positions(Position* positions, std::uint64_t size, cudaStream_t stream) {
  const auto fill = [=] __device__(std::uint64_t i) { positions[i] = static_cast<Position>(i); };
  for_each_item<std::uint64_t>(size, fill, stream);
}

void set_range(std::uint64_t* range, std::uint64_t size, cudaStream_t stream) {
  const auto set = [=] __device__(std::uint64_t i) { range[i] = i * size; };
  for_each_item<std::uint64_t>(2, set, stream);
}

void widen_positions(const std::uint32_t* from, std::uint64_t* to, std::uint64_t size,
                     cudaStream_t stream) {
  convert<std::uint32_t, std::uint64_t>(from, to, size, stream);
}

template <class Position>
void gather(const void* from, const Position* positions, void* to, std::uint64_t size,
            std::size_t value_bytes, cudaStream_t stream) {
  const auto is_aligned = [&](std::size_t bytes) {
    return value_bytes % bytes == 0 && reinterpret_cast<std::uintptr_t>(from) % bytes == 0 &&
           reinterpret_cast<std::uintptr_t>(to) % bytes == 0;
  };
  if (is_aligned(8))
    return gather_words<std::uint64_t>(from, positions, to, size, value_bytes / 8, stream);
  if (is_aligned(4))
    return gather_words<std::uint32_t>(from, positions, to, size, value_bytes / 4, stream);
  gather_words<std::uint8_t>(from, positions, to, size, value_bytes, stream);
}

void widen_keys(KeyType type, const void* narrow, std::uint32_t* wide, std::uint64_t size,
                cudaStream_t stream) {
  if (key_bytes(type) == 1) {
    widen(static_cast<const std::uint8_t*>(narrow), wide, sign_bit(type), size, stream);
  } else {
    widen(static_cast<const std::uint16_t*>(narrow), wide, sign_bit(type), size, stream);
  }
}

void narrow_keys(KeyType type, const std::uint32_t* wide, void* narrow, std::uint64_t size,
                 cudaStream_t stream) {
  if (key_bytes(type) == 1) {
    shorten(wide, static_cast<std::uint8_t*>(narrow), sign_bit(type), size, stream);
  } else {
    shorten(wide, static_cast<std::uint16_t*>(narrow), sign_bit(type), size, stream);
  }
}

void copy_outside(const void* offsets, int offset_bytes, std::uint64_t count, const void* from,
                  void* to, std::uint64_t size, std::size_t element_bytes, cudaStream_t stream) {
  const auto* const source = static_cast<const char*>(from);
  auto* const target = static_cast<char*>(to);
  if (offset_bytes == 4) {
    copy_outside_of(static_cast<const std::uint32_t*>(offsets), count, source, target, size,
                    element_bytes, stream);
  } else {
    copy_outside_of(static_cast<const std::uint64_t*>(offsets), count, source, target, size,
                    element_bytes, stream);
  }
}

void convert_indices(const void* from, std::size_t from_bytes, void* to, std::size_t to_bytes,
                     std::uint64_t size, cudaStream_t stream) {
  if (from_bytes == to_bytes) {
    if (size != 0)
      check_cuda(cudaMemcpyAsync(to, from, size * to_bytes, cudaMemcpyDeviceToDevice, stream));
  } else if (from_bytes == 4) {
    convert<std::uint32_t, std::uint64_t>(from, to, size, stream);
  } else {
    convert<std::uint64_t, std::uint32_t>(from, to, size, stream);
  }
}

void split_ranges(const suffix_array::EntryRange* ranges, std::uint64_t* begins,
                  std::uint64_t* ends, std::uint64_t size, cudaStream_t stream) {
  const auto split = [=] __device__(std::uint64_t i) {
    begins[i] = ranges[i].begin;
    ends[i] = ranges[i].end;
  };
  for_each_item<std::uint64_t>(size, split, stream);
}

template void fill_positions(std::uint32_t*, std::uint64_t, cudaStream_t);
template void fill_positions(std::uint64_t*, std::uint64_t, cudaStream_t);
template void gather(const void*, const std::uint32_t*, void*, std::uint64_t, std::size_t,
                     cudaStream_t);
template void gather(const void*, const std::uint64_t*, void*, std::uint64_t, std::size_t,
                     cudaStream_t);

}  // namespace sortie::c
