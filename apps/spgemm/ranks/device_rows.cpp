// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/ranks/device_rows.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "apps/spgemm/ranks/row_fetch.hpp"
#include "cluster/device_exchange.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/device_context.hpp"

namespace sortie::cluster {
namespace {

template <class Matrix>
struct DeviceValueOf {
  using Type = float;  ///< the smallest; values of a pattern are ones
};
template <class Value, class Idx>
struct DeviceValueOf<matrices::Csr<Value, Idx>> {
  using Type = Value;
};

template <class Matrix>
class RowsOnDevice final : public DeviceRows<Matrix> {
 public:
  using Idx = typename Matrix::index_type;
  using Value = typename DeviceValueOf<Matrix>::Type;
  using Column = std::uint32_t;

  RowsOnDevice(Ranks& ranks, const Context& context, std::shared_ptr<DeviceExchange> exchange,
               const DividedMatrix<Matrix>& b, std::uint64_t bytes)
      : ranks_(ranks), context_(context), exchange_(std::move(exchange)), b_(b), bytes_(bytes) {
    bytes_ -= std::min(bytes_, exchange_->device_bytes());
  }
  ~RowsOnDevice() override {
    release_on_device(context_.device, [this] {
      block_ = {};
      wanted_ = {};
    });
  }

  [[nodiscard]] std::string path() const override { return "by " + exchange_->name(); }

  bool fetch(TrafficPlan& plan, const RowRequests<Idx>& requests, std::span<const Idx> lengths,
             bool is_last) override {
    std::vector<std::int64_t> row_ptr;
    std::optional<EntryRoutes<Idx>> routes;
    std::uint64_t needed = 0;
    ranks_.on_devices("route rows", [&] {
      row_ptr.reserve(lengths.size() + 1);
      row_ptr.push_back(0);
      for (const Idx length : lengths) row_ptr.push_back(row_ptr.back() + length);
      routes.emplace(requests, std::span(b_.block.row_ptr),
                     b_.first_rows[static_cast<std::size_t>(ranks_.rank())], ranks_.rank(),
                     std::span<const std::int64_t>(row_ptr));
      needed = bytes_of(b_.block.row_ptr.size(), b_.block.nnz()) +
               bytes_of(routes->asked_offsets.size(), routes->asked_offsets.back()) +
               bytes_of(row_ptr.size(), row_ptr.back());
    });
    if (ranks_.least(needed <= bytes_ ? 1 : 0) == 0) return false;
    // What is sent: columns and values one row behind the other.
    DeviceBuffer<Column> columns;
    DeviceBuffer<Value> values;
    ranks_.on_devices("pack rows", [&] {
      const DeviceCall call(context_);
      wanted_ = {};
      if (block_.row_ptr.size() == 0) copy_block(call);
      const auto entries = static_cast<std::size_t>(row_ptr.back());
      const int threads = threads_of(call);
      wanted_ = {static_cast<std::int64_t>(lengths.size()), b_.block.cols,
                 copied_to_device(std::span<const std::int64_t>(row_ptr), call.stream, threads),
                 DeviceBuffer<Column>(entries, call.stream),
                 DeviceBuffer<Value>(entries, call.stream)};
      columns =
          DeviceBuffer<Column>(static_cast<std::size_t>(routes->asked_offsets.back()), call.stream);
      if constexpr (has_values<Matrix>) values = DeviceBuffer<Value>(columns.size(), call.stream);
      gather(call, requests.asked, std::span<const std::int64_t>(routes->asked_offsets),
             columns.data(), values.data());
      gather(call, routes->own_rows,
             std::span<const std::int64_t>(row_ptr).subspan(
                 static_cast<std::size_t>(routes->own_begin), routes->own_rows.size() + 1),
             wanted_.col_idx.data(), wanted_.values.data());
      if constexpr (!has_values<Matrix>)
        spgemm::cuda::fill_ones(wanted_.values.data(), row_ptr.back(), call.stream);
    });
    std::vector<DevicePiece> sent;
    std::vector<DevicePiece> received;
    add_pieces(routes->sent, columns.data(), sent);
    add_pieces(routes->received, wanted_.col_idx.data(), received);
    if constexpr (has_values<Matrix>) {
      add_pieces(routes->sent, values.data(), sent);
      add_pieces(routes->received, wanted_.values.data(), received);
    }
    plan.add(routes->sent.back(), sizeof(Column) + (has_values<Matrix> ? sizeof(Value) : 0));
    exchange_->exchange(ranks_, sent, received, nullptr);
    release_on_device(context_.device, [&] {
      columns.reset();
      values.reset();
      if (is_last) block_ = {};
    });
    return true;
  }

  Matrix multiply(const Context& context, const Matrix& a, const spgemm::WholeProduct& whole,
                  spgemm::Algorithm algorithm) override {
    const DeviceCall call(context);
    if constexpr (has_values<Matrix>)
      return spgemm::cuda::multiply_rows(call, a, spgemm::cuda::view(wanted_), &whole, algorithm);
    if constexpr (!has_values<Matrix>)
      return matrices::pattern_of(spgemm::cuda::multiply_rows(
          call, matrices::with_ones<float>(a), spgemm::cuda::view(wanted_), nullptr, algorithm));
  }

  Matrix on_host() const override {
    const CurrentDevice current(context_.device);
    if constexpr (has_values<Matrix>) return spgemm::cuda::to_host<Idx>(wanted_);
    if constexpr (!has_values<Matrix>)
      return matrices::pattern_of(spgemm::cuda::to_host<Idx>(wanted_));
  }

 private:
  [[nodiscard]] static std::uint64_t bytes_of(std::size_t rows, std::int64_t entries) {
    return rows * (sizeof(std::int64_t) + sizeof(Column)) +
           static_cast<std::uint64_t>(entries) * (sizeof(Column) + sizeof(Value));
  }

  void copy_block(const DeviceContext& call) {
    const int threads = threads_of(call);
    block_.row_ptr = copied_to_device(std::span(b_.block.row_ptr), call.stream, threads);
    block_.col_idx =
        spgemm::cuda::columns_to_device<Column>(b_.block.col_idx, call.stream, threads);
    if constexpr (has_values<Matrix>)
      block_.values = copied_to_device(std::span(b_.block.values), call.stream, threads);
  }

  /// Copies entries of the block's rows `rows` to `columns` and `values` at `offsets`.
  void gather(const DeviceContext& call, const std::vector<Idx>& rows,
              std::span<const std::int64_t> offsets, Column* columns, Value* values) {
    const auto device_rows =
        spgemm::cuda::columns_to_device<Column>(rows, call.stream, threads_of(call));
    const auto device_offsets = copied_to_device(offsets, call.stream, threads_of(call));
    spgemm::cuda::gather_rows({static_cast<std::int64_t>(rows.size()), device_rows.data(),
                               device_offsets.data(), offsets.front(), offsets.back()},
                              spgemm::cuda::view(block_), columns, values, call.stream);
  }

  template <class T>
  void add_pieces(const PartOffsets& offsets, T* data, std::vector<DevicePiece>& pieces) const {
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const std::uint64_t count = offsets[at + 1] - offsets[at];
      if (rank != ranks_.rank() && count != 0)
        pieces.push_back(
            {rank, reinterpret_cast<std::byte*>(data + offsets[at]), count * sizeof(T)});
    }
  }

  Ranks& ranks_;
  const Context& context_;
  std::shared_ptr<DeviceExchange> exchange_;
  const DividedMatrix<Matrix>& b_;
  std::uint64_t bytes_;
  spgemm::cuda::DeviceCsr<Value, Column> block_;   ///< without shape; of a pattern without values
  spgemm::cuda::DeviceCsr<Value, Column> wanted_;  ///< the rows that fetch() has brought
};

}  // namespace

template <class Matrix>
std::unique_ptr<DeviceRows<Matrix>> rows_on_devices(Ranks& ranks, const Context& context,
                                                    const DividedMatrix<Matrix>& b,
                                                    std::uint64_t bytes,
                                                    spgemm::Algorithm algorithm,
                                                    std::string& why_not) {
  if (spgemm::find_baseline(algorithm) != nullptr || !spgemm::runs_on(Backend::cuda, algorithm)) {
    why_not = "as the algorithm needs";
    return nullptr;
  }
  if (spgemm::cuda::needs_wide_columns(std::max(b.rows(), b.block.cols))) {
    why_not = "column numbers have 64 bits";
    return nullptr;
  }
  DeviceTransport transport = connect_devices(ranks, context);
  why_not = transport.why_none;
  if (transport.exchange == nullptr) return nullptr;
  return std::make_unique<RowsOnDevice<Matrix>>(ranks, context, std::move(transport.exchange), b,
                                                bytes);
}

#define INSTANTIATE_MATRIX(...)                                                                    \
  template std::unique_ptr<DeviceRows<__VA_ARGS__>> rows_on_devices(                               \
      Ranks&, const Context&, const DividedMatrix<__VA_ARGS__>&, std::uint64_t, spgemm::Algorithm, \
      std::string&);
#define INSTANTIATE(Value, Idx) INSTANTIATE_MATRIX(matrices::Csr<Value, Idx>)
#define INSTANTIATE_PATTERN(Idx) INSTANTIATE_MATRIX(matrices::Pattern<Idx>)
SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN)
#undef INSTANTIATE_PATTERN
#undef INSTANTIATE
#undef INSTANTIATE_MATRIX

}  // namespace sortie::cluster
