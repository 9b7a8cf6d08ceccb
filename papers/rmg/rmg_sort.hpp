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
/// Differences from the thesis and its code:
/// - A bucket is identified by its whole prefix. In the code two spanning buckets with the same digit
///   were one, and the program crashed (0x00AA.... and 0x01AA....).
/// - A bucket that was moved again is copied back, where the code swaps buffers.
/// - Chunks begin and end in device memory and keep their sizes. So boundary buckets are copied once
///   more, and what serves the copy to the host is absent: its overlap with the sorts (MIN_SCO), the
///   skipped exchange of mirrored input, which the thesis proposes, and the choice of GPUs by
///   topology, which are the caller's.
/// - Neighbours are fused if they hold at most 1 % of a share together, whatever pass made them; the
///   thesis fuses buckets of fewer than 1 % each, of the same pass.
/// - Values, signed and floating-point keys, and descending order; stable.
///
/// Extra memory on each device: two copies of its items, and CUB's. A ChunkSort.
void rmg_sort_chunks(const Context& context, const multisort::DeviceGroup& group,
                     const multisort::ChunkRequest& request);

}  // namespace sortie::papers
