// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/segmented_sort.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_records.hpp"

#ifdef SORTIE_HAVE_CUDA
#include "sortie/device_segmented_sort.hpp"
#endif
#ifdef SORTIE_HAVE_SPGEMM
#include "apps/spgemm/cuda/cusparse_functions.hpp"
#include "core/cuda/check.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/device_spgemm_plan.hpp"
#include "sortie/error.hpp"
#endif

// The .inc files are the C++ blocks of README.md without their #include lines.

TEST(Readme, HostExampleGivesWhatItsCommentSays) {
#include "host_example.inc"
  EXPECT_EQ(keys, (std::vector<float>{1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(values, (std::vector<std::uint32_t>{1, 2, 0, 5, 4, 3}));
}

// Its two comments are true one after the other; the second is what is left.
TEST(Readme, SortExampleGivesWhatItsCommentsSay) {
#include "sort_example.inc"
  EXPECT_EQ(keys, (std::vector<std::int64_t>{-10, 20, 30}));
  EXPECT_EQ(values, (std::vector<float>{3, 2, 1}));
}

#ifdef SORTIE_HAVE_CUDA
// The first phase only asks for the size, so it needs no GPU.
TEST(Readme, DeviceExampleAsksForItsTemporaryStorage) {
  const float* const keys_in = nullptr;
  float* const keys_out = nullptr;
  const double* const values_in = nullptr;
  double* const values_out = nullptr;
  const std::int64_t num_items = 10000;
  const std::int64_t num_segments = 10;
  const std::int32_t* const begin_offsets = nullptr;
  const std::int32_t* const end_offsets = nullptr;
  const cudaStream_t stream = nullptr;
#include "device_example.inc"
  EXPECT_GE(bytes, num_items * (sizeof(float) + sizeof(double)));
}
#endif

#ifdef SORTIE_HAVE_SPGEMM
// 1 2 / 0 3 squared, then with ten times the values of A.
TEST(Readme, ProductExampleMultipliesWhereAGpuIs) {
  sortie::Context on_cuda;
  on_cuda.backend = sortie::Backend::cuda;
  try {
    (void)sortie::resolve_backend(on_cuda);
  } catch (const sortie::Error& error) {
    GTEST_SKIP() << error.what();
  }
  cudaStream_t stream = nullptr;
  sortie::check_cuda(cudaStreamCreate(&stream));
  {
    const std::int64_t rows = 2;
    const std::int64_t cols = 2;
    const std::int64_t nnz = 3;
    const auto on_device = [stream]<class T>(const std::vector<T>& host) {
      return sortie::DeviceBuffer<T>(std::span(host), stream);
    };
    const auto all_offsets = on_device(std::vector<std::int32_t>{0, 2, 3});
    const auto all_columns = on_device(std::vector<std::int32_t>{0, 1, 1});
    const auto all_values = on_device(std::vector<double>{1, 2, 3});
    const auto all_new_values = on_device(std::vector<double>{10, 20, 30});
    const std::int32_t* const row_ptr = all_offsets.data();
    const std::int32_t* const col_idx = all_columns.data();
    const double* const values = all_values.data();
    const double* const new_a_values = all_new_values.data();
    const double* const new_b_values = values;
    cusparseConstSpMatDescr_t descriptor = nullptr;
    sortie::check_cusparse(cusparseCreateConstCsr(&descriptor, rows, cols, nnz, row_ptr, col_idx,
                                                  values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                                  CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    const auto values_of = [](const auto& matrix) {
      std::vector<double> host(matrix.values.size());
      matrix.values.copy_to(std::span(host));
      sortie::check_cuda(cudaStreamSynchronize(matrix.values.stream()));
      return host;
    };
#include "product_example.inc"
    EXPECT_EQ(values_of(c), (std::vector<double>{10, 80, 90}));
    EXPECT_EQ(values_of(multiply_on_device(context, a.view(), b.view(), stream)),
              (std::vector<double>{1, 8, 9}));
    sortie::check_cusparse(cusparseDestroySpMat(descriptor));
  }
  sortie::check_cuda(cudaStreamDestroy(stream));
}
#endif
