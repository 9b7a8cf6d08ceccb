// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sortie/export.hpp"

/// One job over many devices: the GPUs or threads of one process, or the processes of an MPI job.
namespace sortie::cluster {

/// Bytes that this rank sends to a rank, which may be itself.
struct SendPiece {
  int rank = 0;
  std::span<const std::byte> bytes;
};

/// Memory for bytes that this rank receives from a rank, which may be itself.
struct ReceivePiece {
  int rank = 0;
  std::span<std::byte> bytes;
};

/// How reduce_all() combines numbers.
enum class Reduction { sum, least, greatest };

/// What a rank has sent to other ranks. What it keeps is not counted.
struct Traffic {
  std::uint64_t exchanged_bytes = 0;   ///< by exchange()
  std::uint64_t messages = 0;          ///< by exchange(), a long piece counts as several
  std::uint64_t collective_bytes = 0;  ///< this rank's part of the other calls
  std::uint64_t collectives = 0;       ///< calls of any kind
};

/// The ranks of one job, as one of them sees them. All member functions but the getters and local()
/// are collective: every rank calls them, in the same order. A rank makes one call at a time.
///
/// **Errors.** Between two collective calls a rank works in together(), which catches its error and
/// then lets all ranks know: so no rank waits for one that has failed. Every rank throws the same
/// Error, that of the lowest failed rank, whose message begins with "rank N: ".
class SORTIE_API Ranks {
 public:
  virtual ~Ranks() = default;
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Ranks on the same machine, and the number of this one among them.
  [[nodiscard]] virtual int ranks_on_machine() const = 0;
  [[nodiscard]] virtual int rank_on_machine() const = 0;
  /// "threads", or name and version of the MPI library
  [[nodiscard]] virtual std::string transport() const = 0;
  /// Whether all ranks are threads of one process, which can read the memory of each other.
  [[nodiscard]] virtual bool share_memory() const { return false; }
  /// Why the pieces of exchange_messages() cannot be in the memory of CUDA devices; empty if they
  /// can.
  [[nodiscard]] virtual std::string why_no_device_pieces() const { return "ranks have no MPI"; }

  /// Copies the bytes of rank `root` to all. \pre the same number of bytes on every rank
  void broadcast(std::span<std::byte> bytes, int root);
  /// Gathers the bytes of every rank, by rank. \pre the same number of bytes on every rank, and
  /// all.size() is size() times as many
  void gather_all(std::span<const std::byte> mine, std::span<std::byte> all);
  /// Replaces each number by its sum, least or greatest over all ranks.
  void reduce_all(std::span<std::uint64_t> numbers, Reduction reduction);
  /// Replaces each number by its sum over the ranks below this one.
  void sum_before(std::span<std::uint64_t> numbers);
  /// Sends and receives pieces. Pieces between two ranks arrive in the order of the list.
  /// \pre to each piece sent belongs one received, of the same size
  void exchange(std::span<const SendPiece> sent, std::span<const ReceivePiece> received);

  /// Sends and receives pieces as exchange() does, but counts none of them. They may be in the
  /// memory of CUDA devices where why_no_device_pieces() is empty.
  /// \pre none is of this rank itself, or longer than message_bytes()
  void exchange_messages(std::span<const SendPiece> sent, std::span<const ReceivePiece> received) {
    do_exchange(sent, received);
  }

  /// Runs `work` on this rank, and then throws on every rank if it failed on any.
  /// \param phase  name of this step, for tests that inject faults
  /// \throws Error  of the lowest rank that failed, its message preceded by "rank N: "
  void together(std::string_view phase, const std::function<void()>& work);
  /// The same with work that waits for the device of this rank, and calls no parallel algorithm of
  /// the host. It always runs on the thread of the rank, so that all devices work at the same time.
  void on_devices(std::string_view phase, const std::function<void()>& work);
  /// The same with work of one rank only, as all know: the others cannot fail.
  void on_rank(int rank, std::string_view phase, const std::function<void()>& work);

  /// Collects a number of every rank, by rank.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::vector<T> gather(const T& mine) {
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }
  /// Collects arrays of any length of all ranks, one behind the other, by rank.
  /// \param counts  if not null, receives the length of each
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::vector<T> gather_arrays(std::span<const T> mine,
                                             std::vector<std::uint64_t>* counts = nullptr) {
    std::vector<std::byte> bytes = gather_bytes(std::as_bytes(mine), sizeof(T), counts);
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty())
      std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<std::byte*>(all.data()));
    return all;
  }
  /// Sends each rank one number of `to`, and returns the numbers received, by rank.
  [[nodiscard]] std::vector<std::uint64_t> exchange_counts(std::span<const std::uint64_t> to);
  [[nodiscard]] std::uint64_t sum(std::uint64_t number) { return reduced(number, Reduction::sum); }
  [[nodiscard]] std::uint64_t greatest(std::uint64_t number) {
    return reduced(number, Reduction::greatest);
  }
  [[nodiscard]] std::uint64_t least(std::uint64_t number) {
    return reduced(number, Reduction::least);
  }

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  /// Counts bytes that have been sent to other ranks by other means than exchange(). Not collective.
  void count_exchange(std::uint64_t bytes, std::uint64_t messages) {
    ++traffic_.collectives;
    traffic_.exchanged_bytes += bytes;
    traffic_.messages += messages;
  }
  /// What exchanges between devices keep for the next job of these ranks. Ends with the ranks.
  [[nodiscard]] std::shared_ptr<void>& attachment() { return attachment_; }
  /// Whether the last together() or on_rank() has thrown, so that all ranks know of the error: else a
  /// rank that fails must end the job.
  [[nodiscard]] bool has_agreed_error() const { return has_agreed_error_; }

  /// MPI's counts have 31 bits.
  static constexpr std::uint64_t most_message_bytes = std::uint64_t{1} << 30;
  /// Longest message of exchange(), at first most_message_bytes; longer pieces are divided.
  /// \pre the same on every rank
  /// \throws Error (usage) 0, or more than most_message_bytes
  void set_message_bytes(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t message_bytes() const { return message_bytes_; }

 protected:
  virtual void do_broadcast(std::span<std::byte> bytes, int root) = 0;
  virtual void do_gather_all(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual void do_reduce_all(std::span<std::uint64_t> numbers, Reduction reduction) = 0;
  virtual void do_sum_before(std::span<std::uint64_t> numbers) = 0;
  /// Without pieces to this rank itself and empty ones; none is longer than the longest message.
  virtual void do_exchange(std::span<const SendPiece> sent,
                           std::span<const ReceivePiece> received) = 0;
  /// Runs work of this rank's host between collective calls.
  virtual void run_local(const std::function<void()>& work) { work(); }

 private:
  [[nodiscard]] std::uint64_t reduced(std::uint64_t number, Reduction reduction) {
    reduce_all({&number, 1}, reduction);
    return number;
  }
  [[nodiscard]] std::vector<std::byte> gather_bytes(std::span<const std::byte> mine,
                                                    std::size_t item_bytes,
                                                    std::vector<std::uint64_t>* counts);
  void count_collective(std::uint64_t bytes);
  enum class Place { nowhere, host, device };
  void agree(std::string_view phase, Place place, const std::function<void()>& work);

  Traffic traffic_;
  std::uint64_t message_bytes_ = most_message_bytes;
  bool has_agreed_error_ = false;
  std::shared_ptr<void> attachment_;
};

/// Runs `job` on ranks of this process, a thread each, and returns when all have ended.
///
/// \param host_work  Kokkos before 4.0 accepts parallel work only from the thread that started it.
///                   True: work inside together() runs on the calling thread, for one rank at a time;
///                   false: on the thread of its rank. Work inside on_devices() always does
/// \throws Error (usage) size < 1; (unavailable) the system has no more threads; else what the job
///         throws on the lowest rank that throws
SORTIE_API void run_in_process(int size, bool host_work, const std::function<void(Ranks&)>& job);

}  // namespace sortie::cluster
