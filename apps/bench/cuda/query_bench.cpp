// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/query_bench.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include "apps/suffix_array/program_calls.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_suffix_array.hpp"

namespace sortie::bench {
namespace {

using suffix_array::Occurrences;
using suffix_array::PatternView;
using suffix_array::cuda::DeviceOccurrences;

template <class T>
std::vector<T> on_host(const DeviceBuffer<T>& buffer) {
  std::vector<T> host(buffer.size());
  buffer.copy_to(host);
  return host;
}

/// A text, its suffix array and patterns in device memory.
template <class Pos>
class ResidentQuery {
 public:
  ResidentQuery(const Context& context, const QueryCase<Pos>& query)
      : call_(context),
        query_(query),
        symbols_(query.text.symbols, call_.stream),
        separators_(query.text.separators, call_.stream),
        suffixes_(query.suffixes, call_.stream),
        letters_(query.patterns.letters, call_.stream),
        begins_(query.patterns.begins, call_.stream) {
    wait();
  }

  void prepare() {
    found_ = {};
    wait();
  }
  void count() {
    found_.ranges =
        suffix_array::cuda::find_on_device<Pos>(call_, text(), array(), patterns(), call_.stream);
    wait();
  }
  void locate() {
    found_ = suffix_array::cuda::locate_on_device<Pos>(call_, text(), array(), patterns(),
                                                       query_.most_hits, call_.stream);
    wait();
  }
  void check(bool located) const {
    Occurrences<Pos> found{on_host(found_.ranges), on_host(found_.begins),
                           on_host(found_.positions)};
    if (!located) found.begins.assign(query_.patterns.size() + 1, 0);
    wait();
    suffix_array::check_occurrences<Pos>(call_, query_.text, query_.patterns, found,
                                         located ? query_.most_hits : 0);
  }

 private:
  [[nodiscard]] suffix_array::cuda::DeviceText text() const {
    return {{symbols_.data(), symbols_.size()}, {separators_.data(), separators_.size()}};
  }
  [[nodiscard]] std::span<const Pos> array() const { return {suffixes_.data(), suffixes_.size()}; }
  [[nodiscard]] PatternView patterns() const {
    return {{letters_.data(), letters_.size()}, {begins_.data(), begins_.size()}};
  }
  void wait() const { check_cuda(cudaStreamSynchronize(call_.stream)); }

  DeviceCall call_;
  QueryCase<Pos> query_;
  DeviceBuffer<std::uint8_t> symbols_;
  DeviceBuffer<std::uint64_t> separators_;
  DeviceBuffer<Pos> suffixes_;
  DeviceBuffer<std::uint8_t> letters_;
  DeviceBuffer<std::uint64_t> begins_;
  DeviceOccurrences<Pos> found_;
};

}  // namespace

template <class Pos>
std::vector<Method> query_methods_on_device(const Context& context, const QueryCase<Pos>& query,
                                            Row row) {
  const auto resident = std::make_shared<ResidentQuery<Pos>>(context, query);
  std::vector<Method> methods;
  for (const bool locates : {false, true}) {
    Method method;
    method.row = row;
    method.row.method = locates ? "locate" : "count";
    method.prepare = [resident] { resident->prepare(); };
    method.run = [resident, locates] { locates ? resident->locate() : resident->count(); };
    method.check = [resident, locates] {
      resident->check(locates);
      return true;
    };
    methods.push_back(std::move(method));
  }
  return methods;
}

template std::vector<Method> query_methods_on_device(const Context&,
                                                     const QueryCase<std::uint32_t>&, Row);
template std::vector<Method> query_methods_on_device(const Context&,
                                                     const QueryCase<std::uint64_t>&, Row);

}  // namespace sortie::bench
