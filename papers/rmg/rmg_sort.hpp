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
/// - Chunks in device memory keep their sizes, so boundary buckets are copied once more. What serves
///   the copy to the host is in rmg_sort_host().
/// - The chunks name their GPUs. From host memory rmg_sort_host() chooses them by their links, where
///   the thesis gives the sets that its author found (section 5.1.3).
/// - Keys of one value that hide a border are divided among devices before the exchange, as in
///   section 3.2.3, but here so that each key keeps its place among equal ones. The host computes the
///   borders only; no keys are moved there, in the thesis neither.
/// - Neighbours are fused if they hold at most 1 % of a share together, whatever pass made them; the
///   thesis fuses buckets of fewer than 1 % each, of the same pass.
/// - The host plans the refinements and the exchange from the counts; in the thesis each GPU does.
/// - Memory is taken from the pool of each GPU in every sort; the thesis allocates it before.
/// - Values, signed and floating-point keys, and descending order; stable.
///
/// rmg_options() can change parts of it, for measurements (rmg_options.hpp).
///
/// Extra memory on each device: two copies of its items, and CUB's twice. A ChunkSort.
void rmg_sort_chunks(const Context& context, const multisort::DeviceGroup& group,
                     const multisort::ChunkRequest& request);

/// The same from host memory to host memory, as the thesis times it. Each device's share is copied in,
/// and its buckets, of which two are sorted at a time, are copied out beside the sorts of the next ones;
/// up to MIN_SCO buckets are all sorted first. Of more GPUs than are asked for, those with the best
/// links sort, the first one of `ordinals` among them (gpu_set.hpp). If the keys are mirrored, the
/// exchange is skipped, which the thesis proposes: devices keep their items, and the copies out put
/// them in order. A HostMemorySort.
///
/// Page-locked memory is copied beside the sorts; for pageable memory the runtime makes the host wait
/// for each copy. Extra memory on each device: three copies of its items, and CUB's
/// twice.
/// Report: phases "copy in", "partition", "exchange", "sort and copy out".
/// \throws Error (out_of_memory) before host memory is changed; (device)
void rmg_sort_host(const Context& context, const std::vector<int>& ordinals,
                   const multisort::Request& request);

/// The same, with the repair by the host that the thesis suggests for future work (section 7.2): the
/// buckets of a device that has up to MIN_SCO of them are split into parts, which are copied out
/// beside the sorts of the next parts; then host threads merge the parts of each bucket. A
/// HostMemorySort.
///
/// Host memory: a copy of the split buckets, allocated before host memory is changed. Report: also a
/// phase "repair" where buckets were split.
/// \throws Error as rmg_sort_host()
void rmg_repair_sort_host(const Context& context, const std::vector<int>& ordinals,
                          const multisort::Request& request);

}  // namespace sortie::papers
