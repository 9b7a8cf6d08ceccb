// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/bindings/place.hpp"

// Every call of the C interface with random types, flags, sizes, offsets, indices and null pointers,
// valid or not, on arrays that are as large as the call says. Each ends with a status, and one that
// is not SORTIE_OK has a message. Meant for the sanitizers: SORTIE_FUZZ_CASES=100000.
namespace sortie::test {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : random_(seed) {}

  void run(int cases) {
    for (int i = 0; i < cases; ++i) {
      SCOPED_TRACE("case " + std::to_string(i));
      one();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(ok_, cases / 20);
    EXPECT_GT(refused_, cases / 20);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  /// One of the first `count` enumerators, or sometimes no enumerator at all.
  int enumerator(int count) {
    return one_in(30) ? static_cast<int>(below(40)) - 10 : static_cast<int>(below(count));
  }
  sortie_type any_type() { return static_cast<sortie_type>(enumerator(13)); }
  sortie_memory any_memory() {
    // Host pointers must not be said to be on a device that is there.
    const int memory = enumerator(1);
    return static_cast<sortie_memory>(memory == 1 ? 2 : memory);
  }
  unsigned any_flags() { return one_in(20) ? static_cast<unsigned>(random_()) : below(4); }
  template <class T>
  T* sometimes_null(T* pointer) {
    return one_in(60) ? nullptr : pointer;
  }

  /// Bytes of which every type has mostly small values.
  std::vector<std::uint64_t> storage(std::uint64_t bytes) {
    std::vector<std::uint64_t> words(bytes / 8 + 1);
    const bool small = one_in(2);
    for (auto& word : words) word = small ? 0x0101010101010101u * below(4) : random_();
    return words;
  }

  /// Ascending offsets up to `end`, of which one is sometimes wrong.
  template <class T>
  std::vector<T> offsets(std::uint64_t count, std::uint64_t end) {
    std::vector<T> all(count);
    for (auto& offset : all) offset = static_cast<T>(below(end + 1));
    std::sort(all.begin(), all.end());
    if (count > 0 && one_in(4)) all[below(count)] = static_cast<T>(random_());
    return all;
  }

  void note(sortie_status status, const CContext& context) {
    EXPECT_GE(status, SORTIE_OK);
    EXPECT_LE(status, SORTIE_CHECK);
    if (status == SORTIE_OK) {
      ++ok_;
    } else {
      ++refused_;
      EXPECT_NE(context.error(), "");
    }
  }

  void one() {
    const CContext context;
    if (one_in(10)) {
      ASSERT_EQ(sortie_set_memory_budget(context, below(4000)), SORTIE_OK);
    }
    switch (below(5)) {
      case 0:
        return sort_array(context);
      case 1:
        return sort_segments(context);
      case 2:
        return multiply(context);
      case 3:
        return index(context);
      default:
        return copy_matrix(context);
    }
  }

  void sort_array(const CContext& context) {
    const std::uint64_t size = below(300);
    const std::size_t value_bytes = one_in(2) ? 0 : below(20);
    auto keys = storage(size * 16);
    auto sorted = storage(size * 16);
    auto values = storage(size * value_bytes);
    auto sorted_values = storage(size * value_bytes);
    const sortie_type type = any_type();
    if (one_in(2)) {
      return note(sortie_argsort(context, any_memory(), type, sometimes_null(keys.data()), size,
                                 any_type(), sometimes_null(sorted.data()), any_flags()),
                  context);
    }
    if (one_in(3)) {
      auto positions = storage(size * 8);
      const std::uint64_t k = one_in(10) ? random_() | std::uint64_t{1} << 60 : below(size + 1);
      return note(sortie_top_k(context, any_memory(), type, sometimes_null(keys.data()), size, k,
                               sometimes_null(sorted.data()), any_type(),
                               sometimes_null(positions.data()), any_flags()),
                  context);
    }
    const bool in_place = one_in(2);
    note(sortie_sort(context, any_memory(), type, sometimes_null(keys.data()),
                     in_place ? keys.data() : sorted.data(), size, sometimes_null(values.data()),
                     in_place ? values.data() : sorted_values.data(), value_bytes, any_flags()),
         context);
  }

  void sort_segments(const CContext& context) {
    const std::uint64_t size = below(300);
    const std::uint64_t count = below(20);
    const std::size_t value_bytes = one_in(2) ? 0 : below(20);
    auto keys = storage(size * 16);
    auto sorted = storage(size * 16);
    auto values = storage(size * value_bytes);
    auto sorted_values = storage(size * value_bytes);
    const sortie_type offset_type = std::array<sortie_type, 5>{SORTIE_I32, SORTIE_U32, SORTIE_I64,
                                                               SORTIE_U64, any_type()}[below(5)];
    const auto narrow = offsets<std::uint32_t>(count + 1, size);
    const auto wide = offsets<std::uint64_t>(count + 1, size);
    const bool is_wide = sortie_type_bytes(offset_type) == 8;
    const void* const begins = is_wide ? static_cast<const void*>(wide.data()) : narrow.data();
    const void* const ends =
        is_wide ? static_cast<const void*>(wide.data() + 1) : narrow.data() + 1;
    const sortie_segments segments{count, offset_type, sometimes_null(begins),
                                   sometimes_null(ends)};
    const sortie_segments* const given = sometimes_null(&segments);
    if (one_in(2)) {
      return note(sortie_segmented_argsort(context, any_memory(), any_type(), keys.data(), size,
                                           given, any_type(), sorted.data(), any_flags()),
                  context);
    }
    note(sortie_segmented_sort(context, any_memory(), any_type(), keys.data(), sorted.data(), size,
                               sometimes_null(values.data()), sorted_values.data(), value_bytes,
                               given, any_flags()),
         context);
  }

  /// A matrix whose arrays live as long as this.
  struct AnyMatrix {
    std::vector<std::int32_t> narrow_row_ptr, narrow_columns;
    std::vector<std::int64_t> wide_row_ptr, wide_columns;
    std::vector<std::uint64_t> values;
    sortie_csr_view view{};
  };

  AnyMatrix any_matrix(std::int64_t rows, std::int64_t cols) {
    AnyMatrix m;
    const std::int64_t nnz = rows == 0 || cols == 0 ? 0 : static_cast<std::int64_t>(below(60));
    std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(rows) + 1);
    for (auto& offset : row_ptr) offset = static_cast<std::int64_t>(below(nnz + 1));
    row_ptr.front() = 0;
    row_ptr.back() = nnz;
    std::sort(row_ptr.begin(), row_ptr.end());
    std::vector<std::int64_t> columns(static_cast<std::size_t>(nnz));
    for (auto& column : columns) column = static_cast<std::int64_t>(below(cols));
    if (one_in(3)) {
      // Sorted rows; duplicates may remain.
      for (std::int64_t row = 0; row < rows; ++row)
        std::sort(columns.begin() + row_ptr[row], columns.begin() + row_ptr[row + 1]);
    }
    if (one_in(8)) row_ptr[below(row_ptr.size())] = static_cast<std::int64_t>(random_());
    if (nnz > 0 && one_in(8)) columns[below(columns.size())] = static_cast<std::int64_t>(random_());
    m.wide_row_ptr = row_ptr;
    m.wide_columns = columns;
    for (const auto offset : row_ptr) m.narrow_row_ptr.push_back(static_cast<std::int32_t>(offset));
    for (const auto column : columns) m.narrow_columns.push_back(static_cast<std::int32_t>(column));
    m.values = storage(static_cast<std::uint64_t>(nnz) * 16);
    const auto index_type = [&] {
      return one_in(20) ? any_type() : one_in(2) ? SORTIE_I32 : SORTIE_I64;
    };
    m.view = {one_in(50) ? -1 : rows,
              cols,
              nnz,
              index_type(),
              index_type(),
              SORTIE_F64,
              any_memory(),
              nullptr,
              nullptr,
              sometimes_null(m.values.data())};
    if (one_in(3)) m.view.value_type = any_type();
    const bool wide_rows = sortie_type_bytes(m.view.row_ptr_type) == 8;
    const bool wide_cols = sortie_type_bytes(m.view.col_idx_type) == 8;
    m.view.row_ptr =
        wide_rows ? static_cast<const void*>(m.wide_row_ptr.data()) : m.narrow_row_ptr.data();
    m.view.col_idx =
        wide_cols ? static_cast<const void*>(m.wide_columns.data()) : m.narrow_columns.data();
    m.view.row_ptr = sometimes_null(m.view.row_ptr);
    return m;
  }

  void multiply(const CContext& context) {
    const auto rows = static_cast<std::int64_t>(below(12));
    const auto inner = static_cast<std::int64_t>(below(12));
    const auto cols = static_cast<std::int64_t>(below(12));
    const AnyMatrix a = any_matrix(rows, inner);
    AnyMatrix b = any_matrix(one_in(10) ? inner + 1 : inner, cols);
    if (!one_in(4)) {
      b.view.value_type = a.view.value_type;
      b.view.col_idx_type = a.view.col_idx_type;
      b.view.col_idx = sortie_type_bytes(b.view.col_idx_type) == 8
                           ? static_cast<const void*>(b.wide_columns.data())
                           : b.narrow_columns.data();
    }
    if (one_in(3)) {
      sortie_plan* plan = nullptr;
      const sortie_status status = sortie_plan_create(context, &a.view, &b.view, &plan);
      note(status, context);
      if (status != SORTIE_OK) return;
      auto c = storage(static_cast<std::uint64_t>(sortie_plan_get(plan).nnz) * 16);
      note(sortie_plan_multiply(context, plan, a.values.data(), b.values.data(), c.data()),
           context);
      return sortie_plan_destroy(plan);
    }
    sortie_csr* c = nullptr;
    const sortie_status status = sortie_spgemm(context, &a.view, &b.view, any_flags(), &c);
    note(status, context);
    EXPECT_EQ(status == SORTIE_OK, c != nullptr);
    sortie_csr_destroy(c);
  }

  void copy_matrix(const CContext& context) {
    const AnyMatrix a = any_matrix(5, 5);
    sortie_csr* c = nullptr;
    if (sortie_spgemm(context, &a.view, &a.view, 0, &c) != SORTIE_OK) return;
    const sortie_csr_view view = sortie_csr_get(c);
    auto row_ptr = storage(48);
    auto col_idx = storage(static_cast<std::uint64_t>(view.nnz) * 8);
    auto values = storage(static_cast<std::uint64_t>(view.nnz) * 16);
    note(sortie_csr_copy(context, c, any_type(), sometimes_null(row_ptr.data()), any_type(),
                         sometimes_null(col_idx.data()), sometimes_null(values.data())),
         context);
    sortie_csr_destroy(c);
  }

  void index(const CContext& context) {
    const std::uint64_t size = below(200);
    std::vector<std::uint8_t> symbols(size);
    const auto letters = below(3) + 1;
    for (auto& symbol : symbols) symbol = static_cast<std::uint8_t>("ACGT"[below(letters)]);
    const std::uint64_t count = below(5);
    const auto separators = offsets<std::uint64_t>(count, size);
    const sortie_text text{sometimes_null(symbols.data()), size, sometimes_null(separators.data()),
                           count, any_memory()};
    const sortie_type type =
        std::array<sortie_type, 3>{SORTIE_U32, SORTIE_U64, any_type()}[below(3)];
    sortie_array* suffixes = nullptr;
    const sortie_status status = sortie_suffix_array(context, &text, type, &suffixes);
    note(status, context);
    EXPECT_EQ(status == SORTIE_OK, suffixes != nullptr);
    if (status != SORTIE_OK) return;
    const sortie_array_view view = sortie_array_get(suffixes);
    auto positions = storage(size * 8);
    if (size > 0) std::memcpy(positions.data(), view.data, size * sortie_type_bytes(type));
    if (one_in(3) && size > 0) {
      const auto word = static_cast<std::uint32_t>(random_());
      std::memcpy(reinterpret_cast<char*>(positions.data()) + below(size) * 4, &word, 4);
    }
    derive(context, text, type, positions.data());
    sortie_array_destroy(suffixes);
  }

  void derive(const CContext& context, const sortie_text& text, sortie_type type,
              const void* positions) {
    sortie_array* result = nullptr;
    const std::uint64_t count = below(6);
    const std::vector<std::uint8_t> letters(60, 'A');
    const auto begins = [&] {
      auto bounds = offsets<std::uint64_t>(count + 1, letters.size());
      // The interface does not know how many letters there are.
      for (auto& bound : bounds) bound %= letters.size() + 1;
      return bounds;
    }();
    const sortie_patterns patterns{sometimes_null(letters.data()), sometimes_null(begins.data()),
                                   count};
    std::vector<std::uint64_t> from(count + 1);
    std::vector<std::uint64_t> to(count + 1);
    switch (below(6)) {
      case 0:
        note(sortie_lcp(context, &text, type, positions, &result), context);
        break;
      case 1:
        note(sortie_bwt(context, &text, type, positions, &result), context);
        break;
      case 2:
        note(sortie_inverse_suffix_array(context, SORTIE_HOST_MEMORY, type, positions, text.size,
                                         &result),
             context);
        break;
      case 3:
        note(sortie_check_suffix_array(context, &text, type, positions), context);
        break;
      case 4:
        note(sortie_find(context, &text, type, positions, &patterns, from.data(), to.data()),
             context);
        break;
      default:
        note(sortie_locate(context, &text, type, positions, &patterns, below(10), from.data(),
                           &result),
             context);
    }
    sortie_array_destroy(result);
  }

  std::mt19937_64 random_;
  int ok_ = 0;
  int refused_ = 0;
};

TEST(CInterfaceFuzz, EveryCallEndsWithAStatus) {
  if (backend() != Backend::host) GTEST_SKIP() << "arrays are in host memory";
  const char* const cases = std::getenv("SORTIE_FUZZ_CASES");
  Fuzzer(7).run(cases == nullptr ? 3000 : std::atoi(cases));
}

}  // namespace
}  // namespace sortie::test
