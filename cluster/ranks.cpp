// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "cluster/fault_hook.hpp"
#include "sortie/cluster.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

FaultHook& fault_hook() {
  static FaultHook hook;
  return hook;
}

/// An error as it is sent to the other ranks.
struct Failure {
  ErrorKind kind = ErrorKind::device;
  std::string message;
};

/// The error that is being handled.
Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::out_of_memory, "out of memory"};
  } catch (const std::exception& error) {
    return {ErrorKind::device, error.what()};
  }
}

/// Calls `take(begin, bytes)` for the parts of a piece that are one message each.
template <class Take>
void divide(std::uint64_t size, std::uint64_t most, const Take& take) {
  for (std::uint64_t begin = 0; begin < size; begin += most)
    take(begin, std::min(most, size - begin));
}

}  // namespace

void set_fault_hook(FaultHook hook) {
  fault_hook() = std::move(hook);
}

void Ranks::set_message_bytes(std::uint64_t bytes) {
  if (bytes == 0 || bytes > most_message_bytes) {
    throw Error(ErrorKind::usage, fmt::format("ranks: found messages of {} bytes, expected 1 to {}",
                                              bytes, most_message_bytes));
  }
  message_bytes_ = bytes;
}

void Ranks::count_collective(std::uint64_t bytes) {
  ++traffic_.collectives;
  if (size() > 1) traffic_.collective_bytes += bytes;
}

void Ranks::broadcast(std::span<std::byte> bytes, int root) {
  count_collective(rank() == root ? bytes.size() : 0);
  divide(bytes.size(), message_bytes_, [&](std::uint64_t begin, std::uint64_t part) {
    do_broadcast(bytes.subspan(begin, part), root);
  });
}

void Ranks::gather_all(std::span<const std::byte> mine, std::span<std::byte> all) {
  count_collective(mine.size());
  do_gather_all(mine, all);
}

void Ranks::reduce_all(std::span<std::uint64_t> numbers, Reduction reduction) {
  count_collective(numbers.size_bytes());
  do_reduce_all(numbers, reduction);
}

void Ranks::sum_before(std::span<std::uint64_t> numbers) {
  count_collective(numbers.size_bytes());
  do_sum_before(numbers);
}

void Ranks::exchange(std::span<const SendPiece> sent, std::span<const ReceivePiece> received) {
  ++traffic_.collectives;
  std::vector<SendPiece> sends;
  std::vector<std::span<const std::byte>> kept;
  for (const SendPiece& piece : sent) {
    if (piece.rank == rank()) {
      kept.push_back(piece.bytes);
      continue;
    }
    divide(piece.bytes.size(), message_bytes_, [&](std::uint64_t begin, std::uint64_t part) {
      sends.push_back({piece.rank, piece.bytes.subspan(begin, part)});
    });
    traffic_.exchanged_bytes += piece.bytes.size();
  }
  traffic_.messages += sends.size();
  std::vector<ReceivePiece> receives;
  std::size_t copied = 0;
  for (const ReceivePiece& piece : received) {
    if (piece.rank == rank()) {
      const auto from = copied < kept.size() ? kept[copied++] : std::span<const std::byte>();
      if (from.size() != piece.bytes.size()) {
        throw Error(
            ErrorKind::usage,
            fmt::format("ranks: found {} bytes sent to a piece of {} bytes, expected as many",
                        from.size(), piece.bytes.size()));
      }
      if (!from.empty()) std::memmove(piece.bytes.data(), from.data(), from.size());
      continue;
    }
    divide(piece.bytes.size(), message_bytes_, [&](std::uint64_t begin, std::uint64_t part) {
      receives.push_back({piece.rank, piece.bytes.subspan(begin, part)});
    });
  }
  do_exchange(sends, receives);
}

void Ranks::together(std::string_view phase, const std::function<void()>& work) {
  agree(phase, Place::host, work);
}

void Ranks::on_devices(std::string_view phase, const std::function<void()>& work) {
  agree(phase, Place::device, work);
}

void Ranks::on_rank(int working, std::string_view phase, const std::function<void()>& work) {
  agree(phase, rank() == working ? Place::host : Place::nowhere, work);
}

void Ranks::agree(std::string_view phase, Place place, const std::function<void()>& work) {
  has_agreed_error_ = false;
  std::exception_ptr failed;
  const auto watched = [&] {
    if (fault_hook()) fault_hook()(rank(), phase);
    work();
  };
  try {
    if (place == Place::host) run_local(watched);
    if (place == Place::device) watched();
  } catch (...) {
    failed = std::current_exception();
  }
  const auto ranks = static_cast<std::uint64_t>(size());
  const std::uint64_t first = least(failed ? static_cast<std::uint64_t>(rank()) : ranks);
  if (first == ranks) return;

  Failure failure;
  if (static_cast<std::uint64_t>(rank()) == first) {
    try {
      std::rethrow_exception(failed);
    } catch (...) {
      failure = current_failure();
    }
  }
  std::uint64_t header[2] = {static_cast<std::uint64_t>(failure.kind), failure.message.size()};
  broadcast(std::as_writable_bytes(std::span(header)), static_cast<int>(first));
  failure.message.resize(header[1]);
  broadcast(std::as_writable_bytes(std::span(failure.message)), static_cast<int>(first));
  has_agreed_error_ = true;
  throw Error(static_cast<ErrorKind>(header[0]),
              fmt::format("rank {}: {}", first, failure.message));
}

std::vector<std::byte> Ranks::gather_bytes(std::span<const std::byte> mine, std::size_t item_bytes,
                                           std::vector<std::uint64_t>* counts) {
  const std::vector<std::uint64_t> sizes = gather(std::uint64_t{mine.size()});
  std::uint64_t total = 0;
  for (const std::uint64_t size : sizes) total += size;
  std::vector<std::byte> all(total);
  // Each rank sends its array to each other: what a gathering of unequal lengths does as well.
  std::vector<SendPiece> sent;
  std::vector<ReceivePiece> received;
  std::uint64_t begin = 0;
  for (int other = 0; other < size(); ++other) {
    const std::uint64_t bytes = sizes[static_cast<std::size_t>(other)];
    if (!mine.empty()) sent.push_back({other, mine});
    if (bytes > 0) received.push_back({other, std::span(all).subspan(begin, bytes)});
    begin += bytes;
  }
  exchange(sent, received);
  if (counts != nullptr) {
    *counts = sizes;
    for (std::uint64_t& count : *counts) count /= item_bytes;
  }
  return all;
}

std::vector<std::uint64_t> Ranks::exchange_counts(std::span<const std::uint64_t> to) {
  std::vector<std::uint64_t> from(static_cast<std::size_t>(size()));
  std::vector<SendPiece> sent;
  std::vector<ReceivePiece> received;
  for (int other = 0; other < size(); ++other) {
    const auto index = static_cast<std::size_t>(other);
    sent.push_back({other, std::as_bytes(to.subspan(index, 1))});
    received.push_back({other, std::as_writable_bytes(std::span(from).subspan(index, 1))});
  }
  exchange(sent, received);
  return from;
}

}  // namespace sortie::cluster
