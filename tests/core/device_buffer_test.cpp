// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace {

using sortie::DeviceBuffer;
using sortie::ErrorKind;
using sortie::PinnedBuffer;
using testing::AllOf;
using testing::HasSubstr;

std::vector<int> on_host(const DeviceBuffer<int>& buffer) {
  std::vector<int> host(buffer.size());
  buffer.copy_to(host);
  sortie::check_cuda(cudaStreamSynchronize(buffer.stream()));
  return host;
}

TEST(DeviceBuffer, RoundTrip) {
  std::vector<int> host(100000);
  std::iota(host.begin(), host.end(), 0);
  const DeviceBuffer<int> buffer(std::span<const int>(host), nullptr);
  EXPECT_EQ(buffer.bytes(), host.size() * sizeof(int));
  EXPECT_EQ(on_host(buffer), host);
}

TEST(DeviceBuffer, EmptyOnesTakeNothing) {
  const DeviceBuffer<int> buffer(0, nullptr);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_TRUE(on_host(buffer).empty());
}

TEST(DeviceBuffer, MovesLeaveAnEmptyOne) {
  const std::vector<int> host = {1, 2, 3};
  DeviceBuffer<int> first(std::span<const int>(host), nullptr);
  DeviceBuffer<int> second = std::move(first);
  EXPECT_EQ(first.size(), 0U);  // NOLINT(bugprone-use-after-move): that is the question
  DeviceBuffer<int> third(7, nullptr);
  third = std::move(second);
  EXPECT_EQ(on_host(third), host);
}

TEST(DeviceBuffer, MoreThanTheDeviceHasIsNamed) {
  sortie::test::expect_error([] { DeviceBuffer<char> buffer(std::size_t{1} << 50, nullptr); },
                             ErrorKind::out_of_memory,
                             AllOf(HasSubstr("a device buffer needs 1.00 PiB"), HasSubstr("free")));
  // The failed call must not spoil the next one.
  const DeviceBuffer<char> buffer(1, nullptr);
  EXPECT_NE(buffer.data(), nullptr);
}

TEST(DeviceBuffer, ShowsUpInThePeak) {
  sortie::reset_peak_device_memory(0);
  const std::uint64_t before = sortie::peak_device_memory(0);
  { const DeviceBuffer<char> buffer(std::size_t{64} << 20, nullptr); }
  EXPECT_GE(sortie::peak_device_memory(0), before + (std::uint64_t{64} << 20));
}

TEST(PinnedBuffer, RoundTrip) {
  PinnedBuffer<int> from(1000);
  PinnedBuffer<int> to(1000);
  std::iota(from.span().begin(), from.span().end(), 5);
  DeviceBuffer<int> device(1000, nullptr);
  device.copy_from(from.span());
  device.copy_to(to.span());
  sortie::check_cuda(cudaStreamSynchronize(nullptr));
  EXPECT_TRUE(std::equal(from.span().begin(), from.span().end(), to.span().begin()));
}

TEST(CheckCuda, NamesPlaceAndError) {
  sortie::test::expect_error([] { sortie::check_cuda(cudaErrorInvalidValue); }, ErrorKind::device,
                             AllOf(HasSubstr("device_buffer_test.cpp:"),
                                   HasSubstr("found cudaErrorInvalidValue (invalid argument)")));
}

}  // namespace
