// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/bindings/place.hpp"
#ifdef SORTIE_TEST_HAS_DEVICE_MEMORY
#include "tests/support/pool_bytes.hpp"
#endif

// Device memory is as it was after many calls of every kind, whose results were destroyed.
namespace sortie::test {
namespace {

constexpr std::uint64_t keys_size = 3000;
constexpr std::uint64_t segments_count = 100;
constexpr std::int64_t matrix_rows = 60;
constexpr std::uint64_t text_size = 2000;

std::vector<std::uint32_t> some_keys() {
  std::vector<std::uint32_t> keys(keys_size);
  std::mt19937 random(5);
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random());
  return keys;
}

std::vector<std::uint64_t> equal_segments() {
  std::vector<std::uint64_t> offsets(segments_count + 1);
  for (std::uint64_t i = 0; i <= segments_count; ++i) offsets[i] = i * (keys_size / segments_count);
  return offsets;
}

/// Three entries in every row: a cyclic band.
struct Band {
  std::vector<std::int32_t> row_ptr{0};
  std::vector<std::int64_t> col_idx;
  std::vector<double> values;

  Band() {
    for (std::int64_t row = 0; row < matrix_rows; ++row) {
      std::array<std::int64_t, 3> columns{};
      for (std::int64_t k = 0; k < 3; ++k)
        columns[static_cast<std::size_t>(k)] = (row + 7 * k) % matrix_rows;
      std::sort(columns.begin(), columns.end());
      col_idx.insert(col_idx.end(), columns.begin(), columns.end());
      row_ptr.push_back(static_cast<std::int32_t>(col_idx.size()));
    }
    values.assign(col_idx.size(), 2.0);
  }
};

std::vector<std::uint8_t> some_text() {
  std::vector<std::uint8_t> text(text_size);
  std::mt19937 random(6);
  for (std::uint8_t& symbol : text) symbol = "ACGT"[random() % 4];
  return text;
}

/// Calls on operands at one place. Every function makes each of its calls once, with one that fails.
class Calls {
 public:
  explicit Calls(const Place& place) : place_(place), context_(place) {}

  [[nodiscard]] int made() const { return made_; }

  void all() {
    sort();
    multiply();
    index();
    // Waits for the default stream, on which results are freed.
    EXPECT_EQ(flag_.items().size(), 1U);
  }

  [[nodiscard]] std::uint64_t bytes_in_use() {
    std::uint64_t bytes = 0;
    EXPECT_EQ(sortie_device_memory_in_use(context_, &bytes), SORTIE_OK);
    return bytes;
  }
  [[nodiscard]] std::uint64_t bytes_free() {
    sortie_device_info info{};
    EXPECT_EQ(sortie_get_device(context_, 0, &info), SORTIE_OK) << context_.error();
    return info.memory_free;
  }

 private:
  void expect(sortie_status status, sortie_status expected = SORTIE_OK) {
    EXPECT_EQ(status, expected) << context_.error();
    ++made_;
  }
  /// \param array  by reference: the call that gives the status sets it
  void expect_array(sortie_status status, sortie_array*& array) {
    expect(status);
    sortie_array_destroy(array);
    array = nullptr;
  }

  void sort() {
    const sortie_memory memory = place_.memory;
    const sortie_segments segments{segments_count, SORTIE_U64, offsets_.data(),
                                   offsets_.data() + 1};
    expect(sortie_sort(context_, memory, SORTIE_U32, keys_.data(), sorted_.data(), keys_size,
                       nullptr, nullptr, 0, 0));
    // Values of 1 byte, which are moved by their positions.
    expect(sortie_sort(context_, memory, SORTIE_U32, keys_.data(), sorted_.data(), keys_size,
                       small_.data(), moved_.data(), 1, SORTIE_DESCENDING | SORTIE_STABLE));
    expect(sortie_argsort(context_, memory, SORTIE_U32, keys_.data(), keys_size, SORTIE_I64,
                          positions_.data(), 0));
    expect(sortie_segmented_sort(context_, memory, SORTIE_U32, keys_.data(), sorted_.data(),
                                 keys_size, nullptr, nullptr, 0, &segments, 0));
    expect(sortie_segmented_argsort(context_, memory, SORTIE_U32, keys_.data(), keys_size,
                                    &segments, SORTIE_I64, positions_.data(), 0));
    expect(sortie_top_k(context_, memory, SORTIE_U32, keys_.data(), keys_size, keys_size / 2,
                        sorted_.data(), SORTIE_I64, positions_.data(), SORTIE_DESCENDING));
    expect(sortie_segmented_top_k(context_, memory, SORTIE_U32, keys_.data(), keys_size, &segments,
                                  3, sorted_.data(), SORTIE_I64, positions_.data(), 0));
    expect(sortie_sort(context_, memory, SORTIE_C128, keys_.data(), sorted_.data(), keys_size,
                       nullptr, nullptr, 0, 0),
           SORTIE_USAGE);
  }

  void multiply() {
    const sortie_csr_view a{matrix_rows,     matrix_rows,   3 * matrix_rows, SORTIE_I32,
                            SORTIE_I64,      SORTIE_F64,    place_.memory,   row_ptr_.data(),
                            col_idx_.data(), values_.data()};
    sortie_csr* c = nullptr;
    expect(sortie_spgemm(context_, &a, &a, 0, &c));
    const std::int64_t nnz = sortie_csr_get(c).nnz;
    ASSERT_LE(nnz, 9 * matrix_rows);
    expect(sortie_csr_copy(context_, c, SORTIE_I32, c_row_ptr_.data(), SORTIE_I64,
                           c_col_idx_.data(), c_values_.data()));
    sortie_csr_destroy(c);
    sortie_plan* plan = nullptr;
    expect(sortie_plan_create(context_, &a, &a, &plan));
    EXPECT_EQ(sortie_plan_get(plan).nnz, nnz);
    expect(sortie_plan_multiply(context_, plan, values_.data(), values_.data(), c_values_.data()));
    sortie_plan_destroy(plan);
    sortie_csr_view wrong = a;
    wrong.cols = matrix_rows + 1;
    expect(sortie_spgemm(context_, &wrong, &a, 0, &c), SORTIE_INPUT);
  }

  void index() {
    const sortie_text text{text_.data(), text_size, nullptr, 0, place_.memory};
    sortie_array* suffixes = nullptr;
    expect(sortie_suffix_array(context_, &text, SORTIE_U32, &suffixes));
    const sortie_array_view found = sortie_array_get(suffixes);
    ASSERT_EQ(found.size, text_size);
    sortie_array* derived = nullptr;
    expect_array(sortie_inverse_suffix_array(context_, place_.memory, SORTIE_U32, found.data,
                                             text_size, &derived),
                 derived);
    expect_array(sortie_lcp(context_, &text, SORTIE_U32, found.data, &derived), derived);
    expect_array(sortie_bwt(context_, &text, SORTIE_U32, found.data, &derived), derived);
    expect(sortie_check_suffix_array(context_, &text, SORTIE_U32, found.data));
    const sortie_patterns patterns{text_.data(), pattern_begins_.data(), 2};
    expect(sortie_find(context_, &text, SORTIE_U32, found.data, &patterns, hits_.data(),
                       hits_.data() + 2));
    expect_array(sortie_locate(context_, &text, SORTIE_U32, found.data, &patterns, 100,
                               hits_.data(), &derived),
                 derived);
    sortie_array_destroy(suffixes);
  }

  Place place_;
  CContext context_;
  int made_ = 0;
  PlacedArray<std::uint8_t> flag_{Place{SORTIE_DEVICE_MEMORY, SORTIE_BACKEND_CUDA}, std::size_t{1},
                                  std::uint8_t{1}};
  PlacedArray<std::uint32_t> keys_{place_, some_keys()};
  PlacedArray<std::uint32_t> sorted_{place_, keys_size, 0};
  PlacedArray<std::uint8_t> small_{place_, keys_size, 7};
  PlacedArray<std::uint8_t> moved_{place_, keys_size, 0};
  PlacedArray<std::int64_t> positions_{place_, keys_size, 0};
  PlacedArray<std::uint64_t> offsets_{place_, equal_segments()};
  PlacedArray<std::int32_t> row_ptr_{place_, Band().row_ptr};
  PlacedArray<std::int64_t> col_idx_{place_, Band().col_idx};
  PlacedArray<double> values_{place_, Band().values};
  PlacedArray<std::int32_t> c_row_ptr_{place_, static_cast<std::size_t>(matrix_rows) + 1, 0};
  PlacedArray<std::int64_t> c_col_idx_{place_, 9 * static_cast<std::size_t>(matrix_rows), 0};
  PlacedArray<double> c_values_{place_, 9 * static_cast<std::size_t>(matrix_rows), 0.0};
  PlacedArray<std::uint8_t> text_{place_, some_text()};
  PlacedArray<std::uint64_t> pattern_begins_{place_, std::vector<std::uint64_t>{0, 3, 8}};
  PlacedArray<std::uint64_t> hits_{place_, std::size_t{4}, 0};
};

#ifndef SORTIE_TEST_HAS_DEVICE_MEMORY
std::uint64_t pool_bytes() {
  return 0;
}
#endif

TEST(CInterfaceMemory, DeviceMemoryIsAsItWasAfter1000Calls) {
  if (backend() == Backend::host)
    GTEST_SKIP() << "this run is for the host, which has no GPU memory";
  for (const Place& place : places()) {
    SCOPED_TRACE(testing::PrintToString(place));
    Calls calls(place);
    calls.all();  // the pool grows to what these calls take
    const std::uint64_t in_use = calls.bytes_in_use();
    const std::uint64_t pool = pool_bytes();
    const std::uint64_t free = calls.bytes_free();
    // Calls on host memory take longer, since they copy, and keep nothing on the GPU between them.
    const int wanted = calls.made() + (place.is_device() ? 1000 : 100);
    while (calls.made() < wanted) {
      calls.all();
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(calls.bytes_in_use(), in_use);
    // The library allocates from its pool only, which belongs to this process.
    constexpr std::uint64_t tolerance = std::uint64_t{64} << 20;
    EXPECT_LE(pool_bytes(), pool + tolerance);
    // Free memory shows what the pool does not, such as streams that were not destroyed. It is that
    // of the whole GPU, which other processes change.
    if (std::getenv("SORTIE_TEST_ALONE") != nullptr) {
      EXPECT_GE(calls.bytes_free() + tolerance, free);
    }
  }
}

}  // namespace
}  // namespace sortie::test
