#pragma once

#include "sortie/multisort/cuda/chunk_sort.hpp"

namespace sortie::multisort::merge {

enum class Method { one_exchange, stages };

/// The merge sort of keys of this width, each compiled by itself in instances/.
void sort_keys8(const Context&, const DeviceGroup&, const ChunkRequest&, Method);
void sort_keys16(const Context&, const DeviceGroup&, const ChunkRequest&, Method);
void sort_keys32(const Context&, const DeviceGroup&, const ChunkRequest&, Method);
void sort_keys64(const Context&, const DeviceGroup&, const ChunkRequest&, Method);

}  // namespace sortie::multisort::merge
