// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_matches/query_reader.hpp"

#include <algorithm>

#include "core/host_runtime.hpp"

namespace sortie::genome_matches {
namespace {

/// Sizes of files that are read as a whole. Less takes a thread no longer than it takes to start
/// others; more would keep many records in memory that are not needed yet.
constexpr std::uint64_t least_whole_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t most_whole_bytes = std::uint64_t{512} << 20;

}  // namespace

QueryReader::QueryReader(std::span<const std::string> paths, std::uint64_t most_bytes)
    : table_(options_), paths_(paths), most_bytes_(most_bytes), buffer_(std::size_t{256} << 10) {}

sequences::Text QueryReader::next(std::uint64_t wanted) {
  while (true) {
    if (!source_) {
      if (paths_.empty()) return {};
      source_.emplace(paths_.front());
      const std::uint64_t size = source_->size_hint();
      if (source_->file().in_any_order() && !source_->compressed() && size >= least_whole_bytes &&
          size <= std::min(most_whole_bytes, most_bytes_ / 2)) {
        HostContext context;
        context.threads = host_threads();
        context.memory_budget = most_bytes_;
        sequences::Text whole = sequences::read_fasta(context, paths_.front(), options_);
        source_.reset();
        paths_ = paths_.subspan(1);
        return whole;
      }
      parser_.emplace(source_->name(), options_, table_, 0, most_bytes_);
      paths_ = paths_.subspan(1);
    }
    const std::size_t bytes = source_->read(buffer_);
    parser_->feed({buffer_.data(), bytes});
    if (bytes < buffer_.size()) {
      sequences::Text last = parser_->finish();
      source_.reset();
      return last;
    }
    if (parser_->complete_symbols() >= wanted) return parser_->take_records();
  }
}

}  // namespace sortie::genome_matches
