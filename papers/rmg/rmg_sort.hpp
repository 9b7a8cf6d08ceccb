// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multisort/cuda/chunk_sort.hpp"

namespace sortie::papers {

/// RMG sort as published (Ilic: RMG Sort, 2022, section 3), the design that radix_sort_chunks() came from:
///
/// 1. *partition*: each device moves its keys to the 256 buckets of the highest digit, in its own
///    memory; histograms are exchanged; a bucket that holds a border between two devices is moved
///    again by the next digit, until each border is found within 0.5 % of a share;
/// 2. *exchange*: whole buckets are copied to their devices, every source beginning with device 0;
/// 3. *local sort*: each device sorts its buckets by the remaining bits with CUB's radix sort;
///    small neighbouring buckets are fused.
///
/// Differences from the published code: a bucket is identified by its whole prefix, where two
/// spanning buckets with the same digit were one and the program crashed (0x00AA.... and
/// 0x01AA....); a bucket that was moved again is copied back, where buffers were swapped; chunks
/// keep their sizes, so boundary buckets are copied once more. Stable with values.
///
/// Extra memory on each device: two copies of its items, and CUB's. A ChunkSort.
void rmg_sort_chunks(const Context& context, const multisort::DeviceGroup& group,
                     const multisort::ChunkRequest& request);

}  // namespace sortie::papers
