// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "apps/bench/bench.hpp"
#include "sortie/context.hpp"

/// Speed of the links between host memory and GPUs, and between GPUs.
namespace sortie::bench {

struct LinksOptions {
  std::uint64_t bytes = std::uint64_t{256} << 20;  ///< of each copy
  int devices = 0;  ///< logical devices, assigned to the GPUs round-robin; 0: one per GPU
  int repetitions = 5;
};

/// One copy at a time, and those at the same time that a sort over GPUs makes: both directions of a
/// link, and all devices with the host. A case is a set of simultaneous copies, `items` the bytes of
/// all of them. Methods between devices: "direct", the runtime's copy, by peer access where there is
/// one; "staged", through two page-locked host blocks for each source (ItemExchange); and, between
/// different GPUs, "runtime", the runtime's copy without peer access. The rows of "runtime" come
/// first and are "direct" in a process that has given the GPUs access before. Host memory is
/// page-locked. Wall times from idle devices to idle devices; the last byte of each copy is checked.
///
/// Report: figures "links": of each GPU its root port, NUMA node and the ranks of its links to the
/// others; "gpus_by_links": the GPUs on which rmg would sort, for 1 device, 2, ... (papers/rmg/gpu_set.hpp).
/// \throws Error (unavailable) no CUDA
std::vector<Row> links(const Context& context, const LinksOptions& options, const RowSink& sink);

/// The CUDA part of links().
std::vector<Row> links_on_cuda(const Context& context, const LinksOptions& options,
                               const RowSink& sink);

}  // namespace sortie::bench
