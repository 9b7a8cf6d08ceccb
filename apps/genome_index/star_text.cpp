// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/star_text.hpp"

#include <algorithm>
#include <cstring>

#include "primitives/host/parallel.hpp"

namespace sortie::genomes {
namespace {

std::uint64_t letters_of(const StarTextParts& parts) {
  return parts.records.back().number + parts.records.back().length;
}

}  // namespace

InvertedText::InvertedText(const HostContext& context, const StarTextParts& parts, int bits)
    : size_(2 * (letters_of(parts) + parts.records.size())),
      symbols_(allocate_array<std::uint8_t>(context, "index: the text of both strands",
                                            size_ + prefix_bytes)) {
  std::memset(symbols_.get() + size_, 0, prefix_bytes);
  const std::span<const StarLetters::Record> records = parts.records;
  const std::size_t count = records.size();
  segments_.resize(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const StarLetters::Record& record = records[i];
    const std::uint64_t complement = record.number + i;
    const std::uint64_t forward = size_ - complement - record.length - 1;
    segments_[i] = {complement, (std::uint64_t{1} << bits) + parts.genome_size - record.begin -
                                    record.length - complement};
    segments_[2 * count - 1 - i] = {forward, record.begin - forward};
    symbols_[complement + record.length] = symbols_[forward + record.length] = 0;
    separators_.push_back(complement + record.length);
    separators_.push_back(forward + record.length);
  }
  std::ranges::sort(separators_);
  if (parts.first_inserted < count) {
    // Both strands of the junctions are in the middle.
    inserted_begin_ = segments_[parts.first_inserted].begin;
    inserted_size_ = size_ - 2 * inserted_begin_;
  }
  for_each_range(
      letters_of(parts), std::uint64_t{1} << 20, [&](std::uint64_t begin, std::uint64_t end) {
        auto record =
            std::ranges::upper_bound(records, begin, {}, &StarLetters::Record::number) - 1;
        while (begin < end) {
          const auto i = static_cast<std::size_t>(record - records.begin());
          const std::uint64_t last = std::min(end, record->number + record->length);
          copy_letters(parts.codes, begin, last, segments_[2 * count - 1 - i].begin,
                       record->number + i, *record);
          begin = last;
          ++record;
        }
      });
  first_segments_.reserve(size_ / granule + 1);
  for (std::size_t i = 0; first_segments_.size() <= size_ / granule;) {
    const std::uint64_t position = first_segments_.size() * granule;
    while (i + 1 < segments_.size() && segments_[i + 1].begin <= position) ++i;
    first_segments_.push_back(static_cast<std::uint32_t>(i));
  }
}

void InvertedText::copy_letters(const std::uint8_t* codes, std::uint64_t begin, std::uint64_t end,
                                std::uint64_t forward, std::uint64_t complement,
                                const StarLetters::Record& record) {
  std::uint8_t* const symbols = symbols_.get();
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint8_t code = codes[i];
    const std::uint64_t at = i - record.number;
    symbols[forward + at] = static_cast<std::uint8_t>(5 - code);
    symbols[complement + record.length - 1 - at] =
        static_cast<std::uint8_t>(code < 4 ? 2 + code : 1);
  }
}

std::size_t InvertedText::segment_after(std::size_t i, std::uint64_t position) const {
  const std::size_t next = position / granule + 1;
  const auto end = next < first_segments_.size() ? segments_.begin() + first_segments_[next] + 1
                                                 : segments_.end();
  const auto after = std::upper_bound(
      segments_.begin() + static_cast<std::ptrdiff_t>(i), end, position,
      [](std::uint64_t value, const Segment& segment) { return value < segment.begin; });
  return static_cast<std::size_t>(after - segments_.begin()) - 1;
}

}  // namespace sortie::genomes
