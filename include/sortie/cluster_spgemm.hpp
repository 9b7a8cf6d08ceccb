// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sortie/cluster.hpp"
#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/export.hpp"
#include "sortie/spgemm.hpp"

/// Sparse matrix products over ranks. All functions are collective: every rank calls them, in the
/// same order, with operands of the same types and sizes. Each rank has a context of its own.
///
///     auto a = read_matrix_market<double, std::int32_t>(ranks, context, "A.mtx");
///     a = balance(ranks, context, std::move(a));
///     const auto c = multiply(ranks, context, a, a);
///     write_matrix_market(ranks, context, "C.mtx", c);
///
/// **Reports.** Each function sets in the report of its context: "ranks"; "planned_exchange_bytes"
/// and "exchanged_bytes", what all ranks send to others in exchanges as planned before and as
/// counted; "most_exchange_bytes", of the rank that sends the most. A difference is an Error
/// (check).
///
/// **Memory.** Each function measures the free memory once, before it allocates. A rank's part of
/// it, or the memory budget of its context, is the limit of what the function takes besides its
/// operands; copies of rows that other ranks ask for count against the free memory only. What does
/// not fit is an Error (out_of_memory), before it is allocated.
namespace sortie::cluster {

/// A matrix whose rows are divided among ranks: each has a block of consecutive rows, possibly none.
/// \tparam Matrix  matrices::Csr or matrices::Pattern
template <class Matrix>
struct DividedMatrix {
  /// First row of each rank, ascending, and at last the number of rows. The same on all ranks.
  std::vector<std::int64_t> first_rows{0, 0};
  /// The rows of this rank, with the columns of the whole matrix.
  Matrix block;

  [[nodiscard]] std::int64_t rows() const { return first_rows.back(); }
};

/// A matrix of blocks that the ranks have already, in the order of the ranks.
/// \throws Error (input) the blocks have different numbers of columns
/// Complexity: O(ranks).
template <class Matrix>
[[nodiscard]] SORTIE_API DividedMatrix<Matrix> divided(Ranks& ranks, Matrix block);

/// Redistributes the rows of A, so that each rank computes about as many scalar products of A * B.
/// Blocks stay consecutive rows, in the order of the ranks; some may
/// be empty. Without products, the ranks get equal numbers of rows.
///
/// The largest share is the least possible one for consecutive rows plus at most 1/128 of the mean,
/// so it is within 1 % of the mean where no row has more than a small part of it.
/// \param context  threads; memory budget of the moved rows; report: also "imbalance", the products
///                 of the largest share over the mean
/// \throws Error (input) A's columns are not as many as B's rows; (out_of_memory)
/// Complexity: O(nnz(A) / ranks + rows / 64) for each rank. Bytes sent: 2 indices for each row of B
/// that is looked up at another rank, and the entries that move. Extra memory: a copy of the block,
/// a quarter of a byte for each row of B.
template <class Matrix>
[[nodiscard]] SORTIE_API DividedMatrix<Matrix> balance(Ranks& ranks, const HostContext& context,
                                                       DividedMatrix<Matrix> a,
                                                       const DividedMatrix<Matrix>& b);
/// The same for A * A.
template <class Matrix>
[[nodiscard]] SORTIE_API DividedMatrix<Matrix> balance(Ranks& ranks, const HostContext& context,
                                                       DividedMatrix<Matrix> a);

/// C = A * B. The rows of C are divided as those of A; B may be divided otherwise, or be A.
///
/// Each rank fetches the rows of B that its columns of A ask for, those of its own block without
/// messages, and multiplies its block by spgemm::multiply(). The sums have the order of one
/// machine, so C has the same bits for any number of ranks, on one backend and machine. Only the sign
/// of a NaN may differ where two NaNs are added: it depends on the method that is chosen for a row.
///
/// \param context  as for spgemm::multiply(). Of the memory budget, less a quarter of a byte for
///                 each row of B, half is for the fetched rows of B: if they take more, rows of A
///                 are multiplied in several rounds. Without a budget, the same of this rank's part
///                 of the free memory. Report: also "imbalance",
///                 "fetched_rows" and "fetched_entries" of all ranks, "rounds", and phases "find
///                 rows", "fetch rows", "multiply"; on several GPUs "exchange_path" (text): by what
///                 the entries of rows go from GPU to GPU, or why through host memory
/// \throws Error as spgemm::multiply(); (out_of_memory) also: the rows of B for a single row of A do
///         not fit
/// Complexity: that of spgemm::multiply() for the block. Bytes sent for each row that another rank
/// needs: 2 indices, and its entries. Extra memory: the fetched rows, what this rank sends at a time,
/// a copy of A's columns, a quarter of a byte for each row of B.
/// Source: the sparsity-aware algorithm by rows of Hong, Buluc: Sparsity-Aware Distributed-Memory
/// SpGEMM (arXiv 2408.14558).
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API DividedMatrix<matrices::Csr<Value, Idx>> multiply(
    Ranks& ranks, const Context& context, const DividedMatrix<matrices::Csr<Value, Idx>>& a,
    const DividedMatrix<matrices::Csr<Value, Idx>>& b,
    spgemm::Algorithm algorithm = spgemm::Algorithm::automatic);

/// The structure of C = A * B, as spgemm::multiply_structure(), in the way of multiply().
template <matrices::Index Idx>
[[nodiscard]] SORTIE_API DividedMatrix<matrices::Pattern<Idx>> multiply_structure(
    Ranks& ranks, const Context& context, const DividedMatrix<matrices::Pattern<Idx>>& a,
    const DividedMatrix<matrices::Pattern<Idx>>& b,
    spgemm::Algorithm algorithm = spgemm::Algorithm::automatic);

/// Products of matrices whose structures stay the same. The construction fetches and computes; later
/// products send values only, and write them to the C that exists.
template <matrices::Scalar Value, matrices::Index Idx>
class SORTIE_API ProductPlan {
 public:
  using Matrix = matrices::Csr<Value, Idx>;

  /// Collective. Computes C = A * B, and keeps what later products need: the columns of A's block,
  /// the rows of B that it asks for, and C. \param b  may be `a`
  /// \throws Error as multiply(); (out_of_memory) also: the rows of B do not fit the budget at once
  /// On the host.
  ProductPlan(Ranks& ranks, const HostContext& context, const DividedMatrix<Matrix>& a,
              const DividedMatrix<Matrix>& b);
  /// On the backend of the context. On CUDA, by spgemm::cuda::SpgemmPlan on the GPU of each rank,
  /// and values of B go from GPU to GPU. Entries have the bits of that plan on one GPU, but those
  /// of rows of more than 6144 entries, where sums may be rounded otherwise.
  /// \throws Error also (unavailable): this needs peer copies, NCCL or CUDA-aware MPI between the
  ///         GPUs
  ProductPlan(Ranks& ranks, const Context& context, const DividedMatrix<Matrix>& a,
              const DividedMatrix<Matrix>& b);
  ~ProductPlan();
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;

  /// Collective: computes C for new values. On the host, its bits are those of multiply().
  /// \param values_a, values_b  of this rank's blocks, in their order; may be the same array
  /// \throws Error (input) found another number of values than entries; (out_of_memory) one sum for
  ///         each column of C and thread
  /// Complexity: O(products / ranks). Bytes sent: a value for each entry of B that another rank
  /// needs.
  void update(std::span<const Value> values_a, std::span<const Value> values_b);

  /// The newest product. Its rows are divided as those of A.
  [[nodiscard]] const DividedMatrix<Matrix>& product() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a matrix as matrices::read_matrix_market() does, with the same bits for any number of
/// ranks: plain coordinate files by byte ranges, each rank one. What cannot be divided is read by
/// rank 0, which sends the others their rows: compressed files, arrays, .npz files, pipes and "-",
/// standard input. The blocks have about equal numbers of entries.
/// \param transposed  reads the transpose
/// \throws Error as matrices::read_matrix_market(), after "rank N: "; (input) a rank finds another
///         size of the file than rank 0; (out_of_memory) with the least number of ranks that
///         are enough
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] SORTIE_API DividedMatrix<matrices::Csr<Value, Idx>> read_matrix_market(
    Ranks& ranks, const HostContext& context, const std::string& path, bool transposed = false);

/// Writes the file that matrices::write_matrix_market() writes of the whole matrix, byte for byte.
/// Each rank writes its range of one file.
/// \param path  a regular file in a folder that all ranks share
/// \throws Error (output) as for SharedOutput: also a pipe, or a folder that is not shared
/// Memory: the text of the block, where it fits half of the memory; else it is formatted twice.
template <class Matrix>
SORTIE_API void write_matrix_market(Ranks& ranks, const HostContext& context,
                                    const std::string& path, const DividedMatrix<Matrix>& matrix);

}  // namespace sortie::cluster
