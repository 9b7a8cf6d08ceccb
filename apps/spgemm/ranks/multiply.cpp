// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/fused/policy.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "apps/spgemm/ranks/device_rows.hpp"
#include "apps/spgemm/ranks/factors.hpp"
#include "apps/spgemm/ranks/matrix_type.hpp"
#include "apps/spgemm/ranks/product_steps.hpp"
#include "apps/spgemm/ranks/rounds.hpp"
#include "apps/spgemm/ranks/row_fetch.hpp"
#include "apps/spgemm/row_patterns.hpp"
#include "cluster/device_share.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/run_report.hpp"

namespace sortie::cluster {

#ifndef SORTIE_HAVE_CUDA
void connect_before_product(Ranks&, const Context&) {}
// Not called: no rank works on CUDA.
Context device_context_of_rank(const Ranks&, const Context& context, const DeviceShare&) {
  return context;
}
template <class Matrix>
std::unique_ptr<DeviceRows<Matrix>> rows_on_devices(Ranks&, const Context&,
                                                    const DividedMatrix<Matrix>&, std::uint64_t,
                                                    spgemm::Algorithm, std::string&) {
  return nullptr;
}
#endif

namespace {

/// Columns of the sampled entries of B (cuda/fused/policy.hpp). Collective, phase "sample columns".
template <class Matrix>
std::vector<std::uint32_t> sample_columns(Ranks& ranks, const DividedMatrix<Matrix>& b) {
  using namespace spgemm::cuda;
  const auto own = static_cast<std::uint64_t>(b.block.nnz());
  const auto entries = static_cast<std::int64_t>(ranks.sum(own));
  std::uint64_t before = own;
  ranks.sum_before({&before, 1});
  std::vector<std::uint64_t> columns;
  ranks.together("sample columns", [&] {
    columns.resize(static_cast<std::size_t>(std::min(entries, column_samples)));
    for (std::size_t sample = 0; sample < columns.size(); ++sample) {
      const auto entry =
          static_cast<std::uint64_t>(sampled_entry(entries, static_cast<std::int64_t>(sample)));
      if (entry >= before && entry < before + own)
        columns[sample] = static_cast<std::uint64_t>(b.block.col_idx[entry - before]);
    }
  });
  ranks.reduce_all(columns, Reduction::sum);
  std::vector<std::uint32_t> samples;
  for (const std::uint64_t column : columns) samples.push_back(static_cast<std::uint32_t>(column));
  return samples;
}

/// True if the patterns of a matrix repeat. Collective, phase "sample patterns".
template <class Matrix>
bool patterns_repeat(Ranks& ranks, const DividedMatrix<Matrix>& matrix) {
  const std::int64_t rows = matrix.rows();
  std::vector<std::uint64_t> hashes;
  ranks.together("sample patterns", [&] {
    hashes.resize(spgemm::pattern_samples);
    const std::int64_t first = matrix.first_rows[static_cast<std::size_t>(ranks.rank())];
    for (std::int64_t sample = 0; sample < spgemm::pattern_samples; ++sample) {
      const std::int64_t own = spgemm::sampled_row(rows, sample) - first;
      if (own < 0 || own >= matrix.block.rows) continue;
      const std::int64_t begin = matrix.block.row_ptr[static_cast<std::size_t>(own)];
      const std::int64_t end = matrix.block.row_ptr[static_cast<std::size_t>(own) + 1];
      hashes[static_cast<std::size_t>(sample)] =
          spgemm::hash_of_row(first + own, matrix.block.col_idx.data() + begin, end - begin);
    }
  });
  ranks.reduce_all(hashes, Reduction::sum);
  return spgemm::patterns_repeat(std::move(hashes));
}

/// True if the patterns of both operands repeat (row_patterns.hpp). Collective.
template <class Matrix>
bool patterns_repeat(Ranks& ranks, const DividedMatrix<Matrix>& a, const DividedMatrix<Matrix>& b) {
  const auto entries = [&](const DividedMatrix<Matrix>& matrix) {
    return static_cast<std::int64_t>(ranks.sum(static_cast<std::uint64_t>(matrix.block.nnz())));
  };
  const std::int64_t entries_a = entries(a);
  const std::int64_t entries_b = entries(b);
  return spgemm::may_repeat_patterns(a.rows(), entries_a, b.rows(), entries_b) &&
         patterns_repeat(ranks, a) && patterns_repeat(ranks, b);
}

/// Rows begin .. end of a block, with other column numbers.
template <class Matrix>
Matrix rows_of(const Matrix& block, std::int64_t begin, std::int64_t end, std::int64_t cols,
               std::vector<typename Matrix::index_type> columns) {
  Matrix rows;
  rows.rows = end - begin;
  rows.cols = cols;
  rows.row_ptr.assign(block.row_ptr.begin() + begin, block.row_ptr.begin() + end + 1);
  const std::int64_t before = rows.row_ptr.front();
  for (std::int64_t& offset : rows.row_ptr) offset -= before;
  rows.col_idx = std::move(columns);
  if constexpr (has_values<Matrix>)
    rows.values.assign(block.values.begin() + before, block.values.begin() + block.row_ptr[end]);
  return rows;
}

/// Appends rows.
template <class Matrix>
void append(Matrix& matrix, Matrix rows) {
  if (matrix.rows == 0) {
    matrix = std::move(rows);
    return;
  }
  const std::int64_t before = matrix.nnz();
  matrix.rows += rows.rows;
  for (std::size_t row = 1; row < rows.row_ptr.size(); ++row)
    matrix.row_ptr.push_back(before + rows.row_ptr[row]);
  matrix.col_idx.insert(matrix.col_idx.end(), rows.col_idx.begin(), rows.col_idx.end());
  if constexpr (has_values<Matrix>)
    matrix.values.insert(matrix.values.end(), rows.values.begin(), rows.values.end());
}

/// One product over ranks.
template <class Matrix>
class RankProduct {
 public:
  using Idx = typename Matrix::index_type;

  RankProduct(Ranks& ranks, const Context& context, TrafficPlan& plan,
              const DividedMatrix<Matrix>& a, const DividedMatrix<Matrix>& b,
              spgemm::Algorithm algorithm, const RowsVisit<Matrix>& visit, bool on_device)
      : ranks_(ranks),
        context_(context),
        plan_(plan),
        a_(a),
        b_(b),
        algorithm_(algorithm),
        visit_(visit),
        on_device_(on_device),
        of_device_(context),
        memory_(ranks, context),
        first_row_(a.first_rows[static_cast<std::size_t>(ranks.rank())]) {
    c_.first_rows = a.first_rows;
    c_.block.cols = b.block.cols;
  }

  DividedMatrix<Matrix> run() {
    if (on_device_) whole_.repeats_patterns = patterns_repeat(ranks_, a_, b_);
    if (ranks_.size() == 1) return run_alone();
    if (on_device_) {
      const DeviceShare device = share_device(ranks_, context_);
      of_device_ = device_context_of_rank(ranks_, context_, device);
      rows_ = rows_on_devices(ranks_, of_device_, b_, device.bytes, algorithm_, why_staged_);
      samples_ = sample_columns(ranks_, b_);
      whole_.samples = samples_;
    }
    PhaseTimer finding(context_, "find rows");
    NeededRows<Matrix> needed(ranks_, context_, plan_, memory_, a_, b_);
    std::vector<std::int64_t> cuts;
    std::vector<std::uint64_t> of_rows;
    together_on_own_threads(ranks_, context_, "plan rounds", [&] {
      cuts = divide_into_rounds(a_.block, needed, memory_.left() / 2, first_row_);
      of_rows = needed.products(a_.block);
    });
    const std::uint64_t products = count_products(of_rows);
    finding.stop();
    const std::uint64_t rounds = ranks_.greatest(cuts.size() - 1);
    if (rounds == 1) {
      round(0, a_.block.rows, needed.requests(), needed.lengths(), needed.take_columns(), true);
    } else {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        // A rank with fewer rounds only sends in the others.
        const std::int64_t begin = cuts[std::min<std::uint64_t>(i, cuts.size() - 1)];
        const std::int64_t end = cuts[std::min<std::uint64_t>(i + 1, cuts.size() - 1)];
        small_round(begin, end, needed, i + 1 == rounds);
      }
    }
    report(products, rounds);
    return std::move(c_);
  }

 private:
  /// All rows are here.
  DividedMatrix<Matrix> run_alone() {
    std::vector<std::uint64_t> of_rows;
    if (on_device_ || context_.report != nullptr) {
      ranks_.together("count products", [&] {
        for (std::int64_t row = 0; row < a_.block.rows; ++row)
          of_rows.push_back(
              static_cast<std::uint64_t>(spgemm::host::products_of_row(a_.block, b_.block, row)));
      });
    }
    const std::uint64_t products = count_products(of_rows);
    const PhaseTimer timer(context_, "multiply");
    multiply([&] {
      c_.block = spgemm::multiply_part(context_, a_.block, b_.block, &whole_, algorithm_);
    });
    ranks_.together("use rows", [&] {
      if (visit_) visit_(a_.block, b_.block, c_.block, 0);
    });
    report(products, 1);
    return std::move(c_);
  }

  /// The products of this rank. On devices, also finds whether C has few long rows. Collective.
  std::uint64_t count_products(const std::vector<std::uint64_t>& of_rows) {
    std::uint64_t all = 0;
    std::uint64_t large[] = {0, 0};
    for (const std::uint64_t products : of_rows) {
      all += products;
      if (products <= static_cast<std::uint64_t>(spgemm::cuda::max_sorted_products)) continue;
      ++large[0];
      large[1] += products;
    }
    if (!on_device_) return all;
    ranks_.reduce_all(large, Reduction::sum);
    whole_.has_few_long_rows = spgemm::cuda::has_few_long_rows(
        static_cast<std::int64_t>(large[0]), static_cast<std::int64_t>(large[1]),
        static_cast<std::int64_t>(ranks_.sum(all)));
    return all;
  }

  /// Phase "multiply": all devices at the same time.
  template <class Work>
  void multiply(const Work& work) {
    if (on_device_) return ranks_.on_devices("multiply", work);
    ranks_.together("multiply", work);
  }

  /// Requests the rows of one round: the first requests were for the rows of all rounds.
  void small_round(std::int64_t begin, std::int64_t end, const NeededRows<Matrix>& needed,
                   bool is_last) {
    std::vector<Idx> wanted;
    std::vector<Idx> lengths;
    std::vector<Idx> places;
    ranks_.together("choose rows", [&] {
      IndexSet rows(b_.rows());
      rows.insert(columns(begin, end));
      rows.close();
      wanted = rows.template list<Idx>();
      for (const Idx row : wanted) lengths.push_back(needed.length_of(row));
      places = rows.places_of(columns(begin, end));
    });
    const auto requests = request_rows(ranks_, plan_, memory_, std::move(wanted), b_.first_rows);
    round(begin, end, requests, lengths, std::move(places), is_last);
  }

  /// \param places  the columns of A's rows begin .. end as places in requests.wanted
  void round(std::int64_t begin, std::int64_t end, const RowRequests<Idx>& requests,
             const std::vector<Idx>& lengths, std::vector<Idx> places, bool is_last) {
    fetched_rows_ += requests.rows_from_others(ranks_.rank());
    const auto [own_begin, own_end] = requests.own(ranks_.rank());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (i < own_begin || i >= own_end) fetched_entries_ += static_cast<std::uint64_t>(lengths[i]);
    PhaseTimer fetching(context_, "fetch rows");
    const bool is_direct = rows_ != nullptr && rows_->fetch(plan_, requests, lengths, is_last);
    if (rows_ != nullptr && !is_direct)
      why_staged_ = "the rows of B do not fit in a rank's part of the GPU";
    Matrix fetched;
    if (!is_direct) fetched = fetch_rows(ranks_, plan_, memory_, b_, requests, std::span(lengths));
    fetching.stop();
    Matrix rows;
    Matrix product;
    PhaseTimer multiplying(context_, "multiply");
    multiply([&] {
      rows = rows_of(a_.block, begin, end, static_cast<std::int64_t>(lengths.size()),
                     std::move(places));
      if (is_direct) {
        product = rows_->multiply(of_device_, rows, whole_, algorithm_);
      } else {
        product = spgemm::multiply_part(
            on_device_ ? of_device_ : product_context(ranks_, context_, memory_, bytes_of(fetched)),
            rows, fetched, &whole_, algorithm_);
      }
    });
    multiplying.stop();
    ranks_.together("use rows", [&] {
      if (visit_) {
        if (is_direct) fetched = rows_->on_host();
        visit_(rows, fetched, product, first_row_ + begin);
      }
      if (product.rows > 0) append(c_.block, std::move(product));
    });
  }

  [[nodiscard]] std::span<const Idx> columns(std::int64_t begin, std::int64_t end) const {
    const std::vector<std::int64_t>& row_ptr = a_.block.row_ptr;
    return std::span(a_.block.col_idx)
        .subspan(static_cast<std::size_t>(row_ptr[static_cast<std::size_t>(begin)]),
                 static_cast<std::size_t>(row_ptr[static_cast<std::size_t>(end)] -
                                          row_ptr[static_cast<std::size_t>(begin)]));
  }

  [[nodiscard]] static std::uint64_t bytes_of(const Matrix& matrix) {
    return static_cast<std::uint64_t>(matrix.nnz()) * entry_bytes<Matrix>;
  }

  void report(std::uint64_t products, std::uint64_t rounds) {
    std::uint64_t sums[] = {products, static_cast<std::uint64_t>(c_.block.nnz()), fetched_rows_,
                            fetched_entries_};
    ranks_.reduce_all(sums, Reduction::sum);
    const double imbalance = imbalance_of(ranks_, products);
    if (context_.report == nullptr) return;
    context_.report->set("products", static_cast<std::int64_t>(sums[0]));
    context_.report->set("nnz_c", static_cast<std::int64_t>(sums[1]));
    context_.report->set("fetched_rows", sums[2]);
    context_.report->set("fetched_entries", sums[3]);
    context_.report->set("rounds", rounds);
    context_.report->set("imbalance", imbalance);
    if (!on_device_ || ranks_.size() == 1) return;
    context_.report->set("exchange_path", why_staged_.empty()
                                              ? rows_->path()
                                              : "through host memory: " + why_staged_);
  }

  Ranks& ranks_;
  const Context& context_;
  TrafficPlan& plan_;
  const DividedMatrix<Matrix>& a_;
  const DividedMatrix<Matrix>& b_;
  spgemm::Algorithm algorithm_;
  const RowsVisit<Matrix>& visit_;
  bool on_device_;
  Context of_device_;  ///< of a product on this rank's GPU, which it may share
  std::unique_ptr<DeviceRows<Matrix>> rows_;  ///< null: the host fetches rows
  std::string why_staged_;                    ///< why it does, on devices
  std::vector<std::uint32_t> samples_;        ///< of B on devices
  spgemm::WholeProduct whole_;                ///< on devices
  RankMemory memory_;
  std::int64_t first_row_;
  std::uint64_t fetched_rows_ = 0;
  std::uint64_t fetched_entries_ = 0;
  DividedMatrix<Matrix> c_;
};

template <class Matrix>
DividedMatrix<Matrix> multiply_planned(Ranks& ranks, const Context& context,
                                       const DividedMatrix<Matrix>& a,
                                       const DividedMatrix<Matrix>& b,
                                       spgemm::Algorithm algorithm) {
  TrafficPlan plan(ranks);
  auto c = multiply_rows<Matrix>(ranks, context, plan, a, b, algorithm, {});
  plan.finish(context);
  return c;
}

}  // namespace

template <class Matrix>
DividedMatrix<Matrix> multiply_rows(Ranks& ranks, const Context& context, TrafficPlan& plan,
                                    const DividedMatrix<Matrix>& a, const DividedMatrix<Matrix>& b,
                                    spgemm::Algorithm algorithm, const RowsVisit<Matrix>& visit) {
  ranks.together("check operands", [&] {
    check_operands(ranks, a, b);
    start_host_runtime(context.threads);
  });
  const bool on_device = on_cuda(ranks, context);
  return RankProduct<Matrix>(ranks, context, plan, a, b, algorithm, visit, on_device).run();
}

template <matrices::Scalar Value, matrices::Index Idx>
DividedMatrix<matrices::Csr<Value, Idx>> multiply(Ranks& ranks, const Context& context,
                                                  const DividedMatrix<matrices::Csr<Value, Idx>>& a,
                                                  const DividedMatrix<matrices::Csr<Value, Idx>>& b,
                                                  spgemm::Algorithm algorithm) {
  return multiply_planned(ranks, context, a, b, algorithm);
}

template <matrices::Index Idx>
DividedMatrix<matrices::Pattern<Idx>> multiply_structure(
    Ranks& ranks, const Context& context, const DividedMatrix<matrices::Pattern<Idx>>& a,
    const DividedMatrix<matrices::Pattern<Idx>>& b, spgemm::Algorithm algorithm) {
  return multiply_planned(ranks, context, a, b, algorithm);
}

#define INSTANTIATE_MATRIX(FUNCTION, ...)                                      \
  template DividedMatrix<__VA_ARGS__> FUNCTION(                                \
      Ranks&, const Context&, const DividedMatrix<__VA_ARGS__>&,               \
      const DividedMatrix<__VA_ARGS__>&, spgemm::Algorithm);                   \
  template DividedMatrix<__VA_ARGS__> multiply_rows(                           \
      Ranks&, const Context&, TrafficPlan&, const DividedMatrix<__VA_ARGS__>&, \
      const DividedMatrix<__VA_ARGS__>&, spgemm::Algorithm, const RowsVisit<__VA_ARGS__>&);
#define INSTANTIATE(Value, Idx) INSTANTIATE_MATRIX(multiply, matrices::Csr<Value, Idx>)
#define INSTANTIATE_PATTERN(Idx) INSTANTIATE_MATRIX(multiply_structure, matrices::Pattern<Idx>)
SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN)
#undef INSTANTIATE_PATTERN
#undef INSTANTIATE
#undef INSTANTIATE_MATRIX

}  // namespace sortie::cluster
