#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/multisort/multisort.hpp"
#include "sortie/segsort/segmented_sort.hpp"
#ifdef SORTIE_HAVE_CUDA
#include "sortie/segsort/device_segmented_sort.hpp"
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
