// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "apps/suffix_array/part_builder.hpp"
#include "apps/suffix_array/ranks/exchanges.hpp"
#include "sortie/context.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::on_ranks {

/// Packs a text on the GPUs of all ranks, and ranks its cover there. Each GPU copies and packs a
/// part of the text, sorts a part of the cover, and sends both to the others; where ranks have no
/// exchange between devices (cluster::connect_devices()), each does the whole. Ranks of one process
/// that share a GPU share the result. Collective, only in builds with CUDA.
///
/// Phases: "measure device memory", "copy text", "find letters", "pack text", "plan cover", "sort
/// cover", "join cover", "rank cover", "share text", and those of the exchange. In the report:
/// "measure memory", "connect devices", "copy in", "pack", "sort cover", "rank cover".
/// \param text  the same on all ranks, not empty
/// \param plan  instead of that for the memory of the device; for tests
/// \throws Error (out_of_memory) of the device; (device)
template <Position Pos>
[[nodiscard]] std::shared_ptr<const PartBuilder<Pos>> share_builder(
    Exchanges& exchanges, const Context& context, const TextView& text,
    const std::optional<cuda::RangePlan>& plan);

}  // namespace sortie::suffix_array::on_ranks
