// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "apps/suffix_array/part_builder.hpp"
#include "apps/suffix_array/ranks/exchanges.hpp"
#include "sortie/context.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::on_ranks {

/// Packs a text on the GPUs of all ranks, and ranks its cover there. Each GPU copies and packs a part
/// of the text and sends it to the others; where ranks have no exchange between devices
/// (cluster::connect_devices()), each packs the whole text. Ranks of one process that share a GPU
/// share the result. Collective, only in builds with CUDA.
///
/// Phases: "measure device memory", "copy text", "find letters", "pack text", "rank cover", "share
/// text", and those of the exchange. In the report: "connect devices", "copy in", "pack", "share
/// text".
/// \param text  the same on all ranks, not empty
/// \param plan  instead of that for the memory of the device; for tests
/// \throws Error (out_of_memory) of the device; (device)
template <Position Pos>
[[nodiscard]] std::shared_ptr<const PartBuilder<Pos>> share_builder(
    Exchanges& exchanges, const Context& context, const TextView& text,
    const std::optional<cuda::RangePlan>& plan);

}  // namespace sortie::suffix_array::on_ranks
