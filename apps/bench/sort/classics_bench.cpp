// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/classics_bench.hpp"

#include <fmt/format.h>

#include <bit>

#include "apps/bench/sort/sort_bench.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {

namespace {

constexpr std::uint64_t shortest = std::uint64_t{1} << 10;

}  // namespace

std::vector<std::uint64_t> classics_lengths(const ClassicsOptions& options) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t n = shortest; n <= options.most_items; n *= 4)
    if (n >= options.least_items) lengths.push_back(n);
  const std::uint64_t longest = std::bit_floor(options.most_items);
  if (longest >= shortest && (lengths.empty() || longest != lengths.back()))
    lengths.push_back(longest);
  return lengths;
}

std::vector<Row> time_classics(const Context& context, const ClassicsOptions& options,
                               const RowSink& sink) {
  const std::vector<std::uint64_t> lengths = classics_lengths(options);
  if (lengths.empty())
    throw Error(ErrorKind::usage, fmt::format("--classics: found {} items, expected at least {}",
                                              options.most_items, shortest));
  for (const std::string& name : options.cases) static_cast<void>(parse_sort_case(name));
  if (resolve_backend(context) != Backend::cuda)
    throw Error(ErrorKind::unavailable,
                "bench sort --classics: found the host backend, expected CUDA");
#ifdef SORTIE_HAVE_CUDA
  return time_classics_on_cuda(context, lengths, options, sink);
#else
  static_cast<void>(sink);
  return {};
#endif
}

}  // namespace sortie::bench
