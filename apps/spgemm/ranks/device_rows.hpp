// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/ranks/factors.hpp"
#include "apps/spgemm/ranks/row_requests.hpp"
#include "cluster/device_share.hpp"
#include "cluster/traffic_plan.hpp"
#include "sortie/cluster_spgemm.hpp"

namespace sortie::cluster {

/// The rows of B that this rank asks for, on its GPU, where they arrive from the other GPUs
/// (cluster/device_exchange.hpp), and products with them.
///
///     block of B    on the host -> this GPU, once
///     pack          the rows that each other rank asks for, and the own ones to their places
///     exchange      columns, and values, from GPU to GPU
///     multiply      rows of A from the host, B from here; C to the host
///
/// GPU memory: the block of B, what is sent and the wanted rows; the first two until the exchange
/// of the last round.
template <class Matrix>
class DeviceRows {
 public:
  using Idx = typename Matrix::index_type;

  DeviceRows() = default;
  virtual ~DeviceRows() = default;
  DeviceRows(const DeviceRows&) = delete;
  DeviceRows& operator=(const DeviceRows&) = delete;

  /// By what rows go from GPU to GPU.
  [[nodiscard]] virtual std::string path() const = 0;
  /// Collective: fetches the wanted rows. Phases "route rows", "pack rows" and those of
  /// DeviceExchange::exchange().
  /// \param lengths  of the wanted rows
  /// \param is_last  no other round follows
  /// \return false on all ranks: on one of them they do not fit in its part of the GPU; then
  ///         nothing has been sent
  [[nodiscard]] virtual bool fetch(TrafficPlan& plan, const RowRequests<Idx>& requests,
                                   std::span<const Idx> lengths, bool is_last) = 0;
  /// spgemm::multiply_part() with the rows that fetch() has brought, for rows of A whose columns
  /// are their places among them.
  [[nodiscard]] virtual Matrix multiply(const Context& context, const Matrix& a,
                                        const spgemm::WholeProduct& whole,
                                        spgemm::Algorithm algorithm) = 0;
  /// A copy of these rows on the host.
  [[nodiscard]] virtual Matrix on_host() const = 0;
};

/// Collective: begins to connect the GPUs of the ranks, if they work on CUDA, so that this goes on
/// beside other work, such as the reading of the operands. Phases of on_cuda() and
/// connect_devices().
void connect_before_product(Ranks& ranks, const Context& context);

/// The context of work on this rank's GPU: its part of the memory if ranks share the GPU, and its
/// part of the threads if all ranks have those of one process.
[[nodiscard]] Context device_context_of_rank(const Ranks& ranks, const Context& context,
                                             const DeviceShare& share);

/// Collective: connects the GPUs of the ranks. Phases of connect_devices().
/// \param bytes    this rank's part of its GPU
/// \param why_not  receives why rows go through host memory
/// \return null: they do; the same on all ranks
/// \pre every rank works on CUDA; `b` outlives what is returned
template <class Matrix>
[[nodiscard]] std::unique_ptr<DeviceRows<Matrix>> rows_on_devices(
    Ranks& ranks, const Context& context, const DividedMatrix<Matrix>& b, std::uint64_t bytes,
    spgemm::Algorithm algorithm, std::string& why_not);

/// Products of new values on the GPUs: values go from GPU to GPU, and C's to the host.
template <class Value, class Idx>
class DevicePlan {
 public:
  DevicePlan() = default;
  virtual ~DevicePlan() = default;
  DevicePlan(const DevicePlan&) = delete;
  DevicePlan& operator=(const DevicePlan&) = delete;

  /// Collective: computes the values of C. Phases "pack values", "new values" and those of
  /// DeviceExchange::exchange().
  /// \param values_a, values_b  of this rank's blocks, as many as entries
  virtual void update(TrafficPlan& plan, std::span<const Value> values_a,
                      std::span<const Value> values_b, matrices::Csr<Value, Idx>& c) = 0;
};

/// Collective: fetches the rows of B, computes C, and keeps what later products need.
/// \param needed  its columns are taken
/// \param c       receives C
/// \throws Error (unavailable) rows would go through host memory; (out_of_memory) they do not fit
///         in a rank's part of its GPU; as spgemm::cuda::SpgemmPlan
/// \pre every rank works on CUDA
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] std::unique_ptr<DevicePlan<Value, Idx>> plan_on_devices(
    Ranks& ranks, const Context& context, TrafficPlan& plan,
    const DividedMatrix<matrices::Csr<Value, Idx>>& a,
    NeededRows<matrices::Csr<Value, Idx>>& needed,
    const DividedMatrix<matrices::Csr<Value, Idx>>& b, matrices::Csr<Value, Idx>& c);

}  // namespace sortie::cluster
