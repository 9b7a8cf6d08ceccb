// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads of one process. A collective call publishes where the data of each rank
// is, waits for the others, and reads theirs.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "sortie/cluster.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

/// Work that ranks hand to the thread that started them.
class HostQueue {
 public:
  explicit HostQueue(int ranks) : running_(ranks) {}

  /// Called by a rank: waits until the work is done. \throws what the work threw
  void run(const std::function<void()>& work) {
    Item item{&work, nullptr, false};
    std::unique_lock lock(mutex_);
    items_.push_back(&item);
    changed_.notify_all();
    changed_.wait(lock, [&] { return item.done; });
    if (item.error) std::rethrow_exception(item.error);
  }

  /// Called by a rank at its end.
  void leave() {
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  /// Called by the starting thread: works until all ranks have left.
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !items_.empty() || running_ == 0; });
      if (items_.empty()) return;
      Item& item = *items_.front();
      items_.pop_front();
      lock.unlock();
      std::exception_ptr error;
      try {
        (*item.work)();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      item.error = error;
      item.done = true;
      changed_.notify_all();
    }
  }

 private:
  struct Item {
    const std::function<void()>* work;
    std::exception_ptr error;
    bool done;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item*> items_;
  int running_;
};

/// What a rank publishes in a collective call.
struct Published {
  std::span<const std::byte> bytes = {};
  std::span<const std::uint64_t> numbers = {};
  std::span<const SendPiece> pieces = {};
};

/// Thrown where another rank has ended without the others.
struct JobEnded : Error {
  JobEnded() : Error(ErrorKind::device, "another rank has ended") {}
};

struct Shared {
  explicit Shared(int size)
      : barrier(size), published(static_cast<std::size_t>(size)), host(size) {}

  std::barrier<> barrier;
  std::atomic<bool> broken = false;  ///< a rank has ended without the others
  std::vector<Published> published;
  HostQueue host;
};

class ProcessRanks final : public Ranks {
 public:
  ProcessRanks(Shared& shared, int rank, bool host_work)
      : shared_(shared), rank_(rank), host_work_(host_work) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(shared_.published.size()); }
  [[nodiscard]] int ranks_on_machine() const override { return size(); }
  [[nodiscard]] int rank_on_machine() const override { return rank_; }
  [[nodiscard]] std::string transport() const override { return "threads"; }
  [[nodiscard]] bool share_memory() const override { return true; }

 protected:
  void do_broadcast(std::span<std::byte> bytes, int root) override {
    publish({.bytes = bytes}, [&] {
      const auto from = shared_.published[static_cast<std::size_t>(root)].bytes;
      if (rank_ != root && !bytes.empty()) std::memcpy(bytes.data(), from.data(), bytes.size());
    });
  }

  void do_gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    publish({.bytes = mine}, [&] {
      std::byte* to = all.data();
      for (const Published& other : shared_.published)
        to = std::copy(other.bytes.begin(), other.bytes.end(), to);
    });
  }

  void do_reduce_all(std::span<std::uint64_t> numbers, Reduction reduction) override {
    const std::vector<std::uint64_t> mine(numbers.begin(), numbers.end());
    publish({.numbers = mine}, [&] {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::uint64_t result = shared_.published.front().numbers[i];
        for (std::size_t other = 1; other < shared_.published.size(); ++other) {
          const std::uint64_t next = shared_.published[other].numbers[i];
          if (reduction == Reduction::sum) result += next;
          if (reduction == Reduction::least) result = std::min(result, next);
          if (reduction == Reduction::greatest) result = std::max(result, next);
        }
        numbers[i] = result;
      }
    });
  }

  void do_sum_before(std::span<std::uint64_t> numbers) override {
    const std::vector<std::uint64_t> mine(numbers.begin(), numbers.end());
    publish({.numbers = mine}, [&] {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = 0;
        for (int other = 0; other < rank_; ++other)
          numbers[i] += shared_.published[static_cast<std::size_t>(other)].numbers[i];
      }
    });
  }

  void do_exchange(std::span<const SendPiece> sent,
                   std::span<const ReceivePiece> received) override {
    publish({.pieces = sent}, [&] {
      std::vector<std::size_t> next(shared_.published.size());
      for (const ReceivePiece& piece : received) {
        const auto from = static_cast<std::size_t>(piece.rank);
        const auto pieces = shared_.published[from].pieces;
        std::size_t& index = next[from];
        while (pieces[index].rank != rank_) ++index;
        std::memcpy(piece.bytes.data(), pieces[index++].bytes.data(), piece.bytes.size());
      }
    });
  }

  void run_local(const std::function<void()>& work) override {
    if (host_work_) return shared_.host.run(work);
    work();
  }

 private:
  /// Shows `mine` to all ranks while each runs `read`. \throws JobEnded
  template <class Read>
  void publish(Published mine, const Read& read) {
    shared_.published[static_cast<std::size_t>(rank_)] = mine;
    shared_.barrier.arrive_and_wait();
    if (shared_.broken) throw JobEnded();
    read();
    shared_.barrier.arrive_and_wait();
  }

  Shared& shared_;
  int rank_;
  bool host_work_;
};

}  // namespace

void run_in_process(int size, bool host_work, const std::function<void(Ranks&)>& job) {
  if (size < 1)
    throw Error(ErrorKind::usage, fmt::format("found {} ranks, expected at least 1", size));
  Shared shared(size);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  // No rank starts before all threads exist: a missing one would be waited for.
  std::mutex starting;
  std::condition_variable started;
  enum class Start { open, go, stop } start = Start::open;
  const auto run = [&](int rank) {
    {
      std::unique_lock lock(starting);
      started.wait(lock, [&] { return start != Start::open; });
      if (start == Start::stop) return;
    }
    ProcessRanks ranks(shared, rank, host_work);
    try {
      job(ranks);
    } catch (...) {
      errors[static_cast<std::size_t>(rank)] = std::current_exception();
    }
    if (errors[static_cast<std::size_t>(rank)] && !ranks.has_agreed_error()) {
      shared.broken = true;
      shared.barrier.arrive_and_drop();
    }
    shared.host.leave();
  };
  const auto begin = [&](Start how) {
    const std::lock_guard lock(starting);
    start = how;
    started.notify_all();
  };
  std::vector<std::jthread> threads;
  try {
    for (int rank = 0; rank < size; ++rank) threads.emplace_back(run, rank);
  } catch (const std::system_error&) {
    begin(Start::stop);
    throw Error(
        ErrorKind::unavailable,
        fmt::format("found {} threads that the system gives, expected {}", threads.size(), size));
  }
  begin(Start::go);
  shared.host.serve();
  threads.clear();
  std::exception_ptr last;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    last = error;
    try {
      std::rethrow_exception(error);
    } catch (const JobEnded&) {
      continue;  // the reason is the error of another rank
    }
  }
  if (last) std::rethrow_exception(last);
}

}  // namespace sortie::cluster
