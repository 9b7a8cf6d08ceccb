// SPDX-License-Identifier: Apache-2.0
#include "cluster/device_exchange.hpp"

#include <fmt/format.h>

#include "sortie/error.hpp"

#ifdef SORTIE_HAVE_NCCL
#include <dlfcn.h>
#include <nccl.h>

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"

namespace sortie::cluster {
namespace {

constexpr const char* library_name = "libnccl.so.2";

/// What is called of NCCL.
struct NcclFunctions {
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) connect = nullptr;
  decltype(&ncclCommGetAsyncError) state = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclGetErrorString) error_text = nullptr;
};

/// The functions, or why they are missing.
struct NcclLibrary {
  NcclFunctions functions;
  std::string why_none;
  int version = 0;

  NcclLibrary() {
    void* const library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      why_none = fmt::format("found no NCCL ({})", dlerror());
      return;
    }
    const auto find = [&](const char* name, auto& function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && why_none.empty())
        why_none = fmt::format("found an NCCL without {}, expected 2.14 or newer", name);
    };
    find("ncclGetVersion", functions.version);
    find("ncclGetUniqueId", functions.unique_id);
    find("ncclCommInitRankConfig", functions.connect);
    find("ncclCommGetAsyncError", functions.state);
    find("ncclCommAbort", functions.abort);
    find("ncclGroupStart", functions.group_start);
    find("ncclGroupEnd", functions.group_end);
    find("ncclSend", functions.send);
    find("ncclRecv", functions.receive);
    find("ncclGetErrorString", functions.error_text);
    if (why_none.empty()) static_cast<void>(functions.version(&version));
  }
};

const NcclLibrary& nccl() {
  static const NcclLibrary library;
  return library;
}

/// 22809 is 2.28.9.
std::string version_text() {
  const int version = nccl().version;
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

class NcclExchange final : public DeviceExchange {
 public:
  NcclExchange(int device, const ncclUniqueId& id, int rank, int size)
      : DeviceExchange(device), nccl_(nccl().functions) {
    // Calls return at once, so that a rank can stop to wait for one that has failed.
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    const CurrentDevice current(device);
    check(nccl_.connect(&communicator_, size, id, rank, &config));
  }
  /// Not ncclCommDestroy(), which waits for other ranks. No work is under way between exchanges.
  ~NcclExchange() override { abort(); }

  [[nodiscard]] std::string name() const override { return "NCCL " + version_text(); }
  /// Buffers for each other rank, some ten MiB.
  [[nodiscard]] std::uint64_t device_bytes() const override { return std::uint64_t{512} << 20; }

 protected:
  void move(Ranks& ranks, std::span<const DevicePiece> sent, std::span<const DevicePiece> received,
            CUstream_st* stream) override {
    ranks.on_devices("exchange pieces", [&] {
      const CurrentDevice current(device());
      send_and_receive(sent, received, stream);
    });
  }

 private:
  static constexpr double seconds_to_connect = 60;
  static constexpr double seconds_to_answer = 10;
  static constexpr double slowest_rate = 1 << 30;  ///< bytes in a second

  void send_and_receive(std::span<const DevicePiece> sent, std::span<const DevicePiece> received,
                        CUstream_st* stream) {
    if (communicator_ == nullptr) throw failure("a connection that was ended after an error");
    wait(seconds_to_connect, [] { return true; });
    std::uint64_t bytes = 0;
    check(nccl_.group_start());
    for (const DevicePiece& piece : received) {
      check(nccl_.receive(piece.data, piece.bytes, ncclUint8, piece.rank, communicator_, stream));
      bytes += piece.bytes;
    }
    for (const DevicePiece& piece : sent) {
      check(nccl_.send(piece.data, piece.bytes, ncclUint8, piece.rank, communicator_, stream));
      bytes += piece.bytes;
    }
    check(nccl_.group_end());
    const double seconds = seconds_to_answer + static_cast<double>(bytes) / slowest_rate;
    wait(seconds, [] { return true; });
    wait(seconds, [&] {
      const cudaError_t status = cudaStreamQuery(stream);
      if (status == cudaErrorNotReady) return false;
      check_cuda(status);
      return true;
    });
  }

  [[nodiscard]] static Error failure(std::string_view found) {
    return {ErrorKind::device,
            fmt::format("NCCL {}: found {}, expected an exchange between the GPUs of all ranks",
                        version_text(), found)};
  }

  void abort() noexcept {
    if (communicator_ == nullptr) return;
    static_cast<void>(nccl_.abort(std::exchange(communicator_, nullptr)));
  }

  /// Ends the connection, by which the other ranks notice.
  void check(ncclResult_t status) {
    if (status == ncclSuccess || status == ncclInProgress) return;
    const std::string text = nccl_.error_text(status);
    abort();
    throw failure(text);
  }

  /// Waits until NCCL has done what it was asked for, and `done`.
  void wait(double seconds, const std::function<bool()>& done) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (true) {
      ncclResult_t state = ncclSuccess;
      check(nccl_.state(communicator_, &state));
      check(state);
      if (state == ncclSuccess && done()) return;
      if (Clock::now() > end) {
        abort();
        throw failure(fmt::format("no answer of another rank in {:.0f} s", seconds));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  const NcclFunctions& nccl_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

std::string why_no_nccl() {
  return nccl().why_none;
}

std::string nccl_description() {
  return nccl().why_none.empty() ? version_text() : nccl().why_none;
}

std::shared_ptr<DeviceExchange> connect_by_nccl(Ranks& ranks, int device) {
  ncclUniqueId id{};
  ranks.on_rank(0, "connect devices", [&] {
    if (nccl().functions.unique_id(&id) != ncclSuccess)
      throw Error(ErrorKind::device, "NCCL: found no network interface, expected one");
  });
  ranks.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
  std::shared_ptr<DeviceExchange> exchange;
  ranks.on_devices("connect devices", [&] {
    exchange = std::make_shared<NcclExchange>(device, id, ranks.rank(), ranks.size());
  });
  return exchange;
}

}  // namespace sortie::cluster

#else

namespace sortie::cluster {

std::string why_no_nccl() {
  return "has a build without NCCL";
}

std::string nccl_description() {
  return "none: nccl.h was not found when Sortie was built";
}

std::shared_ptr<DeviceExchange> connect_by_nccl(Ranks&, int) {
  throw Error(ErrorKind::unavailable, why_no_nccl());
}

}  // namespace sortie::cluster

#endif
