// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/ranks/matrix_source.hpp"

#include <fmt/format.h>

#include <array>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/spgemm/ranks/entry_exchange.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "apps/spgemm/ranks/move_rows.hpp"
#include "apps/spgemm/ranks/row_division.hpp"
#include "apps/spgemm/ranks/text_entries.hpp"
#include "core/files/stream_decoder.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

/// Whether a file can be read from any byte on, and is not compressed.
bool is_plain_text(const InputFile& file) {
  if (!file.in_any_order()) return false;
  std::array<char, 8> head = {};
  const std::size_t bytes = file.read_at(0, head);
  return encoding_of({head.data(), bytes}) == Encoding::plain &&
         !matrices::starts_as_npz(std::span<const char>(head.data(), bytes));
}

/// The header of a plain file. \throws Error (input)
matrices::detail::ParsedHeader read_header(const InputFile& file) {
  constexpr std::size_t step = 1 << 16;  // comments are rarely longer
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + step);
    const std::size_t bytes = file.read_at(before, {text.data() + before, step});
    text.resize(before + bytes);
    if (auto parsed = matrices::detail::parse_header(file.name(), text, bytes < step))
      return *parsed;
  }
}

}  // namespace

MatrixSource::MatrixSource(Ranks& ranks, const HostContext& context, const std::string& path)
    : ranks_(ranks), path_(path) {
  const PhaseTimer timer(context, "read");
  ranks.on_rank(0, "open matrix", [&] { open_on_first_rank(context); });
  ranks.broadcast(std::as_writable_bytes(std::span(&opened_, 1)), 0);
  ranks.together("open matrix on ranks", [&] {
    if (!opened_.is_divided || file_) return;
    file_.emplace(path);
    if (file_->size() == opened_.bytes) return;
    throw input_error(path, 0, fmt::format("a file of {} bytes", file_->size()),
                      fmt::format("{}, as rank 0 finds", opened_.bytes));
  });
}

void MatrixSource::open_on_first_rank(const HostContext& context) {
  // A pipe cannot be opened twice.
  if (path_ != "-" && std::filesystem::is_regular_file(path_)) {
    file_.emplace(path_);
    if (is_plain_text(*file_)) {
      opened_.parsed = read_header(*file_);
      // The place of an array's entry follows from its number, not from its line.
      opened_.is_divided = opened_.parsed.header.coordinate;
      opened_.bytes = file_->size();
    }
    if (opened_.is_divided) return;
    file_.reset();
  }
  HostContext quiet = context;
  quiet.report = nullptr;
  text_.emplace(quiet, path_);
  opened_.parsed.header = text_->header;
}

template <matrices::Scalar Value, matrices::Index Idx>
DividedMatrix<matrices::Csr<Value, Idx>> MatrixSource::read(const HostContext& context,
                                                            TrafficPlan& plan, bool transposed) {
  using Matrix = matrices::Csr<Value, Idx>;
  RankMemory memory(ranks_, context);
  if (opened_.is_divided) {
    TextEntries<Value, Idx> entries =
        read_entries<Value, Idx>(ranks_, context, memory, *file_, opened_.parsed);
    file_.reset();
    const PhaseTimer timer(context, "build rows");
    return build_rows(ranks_, context, plan, memory, std::move(entries), opened_.parsed.header,
                      transposed);
  }
  const PhaseTimer timer(context, "read");
  DividedMatrix<Matrix> matrix;
  ranks_.on_rank(0, "read matrix", [&] {
    HostContext quiet = context;
    quiet.report = nullptr;
    matrix.block = std::move(*text_).parse<Value, Idx>(quiet, quiet);
    text_.reset();
    if (transposed) matrix.block = matrices::transpose(matrix.block);
  });
  std::int64_t sizes[2] = {matrix.block.rows, matrix.block.cols};
  ranks_.broadcast(std::as_writable_bytes(std::span(sizes)), 0);
  matrix.block.cols = sizes[1];
  matrix.first_rows.assign(static_cast<std::size_t>(ranks_.size()) + 1, sizes[0]);
  matrix.first_rows.front() = 0;
  // The weights are those of entry_exchange.hpp, of all rows.
  std::vector<RowGroup> groups;
  ranks_.on_rank(0, "group rows", [&] {
    std::vector<std::uint64_t> weights(static_cast<std::size_t>(sizes[0]));
    for (std::size_t row = 0; row < weights.size(); ++row) {
      weights[row] =
          row_weight + entry_weight * static_cast<std::uint64_t>(matrix.block.row_ptr[row + 1] -
                                                                 matrix.block.row_ptr[row]);
    }
    const std::uint64_t all =
        row_weight * weights.size() + entry_weight * static_cast<std::uint64_t>(matrix.block.nnz());
    groups =
        group_rows(0, weights, all / (groups_per_rank * static_cast<std::uint64_t>(ranks_.size())));
  });
  std::vector<std::int64_t> first_rows(matrix.first_rows.size());
  if (ranks_.rank() == 0) first_rows = divide_rows(groups, sizes[0], ranks_.size());
  ranks_.broadcast(std::as_writable_bytes(std::span(first_rows)), 0);
  return move_rows(ranks_, plan, memory, std::move(matrix), std::move(first_rows));
}

template <matrices::Scalar Value, matrices::Index Idx>
DividedMatrix<matrices::Csr<Value, Idx>> read_matrix_market(Ranks& ranks,
                                                            const HostContext& context,
                                                            const std::string& path,
                                                            bool transposed) {
  TrafficPlan plan(ranks);
  MatrixSource source(ranks, context, path);
  auto matrix = source.read<Value, Idx>(context, plan, transposed);
  plan.finish(context);
  return matrix;
}

#define INSTANTIATE(Value, Idx)                                                                    \
  template DividedMatrix<matrices::Csr<Value, Idx>> MatrixSource::read(const HostContext&,         \
                                                                       TrafficPlan&, bool);        \
  template DividedMatrix<matrices::Csr<Value, Idx>> read_matrix_market(Ranks&, const HostContext&, \
                                                                       const std::string&, bool);
#define INSTANTIATE_PATTERN(Idx)
SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN)
#undef INSTANTIATE_PATTERN
#undef INSTANTIATE

}  // namespace sortie::cluster
