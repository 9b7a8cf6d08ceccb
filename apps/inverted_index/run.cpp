// SPDX-License-Identifier: Apache-2.0
#include "apps/inverted_index/run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "multisort/host/local_sort.hpp"
#include "primitives/payload.hpp"
#include "sortie/sort.hpp"

namespace sortie::indexing {
namespace {

using Number = Opaque<std::uint32_t>;

constexpr std::array<std::uint8_t, 256> base_numbers = [] {
  std::array<std::uint8_t, 256> numbers{};
  numbers.fill(4);
  for (std::uint8_t i = 0; i < 5; ++i) {
    const auto letter = static_cast<unsigned char>("ACGTU"[i]);
    numbers[letter] = numbers[letter | 0x20U] = std::min<std::uint8_t>(i, 3);
  }
  return numbers;
}();

}  // namespace

std::uint8_t base_number(char letter) {
  return base_numbers[static_cast<unsigned char>(letter)];
}

std::uint64_t run_bytes_per_item(const IndexOptions& options) {
  // Keys and their scratch; values and theirs; the dictionary and the encoded run.
  if (options.kmer_length > 0) return 16 + 8 + 16;
  return 16 + 4 + 16;
}

TokenRun::TokenRun(const IndexOptions& options, std::uint64_t most_items)
    : options_(options), most_items_(most_items) {
  if (!options.stemmer.empty()) stemmer_.emplace(options.stemmer);
  keys_ = allocate_array<std::uint64_t>(most_items);
  key_scratch_ = allocate_array<std::uint64_t>(most_items);
  if (options.kmer_length > 0) {
    values_ = allocate_array<std::uint32_t>(most_items);
    value_scratch_ = allocate_array<std::uint32_t>(most_items);
  } else {
    tokens_ = allocate_array<std::uint32_t>(most_items);
  }
}

int TokenRun::place_bits() const {
  const std::uint64_t places = options_.positions ? items_ : document_ends_.size();
  return std::bit_width(std::max<std::uint64_t>(places, 2) - 1);
}

void TokenRun::make_keys() {
  rank_terms(table_, stemmer_ ? &*stemmer_ : nullptr, ranked_);
  const std::uint32_t* const ranks = ranked_.ranks.data();
  const int bits = place_bits();
  std::uint64_t item = 0;
  for (std::uint64_t document = 0; document < document_ends_.size(); ++document) {
    if (options_.positions) {
      for (; item < document_ends_[document]; ++item)
        keys_[item] = std::uint64_t{ranks[tokens_[item]]} << bits | item;
    } else {
      for (; item < document_ends_[document]; ++item)
        keys_[item] = std::uint64_t{ranks[tokens_[item]]} << bits | document;
    }
  }
}

void TokenRun::sort_alone() {
  if (options_.kmer_length == 0) {
    multisort::LocalSort<std::uint64_t, NoValue>().sort({keys_.get()}, {key_scratch_.get()},
                                                        items_);
  } else {
    const auto number = [](std::uint32_t* values) { return reinterpret_cast<Number*>(values); };
    multisort::LocalSort<std::uint64_t, Number>().sort(
        {keys_.get(), number(values_.get())}, {key_scratch_.get(), number(value_scratch_.get())},
        items_);
  }
}

void TokenRun::sort(const Context& context) {
  if (options_.kmer_length == 0) return sortie::sort(context, keys());
  SortOptions stable;
  stable.stable = true;
  sortie::sort(context, keys(), values(), stable);
}

/// Writes entries to the run's buffer.
struct TokenRun::Encoder {
  TokenRun& run;
  std::vector<RunSample>& samples;
  char* at;
  std::uint64_t next_sample = 0;

  /// Ensures that so many bytes can be written.
  void reserve(std::uint64_t bytes) {
    const auto used = static_cast<std::uint64_t>(at - run.bytes_.get());
    if (used + bytes <= run.bytes_capacity_) return;
    const std::uint64_t capacity = std::max(run.bytes_capacity_ * 3 / 2, used + bytes);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    std::copy_n(run.bytes_.get(), used, larger.get());
    run.bytes_ = std::move(larger);
    run.bytes_capacity_ = capacity;
    at = run.bytes_.get() + used;
  }
  /// Writes the term. \return the address of the size
  char* begin(std::string_view term, std::uint64_t items) {
    // Numbers below 2^35.
    constexpr std::uint64_t most_bytes = 5;
    reserve(term.size() + 2 * longest_varint +
            items * (run.options_.positions ? 2 * most_bytes : most_bytes));
    const auto offset = static_cast<std::uint64_t>(at - run.bytes_.get());
    if (offset >= next_sample) {
      samples.push_back({std::string(term), offset});
      next_sample = offset + sample_bytes;
    }
    at = put_varint(at, term.size());
    at = std::copy(term.begin(), term.end(), at);
    at += sizeof(std::uint32_t);
    return at - sizeof(std::uint32_t);
  }
};

template <class PlaceOf, class TermOf, class GroupOf>
void TokenRun::encode_groups(Encoder& encoder, const PlaceOf& place_of, const TermOf& term_of,
                             const GroupOf& group_of) const {
  const bool positions = options_.positions;
  for (std::uint64_t begin = 0; begin < items_;) {
    const std::uint64_t group = group_of(begin);
    std::uint64_t end = begin + 1;
    while (end < items_ && group_of(end) == group) ++end;
    char* const size = encoder.begin(term_of(group), end - begin);
    char* at = encoder.at;
    std::uint64_t document = 0;
    auto place = place_of(begin, 0);
    while (begin < end) {
      const auto first = place;
      const std::uint64_t first_item = begin;
      while (++begin < end) {
        place = place_of(begin, first.first);
        if (place.first != first.first) break;
      }
      const std::uint64_t frequency = begin - first_item;
      at = put_varint(at, (first.first - document) << 1 | (frequency == 1 ? 1 : 0));
      if (frequency > 1) at = put_varint(at, frequency - 2);
      document = first.first;
      if (!positions) continue;
      std::uint64_t before = 0;
      for (std::uint64_t i = first_item; i < begin; ++i) {
        const std::uint64_t position = place_of(i, document).second;
        at = put_varint(at, position - before);
        before = position;
      }
    }
    const auto bytes = static_cast<std::uint32_t>(at - size - sizeof(std::uint32_t));
    std::memcpy(size, &bytes, sizeof(bytes));
    encoder.at = at;
  }
}

std::span<const char> TokenRun::encode(std::vector<RunSample>& samples) {
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // document in the run, position
  samples.clear();
  Encoder encoder{*this, samples, bytes_.get()};
  // The document of an item, not before `from`.
  const auto document_of = [&](std::uint64_t place, std::uint64_t from) {
    if (place < document_ends_[from]) return from;
    return static_cast<std::uint64_t>(
        std::upper_bound(document_ends_.begin() + static_cast<std::ptrdiff_t>(from),
                         document_ends_.end(), place) -
        document_ends_.begin());
  };
  const auto begin_of = [&](std::uint64_t document, std::uint64_t first) {
    return document == 0 ? first : document_ends_[document - 1];
  };
  if (options_.kmer_length > 0) {
    char term[8];
    const auto term_of = [&](std::uint64_t kmer) {
      put_kmer(kmer, options_.kmer_length, term);
      return std::string_view(term, kmer_bytes(options_.kmer_length));
    };
    const auto place_of = [&](std::uint64_t i, std::uint64_t from) -> Place {
      const std::uint64_t document = document_of(values_[i], from);
      return {document, values_[i] - begin_of(document, first_offset_)};
    };
    encode_groups(encoder, place_of, term_of, [&](std::uint64_t i) { return keys_[i]; });
  } else {
    const int bits = place_bits();
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    const auto term_of = [&](std::uint64_t rank) { return ranked_.terms[rank]; };
    const auto rank_of = [&](std::uint64_t i) { return keys_[i] >> bits; };
    if (options_.positions) {
      const auto place_of = [&](std::uint64_t i, std::uint64_t from) -> Place {
        const std::uint64_t item = keys_[i] & mask;
        const std::uint64_t document = document_of(item, from);
        return {document, item - begin_of(document, 0)};
      };
      encode_groups(encoder, place_of, term_of, rank_of);
    } else {
      const auto place_of = [&](std::uint64_t i, std::uint64_t) -> Place {
        return {keys_[i] & mask, 0};
      };
      encode_groups(encoder, place_of, term_of, rank_of);
    }
  }
  return {bytes_.get(), encoder.at};
}

void BlockParser::begin(const Documents& block) {
  block_ = &block;
  document_ = at_ = position_ = 0;
  kmers_.clear();
  lengths_.assign(block.size(), 0);
}

bool BlockParser::parse(TokenRun& run) {
  run.items_ = 0;
  run.document_ends_.clear();
  run.table_.clear();
  run.first_document_ = static_cast<std::uint32_t>(document_);
  run.first_position_ = position_;
  run.first_offset_ = at_;
  if (options_.kmer_length > 0) {
    parse_kmers(run);
  } else {
    parse_words(run);
  }
  return run.items_ > 0;
}

void BlockParser::parse_words(TokenRun& run) {
  // Memory of the dictionary, as in run_bytes_per_item().
  const std::uint64_t most_table_bytes = 12 * most_items_;
  std::uint64_t items = 0;
  bool is_full = false;
  const char* const bytes = block_->bytes.data();
  for (; document_ < block_->size(); ++document_, position_ = 0) {
    const char* const end = bytes + block_->begins[document_ + 1];
    const std::uint64_t before = items;
    const auto take = [&](const char* word, std::size_t size) {
      run.tokens_[items++] = run.table_.number(word, size);
      is_full =
          items == most_items_ || (items % 1024 == 0 && run.table_.bytes() > most_table_bytes);
      return !is_full;
    };
    at_ = static_cast<std::uint64_t>(scanner_.scan(bytes + at_, end, take) - bytes);
    position_ += items - before;
    lengths_[document_] += static_cast<std::uint32_t>(items - before);
    run.document_ends_.push_back(items);
    if (is_full) break;
    if (document_ + 1 == block_->size()) {
      ++document_;
      break;
    }
  }
  run.items_ = items;
  if (items > 0) run.make_keys();
}

void BlockParser::parse_kmers(TokenRun& run) {
  const auto before_last = static_cast<std::uint64_t>(options_.kmer_length) - 1;
  std::uint64_t items = 0;
  // Without the letters before `at_` that k-mers of the document begin with.
  const auto begin_of_next = [&](std::uint64_t at, std::uint64_t begin) {
    return at - std::min(at - begin, before_last);
  };
  run.first_offset_ =
      document_ < block_->size() ? begin_of_next(at_, block_->begins[document_]) : at_;
  for (; document_ < block_->size(); ++document_, position_ = 0, kmers_.clear()) {
    const std::uint64_t begin = block_->begins[document_];
    const std::uint64_t end = block_->begins[document_ + 1];
    const std::uint64_t before = items;
    for (; at_ < end && items < most_items_; ++at_) {
      if (!kmers_.add(block_->bytes[at_])) continue;
      run.keys_[items] = kmers_.kmer();
      run.values_[items++] = static_cast<std::uint32_t>(at_ - before_last);
    }
    lengths_[document_] += static_cast<std::uint32_t>(items - before);
    position_ = begin_of_next(at_, begin) - begin;
    run.document_ends_.push_back(end);
    if (at_ < end) break;
    if (document_ + 1 == block_->size()) {
      ++document_;
      break;
    }
  }
  run.items_ = items;
}

StoredRun RunStore::add(std::span<const char> bytes) {
  StoredRun run;
  run.size = bytes.size();
  {
    const std::lock_guard lock(mutex_);
    if (in_memory_ + bytes.size() <= resident_) {
      in_memory_ += bytes.size();
      run.memory = {std::make_unique_for_overwrite<char[]>(bytes.size()), bytes.size()};
    } else {
      if (!file_) file_.emplace(folder_);
      run.file_begin = spilled_;
      spilled_ += bytes.size();
    }
  }
  if (run.memory.data != nullptr) {
    std::copy(bytes.begin(), bytes.end(), run.memory.data.get());
  } else {
    file_->write(run.file_begin, bytes);
  }
  return run;
}

void RunStore::read(const StoredRun& run, std::uint64_t offset, std::span<char> into) const {
  file_->read(run.file_begin + offset, into);
}

RunStream::RunStream(const RunStore& store, const StoredRun& run, std::uint64_t begin,
                     std::uint64_t end, std::span<char> buffer)
    : store_(&store), run_(&run), buffer_(buffer), last_(end), next_(begin) {
  if (run.memory.data == nullptr) return;
  at_ = run.memory.data.get() + begin;
  end_ = run.memory.data.get() + end;
  next_ = end;
}

void RunStream::refill() {
  const auto left = static_cast<std::uint64_t>(end_ - at_);
  const std::uint64_t more = std::min(last_ - next_, buffer_.size() - left);
  if (more == 0) return;
  if (left > 0) std::memmove(buffer_.data(), at_, left);
  store_->read(*run_, next_, buffer_.subspan(left, more));
  next_ += more;
  at_ = buffer_.data();
  end_ = at_ + left + more;
}

void RunStream::copy(char* to, std::uint64_t bytes) {
  while (bytes > 0) {
    if (at_ == end_) refill();
    const std::uint64_t n = std::min(bytes, static_cast<std::uint64_t>(end_ - at_));
    to = std::copy_n(at_, n, to);
    at_ += n;
    bytes -= n;
  }
}

void RunStream::skip(std::uint64_t bytes) {
  const auto there = static_cast<std::uint64_t>(end_ - at_);
  if (bytes <= there) {
    at_ += bytes;
  } else {
    next_ += bytes - there;
    at_ = end_;
  }
}

}  // namespace sortie::indexing
