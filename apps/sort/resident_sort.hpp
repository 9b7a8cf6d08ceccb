// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sortie/context.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::sorting {

/// sort_records_of() with the records in the memory of one GPU from their reading to their writing:
///
///     threads   read 0 | read 1 | ...                            | write 0 | write 1 | ...
///     bus              | copy 0 | copy 1 | ...          | copy 0 | copy 1 | ...
///     GPU                                        | sort |
///
/// Each thread reads a block of the file into page-locked memory, and copies it to the GPU; the way
/// back likewise. The host holds blocks only. The memory budget limits host memory, so it limits the
/// number of blocks and not the number of records.
///
/// \pre the output is none or a regular file
/// \return no value, with nothing written, if the backend is not CUDA, the records
///         do not fit on the GPU together with the scratch of the sort, the source has no random
///         access, several devices are to share the sort, the budget is below 4 MiB, or the device memory runs
///         out
/// \throws Error as sort_records_of()
/// Memory: 2 MiB on the host for each of at most 8 threads; on the GPU as sort_chunks().
[[nodiscard]] std::optional<SortResult> sort_on_device(const Context& context, RecordSource& source,
                                                       const FileSortRequest& request);

}  // namespace sortie::sorting
