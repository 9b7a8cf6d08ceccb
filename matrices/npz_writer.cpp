// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/files/block_pipeline.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/chunked_rows.hpp"
#include "matrices/npy_header.hpp"
#include "matrices/npz_rows.hpp"
#include "matrices/row_assembly.hpp"
#include "matrices/rows_view.hpp"
#include "matrices/zip_archive.hpp"
#include "sortie/npz.hpp"

namespace sortie::matrices {

namespace {

using namespace detail;

static_assert(std::endian::native == std::endian::little, "arrays are written as they are");

/// Bytes of an array that a thread sums and writes at a time: they stay in its L2 cache meanwhile.
constexpr std::uint64_t member_block_bytes = std::uint64_t{1} << 20;

template <class T>
constexpr std::string_view npy_descr;
template <>
constexpr std::string_view npy_descr<std::int32_t> = "<i4";
template <>
constexpr std::string_view npy_descr<std::int64_t> = "<i8";
template <>
constexpr std::string_view npy_descr<float> = "<f4";
template <>
constexpr std::string_view npy_descr<double> = "<f8";
template <>
constexpr std::string_view npy_descr<std::complex<float>> = "<c8";
template <>
constexpr std::string_view npy_descr<std::complex<double>> = "<c16";
/// A bool.
template <>
constexpr std::string_view npy_descr<std::uint8_t> = "|b1";
/// A pattern: all values are the bool True.
template <>
constexpr std::string_view npy_descr<NoValue> = "|b1";

/// "(7,)"
std::string list_shape(std::int64_t elements) {
  return fmt::format("({},)", elements);
}

/// Blocks of `elements` elements of type T.
template <class T>
std::uint64_t member_blocks(std::int64_t elements) {
  constexpr std::uint64_t per_block = member_block_bytes / sizeof(T);
  return (static_cast<std::uint64_t>(elements) + per_block - 1) / per_block;
}

/// Elements of a block.
template <class T>
std::span<const T> member_block(std::span<const T> elements, std::uint64_t block) {
  constexpr std::uint64_t per_block = member_block_bytes / sizeof(T);
  const std::uint64_t begin = block * per_block;
  return elements.subspan(begin, std::min<std::uint64_t>(per_block, elements.size() - begin));
}

template <class T>
std::span<const char> chars_of(std::span<const T> elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size_bytes()};
}

/// An array as it lies in memory.
/// \param await  returns once so many elements are there; empty if all are
template <class T>
OutputBlocks blocks_of(std::span<const T> elements,
                       const std::function<void(std::int64_t)>& await = {}) {
  return {.count = member_blocks<T>(static_cast<std::int64_t>(elements.size())),
          .make = [elements, await](int, std::uint64_t block) {
            const std::span<const T> part = member_block(elements, block);
            if (await) await(part.data() + part.size() - elements.data());
            return chars_of(part);
          }};
}

/// Numbers of 64 bits as those of 32 bits.
OutputBlocks narrowed_blocks(std::span<const std::int64_t> numbers, int workers) {
  using Buffers = std::vector<std::vector<std::int32_t>>;
  const auto buffers = std::make_shared<Buffers>(static_cast<std::size_t>(workers));
  return {.count = member_blocks<std::int64_t>(static_cast<std::int64_t>(numbers.size())),
          .make = [=](int worker, std::uint64_t block) {
            const auto from = member_block(numbers, block);
            std::vector<std::int32_t>& buffer = (*buffers)[static_cast<std::size_t>(worker)];
            buffer.resize(from.size());
            std::transform(from.begin(), from.end(), buffer.begin(),
                           [](std::int64_t number) { return static_cast<std::int32_t>(number); });
            return chars_of(std::span<const std::int32_t>(buffer));
          }};
}

/// The bool True, repeated.
OutputBlocks true_blocks(std::int64_t elements) {
  const auto ones = std::make_shared<std::vector<char>>(member_block_bytes, char{1});
  return {.count = member_blocks<char>(elements), .make = [=](int, std::uint64_t block) {
            const std::uint64_t begin = block * member_block_bytes;
            return std::span<const char>(*ones).first(std::min<std::uint64_t>(
                member_block_bytes, static_cast<std::uint64_t>(elements) - begin));
          }};
}

/// The first bytes of a temporary file.
OutputBlocks blocks_of_file(const WholeFile& file, std::uint64_t bytes, int workers) {
  using Buffers = std::vector<std::unique_ptr<char[]>>;
  const auto buffers = std::make_shared<Buffers>(static_cast<std::size_t>(workers));
  return {.count = (bytes + member_block_bytes - 1) / member_block_bytes,
          .make = [=, &file](int worker, std::uint64_t block) {
            std::unique_ptr<char[]>& buffer = (*buffers)[static_cast<std::size_t>(worker)];
            if (!buffer) buffer = std::make_unique_for_overwrite<char[]>(member_block_bytes);
            const std::uint64_t begin = block * member_block_bytes;
            const std::span<char> content(buffer.get(),
                                          std::min(member_block_bytes, bytes - begin));
            file.read_at(begin, content);
            return std::span<const char>(content);
          }};
}

/// Appends blocks to a file. Returns their sum.
ContentSum append_blocks(WholeFile& file, int workers, OutputBlocks blocks) {
  std::vector<ContentSum> sums(blocks.count);
  blocks.make = [&sums, make = std::move(blocks.make)](int worker, std::uint64_t block) {
    const std::span<const char> bytes = make(worker, block);
    sums[block] = sum_of(bytes);
    return bytes;
  };
  write_blocks(file, workers, blocks);
  ContentSum sum;
  for (const ContentSum& block : sums) sum.append(block);
  return sum;
}

/// The sum of blocks that are not written yet.
ContentSum sum_blocks(int workers, const OutputBlocks& blocks) {
  std::vector<ContentSum> sums(blocks.count);
  BlockSteps steps;
  steps.take = [&](int, std::uint64_t block) { return block < blocks.count; };
  steps.work = [&](int worker, std::uint64_t block) {
    sums[block] = sum_of(blocks.make(worker, block));
  };
  run_blocks(workers, steps);
  ContentSum sum;
  for (const ContentSum& block : sums) sum.append(block);
  return sum;
}

/// The description of a member whose content, of this sum, follows the header of an array.
ZipMember stored_array(std::string name, const std::string& header, const ContentSum& elements,
                       std::uint64_t offset) {
  ContentSum content = sum_of(header);
  content.append(elements);
  return {std::move(name), content, content.bytes, offset, zip_stored};
}

/// A member of a regular file while its elements are appended. Its headers are written at the end.
class GrowingArray {
 public:
  GrowingArray(WholeFile& file, std::string name)
      : name_(std::move(name)),
        offset_(file.reserve(zip_local_header_bytes(name_) + npy_header_bytes)) {}

  void append(WholeFile& file, int workers, OutputBlocks blocks) {
    elements_.append(append_blocks(file, workers, std::move(blocks)));
  }

  /// \pre nothing but this member was appended to the file since it began
  [[nodiscard]] ZipMember finish(const WholeFile& file, const std::string& npy_header) {
    ZipMember member = stored_array(std::move(name_), npy_header, elements_, offset_);
    file.write_at(offset_, zip_local_header(member) + npy_header);
    return member;
  }

 private:
  std::string name_;
  std::uint64_t offset_;
  ContentSum elements_;
};

/// The members that a file has so far.
class NpzMembers {
 public:
  NpzMembers(WholeFile& file, int workers) : file_(file), workers_(workers) {}

  [[nodiscard]] int workers() const { return workers_; }

  void add(const std::string& name, const std::string& npy_header, OutputBlocks blocks) {
    if (!file_.is_stream()) {
      GrowingArray array(file_, name);
      array.append(file_, workers_, std::move(blocks));
      return add(array.finish(file_, npy_header));
    }
    const std::uint64_t offset = file_.bytes_written();
    ZipMember member = stored_array(name, npy_header, sum_blocks(workers_, blocks), offset);
    file_.write(zip_local_header(member));
    file_.write(npy_header);
    write_blocks(file_, workers_, blocks);
    add(std::move(member));
  }
  void add(ZipMember member) { members_.push_back(std::move(member)); }

  /// The arrays after the indices, and the directory.
  /// \param blocks_written  called as by write_blocks(), for the offsets
  template <Index Idx>
  void finish(std::span<const std::int64_t> row_ptr, std::int64_t cols,
              const std::function<void(std::uint64_t)>& blocks_written) {
    const bool narrow =
        std::is_same_v<Idx, std::int32_t> && row_ptr.back() <= std::numeric_limits<Idx>::max();
    OutputBlocks offsets = narrow ? narrowed_blocks(row_ptr, workers_) : blocks_of(row_ptr);
    offsets.tell = blocks_written;
    add("indptr.npy",
        npy_header(narrow ? npy_descr<std::int32_t> : npy_descr<std::int64_t>,
                   list_shape(std::ssize(row_ptr))),
        std::move(offsets));
    const std::array<std::int64_t, 2> shape = {std::ssize(row_ptr) - 1, cols};
    add("shape.npy", npy_header(npy_descr<std::int64_t>, list_shape(2)),
        blocks_of(std::span<const std::int64_t>(shape)));
    constexpr std::string_view format = "csr";
    add("format.npy", npy_header("|S3", "()"), blocks_of(std::span<const char>(format)));
    file_.write(zip_directory(members_, file_.bytes_written()));
  }

 private:
  WholeFile& file_;
  int workers_;
  std::vector<ZipMember> members_;
};

template <class Value, Index Idx>
OutputBlocks value_blocks(const RowsView<Value, Idx>& rows) {
  if constexpr (std::is_same_v<Value, NoValue>) {
    return true_blocks(rows.nnz());
  } else {
    return blocks_of(rows.values, rows.await);
  }
}

template <class Value, Index Idx>
void write_npz_file(const HostContext& context, const std::string& path,
                    const RowsView<Value, Idx>& matrix) {
  PhaseTimer timer(context, "write matrix");
  WholeFile file(path);
  NpzMembers members(file, threads_of(context));

  OutputBlocks values = value_blocks(matrix);
  OutputBlocks indices = blocks_of(matrix.col_idx, matrix.await);
  const std::uint64_t entry_blocks = values.count + indices.count;
  const std::uint64_t all_blocks =
      entry_blocks + member_blocks<std::int64_t>(std::ssize(matrix.row_ptr));
  const auto tell_from = [&](std::uint64_t before) {
    return [&context, all_blocks, before](std::uint64_t written) {
      report_progress(context, "write matrix", before + written, all_blocks);
    };
  };
  values.tell = tell_from(0);
  indices.tell = tell_from(values.count);
  members.add("data.npy", npy_header(npy_descr<Value>, list_shape(matrix.nnz())),
              std::move(values));
  members.add("indices.npy", npy_header(npy_descr<Idx>, list_shape(matrix.nnz())),
              std::move(indices));
  members.template finish<Idx>(matrix.row_ptr, matrix.cols, tell_from(entry_blocks));
  timer.set_bytes(file.bytes_written());
  file.commit();
}

}  // namespace

template <Element Value, Index Idx>
void write_npz(const HostContext& context, const std::string& path, const Csr<Value, Idx>& matrix) {
  start_host_runtime(context.threads);
  write_npz_file(context, path, view_of(matrix));
}

template <Index Idx>
void write_npz(const HostContext& context, const std::string& path, const Pattern<Idx>& pattern) {
  start_host_runtime(context.threads);
  write_npz_file(context, path, view_of(pattern));
}

template void write_npz(const HostContext&, const std::string&, const Pattern<std::int32_t>&);
template void write_npz(const HostContext&, const std::string&, const Pattern<std::int64_t>&);

template <Scalar Value, Index Idx>
void write_npz(const HostContext& context, const std::string& path,
               const ArrivingRows<Value, Idx>& rows) {
  write_npz_file(context, path, view_of(rows));
}

// --- Chunks of rows ------------------------------------------------------------------------------

template <Scalar Value, Index Idx>
struct NpzRowsWriter<Value, Idx>::State {
  State(const HostContext& context_of_calls, const std::string& path_of_file,
        std::int64_t number_of_rows, std::int64_t number_of_cols)
      : context(context_of_calls),
        path(path_of_file),
        rows(number_of_rows),
        cols(number_of_cols),
        file(require_rewritable(path)),
        indices(path),
        workers(threads_of(context)),
        data(file, "data.npy") {
    const std::uint64_t bytes = bytes_of({{rows, sizeof(std::int64_t)}});
    require_budget(context, "the offsets of the rows", bytes);
    row_ptr.reserve(static_cast<std::size_t>(rows) + 1);
  }

  [[nodiscard]] std::int64_t rows_written() const { return std::ssize(row_ptr) - 1; }

  HostContext context;
  std::string path;
  std::int64_t rows;
  std::int64_t cols;
  WholeFile file;
  WholeFile indices;  ///< never committed, so it is removed
  int workers;
  GrowingArray data;
  std::vector<std::int64_t> row_ptr{0};
};

template <Scalar Value, Index Idx>
NpzRowsWriter<Value, Idx>::NpzRowsWriter(const HostContext& context, const std::string& path,
                                         std::int64_t rows, std::int64_t cols)
    : state_(std::make_unique<State>(context, path, rows, cols)) {}

template <Scalar Value, Index Idx>
NpzRowsWriter<Value, Idx>::~NpzRowsWriter() = default;

template <Scalar Value, Index Idx>
std::int64_t NpzRowsWriter<Value, Idx>::rows_written() const {
  return state_->rows_written();
}

template <Scalar Value, Index Idx>
std::int64_t NpzRowsWriter<Value, Idx>::nnz() const {
  return state_->row_ptr.back();
}

template <Scalar Value, Index Idx>
void NpzRowsWriter<Value, Idx>::append(const RowsView<Value, Idx>& rows) {
  State& state = *state_;
  require_next_rows(state.path, rows, state.rows - state.rows_written(), state.cols);
  PhaseTimer timer(state.context, "write matrix");
  const std::uint64_t before = state.file.bytes_written() + state.indices.bytes_written();
  state.data.append(state.file, state.workers, value_blocks(rows));
  write_blocks(state.indices, state.workers, blocks_of(rows.col_idx, rows.await));
  const std::int64_t entries = state.row_ptr.back();
  for (std::int64_t row = 1; row <= rows.rows; ++row)
    state.row_ptr.push_back(entries + rows.row_ptr[static_cast<std::size_t>(row)]);
  timer.set_bytes(state.file.bytes_written() + state.indices.bytes_written() - before);
  report_progress(state.context, "write matrix", static_cast<std::uint64_t>(state.rows_written()),
                  static_cast<std::uint64_t>(state.rows));
}

template <Scalar Value, Index Idx>
void NpzRowsWriter<Value, Idx>::commit() {
  State& state = *state_;
  require_all_rows(state.path, state.rows_written(), state.rows);
  PhaseTimer timer(state.context, "write matrix");
  const std::uint64_t before = state.file.bytes_written();
  NpzMembers members(state.file, state.workers);
  members.add(state.data.finish(state.file, npy_header(npy_descr<Value>, list_shape(nnz()))));
  state.indices.flush();
  members.add("indices.npy", npy_header(npy_descr<Idx>, list_shape(nnz())),
              blocks_of_file(state.indices, state.indices.bytes_written(), state.workers));
  members.template finish<Idx>(state.row_ptr, state.cols, {});
  timer.set_bytes(state.file.bytes_written() - before);
  state.file.commit();
}

template <Scalar Value, Index Idx>
struct NpzRows<Value, Idx>::State {
  NpzRowsWriter<Value, Idx> writer;
};

template <Scalar Value, Index Idx>
NpzRows<Value, Idx>::NpzRows(const HostContext& context, const std::string& path, std::int64_t rows,
                             std::int64_t cols) {
  start_host_runtime(context.threads);
  state_.reset(new State{{context, path, rows, cols}});
}

template <Scalar Value, Index Idx>
NpzRows<Value, Idx>::~NpzRows() = default;
template <Scalar Value, Index Idx>
NpzRows<Value, Idx>::NpzRows(NpzRows&&) noexcept = default;
template <Scalar Value, Index Idx>
NpzRows<Value, Idx>& NpzRows<Value, Idx>::operator=(NpzRows&&) noexcept = default;

template <Scalar Value, Index Idx>
std::int64_t NpzRows<Value, Idx>::rows_written() const {
  return state_->writer.rows_written();
}

template <Scalar Value, Index Idx>
std::int64_t NpzRows<Value, Idx>::nnz() const {
  return state_->writer.nnz();
}

template <Scalar Value, Index Idx>
void NpzRows<Value, Idx>::append(const Csr<Value, Idx>& rows) {
  state_->writer.append(view_of(rows));
}

template <Scalar Value, Index Idx>
void NpzRows<Value, Idx>::commit() {
  state_->writer.commit();
}

#define SORTIE_INSTANTIATE(Value, Idx) \
  template void write_npz(const HostContext&, const std::string&, const Csr<Value, Idx>&);
SORTIE_MATRICES_FOR_EACH_OTHER_ELEMENT(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Idx)                                                     \
  template void write_npz(const HostContext&, const std::string&, const Csr<Value, Idx>&); \
  template void write_npz(const HostContext&, const std::string&,                          \
                          const ArrivingRows<Value, Idx>&);                                \
  template class NpzRowsWriter<Value, Idx>;                                                \
  template class NpzRows<Value, Idx>;
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
