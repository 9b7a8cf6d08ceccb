// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "apps/suffix_array/cuda/text/coded_text.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// A text of tokens, each replaced by its rank among the distinct tokens in the order of their
/// bytes: 0 .. distinct - 1.
struct RankedTokens {
  DeviceBuffer<std::uint32_t> ranks;
  std::uint64_t distinct = 0;
};

/// Finds the distinct tokens as a set of bits, or by a sort if tokens of 4 bytes are 2^24 or more.
/// Waits for the stream. Memory beside the result: a quarter of a byte for each number up to the
/// largest token, or 16 bytes a token for the sort, with 32-bit positions.
/// \param bytes        not empty; a multiple of `token_bytes`
/// \param token_bytes  2 or 4
template <Position Index>
[[nodiscard]] RankedTokens rank_tokens(std::span<const std::uint8_t> bytes, int token_bytes,
                                       cudaStream_t stream);

/// Codes a text of tokens by their frequencies (TokenCode): frequent tokens have short codes, so
/// that a key of 64 bits holds several tokens. Waits for the stream.
[[nodiscard]] CodedTextBuffer code_tokens(const RankedTokens& tokens, cudaStream_t stream);

/// The stream of the tokens' hashes (HashTokens). Equal tokens have equal hashes, and that of the
/// end is 0; the order of hashes means nothing.
[[nodiscard]] PackedText hash_tokens(const RankedTokens& tokens, cudaStream_t stream);

/// The same text as bytes. \pre at most 256 distinct tokens
[[nodiscard]] DeviceBuffer<std::uint8_t> bytes_of_ranks(const RankedTokens& tokens,
                                                        cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
