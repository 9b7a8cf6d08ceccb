// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/spgemm/host/new_values.hpp"
#include "apps/spgemm/ranks/device_rows.hpp"
#include "apps/spgemm/ranks/factors.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "apps/spgemm/ranks/rounds.hpp"
#include "apps/spgemm/ranks/row_fetch.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {

#ifndef SORTIE_HAVE_CUDA
// Not called: no rank works on CUDA.
template <matrices::Scalar Value, matrices::Index Idx>
std::unique_ptr<DevicePlan<Value, Idx>> plan_on_devices(
    Ranks&, const Context&, TrafficPlan&, const DividedMatrix<matrices::Csr<Value, Idx>>&,
    NeededRows<matrices::Csr<Value, Idx>>&, const DividedMatrix<matrices::Csr<Value, Idx>>&,
    matrices::Csr<Value, Idx>&) {
  return nullptr;
}
#endif

namespace {

Context host_only(const HostContext& context) {
  Context of_host;
  static_cast<HostContext&>(of_host) = context;
  of_host.backend = Backend::host;
  return of_host;
}

}  // namespace

template <matrices::Scalar Value, matrices::Index Idx>
struct ProductPlan<Value, Idx>::State {
  State(Ranks& ranks_of_plan, const Context& context_of_plan)
      : ranks(ranks_of_plan), context(context_of_plan) {}

  Ranks& ranks;
  Context context;
  std::size_t entries_a = 0;                          ///< of the block
  std::unique_ptr<DevicePlan<Value, Idx>> on_device;  ///< null: on the host, by the next three
  Matrix a;  ///< the block, with columns numbered as the rows of `b`
  Matrix b;  ///< the rows that the block asks for
  DividedMatrix<Matrix> c;
  std::vector<std::int64_t> row_ptr_b;  ///< of the block of B
  RowRequests<Idx> requests;
  std::optional<EntryRoutes<Idx>> routes;
  std::vector<Value> sent;
};

template <matrices::Scalar Value, matrices::Index Idx>
ProductPlan<Value, Idx>::ProductPlan(Ranks& ranks, const HostContext& context,
                                     const DividedMatrix<Matrix>& a, const DividedMatrix<Matrix>& b)
    : ProductPlan(ranks, host_only(context), a, b) {}

template <matrices::Scalar Value, matrices::Index Idx>
ProductPlan<Value, Idx>::ProductPlan(Ranks& ranks, const Context& context,
                                     const DividedMatrix<Matrix>& a, const DividedMatrix<Matrix>& b)
    : state_(new State(ranks, context)) {
  State& state = *state_;
  const bool on_device = on_cuda(ranks, context);
  state.context.backend = on_device ? Backend::cuda : Backend::host;
  TrafficPlan plan(ranks);
  const auto own = static_cast<std::size_t>(ranks.rank());
  std::uint64_t bytes = 0;
  RankMemory memory(ranks, context);
  auto needed = [&] {
    const PhaseTimer timer(context, "find rows");
    return NeededRows<Matrix>(ranks, context, plan, memory, a, b);
  }();
  ranks.together("plan product", [&] {
    state.entries_a = a.block.values.size();
    state.row_ptr_b = b.block.row_ptr;
    state.c.first_rows = a.first_rows;
    if (on_device) return;
    start_host_runtime(context.threads);
    for (const Idx length : needed.lengths())
      bytes += static_cast<std::uint64_t>(length) * entry_bytes<Matrix>;
    const std::uint64_t most = memory.left() / 2;
    if (bytes > most) throw out_of_memory_error("the rows of B for a plan", bytes, most);
    state.requests = needed.requests();
  });
  if (on_device) {
    const PhaseTimer timer(context, "multiply");
    state.on_device = plan_on_devices(ranks, state.context, plan, a, needed, b, state.c.block);
    plan.finish(context);
    return;
  }
  {
    const PhaseTimer timer(context, "fetch rows");
    state.b = fetch_rows(ranks, plan, memory, b, state.requests, std::span(needed.lengths()));
  }
  ranks.together("multiply", [&] {
    const PhaseTimer timer(context, "multiply");
    state.routes.emplace(state.requests, std::span<const std::int64_t>(state.row_ptr_b),
                         b.first_rows[own], ranks.rank(),
                         std::span<const std::int64_t>(state.b.row_ptr));
    state.sent.resize(state.routes->sent.back());
    state.a = {a.block.rows, state.b.rows, a.block.row_ptr, needed.take_columns(), a.block.values};
    Context quiet = product_context(ranks, state.context, memory, bytes);
    quiet.report = nullptr;
    state.c.block = spgemm::multiply(quiet, state.a, state.b);
  });
  plan.finish(context);
}

template <matrices::Scalar Value, matrices::Index Idx>
ProductPlan<Value, Idx>::~ProductPlan() = default;

template <matrices::Scalar Value, matrices::Index Idx>
void ProductPlan<Value, Idx>::update(std::span<const Value> values_a,
                                     std::span<const Value> values_b) {
  State& state = *state_;
  Ranks& ranks = state.ranks;
  TrafficPlan plan(ranks);
  ranks.together("check values", [&] {
    const auto entries_b = static_cast<std::size_t>(state.row_ptr_b.back());
    if (values_a.size() == state.entries_a && values_b.size() == entries_b) return;
    throw input_error("new values", 0,
                      fmt::format("{} of A and {} of B", values_a.size(), values_b.size()),
                      fmt::format("{} and {}, as many as entries", state.entries_a, entries_b));
  });
  if (state.on_device != nullptr) {
    const PhaseTimer timer(state.context, "multiply");
    state.on_device->update(plan, values_a, values_b, state.c.block);
    plan.finish(state.context);
    return;
  }
  PhaseTimer fetching(state.context, "fetch values");
  ranks.together("pack values", [&] {
    std::copy(values_a.begin(), values_a.end(), state.a.values.begin());
    state.routes->pack(state.requests, std::span<const std::int64_t>(state.row_ptr_b),
                       std::span<const std::int64_t>(state.b.row_ptr), values_b, state.sent.data(),
                       state.b.values.data());
  });
  plan.add(state.routes->sent.back(), sizeof(Value));
  ArrayExchange exchange(ranks, ArrayExchange::Own::left_out);
  exchange.send(std::span<const Value>(state.sent), state.routes->sent);
  exchange.receive(std::span(state.b.values), state.routes->received);
  exchange.run();
  fetching.stop();
  const PhaseTimer multiplying(state.context, "multiply");
  ranks.together("new values", [&] {
    start_host_runtime(state.context.threads);
    matrices::Csr<Value, Idx>& c = state.c.block;
    spgemm::host::compute_values(state.context, state.a, state.b, c.row_ptr.data(),
                                 c.col_idx.data(), c.values.data());
  });
  plan.finish(state.context);
}

template <matrices::Scalar Value, matrices::Index Idx>
const DividedMatrix<matrices::Csr<Value, Idx>>& ProductPlan<Value, Idx>::product() const {
  return state_->c;
}

#define INSTANTIATE(Value, Idx) template class ProductPlan<Value, Idx>;
#define INSTANTIATE_PATTERN(Idx)
SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN)
#undef INSTANTIATE_PATTERN
#undef INSTANTIATE

}  // namespace sortie::cluster
