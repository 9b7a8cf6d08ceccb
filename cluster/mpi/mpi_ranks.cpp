// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are the processes of an MPI job. Only calls of MPI 3.1, whose counts have 31 bits: what
// may be longer is divided by the caller, or here.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sortie/cluster_mpi.hpp"
#include "sortie/error.hpp"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

namespace sortie::cluster {
namespace {

constexpr std::size_t most_items = std::size_t{1} << 27;  ///< numbers in one reduction

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(ErrorKind::device, fmt::format("{} failed: {}", call, text));
}

MPI_Op operation(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return MPI_SUM;
    case Reduction::least:
      return MPI_MIN;
    case Reduction::greatest:
      return MPI_MAX;
  }
  return MPI_SUM;
}

/// Whether the library takes memory of CUDA devices, as it says when it runs. Builds of both
/// libraries can; those of Debian 12 cannot.
bool is_cuda_aware() {
#ifdef MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int is_supported = 0;
  check(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported), "MPIX_GPU_query_support");
  return is_supported != 0;
#else
  return false;
#endif
}

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(MPI_Comm communicator) {
    check(MPI_Comm_dup(communicator, &ranks_), "MPI_Comm_dup");
    check(MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine_),
          "MPI_Comm_split_type");
    // By default MPI ends the process at an error.
    check(MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(ranks_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(ranks_, &size_), "MPI_Comm_size");
    check(MPI_Comm_rank(machine_, &rank_on_machine_), "MPI_Comm_rank");
    check(MPI_Comm_size(machine_, &ranks_on_machine_), "MPI_Comm_size");
  }
  ~MpiRanks() override {
    MPI_Comm_free(&machine_);
    MPI_Comm_free(&ranks_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int ranks_on_machine() const override { return ranks_on_machine_; }
  [[nodiscard]] int rank_on_machine() const override { return rank_on_machine_; }

  [[nodiscard]] std::string transport() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string version(text, static_cast<std::size_t>(length));
    // "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\n..."
    std::string first = version.substr(0, version.find_first_of(",\n"));
    if (const auto colon = first.find(" Version:"); colon != std::string::npos)
      first.erase(colon, 9);
    std::replace(first.begin(), first.end(), '\t', ' ');
    while (!first.empty() && first.back() == '\0') first.pop_back();
    return first;
  }

  [[nodiscard]] std::string why_no_device_pieces() const override {
    return is_cuda_aware() ? std::string() : transport() + " is not CUDA-aware";
  }

 protected:
  void do_broadcast(std::span<std::byte> bytes, int root) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(bytes.data(), count(bytes.size()), MPI_BYTE, root, ranks_, &request),
          "MPI_Ibcast");
    wait({&request, 1});
  }

  void do_gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(mine.data(), count(mine.size()), MPI_BYTE, all.data(), count(mine.size()),
                         MPI_BYTE, ranks_, &request),
          "MPI_Iallgather");
    wait({&request, 1});
  }

  void do_reduce_all(std::span<std::uint64_t> numbers, Reduction reduction) override {
    // MPICH 4.0.2 compares MPI_UINT64_T as signed numbers, and so does Open MPI 4.1.4 with
    // MPI_UNSIGNED_LONG. With the highest bit inverted, signed numbers have the order of unsigned.
    const bool compares = reduction != Reduction::sum;
    const auto invert = [&] {
      if (!compares) return;
      for (std::uint64_t& number : numbers) number ^= std::uint64_t{1} << 63;
    };
    invert();
    for (std::size_t begin = 0; begin < numbers.size(); begin += most_items) {
      const auto part = numbers.subspan(begin, std::min(most_items, numbers.size() - begin));
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Iallreduce(MPI_IN_PLACE, part.data(), count(part.size()),
                           compares ? MPI_INT64_T : MPI_UINT64_T, operation(reduction), ranks_,
                           &request),
            "MPI_Iallreduce");
      wait({&request, 1});
    }
    invert();
  }

  void do_sum_before(std::span<std::uint64_t> numbers) override {
    for (std::size_t begin = 0; begin < numbers.size(); begin += most_items) {
      const auto part = numbers.subspan(begin, std::min(most_items, numbers.size() - begin));
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Iexscan(MPI_IN_PLACE, part.data(), count(part.size()), MPI_UINT64_T, MPI_SUM,
                        ranks_, &request),
            "MPI_Iexscan");
      wait({&request, 1});
      // On rank 0 the result of MPI_Iexscan is undefined.
      if (rank_ == 0) std::ranges::fill(part, 0);
    }
  }

  void do_exchange(std::span<const SendPiece> sent,
                   std::span<const ReceivePiece> received) override {
    std::vector<MPI_Request> requests;
    requests.reserve(sent.size() + received.size());
    for (const ReceivePiece& piece : received) {
      check(MPI_Irecv(piece.bytes.data(), count(piece.bytes.size()), MPI_BYTE, piece.rank, tag,
                      ranks_, &requests.emplace_back()),
            "MPI_Irecv");
    }
    // Each rank begins with the next one, so that not all send to the same.
    std::vector<SendPiece> ordered(sent.begin(), sent.end());
    std::ranges::stable_sort(
        ordered, {}, [&](const SendPiece& piece) { return (piece.rank - rank_ + size_) % size_; });
    for (const SendPiece& piece : ordered) {
      check(MPI_Isend(piece.bytes.data(), count(piece.bytes.size()), MPI_BYTE, piece.rank, tag,
                      ranks_, &requests.emplace_back()),
            "MPI_Isend");
    }
    wait(requests);
  }

 private:
  static constexpr int tag = 1;

  /// Waits for all requests. MPICH's own waiting keeps the core: where ranks share cores, each
  /// collective call then takes some milliseconds. So other threads may run, where ranks are more
  /// than cores after each try; else, since a message in parts asks for many tries, after several.
  void wait(std::span<MPI_Request> requests) const {
    constexpr int most_tries = 1000;
    constexpr int most_yields = 20;
    constexpr std::chrono::microseconds pause{50};
    static const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    const bool shares_cores = ranks_on_machine_ > cores;
    const int tries_at_once = shares_cores ? 1 : most_tries;
    int done = 0;
    for (int tries = 1;; ++tries) {
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                        MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (done != 0) return;
      if (tries % tries_at_once != 0) continue;
      if (shares_cores && tries > most_yields) {
        std::this_thread::sleep_for(pause);
      } else {
        std::this_thread::yield();
      }
    }
  }

  static int count(std::size_t items) {
    if (items > static_cast<std::size_t>(INT_MAX))
      throw Error(ErrorKind::usage,
                  fmt::format("found a message of {} items, expected at most {}", items, INT_MAX));
    return static_cast<int>(items);
  }

  MPI_Comm ranks_ = MPI_COMM_NULL;
  MPI_Comm machine_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int rank_on_machine_ = 0;
  int ranks_on_machine_ = 1;
};

}  // namespace

std::unique_ptr<Ranks> make_mpi_ranks(MPI_Comm communicator) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0)
    throw Error(ErrorKind::unavailable, "found MPI not initialised, expected MPI_Init() before");
  return std::make_unique<MpiRanks>(communicator);
}

}  // namespace sortie::cluster
