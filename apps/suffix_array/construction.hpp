// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/arriving_array.hpp"
#include "sortie/device_suffix_array.hpp"
#include "sortie/suffix_array.hpp"

/// The algorithms that the program, the benchmark and the tests select by name: prefix doubling and
/// induced sorting, which are the library's own, and those that main() registers.
namespace sortie::suffix_array {

/// Builds the suffix array of a text that is not empty. The text and its separators are checked.
template <Position Pos>
using Build = std::vector<Pos> (*)(const Context& context, const TextView& text);

/// The same in device memory, as cuda::build_on_device().
template <Position Pos>
using BuildOnDevice = DeviceBuffer<Pos> (*)(const Context& context, const cuda::DeviceText& text,
                                            CUstream_st* stream);

/// The same to host memory, as build_arriving_by().
template <Position Pos>
using BuildArriving = ArrivingArray<Pos> (*)(const Context& context, const TextView& text);

struct ConstructionAlgorithm {
  std::string_view name;
  Backend backend = Backend::automatic;  ///< the only one it runs on; automatic: either
  bool is_own = false;                   ///< the library's own, not a baseline
  bool measured = true;                  ///< false: too slow for benchmarks that do not ask for it
  std::tuple<Build<std::uint32_t>, Build<std::uint64_t>> build = {};
  /// Null for a width that the algorithm does not offer, and in builds without CUDA.
  std::tuple<BuildOnDevice<std::uint32_t>, BuildOnDevice<std::uint64_t>> build_on_device = {};

  /// Null for algorithms that return complete arrays, and in builds without CUDA.
  std::tuple<BuildArriving<std::uint32_t>, BuildArriving<std::uint64_t>> build_arriving = {};

  [[nodiscard]] bool runs_on(Backend where) const {
    return backend == Backend::automatic || backend == where;
  }
};

/// Adds algorithms. To be called from main(), before any other call of this header.
void register_algorithms(std::initializer_list<ConstructionAlgorithm> algorithms);

/// The algorithms that run on `backend`, the library's own first, then in the order of
/// registration.
[[nodiscard]] std::vector<ConstructionAlgorithm> algorithms_on(Backend backend);

/// The algorithm of that name; "auto" is the library's own one that is faster for the text. \throws Error (usage) naming all names
[[nodiscard]] ConstructionAlgorithm parse_algorithm(std::string_view name);

/// "auto, prefix-doubling, ... or ..."
[[nodiscard]] std::string algorithm_names();

/// suffix_array::build() by one of them.
/// \throws Error (unavailable) the algorithm does not run on the context's backend. An algorithm of
///         the host runs there unless the context names CUDA.
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_by(const ConstructionAlgorithm& algorithm,
                                        const Context& context, const TextView& text);

/// The suffixes that begin at tokens, in the order of their bytes: what build_by() gives for the bytes,
/// without the positions within tokens. "auto" and "induced" sort tokens on the host, and compare
/// several bytes at a time; other algorithms sort the suffixes of all bytes.
/// \param bytes  tokens of `token_bytes` bytes, 1, 2 or 4
/// \throws as build_by()
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_tokens_by(const ConstructionAlgorithm& algorithm,
                                               const Context& context,
                                               std::span<const std::uint8_t> bytes,
                                               int token_bytes);

/// Checks the result of build_tokens_by(). \throws Error (check) names the first wrong entry
template <Position Pos>
void check_tokens(const HostContext& context, std::span<const std::uint8_t> bytes, int token_bytes,
                  std::span<const Pos> suffixes);

/// build_by() that does not wait for the copy from the device: the suffix array can be written while
/// it arrives. A wait for all of it frees what the construction holds on the device.
template <Position Pos>
[[nodiscard]] ArrivingArray<Pos> build_arriving_by(const ConstructionAlgorithm& algorithm,
                                                   const Context& context, const TextView& text);

}  // namespace sortie::suffix_array
