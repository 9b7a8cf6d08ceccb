#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/core/host_runtime.hpp"
#include "sortie/core/whole_file.hpp"
#include "sortie/matrices/instantiate.hpp"
#include "sortie/matrices/matrix_market.hpp"
#include "sortie/matrices/parallel.hpp"
#include "sortie/matrices/pattern.hpp"

namespace sortie::matrices {

namespace {

// Entries formatted into one buffer: about 1 MiB of text, which stays in the second-level cache
// between formatting and writing.
constexpr std::int64_t entries_per_block = std::int64_t{1} << 15;

// Longest index (19 digits) and longest shortest-form double ("-2.2250738585072014e-308"), each
// with the separator behind it.
constexpr std::size_t index_room = 20;
constexpr std::size_t number_room = 25;

// How the entries of a type of matrix look: the word in the banner, and numbers behind the indices.
template <class Matrix>
struct EntryForm;

template <Scalar Value, Index Idx>
struct EntryForm<Csr<Value, Idx>> {
  static constexpr bool complex = std::is_same_v<Value, std::complex<double>>;
  static constexpr const char* field = complex ? "complex" : "real";
  static constexpr std::size_t numbers = complex ? 2 : 1;
};

template <Index Idx>
struct EntryForm<Pattern<Idx>> {
  static constexpr const char* field = "pattern";
  static constexpr std::size_t numbers = 0;
};

template <class Number>
char* put(char* at, Number number, char separator) {
  at = std::to_chars(at, at + number_room, number).ptr;
  *at = separator;
  return at + 1;
}

// Formats entries [begin, end), which may start and stop within rows.
template <class Matrix>
std::string_view format_entries(const Matrix& matrix, std::int64_t begin, std::int64_t end,
                                std::vector<char>& buffer) {
  constexpr std::size_t room = 2 * index_room + EntryForm<Matrix>::numbers * number_room;
  buffer.resize(room * static_cast<std::size_t>(end - begin));
  char* at = buffer.data();
  const auto& row_ptr = matrix.row_ptr;
  std::int64_t row = std::upper_bound(row_ptr.begin(), row_ptr.end(), begin) - row_ptr.begin() - 1;
  for (std::int64_t i = begin; i < end; ++i) {
    while (row_ptr[static_cast<std::size_t>(row) + 1] <= i) ++row;
    const auto entry = static_cast<std::size_t>(i);
    at = put(at, row + 1, ' ');
    constexpr std::size_t numbers = EntryForm<Matrix>::numbers;
    at = put(at, static_cast<std::int64_t>(matrix.col_idx[entry]) + 1, numbers == 0 ? '\n' : ' ');
    if constexpr (numbers == 2) {
      at = put(at, matrix.values[entry].real(), ' ');
      at = put(at, matrix.values[entry].imag(), '\n');
    } else if constexpr (numbers == 1) {
      at = put(at, matrix.values[entry], '\n');
    }
  }
  return {buffer.data(), static_cast<std::size_t>(at - buffer.data())};
}

template <class Matrix>
void write(const Context& context, const std::string& path, const Matrix& matrix) {
  start_host_runtime(context.threads);
  WholeFile file(path);
  const std::string head =
      fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n",
                  EntryForm<Matrix>::field, matrix.rows, matrix.cols, matrix.nnz());
  file.write(std::string_view(head));
  // All threads format a block each, then the blocks are written in order.
  const std::int64_t blocks = (matrix.nnz() + entries_per_block - 1) / entries_per_block;
  const std::int64_t batch = std::min<std::int64_t>(blocks, detail::worker_threads());
  std::vector<std::vector<char>> buffers(static_cast<std::size_t>(batch));
  std::vector<std::string_view> texts(static_cast<std::size_t>(batch));
  for (std::int64_t first = 0; first < blocks; first += batch) {
    const std::int64_t count = std::min(batch, blocks - first);
    detail::for_ranges(count, 1, [&](std::int64_t i, std::int64_t) {
      const std::int64_t begin = (first + i) * entries_per_block;
      const std::int64_t end = std::min(matrix.nnz(), begin + entries_per_block);
      texts[static_cast<std::size_t>(i)] =
          format_entries(matrix, begin, end, buffers[static_cast<std::size_t>(i)]);
    });
    for (std::int64_t i = 0; i < count; ++i) file.write(texts[static_cast<std::size_t>(i)]);
    if (context.progress) {
      context.progress("write matrix", static_cast<std::uint64_t>(first + count),
                       static_cast<std::uint64_t>(blocks));
    }
  }
  file.commit();
}

}  // namespace

template <Scalar Value, Index Idx>
void write_matrix_market(const Context& context, const std::string& path,
                         const Csr<Value, Idx>& matrix) {
  write(context, path, matrix);
}

template <Index Idx>
void write_matrix_market(const Context& context, const std::string& path,
                         const Pattern<Idx>& pattern) {
  write(context, path, pattern);
}

template void write_matrix_market(const Context&, const std::string&, const Pattern<std::int32_t>&);
template void write_matrix_market(const Context&, const std::string&, const Pattern<std::int64_t>&);

#define SORTIE_INSTANTIATE(Value, Idx) \
  template void write_matrix_market(const Context&, const std::string&, const Csr<Value, Idx>&);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
