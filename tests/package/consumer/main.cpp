// SPDX-License-Identifier: Apache-2.0

// Uses one function of each library, so that a target, header or dependency which the package lacks
// is noticed, and checks what it gives.
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <sortie/context.hpp>
#include <sortie/error.hpp>
#include <sortie/fasta.hpp>
#include <sortie/matrix_market.hpp>
#include <sortie/segmented_sort.hpp>
#include <sortie/sort.hpp>
#include <sortie/sort_records.hpp>
#include <sortie/version.hpp>

#ifdef CONSUMER_HAS_APPLICATIONS
#include <sortie/spgemm.hpp>
#include <sortie/suffix_array.hpp>
#endif
#ifdef CONSUMER_HAS_DEVICE_PRODUCTS
#include <sortie/device_csr.hpp>
#include <sortie/device_spgemm.hpp>
#include <sortie/device_spgemm_plan.hpp>
#endif

namespace {

bool all_right = true;

void check(bool right, const char* what) {
  std::printf("consumer: %s: %s\n", what, right ? "right" : "WRONG");
  all_right = all_right && right;
}

void check_segmented_sort(const sortie::Context& context) {
  std::vector<std::uint32_t> keys = {3, 1, 2, 9, 7, 8};
  std::vector<std::uint64_t> values = {0, 1, 2, 3, 4, 5};
  const std::array<std::uint32_t, 2> begins = {0, 3};
  const std::array<std::uint32_t, 2> ends = {3, 6};
  sortie::segmented_sort(context, std::span(keys), std::span(values),
                         std::span<const std::uint32_t>(begins),
                         std::span<const std::uint32_t>(ends));
  check(keys == std::vector<std::uint32_t>{1, 2, 3, 7, 8, 9}, "keys of segmented_sort");
  check(values == std::vector<std::uint64_t>{1, 2, 0, 4, 5, 3}, "values of segmented_sort");
}

void check_sort(const sortie::Context& context) {
  std::vector<std::int16_t> keys = {3, -1, 2};
  std::vector<double> values = {0, 1, 2};
  sortie::sort(context, std::span(keys), std::span(values));
  check(keys == std::vector<std::int16_t>{-1, 2, 3}, "keys of sort");
  check(values == std::vector<double>{1, 2, 0}, "values of sort");
  sortie::sort_records(context, std::span(keys), [](auto a, auto b) { return a > b; });
  check(keys == std::vector<std::int16_t>{3, 2, -1}, "sort_records");
}

void check_matrix(const sortie::Context& context, const std::string& path) {
  const auto matrix = sortie::matrices::read_matrix_market<double>(context, path);
  check(matrix.rows == 2 && matrix.cols == 3, "shape of the matrix");
  check(matrix.row_ptr == std::vector<std::int64_t>{0, 2, 3}, "rows of the matrix");
  check(matrix.values == std::vector<double>{1.5, 4, -2}, "values of the matrix");
}

void check_text(const sortie::Context& context, const std::string& path) {
  const auto text = sortie::sequences::read_fasta(context, path);
  check(text.records.size() == 2 && text.records[1].name == "second", "records of the text");
  check(text.letters() == 9, "letters of the text");
}

#ifdef CONSUMER_HAS_APPLICATIONS
void check_applications(const sortie::Context& context) {
  sortie::matrices::Csr<double> matrix;  // 1 2 / 0 3
  matrix.rows = matrix.cols = 2;
  matrix.row_ptr = {0, 2, 3};
  matrix.col_idx = {0, 1, 1};
  matrix.values = {1, 2, 3};
  const auto square = sortie::spgemm::multiply(context, matrix, matrix);
  check(square.values == std::vector<double>{1, 8, 9}, "square of a matrix");

  const std::string text = "banana";
  const std::vector<std::uint8_t> symbols(text.begin(), text.end());
  const auto suffixes =
      sortie::suffix_array::build<std::uint32_t>(context, std::span<const std::uint8_t>(symbols));
  check(suffixes == std::vector<std::uint32_t>{5, 3, 1, 0, 4, 2}, "suffix array of a word");
}
#endif

#ifdef CONSUMER_HAS_DEVICE_PRODUCTS
using Operand = sortie::spgemm::cuda::DeviceCsrView<double>;
static_assert(
    std::is_constructible_v<sortie::spgemm::cuda::SpgemmPlan<double>, const sortie::Context&,
                            const Operand&, const Operand&, CUstream_st*>);

// What needs no GPU: a matrix that is refused before its arrays are looked at.
void check_device_products() {
  const std::int64_t* const row_ptr = nullptr;
  const std::int32_t* const col_idx = nullptr;
  bool refused = false;
  try {
    const sortie::spgemm::cuda::BorrowedCsr<double> matrix(1, std::int64_t{1} << 33, 0, row_ptr,
                                                           col_idx, nullptr, nullptr);
  } catch (const sortie::Error& error) {
    refused = error.kind() == sortie::ErrorKind::unavailable;
  }
  check(refused, "error for a matrix of too many columns on the device");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: consumer MATRIX.mtx TEXT.fa\n", stderr);
    return 2;
  }
  try {
    sortie::Context context;
    context.backend = sortie::Backend::host;
    std::printf("consumer: Sortie %s\n", std::string(sortie::version()).c_str());
    check_segmented_sort(context);
    check_sort(context);
    check_matrix(context, argv[1]);
    check_text(context, argv[2]);
#ifdef CONSUMER_HAS_APPLICATIONS
    check_applications(context);
#endif
#ifdef CONSUMER_HAS_DEVICE_PRODUCTS
    check_device_products();
#endif
  } catch (const sortie::Error& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
  }
  return all_right ? 0 : 1;
}
