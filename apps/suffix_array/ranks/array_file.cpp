// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/array_file.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/suffix_array/file_bytes.hpp"
#include "apps/suffix_array/ranks/exchanges.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/files/checksum.hpp"
#include "core/host_runtime.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

/// Items of an array, divided among ranks and into blocks.
struct BlockShares {
  std::vector<std::uint64_t> begins;  ///< of the share of each rank, and the end of the last one
  std::uint64_t block = 1;            ///< items

  /// Where the blocks begin that a rank writes: the first block that begins in its share.
  [[nodiscard]] std::uint64_t written_begin(std::size_t rank) const {
    return std::min((begins[rank] + block - 1) / block * block, begins.back());
  }
  [[nodiscard]] std::uint64_t clamped(std::uint64_t item, std::size_t rank) const {
    return std::clamp(item, begins[rank], begins[rank + 1]);
  }
};

}  // namespace

template <class Number>
std::string ArrayFile::write(std::uint64_t begin, std::span<const Number> share, int width_bytes) {
  const auto width = static_cast<std::size_t>(width_bytes);
  const auto rank = static_cast<std::size_t>(ranks_.rank());
  const auto size = static_cast<std::size_t>(ranks_.size());
  const BlockShares shares{begins_of(ranks_.gather(std::uint64_t{share.size()})),
                           checksum_block_bytes / width};
  // The items before the first block of this rank belong to blocks of other ranks.
  std::vector<std::uint64_t> counts(size);
  const std::uint64_t written = shares.written_begin(rank);
  const std::uint64_t kept = shares.clamped(written, rank);
  for (std::size_t to = 0; to < rank; ++to) {
    counts[to] = shares.clamped(shares.written_begin(to + 1), rank) -
                 shares.clamped(shares.written_begin(to), rank);
  }
  Exchanges exchanges(ranks_);
  Context context;
  const auto ends = exchanges.send(context, "receive blocks", share.data(), counts);
  std::vector<std::uint64_t> sums;
  ranks_.together("write", [&] {
    const std::span<const Number> own = share.subspan(kept - begin);
    const std::span<const Number> others(ends.items.get(), ends.size());
    const std::uint64_t items = own.size() + others.size();
    sums.resize((items + shares.block - 1) / shares.block);
    const int workers = std::clamp(threads_of(context_), 1,
                                   static_cast<int>(std::clamp<std::size_t>(sums.size(), 1, 4096)));
    std::vector<std::vector<char>> buffers(static_cast<std::size_t>(workers));
    const auto write_block = [&](int worker, std::uint64_t block) {
      const std::uint64_t first = block * shares.block;
      const std::uint64_t count = std::min(shares.block, items - first);
      std::span<const Number> numbers;
      std::vector<Number> joined;
      if (first + count <= own.size()) {
        numbers = own.subspan(first, count);
      } else {
        const std::span<const Number> head = own.subspan(std::min(first, own.size()));
        joined.assign(head.begin(), head.end());
        const std::uint64_t from = first + joined.size() - own.size();
        const auto tail = others.subspan(from, count - joined.size());
        joined.insert(joined.end(), tail.begin(), tail.end());
        numbers = joined;
      }
      const std::span<const char> bytes =
          file_bytes(numbers, width, buffers[static_cast<std::size_t>(worker)]);
      sums[block] = block_checksum(std::as_bytes(bytes));
      output_.write_at((written + first) * width, bytes);
    };
    run_blocks(workers, {.take = [&](int, std::uint64_t block) { return block < sums.size(); },
                         .work = write_block,
                         .pass = {},
                         .finish = {}});
  });
  bytes_ = shares.begins.back() * width;
  const auto all = ranks_.gather_arrays(std::span<const std::uint64_t>(sums));
  return checksum_text(checksum_of_blocks(all));
}

void ArrayFile::prepare(const std::function<std::string()>& describe) {
  ranks_.on_rank(0, "write description", [&] {
    description_.emplace(path_ + ".json");
    description_->write(describe());
    description_->prepare();
  });
  output_.prepare(bytes_);
}

void ArrayFile::commit() {
  output_.commit();
  has_name_ = ranks_.rank() == 0;
  ranks_.on_rank(0, "name description", [&] {
    description_->commit();
    has_description_ = true;
  });
}

void ArrayFile::remove() const {
  std::error_code ignored;
  if (has_name_) std::filesystem::remove(path_, ignored);
  if (has_description_) std::filesystem::remove(path_ + ".json", ignored);
}

void commit_all(std::span<ArrayFile* const> files) {
  try {
    for (ArrayFile* const file : files) file->commit();
  } catch (...) {
    for (const ArrayFile* const file : files) file->remove();
    throw;
  }
}

template std::string ArrayFile::write(std::uint64_t, std::span<const std::uint8_t>, int);
template std::string ArrayFile::write(std::uint64_t, std::span<const std::uint32_t>, int);
template std::string ArrayFile::write(std::uint64_t, std::span<const std::uint64_t>, int);

}  // namespace sortie::suffix_array::on_ranks
