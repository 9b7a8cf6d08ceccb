// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_matches/query_reader.hpp"

namespace sortie::genome_matches {

QueryReader::QueryReader(std::span<const std::string> paths, std::uint64_t most_bytes)
    : table_(options_), paths_(paths), most_bytes_(most_bytes), buffer_(std::size_t{256} << 10) {}

sequences::Text QueryReader::next(std::uint64_t wanted) {
  while (true) {
    if (!source_) {
      if (paths_.empty()) return {};
      source_.emplace(paths_.front());
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
