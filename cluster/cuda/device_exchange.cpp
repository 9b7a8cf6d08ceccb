// SPDX-License-Identifier: Apache-2.0
#include "cluster/device_exchange.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/device_share.hpp"
#include "core/background_task.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/device_lifetime.hpp"
#include "multisort/cuda/device_group.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

/// For ranks of one process: each copies what it receives from the memory of the other GPUs.
class PeerCopies final : public DeviceExchange {
 public:
  PeerCopies(Ranks& ranks, int device) : DeviceExchange(device), rank_(ranks.rank()) {
    devices_ = ranks.gather(device);
    // Gives the devices access to the memory pools of each other, where the machine allows it.
    ranks.on_devices("connect devices", [&] {
      if (rank_ == 0) static_cast<void>(multisort::DeviceGroup(devices_));
    });
  }

  [[nodiscard]] std::string name() const override { return "peer copies"; }

 protected:
  void move(Ranks& ranks, std::span<const DevicePiece> sent, std::span<const DevicePiece> received,
            CUstream_st* stream) override {
    const std::vector<std::uint64_t> counts = ranks.gather(std::uint64_t{sent.size()});
    const std::uint64_t most = *std::ranges::max_element(counts);
    std::vector<DevicePiece> mine(sent.begin(), sent.end());
    mine.resize(most, {-1, nullptr, 0});
    std::vector<DevicePiece> all(most * counts.size());
    ranks.gather_all(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
    sources_.assign(counts.size(), {});
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].rank == rank_) sources_[i / most].push_back(all[i]);
    ranks.on_devices("exchange pieces", [&] {
      const CurrentDevice current(device());
      try {
        copy(received, stream);
      } catch (...) {
        // The other ranks free what is copied when they know of the error.
        static_cast<void>(cudaStreamSynchronize(stream));
        throw;
      }
      check_cuda(cudaStreamSynchronize(stream));
    });
  }

 private:
  void copy(std::span<const DevicePiece> received, cudaStream_t stream) const {
    std::vector<std::size_t> next(sources_.size());
    for (const DevicePiece& piece : received) {
      const auto source = static_cast<std::size_t>(piece.rank);
      const DevicePiece& from = sources_[source].at(next[source]++);
      if (from.bytes != piece.bytes)
        throw Error(ErrorKind::usage,
                    fmt::format("found {} bytes sent to a piece of {} bytes, expected as many",
                                from.bytes, piece.bytes));
      check_cuda(cudaMemcpyPeerAsync(piece.data, device(), from.data, devices_[source], piece.bytes,
                                     stream));
    }
  }

  int rank_;
  std::vector<int> devices_;                       ///< of all ranks
  std::vector<std::vector<DevicePiece>> sources_;  ///< of the next move(), by rank
};

/// For processes whose MPI takes memory of GPUs.
class MpiExchange final : public DeviceExchange {
 public:
  MpiExchange(const Ranks& ranks, int device)
      : DeviceExchange(device), name_("CUDA-aware " + ranks.transport()) {}

  [[nodiscard]] std::string name() const override { return name_; }

 protected:
  void move(Ranks& ranks, std::span<const DevicePiece> sent, std::span<const DevicePiece> received,
            CUstream_st*) override {
    std::vector<SendPiece> sends;
    std::vector<ReceivePiece> receives;
    for (const DevicePiece& piece : sent) sends.push_back({piece.rank, {piece.data, piece.bytes}});
    for (const DevicePiece& piece : received)
      receives.push_back({piece.rank, {piece.data, piece.bytes}});
    // Not within the phase: no rank may wait for messages of one that has failed.
    ranks.on_devices("exchange pieces", [] {});
    const CurrentDevice current(device());
    ranks.exchange_messages(sends, receives);
  }

 private:
  std::string name_;
};

/// Exchanges between devices, as SORTIE_EXCHANGE names them.
enum class ExchangeChoice : std::uint64_t { automatic, nccl, mpi, staged };

/// Collective, phase "choose exchange".
ExchangeChoice exchange_choice(Ranks& ranks) {
  constexpr std::array<std::string_view, 4> names{"auto", "nccl", "mpi", "staged"};
  const char* const variable = std::getenv("SORTIE_EXCHANGE");
  const std::string_view text = variable == nullptr ? names[0] : variable;
  const auto choice = static_cast<std::uint64_t>(std::ranges::find(names, text) - names.begin());
  const std::uint64_t first = ranks.gather(choice).front();
  ranks.together("choose exchange", [&] {
    if (choice == names.size())
      throw Error(ErrorKind::usage, fmt::format("SORTIE_EXCHANGE: found {}, expected one of {}",
                                                sortie::quoted(text), fmt::join(names, ", ")));
    if (choice != first)
      throw Error(
          ErrorKind::usage,
          fmt::format("SORTIE_EXCHANGE: found {}, expected that of rank 0", sortie::quoted(text)));
  });
  return static_cast<ExchangeChoice>(choice);
}

/// The lowest rank that lacks NCCL, and why. Collective.
std::string why_no_rank_has_nccl(Ranks& ranks) {
  std::string why;
  ranks.together("find NCCL", [&] { why = why_no_nccl(); });
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t first =
      ranks.least(why.empty() ? size : static_cast<std::uint64_t>(ranks.rank()));
  if (first == size) return {};
  std::uint64_t length = why.size();
  ranks.broadcast(std::as_writable_bytes(std::span(&length, 1)), static_cast<int>(first));
  why.resize(length);
  ranks.broadcast(std::as_writable_bytes(std::span(why)), static_cast<int>(first));
  return fmt::format("rank {} {}", first, why);
}

}  // namespace

void DeviceExchange::exchange(Ranks& ranks, std::span<const DevicePiece> sent,
                              std::span<const DevicePiece> received, CUstream_st* stream) {
  std::vector<DevicePiece> sends;
  std::vector<DevicePiece> receives;
  std::vector<DevicePiece> kept;
  std::vector<std::pair<DevicePiece, DevicePiece>> copies;
  std::uint64_t sent_bytes = 0;
  const auto divide = [&](const DevicePiece& piece, std::vector<DevicePiece>& parts) {
    for (std::uint64_t begin = 0; begin < piece.bytes; begin += ranks.message_bytes())
      parts.push_back(
          {piece.rank, piece.data + begin, std::min(ranks.message_bytes(), piece.bytes - begin)});
  };
  for (const DevicePiece& piece : sent) {
    if (piece.rank == ranks.rank()) {
      kept.push_back(piece);
    } else {
      divide(piece, sends);
      sent_bytes += piece.bytes;
    }
  }
  std::size_t copied = 0;
  for (const DevicePiece& piece : received) {
    if (piece.rank == ranks.rank()) {
      copies.emplace_back(kept.at(copied++), piece);
    } else {
      divide(piece, receives);
    }
  }
  ranks.on_devices("finish pieces", [&] {
    const CurrentDevice current(device_);
    for (const auto& [from, to] : copies)
      check_cuda(cudaMemcpyAsync(to.data, from.data, to.bytes, cudaMemcpyDeviceToDevice, stream));
    check_cuda(cudaStreamSynchronize(stream));
  });
  move(ranks, sends, receives, stream);
  ranks.count_exchange(sent_bytes, sends.size());
}

void start_devices(std::span<const int> devices, int threads, std::uint64_t bytes) {
  const std::set<int> different(devices.begin(), devices.end());
  const auto on_each = [&](const auto& work) {
    std::vector<std::unique_ptr<BackgroundTask>> tasks;
    for (const int device : different)
      tasks.push_back(std::make_unique<BackgroundTask>([&work, device] { work(device); }));
    for (const auto& task : tasks) task->wait();
  };
  on_each([&](int device) { start_device(device, threads); });
  static_cast<void>(multisort::DeviceGroup({different.begin(), different.end()}));
  on_each([&](int device) {
    const CurrentDevice current(device);
    static_cast<void>(
        DeviceBuffer<std::byte>(std::min(bytes, free_device_memory(device) / 2), nullptr));
    check_cuda(cudaStreamSynchronize(nullptr));
  });
}

DeviceTransport connect_devices(Ranks& ranks, const Context& context) {
  const ExchangeChoice choice = exchange_choice(ranks);
  if (choice == ExchangeChoice::staged) return {nullptr, "as SORTIE_EXCHANGE asks for"};
  const auto known = std::static_pointer_cast<DeviceExchange>(ranks.attachment());
  const bool is_connected = known != nullptr && known->device() == context.device;
  if (ranks.least(is_connected ? 1 : 0) == 1) return {known, {}};
  DeviceTransport transport;
  if (ranks.share_memory()) {
    transport.exchange = std::make_shared<PeerCopies>(ranks, context.device);
  } else if (choice != ExchangeChoice::mpi) {
    if (ranks.greatest(static_cast<std::uint64_t>(share_device(ranks, context).ranks)) > 1) {
      transport.why_none = "several ranks share a GPU, which NCCL does not allow";
    } else if (std::string why = why_no_rank_has_nccl(ranks); !why.empty()) {
      transport.why_none = std::move(why);
    } else {
      transport.exchange = connect_by_nccl(ranks, context.device);
    }
  }
  if (transport.exchange == nullptr && choice != ExchangeChoice::nccl) {
    const std::string why = ranks.why_no_device_pieces();
    const bool is_chosen = choice == ExchangeChoice::mpi;
    if (is_chosen || ranks.least(why.empty() ? 1 : 0) == 1) {
      transport = {std::make_shared<MpiExchange>(ranks, context.device), {}};
    } else {
      transport.why_none += ", and " + why;
    }
  }
  ranks.attachment() = transport.exchange;
  return transport;
}

}  // namespace sortie::cluster
