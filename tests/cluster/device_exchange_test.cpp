// SPDX-License-Identifier: Apache-2.0
//
// The choice of an exchange between the GPUs of ranks, and the exchange by an MPI that takes memory
// of GPUs, which is replaced by ranks of one process that copy such pieces through host memory.
#include "cluster/device_exchange.hpp"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/background_task.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "matrices/generators.hpp"
#include "multisort/cuda/device_group.hpp"
#include "sortie/cluster_devices.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/cluster/spgemm_shapes.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

/// Ranks of one process that look like processes of an MPI.
class LikeMpi final : public Ranks {
 public:
  LikeMpi(Ranks& threads, std::string why_no_device_pieces)
      : threads_(threads), why_(std::move(why_no_device_pieces)) {}

  [[nodiscard]] int rank() const override { return threads_.rank(); }
  [[nodiscard]] int size() const override { return threads_.size(); }
  [[nodiscard]] int ranks_on_machine() const override { return threads_.size(); }
  [[nodiscard]] int rank_on_machine() const override { return threads_.rank(); }
  [[nodiscard]] std::string transport() const override { return "test MPI"; }
  [[nodiscard]] std::string why_no_device_pieces() const override { return why_; }

 protected:
  void do_broadcast(std::span<std::byte> bytes, int root) override {
    threads_.broadcast(bytes, root);
  }
  void do_gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    threads_.gather_all(mine, all);
  }
  void do_reduce_all(std::span<std::uint64_t> numbers, Reduction reduction) override {
    threads_.reduce_all(numbers, reduction);
  }
  void do_sum_before(std::span<std::uint64_t> numbers) override { threads_.sum_before(numbers); }
  void do_exchange(std::span<const SendPiece> sent,
                   std::span<const ReceivePiece> received) override {
    std::vector<std::vector<std::byte>> copies;
    std::vector<SendPiece> sends;
    for (const SendPiece& piece : sent) {
      EXPECT_LE(piece.bytes.size(), message_bytes());
      copies.emplace_back(piece.bytes.size());
      check_cuda(cudaMemcpy(copies.back().data(), piece.bytes.data(), piece.bytes.size(),
                            cudaMemcpyDefault));
      sends.push_back({piece.rank, copies.back()});
    }
    const std::size_t first = copies.size();
    std::vector<ReceivePiece> receives;
    for (const ReceivePiece& piece : received) copies.emplace_back(piece.bytes.size());
    for (std::size_t i = 0; i < received.size(); ++i)
      receives.push_back({received[i].rank, copies[first + i]});
    threads_.exchange(sends, receives);
    for (std::size_t i = 0; i < received.size(); ++i)
      check_cuda(cudaMemcpy(received[i].bytes.data(), copies[first + i].data(),
                            received[i].bytes.size(), cudaMemcpyDefault));
  }

 private:
  Ranks& threads_;
  std::string why_;
};

/// The environment variable, as long as this object exists.
struct Chosen {
  explicit Chosen(const char* exchange) { setenv("SORTIE_EXCHANGE", exchange, 1); }
  ~Chosen() { unsetenv("SORTIE_EXCHANGE"); }
};

void on_logical_devices(int count, const std::function<void(Ranks&, const Context&)>& job) {
  const Context context = test::context();
  run_on_devices(context, spread_over_gpus(context, count), job);
}

/// Each rank sends 100 (its number + 1) + i to rank i, as often as i + 1.
void expect_exchange(Ranks& ranks, const Context& context, DeviceExchange& exchange) {
  const CurrentDevice current(context.device);
  const int size = ranks.size();
  const auto number = [](int from, int to) { return static_cast<std::uint32_t>(100 * from + to); };
  std::vector<std::uint32_t> items;
  std::vector<std::uint32_t> expected;
  for (int other = 0; other < size; ++other) {
    items.insert(items.end(), static_cast<std::size_t>(other) + 1, number(ranks.rank(), other));
    expected.insert(expected.end(), static_cast<std::size_t>(ranks.rank()) + 1,
                    number(other, ranks.rank()));
  }
  DeviceBuffer<std::uint32_t> out(std::span<const std::uint32_t>(items), nullptr);
  DeviceBuffer<std::uint32_t> in(expected.size(), nullptr);
  std::vector<DevicePiece> sent;
  std::vector<DevicePiece> received;
  std::uint64_t begin = 0;
  for (int other = 0; other < size; ++other) {
    const auto count = static_cast<std::uint64_t>(other) + 1;
    const auto arriving = static_cast<std::uint64_t>(ranks.rank()) + 1;
    sent.push_back({other, reinterpret_cast<std::byte*>(out.data() + begin), 4 * count});
    received.push_back({other,
                        reinterpret_cast<std::byte*>(in.data()) + 4 * arriving * received.size(),
                        4 * arriving});
    begin += count;
  }
  const std::uint64_t before = ranks.traffic().exchanged_bytes;
  exchange.exchange(ranks, sent, received, nullptr);
  EXPECT_EQ(ranks.traffic().exchanged_bytes - before,
            4 * (begin - static_cast<std::uint64_t>(ranks.rank()) - 1));
  std::vector<std::uint32_t> found(expected.size());
  in.copy_to(std::span(found));
  check_cuda(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(found, expected);
}

TEST(DeviceExchange, GoesByAnMpiThatTakesMemoryOfGpusWhereNcclCannot) {
  const int devices = 2 * cuda_device_count() + 1;  // several share a GPU
  on_logical_devices(devices, [](Ranks& threads, const Context& own) {
    LikeMpi ranks(threads, "");
    const DeviceTransport transport = connect_devices(ranks, own);
    ASSERT_NE(transport.exchange, nullptr);
    EXPECT_EQ(transport.exchange->name(), "CUDA-aware test MPI");
    for (const std::uint64_t message : {std::uint64_t{3}, Ranks::most_message_bytes}) {
      ranks.set_message_bytes(message);
      expect_exchange(ranks, own, *transport.exchange);
    }
    EXPECT_EQ(connect_devices(ranks, own).exchange, transport.exchange);
    for (const char* const phase : {"finish pieces", "exchange pieces"}) {
      const test::Fault fault(threads, 1, phase);
      EXPECT_EQ(test::error_of([&] { expect_exchange(ranks, own, *transport.exchange); }),
                "rank 1: injected");
    }
  });
}

TEST(DeviceExchange, IsNoneWhereNcclAndMpiCannot) {
  on_logical_devices(2 * cuda_device_count(), [](Ranks& threads, const Context& own) {
    LikeMpi ranks(threads, "test MPI is not CUDA-aware");
    const DeviceTransport transport = connect_devices(ranks, own);
    EXPECT_EQ(transport.exchange, nullptr);
    EXPECT_EQ(
        transport.why_none,
        "several ranks share a GPU, which NCCL does not allow, and test MPI is not CUDA-aware");
  });
}

TEST(DeviceExchange, BringsRowsOfProductsByNccl) {
  const int gpus = cuda_device_count();
  if (gpus < 2) GTEST_SKIP() << "found " << gpus << " GPU, expected two";
  if (!why_no_nccl().empty()) GTEST_SKIP() << why_no_nccl();
  const auto a = matrices::rmat<double, std::int32_t>(12, 8, 1);
  const auto expected = spgemm::multiply(test::context(), a, a);
  on_logical_devices(gpus, [&](Ranks& ranks, const Context& own) {
    ranks.attachment() = connect_by_nccl(ranks, own.device);
    RunReport report;
    Context context = own;
    context.report = &report;
    const auto of_a = test::divide(ranks, a, equal_rows(a.rows, gpus));
    const auto c = test::joined(ranks, multiply(ranks, context, of_a, of_a));
    EXPECT_TRUE(ranks.rank() != 0 || test::equal_bits(c, expected));
    for (const auto& [key, value] : report.figures()) {
      if (key == "exchange_path") {
        EXPECT_THAT(std::get<std::string>(value), testing::StartsWith("by NCCL "));
      }
    }
  });
}

TEST(DeviceExchange, IsChosenByTheEnvironment) {
  const auto name_with = [](const char* choice) {
    const Chosen chosen(choice);
    std::string name;
    on_logical_devices(2 * cuda_device_count(), [&](Ranks& threads, const Context& own) {
      LikeMpi ranks(threads, "test MPI is not CUDA-aware");
      const DeviceTransport transport = connect_devices(ranks, own);
      if (threads.rank() != 0) return;
      name = transport.exchange == nullptr ? transport.why_none : transport.exchange->name();
    });
    return name;
  };
  EXPECT_EQ(name_with("mpi"), "CUDA-aware test MPI");
  EXPECT_EQ(name_with("nccl"), "several ranks share a GPU, which NCCL does not allow");
  EXPECT_EQ(name_with("staged"), "as SORTIE_EXCHANGE asks for");
  EXPECT_THAT(
      test::error_of([&] { static_cast<void>(name_with("mips")); }),
      testing::HasSubstr("SORTIE_EXCHANGE: found \"mips\", expected one of auto, nccl, mpi, "
                         "staged"));
}

// Run by memcheck with API errors, this finds access that is enabled twice.
TEST(DeviceGroups, OfSeveralThreadsConnectTheSameGpus) {
  const int gpus = cuda_device_count();
  if (gpus < 2) GTEST_SKIP() << "found " << gpus << " GPU, expected two";
  int can = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can, 0, 1));
  std::vector<std::unique_ptr<BackgroundTask>> tasks;
  for (int i = 0; i < 4; ++i)
    tasks.push_back(std::make_unique<BackgroundTask>([&] {
      const multisort::DeviceGroup group({0, 1, 0});
      EXPECT_EQ(group.reaches(0, 1), can != 0);
      EXPECT_TRUE(group.reaches(0, 2));
    }));
  for (const auto& task : tasks) task->wait();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace sortie::cluster
