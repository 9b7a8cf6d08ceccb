// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/ranks/matrix_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "apps/spgemm/ranks/matrix_type.hpp"
#include "cluster/rank_memory.hpp"
#include "cluster/shared_output.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/matrix_market_format.hpp"
#include "matrices/rows_view.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

/// The entries of a block as text, in blocks that threads format.
template <class Value, matrices::Index Idx>
class BlockText {
 public:
  BlockText(const HostContext& context, const matrices::RowsView<Value, Idx>& rows,
            std::int64_t first_row)
      : rows_(rows),
        first_row_(first_row),
        workers_(threads_of(context)),
        count_(static_cast<std::uint64_t>((rows.nnz() + entries_each - 1) / entries_each)),
        offsets_(count_ + 1) {}

  /// Formats all blocks. \param keep  whether their text stays in memory
  void format(bool keep) {
    if (keep) kept_.resize(count_);
    each_block([&](std::uint64_t block, std::span<const char> text) {
      offsets_[block + 1] = text.size();
      if (keep) kept_[block].assign(text.begin(), text.end());
    });
    for (std::uint64_t block = 0; block < count_; ++block) offsets_[block + 1] += offsets_[block];
  }

  /// Bytes of all blocks. \pre format() was called
  [[nodiscard]] std::uint64_t bytes() const { return offsets_.back(); }

  /// Writes all blocks, formatted once more if they were not kept.
  void write(const SharedOutput& output, std::uint64_t offset) {
    if (!kept_.empty()) {
      for (std::uint64_t block = 0; block < count_; ++block)
        output.write_at(offset + offsets_[block], kept_[block]);
      return;
    }
    each_block([&](std::uint64_t block, std::span<const char> text) {
      output.write_at(offset + offsets_[block], text);
    });
  }

  /// Appends all blocks to a file.
  void append_to(WholeFile& file) {
    matrices::detail::TextBuffers<Value> buffers(static_cast<std::uint64_t>(workers_));
    write_blocks(file, workers_, blocks(buffers, [](std::uint64_t, std::span<const char>) {}));
  }

 private:
  static constexpr std::int64_t entries_each = matrices::detail::entries_per_block<Value>;

  /// \param take  take(block, text), on the thread that has formatted it
  template <class Take>
  [[nodiscard]] OutputBlocks blocks(matrices::detail::TextBuffers<Value>& buffers,
                                    const Take& take) const {
    OutputBlocks blocks;
    blocks.count = count_;
    blocks.make = [this, &buffers, take](int worker, std::uint64_t block) {
      const std::int64_t begin = static_cast<std::int64_t>(block) * entries_each;
      const std::int64_t end = std::min(rows_.nnz(), begin + entries_each);
      const auto text =
          matrices::detail::format_entries(rows_, first_row_, begin, end, buffers.of(worker));
      take(block, text);
      return text;
    };
    return blocks;
  }

  template <class Take>
  void each_block(const Take& take) {
    matrices::detail::TextBuffers<Value> buffers(static_cast<std::uint64_t>(workers_));
    make_blocks(workers_, blocks(buffers, take));
  }

  const matrices::RowsView<Value, Idx> rows_;
  std::int64_t first_row_;
  int workers_;
  std::uint64_t count_;
  std::vector<std::uint64_t> offsets_;  ///< of the blocks, from the first byte of this rank
  std::vector<std::vector<char>> kept_;
};

template <class Value, matrices::Index Idx>
void write_view(Ranks& ranks, const HostContext& context, SharedOutput& output,
                const matrices::RowsView<Value, Idx>& rows,
                const std::vector<std::int64_t>& first_rows) {
  // Entries take this much text at most where they are not unusually long numbers.
  constexpr std::uint64_t usual_bytes = 40;
  const auto entries = static_cast<std::uint64_t>(rows.nnz());
  const std::string header =
      matrices::detail::banner<Value>() +
      matrices::detail::size_line(first_rows.back(), rows.cols,
                                  static_cast<std::int64_t>(ranks.sum(entries)));
  const RankMemory memory(ranks, context);
  std::optional<BlockText<Value, Idx>> text;
  ranks.together("format matrix", [&] {
    text.emplace(context, rows, first_rows[static_cast<std::size_t>(ranks.rank())]);
    text->format(entries * usual_bytes <= memory.left() / 2);
  });
  const std::uint64_t bytes = text->bytes() + (ranks.rank() == 0 ? header.size() : 0);
  std::uint64_t offset = bytes;
  ranks.sum_before({&offset, 1});
  const std::uint64_t all = ranks.sum(bytes);
  PhaseTimer timer(context, "write matrix", bytes);
  ranks.together("write matrix", [&] {
    if (ranks.rank() == 0) {
      output.write_at(0, header);
      offset = header.size();
    }
    text->write(output, offset);
  });
  output.prepare(all);
  output.commit();
}

template <class Value, matrices::Index Idx>
void write_part(Ranks& ranks, const HostContext& context, WholeFile& file,
                const matrices::RowsView<Value, Idx>& rows,
                const std::vector<std::int64_t>& first_rows) {
  const auto own = static_cast<std::size_t>(ranks.rank());
  file.write(matrices::detail::banner<Value>());
  file.write(rows.rows == 0
                 ? std::string("% no rows\n")
                 : fmt::format("% rows {} to {}\n", first_rows[own] + 1, first_rows[own + 1]));
  file.write(matrices::detail::size_line(first_rows.back(), rows.cols, rows.nnz()));
  BlockText<Value, Idx>(context, rows, first_rows[own]).append_to(file);
}

}  // namespace

std::string split_name(const std::string& path, int rank) {
  return fmt::format("{}.{:04}", path, rank);
}

template <class Matrix>
void write_split(Ranks& ranks, const HostContext& context, const std::string& path,
                 const DividedMatrix<Matrix>& matrix) {
  PhaseTimer timer(context, "write matrix");
  std::optional<WholeFile> file;
  ranks.together("write part", [&] {
    file.emplace(split_name(path, ranks.rank()));
    write_part(ranks, context, *file, matrices::view_of(matrix.block), matrix.first_rows);
    timer.set_bytes(file->bytes_written());
    file->prepare();
  });
  bool has_name = false;
  try {
    ranks.together("rename part", [&] {
      file->commit();
      has_name = true;
    });
  } catch (const Error&) {
    std::error_code ignored;
    if (has_name) std::filesystem::remove(split_name(path, ranks.rank()), ignored);
    throw;
  }
}

template <class Matrix>
void write_rows(Ranks& ranks, const HostContext& context, SharedOutput& output,
                const DividedMatrix<Matrix>& matrix) {
  write_view(ranks, context, output, matrices::view_of(matrix.block), matrix.first_rows);
}

template <class Matrix>
void write_matrix_market(Ranks& ranks, const HostContext& context, const std::string& path,
                         const DividedMatrix<Matrix>& matrix) {
  SharedOutput output(ranks, path);
  write_rows(ranks, context, output, matrix);
}

#define INSTANTIATE_MATRIX(...)                                                     \
  template void write_rows(Ranks&, const HostContext&, SharedOutput&,               \
                           const DividedMatrix<__VA_ARGS__>&);                      \
  template void write_split(Ranks&, const HostContext&, const std::string&,         \
                            const DividedMatrix<__VA_ARGS__>&);                     \
  template void write_matrix_market(Ranks&, const HostContext&, const std::string&, \
                                    const DividedMatrix<__VA_ARGS__>&);
#define INSTANTIATE(Value, Idx) INSTANTIATE_MATRIX(matrices::Csr<Value, Idx>)
#define INSTANTIATE_PATTERN(Idx) INSTANTIATE_MATRIX(matrices::Pattern<Idx>)
SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN)
#undef INSTANTIATE_PATTERN
#undef INSTANTIATE
#undef INSTANTIATE_MATRIX

}  // namespace sortie::cluster
