#include "sortie/apps/spgemm/cuda/fused/overlap.cuh"
#include "sortie/apps/spgemm/cuda/fused/row_walk.cuh"
#include "sortie/apps/spgemm/cuda/fused/sorted_rows.hpp"
#include "sortie/apps/spgemm/cuda/launch.cuh"
#include "sortie/segsort/cuda/word_network.cuh"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kWarps = 4;
constexpr std::uint32_t kNone = 0xffffffffu;

/// Where the rows of a bin go: their numbers of entries; or their columns and values, in C or,
/// where C is not there yet, in room for as many entries as a row may have.
template <class Value>
struct RowsOut {
  std::int64_t* counts;         ///< of rows of C, or null
  const std::int64_t* row_ptr;  ///< of C, or null
  std::uint32_t* col_idx;
  Value* values;

  [[nodiscard]] __device__ std::int64_t first_entry(std::uint32_t row, std::uint32_t number,
                                                    std::uint32_t room) const {
    return row_ptr != nullptr ? row_ptr[row] : std::int64_t{number} * room;
  }
};

// `Lanes` lanes make a row of up to as many products.
//
//   lane l: an entry of A and its stretch of B; then product l of the row, as a word of its column
//           and l; after the sort the word of rank l
//
// The lane at the head of a run of equal columns fetches the products of the others and adds them
// up, in order of A's entries.
template <int Lanes, bool WithValues, class Value>
__global__ void __launch_bounds__(32 * kWarps)
    tiny_rows_kernel(MatrixArrays<Value> a, MatrixArrays<Value> b, const std::uint32_t* rows,
                     std::uint32_t count, RowsOut<Value> out) {
  constexpr int index_bits = Lanes == 8 ? 3 : Lanes == 16 ? 4 : 5;
  let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x % Lanes);
  const std::uint32_t number = (blockIdx.x * (32 * kWarps) + threadIdx.x) / Lanes;
  const bool is_row = number < count;
  const std::uint32_t row = is_row ? rows[number] : 0;
  std::int64_t entry = is_row ? a.row_ptr[row] : 0;
  const std::int64_t row_end = is_row ? a.row_ptr[row + std::int64_t{1}] : 0;
  std::uint32_t word = kNone;
  Value own{};
  int done = 0;
  while (__any_sync(all_lanes, entry < row_end) != 0) {
    int length = 0;
    std::int64_t begin = 0;
    Value factor{};
    if (entry + lane < row_end) {
      const std::uint32_t k = a.col_idx[entry + lane];
      begin = b.row_ptr[k];
      length = static_cast<int>(b.row_ptr[k + std::int64_t{1}] - begin);
      if constexpr (WithValues) factor = a.values[entry + lane];
    }
    int up_to = length;
#pragma unroll
    for (int distance = 1; distance < Lanes; distance *= 2) {
      const int other = __shfl_up_sync(all_lanes, up_to, distance, Lanes);
      if (lane >= distance) up_to += other;
    }
    const int total = __shfl_sync(all_lanes, up_to, Lanes - 1, Lanes);
    // The entry of product lane - done of these: as many end at or before it.
    const int wanted = lane - done;
    int mine = 0;
#pragma unroll
    for (int step = Lanes / 2; step > 0; step /= 2)
      if (__shfl_sync(all_lanes, up_to, mine + step - 1, Lanes) <= wanted) mine += step;
    const std::int64_t first = __shfl_sync(all_lanes, begin - (up_to - length), mine, Lanes);
    if constexpr (WithValues) factor = from_lane(factor, mine, Lanes);
    if (wanted >= 0 && wanted < total) {
      word = b.col_idx[first + wanted] << index_bits | static_cast<std::uint32_t>(lane);
      if constexpr (WithValues) own = product(factor, b.values[first + wanted]);
    }
    done += total;
    entry += Lanes;
  }
#pragma unroll
  for (int lanes = 2; lanes <= Lanes; lanes *= 2) {
    word =
        segsort::keep(word, __shfl_xor_sync(all_lanes, word, lanes - 1), (lane & (lanes / 2)) != 0);
#pragma unroll
    for (int stride = lanes / 4; stride > 0; stride /= 2)
      word = segsort::keep(word, __shfl_xor_sync(all_lanes, word, stride), (lane & stride) != 0);
  }
  const std::uint32_t column = word >> index_bits;
  const std::uint32_t previous = __shfl_up_sync(all_lanes, column, 1, Lanes);
  const bool is_head = word != kNone && (lane == 0 || column != previous);
  const int group = static_cast<int>(threadIdx.x % 32) / Lanes * Lanes;
  constexpr unsigned group_lanes = all_lanes >> (32 - Lanes);
  const unsigned heads = __ballot_sync(all_lanes, is_head) >> group & group_lanes;
  if (is_row && lane == 0 && out.counts != nullptr) out.counts[row] = __popc(heads);
  if constexpr (WithValues) {
    const unsigned items = __ballot_sync(all_lanes, word != kNone) >> group & group_lanes;
    const unsigned behind = lane == 31 ? 0u : heads >> (lane + 1);
    const int run =
        is_head ? (behind != 0 ? __ffs(static_cast<int>(behind)) : __popc(items) - lane) : 0;
    const Value sorted = from_lane(own, static_cast<int>(word & (Lanes - 1)), Lanes);
    Value total = sorted;
    for (int i = 1; __any_sync(all_lanes, i < run) != 0; ++i) {
      const Value other = from_lane(sorted, (lane + i) & (Lanes - 1), Lanes);
      if (i < run) total = sum(total, other);
    }
    if (is_head) {
      const std::int64_t at =
          out.first_entry(row, number, Lanes) + __popc(heads & ((1u << lane) - 1));
      out.col_idx[at] = column;
      out.values[at] = total;
    }
  }
  end_after_kernels_before();
}

/// What a warp keeps of a row of up to 32 * Items products.
template <class Value, int Items, bool WithValues>
struct SortedRowShared {
  static constexpr int capacity = 32 * Items;
  EntriesShared<Value> entries;
  std::uint32_t words[capacity + Items];
  alignas(16) unsigned char product_bytes[WithValues ? capacity * sizeof(Value) : 16];

  __device__ Value* products() { return reinterpret_cast<Value*>(product_bytes); }
  /// One place in 33 stays empty, so that threads with Items words in a row meet different banks.
  __device__ std::uint32_t& word(int i) { return words[i + i / 32]; }
};

// A warp makes a row of up to 32 * Items products.
//
//   shared products[i]: product i of the row, in order of A's entries
//   words: column and i of each; lane l sorts words Items*l .. Items*l + Items-1 with the others
//
// Then lane l takes words l, l + 32, ...; at the head of a run of equal columns it adds up the run.
template <int Items, bool WithValues, class Value>
__global__ void __launch_bounds__(32 * kWarps)
    short_rows_kernel(MatrixArrays<Value> a, MatrixArrays<Value> b, const std::uint32_t* rows,
                      std::uint32_t count, RowsOut<Value> out) {
  using Shared = SortedRowShared<Value, Items, WithValues>;
  constexpr int index_bits = Items == 2 ? 6 : Items == 4 ? 7 : Items == 8 ? 8 : 9;
  extern __shared__ __align__(16) unsigned char bytes[];
  Shared& shared = reinterpret_cast<Shared*>(bytes)[threadIdx.x / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::uint32_t number = blockIdx.x * kWarps + threadIdx.x / 32;
  let_next_kernel_start();
  if (number >= count) return;
  const std::uint32_t row = rows[number];
  int products = 0;
  walk_row<WithValues, 2>(a, b, row, shared.entries, [&](const WalkStep<Value>& step) {
    const int i = products + lane;
    if (step.is_product) {
      shared.word(i) = step.column << index_bits | static_cast<std::uint32_t>(i);
      if constexpr (WithValues) shared.products()[i] = step.product;
    }
    products += __popc(__ballot_sync(all_lanes, step.is_product));
  });
  __syncwarp();
  std::uint32_t words[Items];
#pragma unroll
  for (int r = 0; r < Items; ++r)
    words[r] = r * 32 + lane < products ? shared.word(r * 32 + lane) : kNone;
  segsort::sort_in_warp(words, lane);
  if constexpr (!WithValues) {
    std::uint32_t before = __shfl_up_sync(all_lanes, words[Items - 1], 1);
    std::uint32_t heads = 0;
#pragma unroll
    for (int r = 0; r < Items; ++r) {
      const bool is_first = r == 0 && lane == 0;
      if (lane * Items + r < products &&
          (is_first || words[r] >> index_bits != before >> index_bits))
        ++heads;
      before = words[r];
    }
    heads = __shfl_sync(all_lanes, sum_up_to_lane(heads), 31);
    if (lane == 0) out.counts[row] = heads;
  } else {
    __syncwarp();
#pragma unroll
    for (int r = 0; r < Items; ++r) shared.word(lane * Items + r) = words[r];
    __syncwarp();
    const std::int64_t first = out.first_entry(row, number, 32 * Items);
    std::int64_t at = first;
    for (int i = lane; i - lane < products; i += 32) {
      bool is_head = false;
      std::uint32_t word = 0;
      if (i < products) {
        word = shared.word(i);
        is_head = i == 0 || shared.word(i - 1) >> index_bits != word >> index_bits;
      }
      const unsigned heads = __ballot_sync(all_lanes, is_head);
      if (is_head) {
        Value total = shared.products()[word & (Shared::capacity - 1)];
        for (int j = i + 1; j < products; ++j) {
          const std::uint32_t next = shared.word(j);
          if (next >> index_bits != word >> index_bits) break;
          total = sum(total, shared.products()[next & (Shared::capacity - 1)]);
        }
        const std::int64_t place = at + __popc(heads & lanes_below());
        out.col_idx[place] = word >> index_bits;
        out.values[place] = total;
      }
      at += __popc(heads);
    }
    if (lane == 0 && out.counts != nullptr) out.counts[row] = at - first;
  }
  end_after_kernels_before();
}

// `Lanes` lanes copy a row from where it was made to C.
template <int Lanes, class Value>
__global__ void __launch_bounds__(32 * kWarps)
    copy_rows_kernel(const std::uint32_t* rows, std::uint32_t count, std::uint32_t room,
                     const std::uint32_t* columns, const Value* values,
                     const std::int64_t* c_row_ptr, std::uint32_t* c_col_idx, Value* c_values) {
  let_next_kernel_start();
  const std::uint32_t number = (blockIdx.x * (32 * kWarps) + threadIdx.x) / Lanes;
  if (number < count) {
    const std::uint32_t row = rows[number];
    const std::int64_t begin = c_row_ptr[row];
    const auto length = static_cast<int>(c_row_ptr[row + std::int64_t{1}] - begin);
    const std::int64_t from = std::int64_t{number} * room;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x % Lanes); i < length; i += Lanes) {
      c_col_idx[begin + i] = columns[from + i];
      c_values[begin + i] = values[from + i];
    }
  }
  end_after_kernels_before();
}

/// The rows of a bin.
struct BinRows {
  const std::uint32_t* rows;
  std::uint32_t count;

  BinRows(const RowBins& bins, int bin)
      : rows(bins.rows.data() + bins.begin[bin]), count(bins.size(bin)) {}
};

template <int Lanes, bool WithValues, class Value>
void launch_tiny(const MatrixArrays<Value>& a, const MatrixArrays<Value>& b, const BinRows& bin,
                 const RowsOut<Value>& out, KernelGroup& group) {
  if (bin.count == 0) return;
  group.launch(tiny_rows_kernel<Lanes, WithValues, Value>,
               blocks_for(bin.count, 32 * kWarps / Lanes), 32 * kWarps, 0, a, b, bin.rows,
               bin.count, out);
}

template <int Items, bool WithValues, class Value>
void launch_short(const MatrixArrays<Value>& a, const MatrixArrays<Value>& b, const BinRows& bin,
                  const RowsOut<Value>& out, KernelGroup& group) {
  if (bin.count == 0) return;
  constexpr std::size_t bytes = kWarps * sizeof(SortedRowShared<Value, Items, WithValues>);
  group.launch(short_rows_kernel<Items, WithValues, Value>, blocks_for(bin.count, kWarps),
               32 * kWarps, bytes, a, b, bin.rows, bin.count, out);
}

/// Calls out_of(bin) for where the rows of each bin go.
template <bool WithValues, class Value, class OutOf>
void launch_all(const ProductOperands<Value>& operands, const RowBins& bins, const OutOf& out_of,
                KernelGroup& group) {
  launch_short<16, WithValues>(operands.a, operands.b, BinRows(bins, 7), out_of(7), group);
  launch_short<8, WithValues>(operands.a, operands.b, BinRows(bins, 6), out_of(6), group);
  launch_short<4, WithValues>(operands.a, operands.b, BinRows(bins, 5), out_of(5), group);
  launch_short<2, WithValues>(operands.a, operands.b, BinRows(bins, 4), out_of(4), group);
  launch_tiny<32, WithValues>(operands.a, operands.b, BinRows(bins, 3), out_of(3), group);
  launch_tiny<16, WithValues>(operands.a, operands.b, BinRows(bins, 2), out_of(2), group);
  launch_tiny<8, WithValues>(operands.a, operands.b, BinRows(bins, 1), out_of(1), group);
}

/// Room for all rows of the sorted bins before this one.
std::int64_t room_before(const RowBins& bins, int bin) {
  std::int64_t room = 0;
  for (int b = 1; b < bin; ++b) room += std::int64_t{bins.size(b)} * RowBins::limits[b];
  return room;
}

}  // namespace

template <class Value>
StagedRows<Value>::StagedRows(const RowBins& bins, cudaStream_t stream) {
  const auto room = static_cast<std::size_t>(room_before(bins, RowBins::sorted));
  columns = DeviceBuffer<std::uint32_t>(room, stream);
  values = DeviceBuffer<Value>(room, stream);
}

template <class Value>
std::int64_t StagedRows<Value>::bytes(const RowBins& bins) {
  return room_before(bins, RowBins::sorted) *
         static_cast<std::int64_t>(sizeof(std::uint32_t) + sizeof(Value));
}

template <class Value>
void count_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, KernelGroup& group) {
  launch_all<false>(
      operands, bins,
      [&](int) {
        return RowsOut<Value>{counts, nullptr, nullptr, nullptr};
      },
      group);
}

template <class Value>
void make_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const ProductRows<Value>& c, KernelGroup& group) {
  const RowsOut<Value> out{nullptr, c.row_ptr, c.col_idx, c.values};
  launch_all<true>(
      operands, bins, [&](int) { return out; }, group);
}

template <class Value>
void stage_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, StagedRows<Value>& staged, KernelGroup& group) {
  launch_all<true>(
      operands, bins,
      [&](int bin) {
        const std::int64_t before = room_before(bins, bin);
        return RowsOut<Value>{counts, nullptr, staged.columns.data() + before,
                              staged.values.data() + before};
      },
      group);
}

template <class Value>
void copy_sorted_rows(const RowBins& bins, const StagedRows<Value>& staged,
                      const ProductRows<Value>& c, KernelGroup& group) {
  for (int bin = RowBins::sorted - 1; bin > 0; --bin) {
    const BinRows rows(bins, bin);
    if (rows.count == 0) continue;
    const std::int64_t before = room_before(bins, bin);
    const int lanes = bin == 1 ? 8 : bin == 2 ? 16 : 32;
    const auto kernel = bin == 1   ? copy_rows_kernel<8, Value>
                        : bin == 2 ? copy_rows_kernel<16, Value>
                                   : copy_rows_kernel<32, Value>;
    group.launch(kernel, blocks_for(rows.count, 32 * kWarps / lanes), 32 * kWarps, 0, rows.rows,
                 rows.count, static_cast<std::uint32_t>(RowBins::limits[bin]),
                 staged.columns.data() + before, staged.values.data() + before, c.row_ptr,
                 c.col_idx, c.values);
  }
}

#define SORTIE_INSTANTIATE(Value)                                                               \
  template struct StagedRows<Value>;                                                            \
  template void count_sorted_rows(const ProductOperands<Value>&, const RowBins&, std::int64_t*, \
                                  KernelGroup&);                                                \
  template void make_sorted_rows(const ProductOperands<Value>&, const RowBins&,                 \
                                 const ProductRows<Value>&, KernelGroup&);                      \
  template void stage_sorted_rows(const ProductOperands<Value>&, const RowBins&, std::int64_t*, \
                                  StagedRows<Value>&, KernelGroup&);                            \
  template void copy_sorted_rows(const RowBins&, const StagedRows<Value>&,                      \
                                 const ProductRows<Value>&, KernelGroup&);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)

}  // namespace sortie::spgemm::cuda
