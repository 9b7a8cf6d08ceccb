// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/device_suffix_array.hpp"
#include "sortie/devices.hpp"
#include "sortie/documents.hpp"
#include "sortie/error.hpp"
#include "sortie/lcp.hpp"
#include "tests/suffix_array/patterns.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

// The convention that all calls of device_suffix_array.hpp share: stream and device.
namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
class DeviceCalls : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceCalls, Widths);

/// A non-blocking stream of the current device.
class Stream {
 public:
  Stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An array in device memory that is all zeros until the stream copies its content.
template <class T>
class LateArray {
 public:
  LateArray(const std::vector<T>& content, cudaStream_t stream)
      : content_(content.size()), array_(content.size(), stream) {
    std::copy(content.begin(), content.end(), content_.data());
  }
  void clear() { check_cuda(cudaMemsetAsync(array_.data(), 0, array_.bytes(), array_.stream())); }
  void copy() { array_.copy_from(content_.span()); }
  [[nodiscard]] std::span<const T> view() const { return {array_.data(), array_.size()}; }

 private:
  PinnedBuffer<T> content_;
  DeviceBuffer<T> array_;
};

/// A text with all that the host computes from it.
template <class Index>
struct Case {
  test::NamedText text = test::joined(
      "", {test::random_letters(5000, 4, 'A', 1), "", test::random_letters(300, 4, 'A', 2), "AC"});
  test::Patterns patterns{{"ACG", "", "TTTTT", "CATG", "AC", "ACGTACGTACGT"}};
  std::vector<std::uint64_t> record_begins = {0};
  std::vector<Index> suffixes;
  std::vector<Index> inverse;
  std::vector<Index> lcp;
  std::vector<std::uint8_t> transform;
  std::vector<std::uint32_t> documents;
  Occurrences<Index> found;
  static constexpr std::uint64_t most_hits = 20;

  Case() {
    Context host;
    host.backend = Backend::host;
    for (const std::uint64_t end : text.separators) record_begins.push_back(end + 1);
    suffixes = build<Index>(host, text.view());
    inverse = inverse_suffix_array<Index>(host, suffixes);
    lcp = lcp_array<Index>(host, text.view(), suffixes);
    transform = burrows_wheeler_transform<Index>(host, text.view(), suffixes);
    documents = document_array<Index>(host, suffixes, record_begins);
    found = locate<Index>(host, text.view(), suffixes, patterns.view(), most_hits);
  }
};

/// The operands of all calls, in device memory.
template <class Index>
class Operands {
 public:
  /// Allocates on the current device.
  Operands(const Case<Index>& content, cudaStream_t stream)
      : device_([] {
          int device = 0;
          check_cuda(cudaGetDevice(&device));
          return device;
        }()),
        stream_(stream),
        symbols_(content.text.symbols, stream),
        separators_(content.text.separators, stream),
        suffixes_(content.suffixes, stream),
        record_begins_(content.record_begins, stream),
        letters_(content.patterns.letters, stream),
        pattern_begins_(content.patterns.begins, stream) {}

  /// Puts a delay on the stream, and only then the copies of the operands. Work that is not ordered
  /// on the stream sees zeros.
  void arrive_late() {
    const CurrentDevice its_own(device_);
    for_each([](auto& array) { array.clear(); });
    check_cuda(cudaStreamSynchronize(stream_));
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    check_cuda(cudaLaunchHostFunc(stream_, sleep, nullptr));
    for_each([](auto& array) { array.copy(); });
  }
  [[nodiscard]] DeviceText text() const { return {symbols_.view(), separators_.view()}; }
  [[nodiscard]] std::span<const Index> suffixes() const { return suffixes_.view(); }
  [[nodiscard]] std::span<const std::uint64_t> record_begins() const {
    return record_begins_.view();
  }
  [[nodiscard]] PatternView patterns() const { return {letters_.view(), pattern_begins_.view()}; }

 private:
  template <class Function>
  void for_each(const Function& function) {
    function(symbols_);
    function(separators_);
    function(suffixes_);
    function(record_begins_);
    function(letters_);
    function(pattern_begins_);
  }

  int device_;
  cudaStream_t stream_;
  LateArray<std::uint8_t> symbols_;
  LateArray<std::uint64_t> separators_;
  LateArray<Index> suffixes_;
  LateArray<std::uint64_t> record_begins_;
  LateArray<std::uint8_t> letters_;
  LateArray<std::uint64_t> pattern_begins_;
};

template <class T>
std::vector<T> to_host(const Context& context, const DeviceBuffer<T>& buffer) {
  const CurrentDevice its_own(context.device);
  std::vector<T> host(buffer.size());
  buffer.copy_to(host);
  check_cuda(cudaStreamSynchronize(buffer.stream()));
  return host;
}

/// Makes every call, each with operands that arrive late, and compares with the host's results.
template <class Index>
void expect_right_results(const Context& context, const Case<Index>& expected,
                          Operands<Index>& operands, cudaStream_t stream) {
  const DeviceText text = operands.text();
  const std::span<const Index> suffixes = operands.suffixes();
  const PatternView patterns = operands.patterns();
  operands.arrive_late();
  EXPECT_EQ(to_host(context, build_on_device<Index>(context, text, stream)), expected.suffixes);
  operands.arrive_late();
  EXPECT_NO_THROW(check_on_device<Index>(context, text, suffixes, stream));
  operands.arrive_late();
  EXPECT_EQ(to_host(context, inverse_on_device<Index>(context, suffixes, stream)),
            expected.inverse);
  operands.arrive_late();
  EXPECT_EQ(to_host(context, burrows_wheeler_on_device<Index>(context, text, suffixes, stream)),
            expected.transform);
  operands.arrive_late();
  EXPECT_EQ(to_host(context, lcp_on_device<Index>(context, text, suffixes, stream)), expected.lcp);
  operands.arrive_late();
  EXPECT_EQ(to_host(context, documents_on_device<Index>(context, suffixes, operands.record_begins(),
                                                        stream)),
            expected.documents);
  operands.arrive_late();
  EXPECT_EQ(to_host(context, find_on_device<Index>(context, text, suffixes, patterns, stream)),
            expected.found.ranges);
  operands.arrive_late();
  const DeviceOccurrences<Index> found =
      locate_on_device<Index>(context, text, suffixes, patterns, expected.most_hits, stream);
  EXPECT_EQ(to_host(context, found.ranges), expected.found.ranges);
  EXPECT_EQ(to_host(context, found.begins), expected.found.begins);
  EXPECT_EQ(to_host(context, found.positions), expected.found.positions);
}

TYPED_TEST(DeviceCalls, AreOrderedOnTheStreamThatIsGiven) {
  const Case<TypeParam> expected;
  const Stream stream;
  Operands<TypeParam> operands(expected, stream.get());
  expect_right_results(test::context(), expected, operands, stream.get());
}

TYPED_TEST(DeviceCalls, TakeTheDefaultStream) {
  const Case<TypeParam> expected;
  Operands<TypeParam> operands(expected, nullptr);
  expect_right_results(test::context(), expected, operands, nullptr);
}

TYPED_TEST(DeviceCalls, MakeTheirDeviceCurrentAndRestoreThePreviousOne) {
  if (cuda_device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const Case<TypeParam> expected;
  Context context = test::context();
  context.device = 1;
  const CurrentDevice caller(0);
  // Stream and operands are on device 1, but device 0 is current during the calls.
  const auto on_second = [](const auto& make) {
    const CurrentDevice second(1);
    return make();
  };
  const auto stream = on_second([] { return std::make_unique<Stream>(); });
  Operands<TypeParam> operands =
      on_second([&] { return Operands<TypeParam>(expected, stream->get()); });
  expect_right_results(context, expected, operands, stream->get());
  int current = -1;
  check_cuda(cudaGetDevice(&current));
  EXPECT_EQ(current, 0);
}

// With one GPU: a call that did not look at context.device would work on the current device.
TYPED_TEST(DeviceCalls, RefuseADeviceThatIsNotThere) {
  Context context = test::context();
  context.device = cuda_device_count();
  const DeviceText text;
  const std::span<const TypeParam> none;
  const PatternView patterns;
  const auto expect_refused = [](const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "ran without its device";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable) << error.what();
    }
  };
  expect_refused([&] { (void)build_on_device<TypeParam>(context, text, nullptr); });
  expect_refused([&] { check_on_device<TypeParam>(context, text, none, nullptr); });
  expect_refused([&] { (void)inverse_on_device<TypeParam>(context, none, nullptr); });
  expect_refused([&] { (void)burrows_wheeler_on_device<TypeParam>(context, text, none, nullptr); });
  expect_refused([&] { (void)lcp_on_device<TypeParam>(context, text, none, nullptr); });
  expect_refused([&] { (void)documents_on_device<TypeParam>(context, none, {}, nullptr); });
  expect_refused([&] { (void)find_on_device<TypeParam>(context, text, none, patterns, nullptr); });
  expect_refused(
      [&] { (void)locate_on_device<TypeParam>(context, text, none, patterns, all_hits, nullptr); });
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
