// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/files/byte_source.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/npy_header.hpp"
#include "matrices/npz_file.hpp"
#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::matrices {

namespace {

using namespace detail;

static_assert(std::endian::native == std::endian::little, "arrays are read as they are");

/// Bytes of an array that a thread reads, sums and converts at a time: they stay in its L2 cache.
constexpr std::uint64_t array_block_bytes = std::uint64_t{1} << 20;

/// Blocks per thread between two calls of the progress callback.
constexpr std::uint64_t array_blocks_per_report = 16;

/// Longest header of an array that is read; those of plain arrays have 128 bytes.
constexpr std::uint64_t most_npy_header_bytes = std::uint64_t{1} << 16;

/// Elements of "shape.npy" and "format.npy".
constexpr std::uint64_t most_small_array_bytes = 64;

/// Bits of a floating-point number of 16 bits.
struct HalfBits {
  std::uint16_t bits;
};
/// A byte that is zero or not.
struct BoolByte {
  std::uint8_t byte;
};

/// Calls use(T{}) with the type of elements that NumPy calls `descr`. Returns false if it is none
/// that can be read.
template <class Use>
bool with_element_type(std::string_view descr, const Use& use) {
  const auto matches = [&](std::string_view name, auto element) {
    if (descr != name) return false;
    use(element);
    return true;
  };
  return matches("|b1", BoolByte{}) || matches("|i1", std::int8_t{}) ||
         matches("|u1", std::uint8_t{}) || matches("<i2", std::int16_t{}) ||
         matches("<u2", std::uint16_t{}) || matches("<i4", std::int32_t{}) ||
         matches("<u4", std::uint32_t{}) || matches("<i8", std::int64_t{}) ||
         matches("<u8", std::uint64_t{}) || matches("<f2", HalfBits{}) || matches("<f4", float{}) ||
         matches("<f8", double{}) || matches("<c8", std::complex<float>{}) ||
         matches("<c16", std::complex<double>{});
}

template <class T>
constexpr bool is_complex_element = false;
template <class T>
constexpr bool is_complex_element<std::complex<T>> = true;

float value_of_half(HalfBits half) {
  const int exponent = half.bits >> 10 & 0x1f;
  const auto fraction = static_cast<float>(half.bits & 0x3ff);
  float magnitude = 0;
  if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else if (exponent < 0x1f) {
    magnitude = std::ldexp(fraction + 1024, exponent - 25);
  } else {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  }
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Converts to the nearest number. Returns false if the magnitude of a finite one is too large.
template <class Real, class T>
bool convert_number(T from, Real& to) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    to = from.byte != 0 ? Real{1} : Real{0};
  } else if constexpr (std::is_same_v<T, HalfBits>) {
    to = static_cast<Real>(value_of_half(from));
  } else if constexpr (std::is_same_v<T, double> && std::is_same_v<Real, float>) {
    // Half a unit in the last place beyond the largest float, where rounding gives infinity.
    constexpr double limit = 0x1.ffffffp127;
    constexpr double most = std::numeric_limits<float>::max();
    const double magnitude = std::abs(from);
    if (magnitude >= limit && magnitude != std::numeric_limits<double>::infinity()) return false;
    to = static_cast<float>(magnitude > most && magnitude < limit ? std::copysign(most, from)
                                                                  : from);
  } else {
    to = static_cast<Real>(from);
  }
  return true;
}

template <Scalar Value, class T>
bool convert_value(T from, Value& to) {
  if constexpr (is_complex_element<T>) {
    to = static_cast<Value>(from);
    return true;
  } else if constexpr (is_complex_element<Value>) {
    double real = 0;
    const bool good = convert_number(from, real);
    to = real;
    return good;
  } else {
    return convert_number(from, to);
  }
}

/// Whether elements of type T are those of the result, so that they are read into their places.
template <class T, class Target>
constexpr bool same_element = std::is_same_v<T, Target>;

template <class T>
std::string shown_element(T value) {
  if constexpr (std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint8_t>) {
    return fmt::format("{}", int{value});
  } else if constexpr (std::is_same_v<T, BoolByte>) {
    return fmt::format("{}", value.byte);
  } else if constexpr (std::is_same_v<T, HalfBits>) {
    return fmt::format("{}", value_of_half(value));
  } else if constexpr (is_complex_element<T>) {
    return fmt::format("{}+{}j", value.real(), value.imag());
  } else {
    return fmt::format("{}", value);
  }
}

/// A member of the file that holds an array, and what its header says.
struct NpzArray {
  const ZipMember* member = nullptr;
  std::string place;  ///< for messages
  std::string head;   ///< the bytes of the header
  std::string descr;  ///< type of the elements
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  std::uint64_t element_bytes = 0;

  /// Bytes of the elements.
  [[nodiscard]] std::uint64_t bytes() const { return member->content.bytes - head.size(); }
};

[[noreturn]] void fail_array(const NpzArray& array, const std::string& found,
                             const std::string& expected) {
  throw input_error(array.place, 0, found, expected);
}

/// Bytes of the texts "|S3" and "<U3", of 1 and 4 bytes per letter; 0 for other types.
std::uint64_t text_element_bytes(std::string_view descr) {
  if (descr.size() != 3 || descr[2] < '1' || descr[2] > '9') return 0;
  const auto letters = static_cast<std::uint64_t>(descr[2] - '0');
  if (descr.starts_with("|S")) return letters;
  return descr.starts_with("<U") ? 4 * letters : 0;
}

NpzArray open_array(const ZipArchive& archive, const std::string& name) {
  NpzArray array;
  array.member = archive.find(name);
  if (array.member == nullptr)
    throw input_error(archive.name(), 0, fmt::format("no member {}", name), "one");
  array.place = archive.place(*array.member);
  constexpr std::size_t usual = npy_header_bytes;
  array.head = archive.first_bytes(*array.member, usual);
  const std::uint64_t length = npy_header_length(array.place, array.head);
  if (length > std::min(most_npy_header_bytes, array.member->content.bytes)) {
    fail_array(
        array, fmt::format("an array header of {} bytes", length),
        fmt::format("at most {}", std::min(most_npy_header_bytes, array.member->content.bytes)));
  }
  if (length > array.head.size()) array.head = archive.first_bytes(*array.member, length);
  array.head.resize(length);
  NpyHeader header = parse_npy_header(array.place, array.head);
  array.descr = std::move(header.descr);
  array.shape = std::move(header.shape);
  array.element_bytes = text_element_bytes(array.descr);
  with_element_type(array.descr, [&](auto element) { array.element_bytes = sizeof(element); });
  if (array.element_bytes == 0) {
    fail_array(array, fmt::format("elements of type {}", sortie::quoted(array.descr)),
               "a bool, an integer, a floating-point or a complex number, little-endian");
  }
  std::int64_t elements = 1;
  std::uint64_t bytes = array.element_bytes;
  for (const std::int64_t size : array.shape) {
    if (__builtin_mul_overflow(elements, size, &elements) ||
        __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
      fail_array(array, fmt::format("a shape of {} times {}", elements, size), "less than 2^63");
    }
  }
  array.elements = elements;
  if (bytes != array.bytes())
    fail_array(array, fmt::format("{} bytes of elements", array.bytes()),
               fmt::format("{}, as its header says", bytes));
  return array;
}

void require_list(const NpzArray& array) {
  if (array.shape.size() == 1) return;
  fail_array(array, fmt::format("an array of {} dimensions", array.shape.size()), "one dimension");
}

void require_sum(const NpzArray& array, const ContentSum& sum) {
  if (sum == array.member->content) return;
  fail_array(array, fmt::format("bytes of checksum {:08x}", sum.crc),
             fmt::format("{:08x}, as the archive says", array.member->content.crc));
}

/// The elements of a short array.
std::string small_content(const ZipArchive& archive, const NpzArray& array) {
  if (array.bytes() > most_small_array_bytes) {
    fail_array(array, fmt::format("{} bytes of elements", array.bytes()),
               fmt::format("at most {}", most_small_array_bytes));
  }
  const std::string content = archive.first_bytes(*array.member, array.member->content.bytes);
  require_sum(array, sum_of(content));
  return content.substr(array.head.size());
}

/// "csr", from letters of one or four bytes.
std::string read_format(const ZipArchive& archive) {
  const NpzArray array = open_array(archive, "format.npy");
  if (text_element_bytes(array.descr) == 0 || array.elements != 1)
    fail_array(array,
               fmt::format("{} elements of type {}", array.elements, sortie::quoted(array.descr)),
               "a text");
  std::string format = small_content(archive, array);
  std::erase(format, '\0');
  if (format != "csr" && format != "csc" && format != "coo")
    fail_array(array, fmt::format("the format {}", sortie::quoted(format)),
               R"("csr", "csc" or "coo")");
  return format;
}

template <class T>
constexpr bool is_integer_element = std::is_integral_v<T>;

void require_integers(const NpzArray& array) {
  bool integer = false;
  with_element_type(array.descr, [&]<class T>(T) { integer = is_integer_element<T>; });
  if (!integer) fail_array(array, fmt::format("elements of type {}", array.descr), "integers");
}

std::array<std::int64_t, 2> read_shape(const ZipArchive& archive) {
  const NpzArray array = open_array(archive, "shape.npy");
  require_list(array);
  require_integers(array);
  if (array.elements != 2)
    fail_array(array, fmt::format("{} sizes", array.elements), "2: rows and columns");
  const std::string content = small_content(archive, array);
  std::array<std::int64_t, 2> sizes = {};
  with_element_type(array.descr, [&]<class T>(T) {
    if constexpr (is_integer_element<T>) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        T size = 0;
        std::memcpy(&size, content.data() + i * sizeof(T), sizeof(T));
        if (!std::in_range<std::int64_t>(size) || std::cmp_less(size, 0))
          fail_array(array, fmt::format("the size {}", shown_element(size)), "one below 2^63");
        sizes[i] = static_cast<std::int64_t>(size);
      }
    }
  });
  return sizes;
}

/// Reads arrays and tells the progress of all of them together.
class ArrayLoader {
 public:
  ArrayLoader(const HostContext& context, const ZipArchive& archive, HostMemoryBudget& budget,
              std::uint64_t bytes)
      : context_(context), archive_(archive), budget_(budget), bytes_(bytes) {
    report_progress(context_, "read", 0, bytes_);
  }

  /// The elements, converted by convert(element, target), which returns false for one that cannot
  /// be; check(elements, count, first) then checks the targets of a block.
  /// \param expected  instead of such an element
  template <class Target, class Convert, class Check>
  std::vector<Target> load(const NpzArray& array, const std::string& expected,
                           const Convert& convert, const Check& check) {
    const std::uint64_t result_bytes = bytes_of({{array.elements, sizeof(Target)}});
    const bool deflated = array.member->method == zip_deflated;
    const std::uint64_t inflated_bytes =
        deflated ? array.member->packed + array.member->content.bytes : 0;
    budget_.require("an array of the file", result_bytes + inflated_bytes);
    ByteBuffer inflated;
    if (deflated) {
      const std::uint64_t bytes = array.member->content.bytes;
      inflated = {std::make_unique_for_overwrite<char[]>(bytes), bytes};
      archive_.inflate(*array.member, {inflated.data.get(), inflated.size});
    }
    budget_.hold(result_bytes);
    auto result = allocate_vector<Target>(static_cast<std::uint64_t>(array.elements));
    with_element_type(array.descr, [&]<class T>(T) {
      if constexpr (!(is_complex_element<T> && !is_complex_element<Target>))
        read_blocks<T>(array, inflated.span(), result.data(), expected, convert, check);
    });
    return result;
  }

 private:
  template <class T, class Target, class Convert, class Check>
  void read_blocks(const NpzArray& array, std::span<const char> inflated, Target* into,
                   const std::string& expected, const Convert& convert, const Check& check) {
    constexpr auto per_block = static_cast<std::int64_t>(array_block_bytes / sizeof(T));
    const auto blocks = static_cast<std::uint64_t>((array.elements + per_block - 1) / per_block);
    const std::uint64_t begin =
        inflated.empty() ? archive_.content_begin(*array.member) + array.head.size() : 0;
    std::vector<ContentSum> sums(blocks);
    const auto read_block = [&](std::uint64_t block) {
      const std::int64_t first = static_cast<std::int64_t>(block) * per_block;
      const auto count = static_cast<std::size_t>(std::min(per_block, array.elements - first));
      const std::size_t bytes = count * sizeof(T);
      const std::uint64_t at = static_cast<std::uint64_t>(first) * sizeof(T);
      Target* const targets = into + first;
      if constexpr (same_element<T, Target>) {
        const std::span<char> place(reinterpret_cast<char*>(targets), bytes);
        if (inflated.empty()) {
          archive_.read(begin + at, place);
        } else {
          std::memcpy(place.data(), inflated.data() + array.head.size() + at, bytes);
        }
        sums[block] = sum_of(place);
      } else {
        std::unique_ptr<char[]> buffer;
        std::span<const char> elements;
        if (inflated.empty()) {
          buffer = std::make_unique_for_overwrite<char[]>(bytes);
          archive_.read(begin + at, {buffer.get(), bytes});
          elements = {buffer.get(), bytes};
        } else {
          elements = inflated.subspan(array.head.size() + at, bytes);
        }
        sums[block] = sum_of(elements);
        for (std::size_t i = 0; i < count; ++i) {
          T element;
          std::memcpy(&element, elements.data() + i * sizeof(T), sizeof(T));
          if (!convert(element, targets[i])) {
            fail_array(array,
                       fmt::format("element {}: {}", first + static_cast<std::int64_t>(i),
                                   shown_element(element)),
                       expected);
          }
        }
      }
      check(targets, count, first);
    };
    const std::uint64_t batch = array_blocks_per_report * worker_threads();
    for (std::uint64_t first = 0; first < blocks; first += batch) {
      const std::uint64_t last = std::min(blocks, first + batch);
      for_each_task(last - first, [&](std::uint64_t i) { read_block(first + i); });
      report_progress(context_, "read",
                      done_ + std::min(array.bytes(), last * per_block * sizeof(T)), bytes_);
    }
    done_ += array.bytes();
    ContentSum sum = sum_of(array.head);
    for (const ContentSum& block : sums) sum.append(block);
    require_sum(array, sum);
  }

  const HostContext& context_;
  const ZipArchive& archive_;
  HostMemoryBudget& budget_;
  std::uint64_t bytes_;
  std::uint64_t done_ = 0;
};

/// Indices from 0 to size - 1.
template <Index Idx>
std::vector<Idx> load_indices(ArrayLoader& loader, const NpzArray& array, std::int64_t size) {
  const std::string expected = fmt::format("an index from 0 to {}", size - 1);
  return loader.load<Idx>(
      array, expected,
      [](auto from, Idx& to) {
        if constexpr (is_integer_element<decltype(from)>) {
          if (!std::in_range<Idx>(from)) return false;
          to = static_cast<Idx>(from);
          return true;
        } else {
          return false;
        }
      },
      [&](const Idx* indices, std::size_t count, std::int64_t first) {
        using Unsigned = std::make_unsigned_t<Idx>;
        // Negative indices are large as unsigned ones. The loop is vectorised.
        Unsigned most = 0;
        for (std::size_t i = 0; i < count; ++i)
          most = std::max(most, static_cast<Unsigned>(indices[i]));
        if (std::cmp_less(most, size) || count == 0) return;
        const Idx* const bad = std::find_if(indices, indices + count, [&](Idx index) {
          return index < 0 || std::cmp_greater_equal(index, size);
        });
        fail_array(array, fmt::format("element {}: {}", first + (bad - indices), *bad), expected);
      });
}

/// Offsets of rows or columns, which begin with 0, ascend and end with the number of entries.
std::vector<std::int64_t> load_offsets(ArrayLoader& loader, const NpzArray& array,
                                       std::int64_t entries) {
  auto offsets = loader.load<std::int64_t>(
      array, "an offset below 2^63",
      [](auto from, std::int64_t& to) {
        if constexpr (is_integer_element<decltype(from)>) {
          if (!std::in_range<std::int64_t>(from)) return false;
          to = static_cast<std::int64_t>(from);
          return true;
        } else {
          return false;
        }
      },
      [](const std::int64_t*, std::size_t, std::int64_t) {});
  if (offsets.front() != 0)
    fail_array(array, fmt::format("the first offset {}", offsets.front()), "0");
  const std::uint64_t last = offsets.size() - 1;
  const std::uint64_t wrong = first_index(
      0, last, [data = offsets.data()](std::uint64_t i) { return data[i + 1] < data[i]; });
  if (wrong != no_index) {
    fail_array(array,
               fmt::format("offset {} after {}, element {}", offsets[wrong + 1], offsets[wrong],
                           wrong + 1),
               "ascending offsets");
  }
  if (offsets.back() != entries) {
    fail_array(array, fmt::format("the last offset {}", offsets.back()),
               fmt::format("{}, the number of indices", entries));
  }
  return offsets;
}

template <Scalar Value>
std::vector<Value> load_values(ArrayLoader& loader, const NpzArray& array) {
  return loader.load<Value>(
      array,
      fmt::format("at most {}, the largest number of {} bits", std::numeric_limits<float>::max(),
                  8 * sizeof(float)),
      [](auto from, Value& to) {
        using T = decltype(from);
        if constexpr (is_complex_element<T> && !is_complex_element<Value>) {
          return false;
        } else {
          return convert_value(from, to);
        }
      },
      [](const Value*, std::size_t, std::int64_t) {});
}

/// The row or column of every entry, from the offsets of the rows or columns.
template <Index Idx>
std::vector<Idx> expand_offsets(const std::vector<std::int64_t>& offsets) {
  std::vector<Idx> indices(static_cast<std::size_t>(offsets.back()));
  for_each_index(0, offsets.size() - 1,
                 [from = offsets.data(), to = indices.data()](std::uint64_t i) {
                   std::fill(to + from[i], to + from[i + 1], static_cast<Idx>(i));
                 });
  return indices;
}

/// Whether the columns of each row ascend strictly.
template <Index Idx>
bool rows_are_in_order(const std::vector<std::int64_t>& offsets, const std::vector<Idx>& columns) {
  return first_index(0, offsets.size() - 1,
                     [from = offsets.data(), cols = columns.data()](std::uint64_t row) {
                       for (std::int64_t i = from[row] + 1; i < from[row + 1]; ++i) {
                         if (cols[i] <= cols[i - 1]) return true;
                       }
                       return false;
                     }) == no_index;
}

/// Input errors begin with the name of the file; those for memory do not.
[[noreturn]] void rethrow_named(const Error& error, const std::string& name) {
  if (error.kind() != ErrorKind::out_of_memory) throw Error(error);
  throw Error(error.kind(), fmt::format("{}: {}", name, error.what()));
}

}  // namespace

bool starts_as_npz(std::span<const char> bytes) {
  return std::string_view(bytes.data(), bytes.size()).starts_with(zip_magic);
}

bool is_npz_file(const std::string& path) {
  // A pipe can be opened once only: its writer ends when no reader is left. What does not exist is
  // named by whoever opens it.
  std::error_code unknown;
  if (path == "-" ||
      (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)))
    return false;
  const InputFile file(path);
  std::array<char, zip_magic.size()> head = {};
  return file.in_any_order() && file.read_at(0, head) == head.size() && starts_as_npz(head);
}

struct NpzFile::State {
  explicit State(std::unique_ptr<InputFile> file) : archive(std::move(file)) { open(); }
  State(std::string name, ByteBuffer bytes) : archive(std::move(name), std::move(bytes)) { open(); }

  void open() {
    header.format = read_format(archive);
    const auto sizes = read_shape(archive);
    header.rows = sizes[0];
    header.cols = sizes[1];
    data = open_array(archive, "data.npy");
    require_list(data);
    header.dtype = data.descr;
    header.entries = data.elements;
    bool number = false;
    with_element_type(data.descr, [&]<class T>(T) {
      number = true;
      header.complex = is_complex_element<T>;
    });
    if (!number) fail_array(data, fmt::format("elements of type {}", data.descr), "numbers");
    const bool coo = header.format == "coo";
    first = open_array(archive, coo ? "row.npy" : "indptr.npy");
    second = open_array(archive, coo ? "col.npy" : "indices.npy");
    for (const NpzArray* array : {&first, &second}) {
      require_list(*array);
      require_integers(*array);
    }
    if (second.elements != header.entries)
      fail_array(second, fmt::format("{} elements", second.elements),
                 fmt::format("{}, as in data.npy", header.entries));
    const std::int64_t lines = header.format == "csc" ? header.cols : header.rows;
    if (coo && first.elements != header.entries)
      fail_array(first, fmt::format("{} elements", first.elements),
                 fmt::format("{}, as in data.npy", header.entries));
    if (!coo && first.elements - 1 != lines)
      fail_array(
          first, fmt::format("{} offsets", first.elements),
          fmt::format("one more than {} {}", lines, header.format == "csc" ? "columns" : "rows"));
  }

  [[nodiscard]] std::uint64_t bytes() const {
    return first.bytes() + second.bytes() + data.bytes();
  }

  ZipArchive archive;
  std::uint64_t held_bytes = 0;
  NpzHeader header;
  NpzArray data;
  NpzArray first;   ///< offsets, or the rows of format coo
  NpzArray second;  ///< indices, or the columns of format coo
};

NpzFile::NpzFile(const std::string& path, int threads, std::uint64_t memory_budget) {
  if (is_npz_file(path)) {
    state_ = std::make_unique<State>(std::make_unique<InputFile>(path));
    return;
  }
  ByteBuffer bytes = read_all(path, memory_budget, threads);
  *this = NpzFile(path == "-" ? "<stdin>" : path, std::move(bytes));
}
NpzFile::NpzFile(std::string name, ByteBuffer bytes) {
  const std::uint64_t size = bytes.size;
  state_ = std::make_unique<State>(std::move(name), std::move(bytes));
  state_->held_bytes = size;
}
NpzFile::~NpzFile() = default;
NpzFile::NpzFile(NpzFile&&) noexcept = default;
NpzFile& NpzFile::operator=(NpzFile&&) noexcept = default;

const std::string& NpzFile::name() const {
  return state_->archive.name();
}
const NpzHeader& NpzFile::header() const {
  return state_->header;
}
std::uint64_t NpzFile::bytes() const {
  return state_->bytes();
}
std::uint64_t NpzFile::held_bytes() const {
  return state_->held_bytes;
}

template <Scalar Value, Index Idx>
NpzArrays<Value, Idx> NpzFile::load(const HostContext& context, HostMemoryBudget& budget) const
    try {
  const NpzHeader& header = state_->header;
  if (header.complex && !is_complex_element<Value>)
    fail_array(state_->data, fmt::format("elements of type {}", header.dtype), "real numbers");
  for (const auto& [size, what] :
       {std::pair{header.rows, "rows"}, std::pair{header.cols, "columns"}}) {
    if (size > std::numeric_limits<Idx>::max()) {
      throw input_error(name(), 0, fmt::format("{} {}", size, what),
                        fmt::format("at most {} ({}-bit indices)", std::numeric_limits<Idx>::max(),
                                    8 * sizeof(Idx)));
    }
  }
  NpzArrays<Value, Idx> arrays;
  arrays.name = name();
  arrays.header = header;
  ArrayLoader loader(context, state_->archive, budget, bytes());
  const bool csc = header.format == "csc";
  if (header.format == "coo") {
    arrays.row_idx = load_indices<Idx>(loader, state_->first, header.rows);
    arrays.col_idx = load_indices<Idx>(loader, state_->second, header.cols);
  } else {
    arrays.offsets = load_offsets(loader, state_->first, header.entries);
    (csc ? arrays.row_idx : arrays.col_idx) =
        load_indices<Idx>(loader, state_->second, csc ? header.rows : header.cols);
  }
  arrays.values = load_values<Value>(loader, state_->data);
  return arrays;
} catch (const Error& error) {
  rethrow_named(error, name());
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> assemble_npz(NpzArrays<Value, Idx> arrays, const HostMemoryBudget& budget) try {
  const NpzHeader& header = arrays.header;
  const bool csr = header.format == "csr";
  if (csr && rows_are_in_order(arrays.offsets, arrays.col_idx)) {
    return {header.rows, header.cols, std::move(arrays.offsets), std::move(arrays.col_idx),
            std::move(arrays.values)};
  }
  HostMemoryBudget left = budget;
  if (header.format != "coo") {
    const std::uint64_t bytes = bytes_of({{header.entries, sizeof(Idx)}});
    left.require("the entries of the file", bytes);
    left.hold(bytes);
    (csr ? arrays.row_idx : arrays.col_idx) = expand_offsets<Idx>(arrays.offsets);
  }
  const int parts = static_cast<int>(worker_threads());
  const auto ranges = even_ranges(header.entries, parts);
  const EntryList<Value, Idx> list{arrays.row_idx.data(), arrays.col_idx.data(),
                                   arrays.values.data(), ranges};
  return assemble_rows(header.rows, header.cols, list, Symmetry::general, parts, left);
} catch (const Error& error) {
  rethrow_named(error, arrays.name);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> read_npz(const HostContext& context, const std::string& path, NpzHeader* header) {
  start_host_runtime(context.threads);
  PhaseTimer timer(context, "read");
  const NpzFile file(path, threads_of(context), context.memory_budget);
  if (header != nullptr) *header = file.header();
  HostMemoryBudget budget(context);
  budget.hold(file.held_bytes());
  NpzArrays<Value, Idx> arrays = file.load<Value, Idx>(context, budget);
  timer.set_bytes(file.bytes());
  timer.stop();
  const PhaseTimer assembling(context, "parse matrix", file.bytes());
  return assemble_npz(std::move(arrays), budget);
}

NpzHeader read_npz_header(const std::string& path) {
  return NpzFile(path, 1).header();
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                       \
  template NpzArrays<Value, Idx> NpzFile::load(const HostContext&, HostMemoryBudget&) const; \
  template Csr<Value, Idx> assemble_npz(NpzArrays<Value, Idx>, const HostMemoryBudget&);     \
  template Csr<Value, Idx> read_npz(const HostContext&, const std::string&, NpzHeader*);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
