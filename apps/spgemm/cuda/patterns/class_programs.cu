// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/patterns/class_programs.hpp"

#include <complex>
#include <utility>

#include "apps/spgemm/cuda/device_product.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kProgramThreads = 128;

/// The last element of an array of offsets on the device. The host waits for it.
std::int64_t last_offset(const DeviceBuffer<std::int64_t>& offsets, cudaStream_t stream) {
  std::int64_t last = 0;
  check_cuda(cudaMemcpyAsync(&last, offsets.data() + offsets.size() - 1, sizeof(last),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return last;
}

// Copies rows, one block per row.
template <class Value>
__global__ void __launch_bounds__(kProgramThreads)
    gather_rows_kernel(const DeviceCsrView<Value> a, const std::uint32_t* rows,
                       const std::int64_t* row_ptr, std::uint32_t* col_idx, Value* values) {
  const std::uint32_t row = rows[blockIdx.x];
  const std::int64_t from = a.row_ptr[row];
  const std::int64_t to = row_ptr[blockIdx.x];
  const std::int64_t length = row_ptr[blockIdx.x + 1] - to;
  for (std::int64_t i = threadIdx.x; i < length; i += kProgramThreads) {
    col_idx[to + i] = a.col_idx[from + i];
    if (a.values != nullptr) values[to + i] = a.values[from + i];
  }
}

// Writes the program of a class, one block per class.
template <class Value>
__global__ void __launch_bounds__(kProgramThreads)
    make_programs_kernel(const std::uint32_t* classes, const std::uint32_t* rows,
                         const DeviceCsrView<Value> a, const DeviceCsrView<Value> b,
                         const DeviceCsrView<Value> c, const std::uint32_t* b_classes,
                         const std::int64_t* products, std::uint32_t bytes_of_value,
                         std::uint32_t max_bytes, ClassProgram* programs, ProgramStep* steps,
                         std::uint16_t* places, ProgramSizes* sizes) {
  const std::uint32_t number = blockIdx.x;
  const std::int64_t a_begin = a.row_ptr[number];
  const std::int64_t a_length = a.row_ptr[number + 1] - a_begin;
  const std::int64_t c_begin = c.row_ptr[number];
  const std::int64_t c_length = c.row_ptr[number + 1] - c_begin;
  const std::uint32_t row = rows[number];
  const bool is_long = c_length > max_program_entries || a_length > max_program_entries;
  std::int64_t at = products[number];
  std::uint32_t longest = 0;
  for (std::int64_t entry = a_begin; !is_long && entry < a_begin + a_length; ++entry) {
    const std::uint32_t k = a.col_idx[entry];
    const std::int64_t b_begin = b.row_ptr[k];
    const auto length = static_cast<std::uint32_t>(b.row_ptr[k + std::int64_t{1}] - b_begin);
    longest = max(longest, length);
    if (threadIdx.x == 0) {
      std::uint32_t group = 1;
      while (group < max_step_group && entry + group < a_begin + a_length &&
             a.col_idx[entry + group] == k + group && b_classes[k + group] == b_classes[k])
        ++group;
      steps[entry] = {k - row, length, static_cast<std::uint64_t>(at), group};
    }
    for (std::uint32_t i = threadIdx.x; i < length; i += kProgramThreads) {
      const std::uint32_t column = b.col_idx[b_begin + i];
      std::int64_t low = 0;
      std::int64_t high = c_length;
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (c.col_idx[c_begin + middle] < column) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      places[at + i] = static_cast<std::uint16_t>(low);
    }
    at += length;
  }
  if (threadIdx.x != 0) return;
  ClassProgram program{row,
                       static_cast<std::uint32_t>(c_length),
                       static_cast<std::uint32_t>(a_length),
                       longest,
                       static_cast<std::uint64_t>(a_begin),
                       static_cast<std::uint64_t>(c_begin),
                       is_long ? 1u : 0u,
                       number};
  const std::uint32_t of_8 = tile_elements(8, program.entries, longest, program.steps);
  if (is_long || of_8 * bytes_of_value > max_bytes) {
    program.is_long = 1;
    atomicAdd(&sizes->long_classes, 1u);
  } else {
    atomicMax(&sizes->longest, longest);
    atomicMax(&sizes->elements_of_8, of_8);
    atomicMax(&sizes->elements_of_16, tile_elements(16, program.entries, longest, program.steps));
  }
  programs[classes[number]] = program;
}

}  // namespace

template <class Value>
DeviceCsr<Value> gather_rows(const DeviceCsrView<Value>& a, const std::uint32_t* rows,
                             std::int64_t count, cudaStream_t stream) {
  DeviceCsr<Value> gathered{count, a.cols, DeviceBuffer<std::int64_t>(count + 1, stream), {}, {}};
  std::int64_t* const row_ptr = gathered.row_ptr.data();
  const std::int64_t* const from = a.row_ptr;
  for_each_item<std::int64_t>(
      count + 1,
      [=] __device__(std::int64_t i) {
        row_ptr[i] = i < count ? from[rows[i] + std::int64_t{1}] - from[rows[i]] : 0;
      },
      stream);
  exclusive_sum(row_ptr, count + 1, stream);
  const std::int64_t nnz = last_offset(gathered.row_ptr, stream);
  gathered.col_idx = DeviceBuffer<std::uint32_t>(nnz, stream);
  gathered.values = DeviceBuffer<Value>(nnz, stream);
  if (nnz == 0) return gathered;
  gather_rows_kernel<Value><<<static_cast<unsigned>(count), kProgramThreads, 0, stream>>>(
      a, rows, row_ptr, gathered.col_idx.data(), gathered.values.data());
  check_cuda(cudaGetLastError());
  return gathered;
}

ClassList list_classes(const RowClasses& classes, cudaStream_t stream) {
  std::uint32_t own = 0;
  classes.own_classes.copy_to({&own, 1});
  check_cuda(cudaStreamSynchronize(stream));
  ClassList list;
  list.end = max_shared_classes + own;
  // The last element counts the classes.
  list.classes = DeviceBuffer<std::uint32_t>(list.end + std::size_t{1}, stream);
  list.rows = DeviceBuffer<std::uint32_t>(list.end, stream);
  std::uint32_t* const numbers = list.classes.data();
  std::uint32_t* const rows = list.rows.data();
  std::uint32_t* const count = numbers + list.end;
  const std::uint32_t* const first_row = classes.first_row.data();
  check_cuda(cudaMemsetAsync(count, 0, sizeof(*count), stream));
  for_each_item<std::uint32_t>(
      list.end,
      [=] __device__(std::uint32_t number) {
        if (first_row[number] == ~0u) return;
        const std::uint32_t place = atomicAdd(count, 1u);
        numbers[place] = number;
        rows[place] = first_row[number];
      },
      stream);
  check_cuda(cudaMemcpyAsync(&list.count, count, sizeof(*count), cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return list;
}

template <class Value>
ClassPrograms<Value> make_programs(const ClassList& list, const DeviceCsr<Value>& a_rows,
                                   const DeviceCsrView<Value>& b, const std::uint32_t* b_classes,
                                   DeviceCsr<Value> c_rows, cudaStream_t stream) {
  const std::uint32_t count = list.count;
  DeviceBuffer<std::int64_t> products(count + std::size_t{1}, stream);
  std::int64_t* const of_row = products.data();
  const std::int64_t* const a_row_ptr = a_rows.row_ptr.data();
  const std::uint32_t* const a_col_idx = a_rows.col_idx.data();
  const std::int64_t* const b_row_ptr = b.row_ptr;
  for_each_item<std::uint32_t>(
      count + std::uint64_t{1},
      [=] __device__(std::uint32_t i) {
        std::int64_t sum = 0;
        if (i < count) {
          const std::int64_t length = a_row_ptr[i + 1] - a_row_ptr[i];
          for (std::int64_t j = 0; j < length && length <= max_program_entries; ++j) {
            const std::uint32_t k = a_col_idx[a_row_ptr[i] + j];
            sum += b_row_ptr[k + std::int64_t{1}] - b_row_ptr[k];
          }
        }
        of_row[i] = sum;
      },
      stream);
  exclusive_sum(of_row, count + std::int64_t{1}, stream);
  const std::int64_t all = last_offset(products, stream);
  ClassPrograms<Value> programs{DeviceBuffer<ClassProgram>(list.end, stream),
                                DeviceBuffer<ProgramStep>(a_rows.col_idx.size(), stream),
                                DeviceBuffer<std::uint16_t>(static_cast<std::size_t>(all), stream),
                                std::move(c_rows),
                                {}};
  DeviceBuffer<ProgramSizes> sizes(1, stream);
  check_cuda(cudaMemsetAsync(sizes.data(), 0, sizes.bytes(), stream));
  if (count != 0) {
    make_programs_kernel<Value><<<count, kProgramThreads, 0, stream>>>(
        list.classes.data(), list.rows.data(), view(a_rows), b, view(programs.first_rows),
        b_classes, of_row, sizeof(Value), max_tile_bytes, programs.of_class.data(),
        programs.steps.data(), programs.places.data(), sizes.data());
    check_cuda(cudaGetLastError());
  }
  sizes.copy_to({&programs.sizes, 1});
  check_cuda(cudaStreamSynchronize(stream));
  return programs;
}

#define SORTIE_INSTANTIATE(Value)                                                                \
  template DeviceCsr<Value> gather_rows(const DeviceCsrView<Value>&, const std::uint32_t*,       \
                                        std::int64_t, cudaStream_t);                             \
  template ClassPrograms<Value> make_programs(const ClassList&, const DeviceCsr<Value>&,         \
                                              const DeviceCsrView<Value>&, const std::uint32_t*, \
                                              DeviceCsr<Value>, cudaStream_t);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
