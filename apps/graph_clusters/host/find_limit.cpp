// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "apps/graph_clusters/host/row_group.hpp"
#include "apps/graph_clusters/markov.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/uninitialised_vector.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/run_report.hpp"
#include "sortie/sort.hpp"

namespace sortie::graphs::host {
namespace {

/// Memory of all rows, within the budget of the context.
class RowMemory {
 public:
  /// \param work_space  bytes that count as well
  RowMemory(const HostContext& context, std::uint64_t work_space)
      : context_(context), held_(work_space) {}

  /// \throws Error (out_of_memory)
  [[nodiscard]] HostArray<Entry> allocate(std::int64_t entries) {
    const std::uint64_t bytes = entries * sizeof(Entry);
    const std::uint64_t before = held_.fetch_add(bytes);
    const std::uint64_t budget = context_.memory_budget;
    if (budget != 0 && before + bytes > budget)
      throw out_of_memory_error("rows of the matrix", before + bytes, budget);
    // Asking the system takes 80 us, as long as the computation of several rows.
    if (budget == 0 && before / step != (before + bytes) / step)
      require_memory(context_, "rows of the matrix", bytes);
    return allocate_array<Entry>(context_, "rows of the matrix", entries);
  }

 private:
  static constexpr std::uint64_t step = std::uint64_t{1} << 27;
  const HostContext& context_;
  std::atomic<std::uint64_t> held_;
};

/// Storage for rows in the order in which one thread computes them. Kept from iterand to iterand.
class RowStorage {
 public:
  explicit RowStorage(RowMemory& memory) : memory_(&memory) {}

  [[nodiscard]] const Entry* store(std::span<const Entry> row) {
    if (std::ssize(row) > left_) next_block(std::ssize(row));
    Entry* const at = next_;
    std::copy(row.begin(), row.end(), at);
    next_ += row.size();
    left_ -= std::ssize(row);
    return at;
  }
  void clear() {
    used_ = 0;
    left_ = 0;
  }

 private:
  struct Block {
    HostArray<Entry> entries;
    std::int64_t size;
  };
  static constexpr std::int64_t usual_size = std::int64_t{1} << 18;  // 2 MiB

  void next_block(std::int64_t entries) {
    if (used_ == blocks_.size() || blocks_[used_].size < entries) {
      const std::int64_t size = std::max(entries, usual_size);
      blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(used_),
                     Block{memory_->allocate(size), size});
    }
    next_ = blocks_[used_].entries.get();
    left_ = blocks_[used_++].size;
  }

  RowMemory* memory_;
  std::vector<Block> blocks_;
  std::size_t used_ = 0;  ///< blocks
  Entry* next_ = nullptr;
  std::int64_t left_ = 0;  ///< entries of the block
};

/// A matrix whose rows are stored by the threads that computed them.
struct Iterand {
  Iterand(RowMemory& memory, std::int64_t vertices) : rows(vertices) {
    for (int i = 0; i < host_threads(); ++i) storage.emplace_back(memory);
  }

  std::vector<Row> rows;
  std::vector<RowStorage> storage;
};

class Clustering {
 public:
  Clustering(const HostContext& context, const matrices::Csr<float>& matrix,
             const ClusterOptions& options)
      : context_(context),
        memory_(context, host_threads() * RowGroup::bytes(matrix.rows)),
        current_(memory_, matrix.rows),
        next_(memory_, matrix.rows),
        nnz_(matrix.nnz()),
        order_(matrix.rows) {
    std::vector<Entry> row;
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      row.clear();
      for (std::int64_t j = matrix.row_ptr[i]; j < matrix.row_ptr[i + 1]; ++j)
        row.push_back({matrix.col_idx[j], matrix.values[j]});
      current_.rows[i] = {current_.storage[0].store(row), std::ssize(row)};
    }
    std::iota(order_.begin(), order_.end(), 0);
    for (int i = 0; i < host_threads(); ++i)
      workers_.push_back(std::make_unique<Worker>(matrix.rows, options));
  }

  /// Computes the next iterand. \return its chaos
  double iterate() {
    group_rows();
    for (RowStorage& storage : next_.storage) storage.clear();
    const auto groups = (std::ssize(order_) + lanes - 1) / lanes;
    // A parallel loop ends with a barrier, which takes longer than the rows of late iterands.
    constexpr std::int64_t entries_per_worker = std::int64_t{1} << 15;
    const std::int64_t workers =
        std::clamp<std::int64_t>(nnz_ / entries_per_worker, 1, std::ssize(workers_));
    spgemm::host::for_each_block(
        static_cast<int>(workers), 0, groups, [&](int number, std::int64_t group) {
          Worker& worker = *workers_[number];
          const std::int64_t first = group * lanes;
          const auto rows = std::span<const std::int32_t>(order_).subspan(
              first, std::min<std::int64_t>(lanes, std::ssize(order_) - first));
          RowStorage& storage = next_.storage[number];
          const double chaos = worker.group.compute(
              current_.rows, rows, [&](std::int32_t row, std::span<const Entry> entries) {
                next_.rows[row] = {storage.store(entries), std::ssize(entries)};
              });
          worker.chaos = std::max(worker.chaos, chaos);
        });
    std::swap(current_, next_);
    nnz_ = 0;
    for (const Row& row : current_.rows) nnz_ += row.size;
    double chaos = 0;
    for (const auto& worker : workers_) chaos = std::max(chaos, std::exchange(worker->chaos, 0));
    return chaos;
  }

  [[nodiscard]] std::int64_t products() const {
    std::int64_t all = 0;
    for (const auto& worker : workers_) all += worker->group.products();
    return all;
  }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }

  [[nodiscard]] matrices::Csr<float> matrix() const {
    matrices::Csr<float> result{std::ssize(current_.rows), std::ssize(current_.rows), {0}, {}, {}};
    for (const Row& row : current_.rows) {
      for (const Entry& entry : std::span(row.entries, row.size)) {
        result.col_idx.push_back(entry.column);
        result.values.push_back(entry.value);
      }
      result.row_ptr.push_back(result.nnz());
    }
    return result;
  }

 private:
  struct alignas(64) Worker {
    Worker(std::int64_t columns, const ClusterOptions& options) : group(columns, options) {}
    RowGroup group;
    double chaos = 0;
  };

  /// Orders the rows so that rows with common columns are in one group: by the least of two hashes
  /// of their columns. The probability that these agree is the share of common columns. Speed
  /// alone depends on it. Vectors of 8 rows then have 2 to 7 rows in use, instead of 1.5 to 3.5.
  /// Source: Broder: On the resemblance and containment of documents (SEQUENCES 1997).
  void group_rows() {
    const auto vertices = std::ssize(order_);
    // Few entries are left in rows that hardly change: the order remains good.
    if (nnz_ < 4 * vertices) return;
    resize_for_overwrite(keys_ = {}, vertices);
    const VectorUnit unit = vector_unit();
    for_each_index(0, vertices, [this, unit](std::uint64_t i) {
      const auto row = static_cast<std::int64_t>(i);
      run_on_unit(
          unit,
          [ to = keys_.data() + row, of = current_.rows[row] ]() __attribute__((always_inline)) {
            std::uint32_t first = ~0U;
            std::uint32_t second = ~0U;
            for (std::int64_t j = 0; j < of.size; ++j) {
              const auto column = static_cast<std::uint32_t>(of.entries[j].column) + 1;
              first = std::min(first, column * 0x9E3779B1U);
              second = std::min(second, column * 0x85EBCA6BU);
            }
            *to = std::uint64_t{first} << 32 | second;
          });
    });
    std::iota(order_.begin(), order_.end(), 0);
    Context host;
    host.backend = Backend::host;
    host.threads = context_.threads;
    sort(host, std::span(keys_), std::span(order_));
  }

  const HostContext& context_;
  RowMemory memory_;
  Iterand current_;
  Iterand next_;
  std::int64_t nnz_;
  std::vector<std::int32_t> order_;
  std::vector<std::uint64_t> keys_;  ///< of group_rows()
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

Limit find_limit(const HostContext& context, matrices::Csr<float> matrix,
                 const ClusterOptions& options) {
  start_host_runtime(context.threads);
  Clustering clustering(context, matrix, options);
  matrix = {};
  return iterate_to_limit(context, options, clustering);
}

}  // namespace sortie::graphs::host
