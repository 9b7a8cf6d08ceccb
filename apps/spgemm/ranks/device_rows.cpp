// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/ranks/device_rows.hpp"

#include <fmt/format.h>

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
#include "core/host_runtime.hpp"
#include "sortie/device_spgemm_plan.hpp"
#include "sortie/error.hpp"

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
      asked_ = {};
      own_ = {};
    });
  }

  [[nodiscard]] std::string path() const override { return "by " + exchange_->name(); }

  bool fetch(TrafficPlan& plan, const RowRequests<Idx>& requests, std::span<const Idx> lengths,
             bool is_last) override {
    std::vector<std::int64_t> row_ptr;
    std::uint64_t needed = 0;
    ranks_.on_devices("route rows", [&] {
      row_ptr.reserve(lengths.size() + 1);
      row_ptr.push_back(0);
      for (const Idx length : lengths) row_ptr.push_back(row_ptr.back() + length);
      routes_.emplace(requests, std::span(b_.block.row_ptr),
                      b_.first_rows[static_cast<std::size_t>(ranks_.rank())], ranks_.rank(),
                      std::span<const std::int64_t>(row_ptr));
      needed = bytes_of(b_.block.row_ptr.size(), b_.block.nnz()) +
               bytes_of(routes_->asked_offsets.size(), routes_->asked_offsets.back()) +
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
      asked_ =
          gathered(call, requests.asked, std::span<const std::int64_t>(routes_->asked_offsets));
      own_ =
          gathered(call, routes_->own_rows,
                   std::span<const std::int64_t>(row_ptr).subspan(
                       static_cast<std::size_t>(routes_->own_begin), routes_->own_rows.size() + 1));
      columns = DeviceBuffer<Column>(static_cast<std::size_t>(asked_.end), call.stream);
      if constexpr (has_values<Matrix>) values = DeviceBuffer<Value>(columns.size(), call.stream);
      gather(asked_, columns.data(), values.data());
      gather(own_, wanted_.col_idx.data(), has_values<Matrix> ? wanted_.values.data() : nullptr);
      if constexpr (!has_values<Matrix>)
        spgemm::cuda::fill_ones(wanted_.values.data(), row_ptr.back(), call.stream);
    });
    std::vector<DevicePiece> sent;
    std::vector<DevicePiece> received;
    add_pieces(routes_->sent, columns.data(), sent);
    add_pieces(routes_->received, wanted_.col_idx.data(), received);
    if constexpr (has_values<Matrix>) {
      add_pieces(routes_->sent, values.data(), sent);
      add_pieces(routes_->received, wanted_.values.data(), received);
    }
    plan.add(routes_->sent.back(), sizeof(Column) + (has_values<Matrix> ? sizeof(Value) : 0));
    exchange_->exchange(ranks_, sent, received, nullptr);
    release_on_device(context_.device, [&] {
      columns.reset();
      values.reset();
      if (!is_last) return;
      block_.col_idx.reset();
      block_.values.reset();
    });
    return true;
  }

  /// Collective: new values of the rows that fetch() has brought. Phase "pack values".
  /// \param values_b  of this rank's block of B
  void fetch_values(TrafficPlan& plan, std::span<const Value> values_b) {
    DeviceBuffer<Value> values;
    ranks_.on_devices("pack values", [&] {
      const DeviceCall call(context_);
      block_.values = copied_to_device(values_b, call.stream, threads_of(call));
      values = DeviceBuffer<Value>(static_cast<std::size_t>(asked_.end), call.stream);
      gather(asked_, nullptr, values.data());
      gather(own_, nullptr, wanted_.values.data());
    });
    std::vector<DevicePiece> sent;
    std::vector<DevicePiece> received;
    add_pieces(routes_->sent, values.data(), sent);
    add_pieces(routes_->received, wanted_.values.data(), received);
    plan.add(routes_->sent.back(), sizeof(Value));
    exchange_->exchange(ranks_, sent, received, nullptr);
    release_on_device(context_.device, [&] {
      values.reset();
      block_.values.reset();
    });
  }

  [[nodiscard]] spgemm::cuda::DeviceCsrView<Value> wanted() const {
    return spgemm::cuda::view(wanted_);
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

  /// Rows of the block on the device, and where their entries go.
  struct Gathered {
    DeviceBuffer<Column> rows;
    DeviceBuffer<std::int64_t> offsets;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] static Gathered gathered(const DeviceContext& call, const std::vector<Idx>& rows,
                                         std::span<const std::int64_t> offsets) {
    const int threads = threads_of(call);
    return {spgemm::cuda::columns_to_device<Column>(rows, call.stream, threads),
            copied_to_device(offsets, call.stream, threads), offsets.front(), offsets.back()};
  }

  /// Copies the columns, and the values, of rows; null: not these.
  void gather(const Gathered& from, Column* columns, Value* values) const {
    spgemm::cuda::gather_rows({static_cast<std::int64_t>(from.rows.size()), from.rows.data(),
                               from.offsets.data(), from.begin, from.end},
                              spgemm::cuda::view(block_), columns, values, nullptr);
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
  std::optional<EntryRoutes<Idx>> routes_;         ///< of the last fetch(), as the next two
  Gathered asked_;                                 ///< what is sent
  Gathered own_;                                   ///< what stays on this GPU
};

template <class Value, class Idx>
class PlanOnDevice final : public DevicePlan<Value, Idx> {
 public:
  using Matrix = matrices::Csr<Value, Idx>;

  /// Collective. \param a  see plan_on_devices()
  PlanOnDevice(Ranks& ranks, const Context& context, TrafficPlan& plan, const Matrix& a,
               const NeededRows<Matrix>& needed, const DividedMatrix<Matrix>& b,
               std::shared_ptr<DeviceExchange> exchange, std::uint64_t bytes, Matrix& c)
      : ranks_(ranks), context_(context), rows_(ranks, context_, std::move(exchange), b, bytes) {
    context_.report = nullptr;
    const bool fits = rows_.fetch(plan, needed.requests(), std::span(needed.lengths()), true);
    ranks_.on_devices("check memory", [&] {
      if (!fits)
        throw Error(
            ErrorKind::out_of_memory,
            fmt::format("a plan of products on GPUs: found rows of B that do not fit in a rank's "
                        "part of its GPU, of {} bytes here, expected that they do",
                        bytes));
    });
    ranks_.on_devices("multiply", [&] {
      const DeviceCall call(context_);
      const auto rows_b = rows_.wanted();
      c = {a.rows, rows_b.cols, std::vector<std::int64_t>(a.row_ptr.size(), 0), {}, {}};
      if (a.nnz() == 0 || rows_b.nnz == 0) return;
      a_ = spgemm::cuda::copied_to_device<std::uint32_t>(a, call.stream, threads_of(call));
      plan_.emplace(context_, spgemm::cuda::view(a_), rows_b, call.stream);
      plan_->row_ptr().copy_to(std::span(c.row_ptr));
      const auto values = plan_->multiply(a_.values.data(), rows_b.values).values;
      spgemm::cuda::append_entries(plan_->col_idx(), values, c, threads_of(call));
    });
  }
  ~PlanOnDevice() override {
    release_on_device(context_.device, [this] {
      plan_.reset();
      a_ = {};
    });
  }

  void update(TrafficPlan& plan, std::span<const Value> values_a, std::span<const Value> values_b,
              Matrix& c) override {
    rows_.fetch_values(plan, values_b);
    ranks_.on_devices("new values", [&] {
      if (!plan_) return;
      const DeviceCall call(context_);
      const int threads = threads_of(call);
      copy_to_device_in_blocks(a_.values.data(), std::as_bytes(values_a), call.stream, threads);
      DeviceBuffer<Value> values(c.values.size(), call.stream);
      plan_->multiply(a_.values.data(), rows_.wanted().values, values.data());
      copy_to_host_in_blocks(std::as_writable_bytes(std::span(c.values)), values.data(),
                             call.stream, threads);
    });
  }

 private:
  Ranks& ranks_;
  Context context_;
  RowsOnDevice<Matrix> rows_;
  spgemm::cuda::DeviceCsr<Value> a_;
  std::optional<spgemm::cuda::SpgemmPlan<Value>> plan_;  ///< none if C has no entries
};

/// Collective: the exchange of the GPUs, or why rows go through host memory.
template <class Matrix>
DeviceTransport transport_of_rows(Ranks& ranks, const Context& context,
                                  const DividedMatrix<Matrix>& b, spgemm::Algorithm algorithm) {
  if (spgemm::find_baseline(algorithm) != nullptr || !spgemm::runs_on(Backend::cuda, algorithm))
    return {nullptr, "as the algorithm needs"};
  if (spgemm::cuda::needs_wide_columns(std::max(b.rows(), b.block.cols)))
    return {nullptr, "column numbers have 64 bits"};
  return connect_devices(ranks, context);
}

}  // namespace

void connect_before_product(Ranks& ranks, const Context& context) {
  if (ranks.size() > 1 && on_cuda(ranks, context))
    static_cast<void>(connect_devices(ranks, context));
}

Context device_context_of_rank(const Ranks& ranks, const Context& context,
                               const DeviceShare& share) {
  Context own = context;
  if (share.ranks > 1) own.memory_budget = std::max<std::uint64_t>(1, share.bytes);
  own.threads = copy_threads(ranks, context);
  return own;
}

template <class Matrix>
std::unique_ptr<DeviceRows<Matrix>> rows_on_devices(Ranks& ranks, const Context& context,
                                                    const DividedMatrix<Matrix>& b,
                                                    std::uint64_t bytes,
                                                    spgemm::Algorithm algorithm,
                                                    std::string& why_not) {
  DeviceTransport transport = transport_of_rows(ranks, context, b, algorithm);
  why_not = transport.why_none;
  if (transport.exchange == nullptr) return nullptr;
  return std::make_unique<RowsOnDevice<Matrix>>(ranks, context, std::move(transport.exchange), b,
                                                bytes);
}

template <matrices::Scalar Value, matrices::Index Idx>
std::unique_ptr<DevicePlan<Value, Idx>> plan_on_devices(
    Ranks& ranks, const Context& context, TrafficPlan& plan,
    const DividedMatrix<matrices::Csr<Value, Idx>>& a,
    NeededRows<matrices::Csr<Value, Idx>>& needed,
    const DividedMatrix<matrices::Csr<Value, Idx>>& b, matrices::Csr<Value, Idx>& c) {
  const DeviceShare share = share_device(ranks, context);
  DeviceTransport transport = transport_of_rows(ranks, context, b, spgemm::Algorithm::automatic);
  matrices::Csr<Value, Idx> rows;
  ranks.on_devices("check transport", [&] {
    if (transport.exchange == nullptr)
      throw Error(ErrorKind::unavailable,
                  fmt::format("a plan of products on GPUs: found an exchange through host memory "
                              "({}), expected one between the GPUs",
                              transport.why_none));
    rows = {a.block.rows, static_cast<std::int64_t>(needed.lengths().size()), a.block.row_ptr,
            needed.take_columns(), a.block.values};
  });
  return std::make_unique<PlanOnDevice<Value, Idx>>(
      ranks, device_context_of_rank(ranks, context, share), plan, rows, needed, b,
      std::move(transport.exchange), share.bytes, c);
}

#define INSTANTIATE_MATRIX(...)                                                                    \
  template std::unique_ptr<DeviceRows<__VA_ARGS__>> rows_on_devices(                               \
      Ranks&, const Context&, const DividedMatrix<__VA_ARGS__>&, std::uint64_t, spgemm::Algorithm, \
      std::string&);
#define INSTANTIATE(Value, Idx)                                                                \
  INSTANTIATE_MATRIX(matrices::Csr<Value, Idx>)                                                \
  template std::unique_ptr<DevicePlan<Value, Idx>> plan_on_devices(                            \
      Ranks&, const Context&, TrafficPlan&, const DividedMatrix<matrices::Csr<Value, Idx>>&,   \
      NeededRows<matrices::Csr<Value, Idx>>&, const DividedMatrix<matrices::Csr<Value, Idx>>&, \
      matrices::Csr<Value, Idx>&);
#define INSTANTIATE_PATTERN(Idx) INSTANTIATE_MATRIX(matrices::Pattern<Idx>)
SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN)
#undef INSTANTIATE_PATTERN
#undef INSTANTIATE
#undef INSTANTIATE_MATRIX

}  // namespace sortie::cluster
