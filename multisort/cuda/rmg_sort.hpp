#pragma once

#include "sortie/multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort {

/// RMG sort as it was published (Ilic: RMG Sort, 2022, section 3), to be measured beside
/// radix_sort_chunks():
///
/// 1. *partition*: each device moves its keys to the 256 buckets of the highest digit, in its own
///    memory; histograms are exchanged; a bucket that a border between two devices falls into is
///    moved on by the next digit, until each border is found within 0.5 % of a share;
/// 2. *exchange*: whole buckets are copied to their devices, every source beginning with device 0;
/// 3. *local sort*: each device sorts its buckets by the bits that are left, small neighbours
/// fused,
///    by CUB's radix sort.
///
/// What is not as published: buckets are told apart by their whole prefix, where two spanning ones
/// with the same digit were one and the program crashed (0x00AA.... and 0x01AA....); a bucket that
/// was moved on is copied back, where buffers were swapped for it; chunks keep their sizes, for
/// which the buckets at the borders are copied once more. Stable with values.
///
/// Extra memory on each device: two copies of its items, and CUB's. A ChunkSort.
void rmg_sort_chunks(const Context& context, const DeviceGroup& group, const ChunkRequest& request);

}  // namespace sortie::multisort
