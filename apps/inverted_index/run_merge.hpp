// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "apps/inverted_index/index_writer.hpp"
#include "apps/inverted_index/run.hpp"
#include "sortie/context.hpp"

namespace sortie::indexing {

/// Merges runs into the postings and terms of an index.
///
/// Terms are divided among the threads at samples of the runs. A thread merges the entries of equal
/// terms in the order of the runs, which is that of documents. It makes a chunk in memory and then
/// writes it; chunks with a long list are written by one thread while they are made.
///
/// \param context  threads; progress: "merge", in bytes of runs
/// \param memory   bytes for the buffers of the runs and the chunks
/// \param runs     in the order of documents
/// \throws Error (output, input)
void merge_runs(const HostContext& context, std::uint64_t memory, const RunStore& store,
                std::span<const StoredRun> runs, bool positions, IndexWriter& writer);

}  // namespace sortie::indexing
