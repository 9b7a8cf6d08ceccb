// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "matrices/generators.hpp"
#include "matrices/npz_file.hpp"
#include "sortie/npz.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/matrices/npz_builder.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

/// Files that SciPy wrote, and files of all forms and types that it may write, against the matrices
/// that they hold; and files with a fault.

namespace sortie::test {
namespace {

using namespace sortie::matrices;
using testing::HasSubstr;
using testing::StartsWith;
using Complex = std::complex<double>;

const Csr<double> small{3, 4, {0, 2, 2, 4}, {0, 2, 1, 3}, {1.5, 0, -2, 4}};

template <class Value = double, class Idx = std::int32_t>
Csr<Value, Idx> read_bytes(const std::string& bytes, NpzHeader* header = nullptr) {
  const TemporaryFolder folder;
  return read_npz<Value, Idx>(context(), folder.write("a.npz", bytes), header);
}

/// The same from memory, as of standard input.
Csr<double> read_memory(const std::string& bytes) {
  ByteBuffer buffer{std::make_unique<char[]>(bytes.size()), bytes.size()};
  std::copy(bytes.begin(), bytes.end(), buffer.data.get());
  const NpzFile file("memory", std::move(buffer));
  HostMemoryBudget budget;
  return assemble_npz(file.load<double, std::int32_t>(context(), budget), budget);
}

TEST(ReadNpz, FilesOfSciPy) {
  const std::string csr = fixture("npz/csr_float64.npz");
  NpzHeader header;
  const Csr<double> expected{3, 4, {0, 2, 2, 4}, {0, 2, 1, 2}, {1.5, 0, -2, 1e300}};
  EXPECT_EQ(read_npz<double>(context(), csr, &header), expected);
  EXPECT_EQ(header.rows, 3);
  EXPECT_EQ(header.cols, 4);
  EXPECT_EQ(header.entries, 4);
  EXPECT_EQ(header.format, "csr");
  EXPECT_EQ(header.dtype, "<f8");
  EXPECT_FALSE(header.complex);

  const std::string csc = fixture("npz/csc_complex64.npz");
  header = read_npz_header(csc);
  EXPECT_EQ(header.format, "csc");
  EXPECT_EQ(header.dtype, "<c8");
  EXPECT_TRUE(header.complex);
  // Columns (2: 1+2j, 0: 3), (), (1: 4).
  const Csr<Complex> complex{3, 3, {0, 1, 2, 3}, {0, 2, 0}, {{3, 0}, {4, 0}, {1, 2}}};
  EXPECT_EQ(read_npz<Complex>(context(), csc), complex);
}

TEST(ReadNpz, StoredAndDeflatedOfEveryIndexType) {
  EXPECT_EQ(read_bytes(CsrMembers().file()), small);
  EXPECT_EQ(read_bytes(CsrMembers().file(true)), small);
  EXPECT_EQ(read_memory(CsrMembers().file()), small);
  EXPECT_EQ(read_memory(CsrMembers().file(true)), small);
  CsrMembers wide;
  wide.indptr = npy_list<std::int64_t>("<i8", {0, 2, 2, 4});
  wide.indices = npy_list<std::uint64_t>("<u8", {0, 2, 1, 3});
  wide.shape = npy_list<std::int32_t>("<i4", {3, 4});
  EXPECT_EQ(read_bytes(wide.file()), small);
  EXPECT_EQ(read_bytes(wide.file(true)), small);
  const Csr<double, std::int64_t> small64{
      3, 4, small.row_ptr, {small.col_idx.begin(), small.col_idx.end()}, small.values};
  EXPECT_EQ((read_bytes<double, std::int64_t>(CsrMembers().file())), small64);
}

TEST(ReadNpz, OtherFormsOfHeaders) {
  CsrMembers members;
  members.format = npy("{'descr': '<U3', 'fortran_order': False, 'shape': ()}",
                       std::string("c\0\0\0s\0\0\0r\0\0\0", 12));
  members.shape =
      npy("{\"shape\":(2L,),\"fortran_order\":True,\"descr\":\"<i8\"}" + std::string(400, ' '),
          bytes_of_all<std::int64_t>({3, 4}), 2);
  EXPECT_EQ(read_bytes(members.file()), small);
  EXPECT_EQ(read_bytes(members.file(true)), small);
  // A comment, and members that are of no concern.
  std::vector<BuiltMember> more = members.members();
  more.insert(more.begin(), {"_is_array.npy", npy_list<std::uint8_t>("|b1", {1})});
  EXPECT_EQ(read_bytes(zip(more, "a comment with PK\5\6 in it")), small);
}

TEST(ReadNpz, CompressedAsAWhole) {
  EXPECT_EQ(read_bytes(gzip(CsrMembers().file())), small);
  EXPECT_EQ(read_bytes(gzip(CsrMembers().file(true))), small);
}

TEST(ReadNpz, SortsRowsAndSumsDuplicates) {
  CsrMembers members;
  members.indices = npy_list<std::int32_t>("<i4", {2, 0, 3, 3});
  const Csr<double> expected{3, 4, {0, 2, 2, 3}, {0, 2, 3}, {0, 1.5, 2}};
  EXPECT_EQ(read_bytes(members.file()), expected);
}

TEST(ReadNpz, Coordinates) {
  // (2, 1) twice, which adds up to 3 + 4; entries in any order.
  const std::vector<BuiltMember> members{
      {"row.npy", npy_list<std::int32_t>("<i4", {2, 0, 2, 1})},
      {"col.npy", npy_list<std::int64_t>("<i8", {1, 3, 1, 0})},
      {"format.npy", npy_format("coo")},
      {"shape.npy", npy_list<std::int64_t>("<i8", {3, 4})},
      {"data.npy", npy_list<std::int16_t>("<i2", {3, -1, 4, 9}), true}};
  const Csr<double> expected{3, 4, {0, 1, 2, 3}, {3, 0, 1}, {-1, 9, 7}};
  EXPECT_EQ(read_bytes(zip(members)), expected);
  EXPECT_EQ((read_bytes<Complex, std::int64_t>(zip(members)).values),
            (std::vector<Complex>{-1, 9, 7}));
}

template <class Value, class T>
std::vector<Value> converted(std::string_view descr, const std::vector<T>& numbers) {
  CsrMembers members;
  members.data = npy_list(descr, numbers);
  return read_bytes<Value>(members.file(descr.back() == '8')).values;
}

TEST(ReadNpz, EveryTypeOfValues) {
  using Doubles = std::vector<double>;
  using Floats = std::vector<float>;
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 3;  // rounds to 2^53 + 4
  EXPECT_EQ((converted<double, std::uint8_t>("|b1", {0, 1, 2, 255})), (Doubles{0, 1, 1, 1}));
  EXPECT_EQ((converted<float, std::int8_t>("|i1", {0, -1, 127, -128})), (Floats{0, -1, 127, -128}));
  EXPECT_EQ((converted<float, std::uint8_t>("|u1", {0, 1, 127, 255})), (Floats{0, 1, 127, 255}));
  EXPECT_EQ((converted<double, std::uint16_t>("<u2", {0, 1, 2, 65535})), (Doubles{0, 1, 2, 65535}));
  EXPECT_EQ((converted<double, std::uint32_t>("<u4", {0, 1, 2, 4294967295})),
            (Doubles{0, 1, 2, 4294967295}));
  EXPECT_EQ((converted<double, std::int64_t>("<i8", {0, -1, odd, -odd})),
            (Doubles{0, -1, 9007199254740996, -9007199254740996}));
  EXPECT_EQ((converted<double, std::uint64_t>("<u8", {0, 1, 2, ~std::uint64_t{0}})),
            (Doubles{0, 1, 2, 0x1p64}));
  EXPECT_EQ((converted<double, float>("<f4", {0.1F, -2, 3, 0x1p-149F})),
            (Doubles{0.1F, -2, 3, 0x1p-149}));
  EXPECT_EQ((converted<Complex, std::complex<float>>("<c8", {{1, 2}, 0, 3, {0, -4}})),
            (std::vector<Complex>{{1, 2}, 0, 3, {0, -4}}));
  EXPECT_EQ((converted<Complex, std::int32_t>("<i4", {1, 2, 3, -4})),
            (std::vector<Complex>{1, 2, 3, -4}));
}

TEST(ReadNpz, Halves) {
  EXPECT_EQ((converted<float, std::uint16_t>("<f2", {0x3c00, 0xc000, 0x0001, 0x7bff})),
            (std::vector<float>{1, -2, 0x1p-24F, 65504}));
  const auto special = converted<double, std::uint16_t>("<f2", {0x7c00, 0xfc00, 0x7e00, 0x8000});
  EXPECT_EQ(special[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(special[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(special[2]));
  EXPECT_TRUE(special[3] == 0 && std::signbit(special[3]));
}

TEST(ReadNpz, RoundsDoublesToTheNearestFloat) {
  constexpr float most = std::numeric_limits<float>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ((converted<float, double>("<f8", {0.1, 0x1.fffffefp127, -infinity, 1e-60})),
            (std::vector<float>{0.1F, most, -static_cast<float>(infinity), 0}));
  expect_error(
      [] {
        converted<float, double>("<f8", {0, 1, 1e39, 2});
      },
      ErrorKind::input,
      HasSubstr("data.npy: found element 2: 1e+39, expected at most 3.4028235e+38"));
}

TEST(ReadNpz, ShapesWithoutRowsOrEntries) {
  for (const auto& [rows, cols] : {std::pair{0, 0}, std::pair{0, 7}, std::pair{7, 0}}) {
    CsrMembers members;
    members.shape = npy_list<std::int64_t>("<i8", {rows, cols});
    const std::vector<std::int64_t> offsets(static_cast<std::size_t>(rows) + 1, 0);
    members.indptr = npy_list("<i8", offsets);
    members.indices = npy_list<std::int32_t>("<i4", {});
    members.data = npy_list<double>("<f8", {});
    const Csr<double> expected{rows, cols, offsets, {}, {}};
    EXPECT_EQ(read_bytes(members.file()), expected);
    EXPECT_EQ(read_bytes(members.file(true)), expected);
  }
}

/// The message without the path of the file, which it has to begin with.
std::string fault_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.npz", bytes);
  const std::string message = error_message(
      ErrorKind::input, [&] { static_cast<void>(read_npz<double>(context(), path)); });
  EXPECT_THAT(message, StartsWith(path + ": ")) << message;
  return message.substr(std::min(message.size(), path.size() + 2));
}

TEST(NpzFaults, NoArchive) {
  EXPECT_EQ(fault_of("%%MatrixMarket matrix\n"),
            "found \"%%Ma\", expected a zip archive, which begins with \"PK\\x03\\x04\"");
  EXPECT_EQ(fault_of(""), "found \"\", expected a zip archive, which begins with \"PK\\x03\\x04\"");
  EXPECT_THAT(fault_of("PK\3\4 and no more"), HasSubstr("found no directory of the zip archive"));
  expect_error([] { static_cast<void>(read_npz_header("/absent/a.npz")); }, ErrorKind::input,
               StartsWith("/absent/a.npz: cannot be opened"));
}

// A file that is cut at any byte is refused, and not by a crash.
TEST(NpzFaults, CutShort) {
  for (const bool deflated : {false, true}) {
    const std::string whole = CsrMembers().file(deflated);
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 100 ? 1 : 13)
      EXPECT_THAT(fault_of(whole.substr(0, bytes)), HasSubstr("expected")) << bytes;
  }
}

// Any byte that differs is found, or of no importance: the bytes of the matrix are under checksums.
TEST(NpzFaults, DamagedBytes) {
  const TemporaryFolder folder;
  write_npz(context(), folder.path("c.npz"), small);
  for (const std::string& whole :
       {CsrMembers().file(), CsrMembers().file(true), content_of(folder.path("c.npz"))}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
      try {
        EXPECT_EQ(read_memory(damaged), small) << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
      }
    }
  }
}

TEST(NpzFaults, WrongChecksum) {
  std::string file = CsrMembers().file();
  const std::string element = bytes_of_all<double>({-2});
  file[file.find(element) + 7] = '\x40';
  EXPECT_THAT(fault_of(file),
              testing::MatchesRegex("data.npy: found bytes of checksum [0-9a-f]{8}, expected "
                                    "[0-9a-f]{8}, as the archive says"));
}

TEST(NpzFaults, MissingMembers) {
  for (const std::size_t missing : {0, 1, 2, 3, 4}) {
    std::vector<BuiltMember> members = CsrMembers().members();
    const std::string name = members[missing].name;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_EQ(fault_of(zip(members)), "found no member " + name + ", expected one");
  }
}

TEST(NpzFaults, OtherFormats) {
  CsrMembers members;
  members.format = npy_format("bsr");
  EXPECT_EQ(fault_of(members.file()),
            R"(format.npy: found the format "bsr", expected "csr", "csc" or "coo")");
  members.format = npy_list<std::int32_t>("<i4", {1});
  EXPECT_THAT(fault_of(members.file()), HasSubstr("format.npy: found 1 elements of type"));
}

TEST(NpzFaults, Types) {
  CsrMembers members;
  members.data =
      npy("{'descr': '>f8', 'fortran_order': False, 'shape': (4,)}", std::string(32, '\0'));
  EXPECT_EQ(fault_of(members.file()),
            "data.npy: found elements of type \">f8\", expected a bool, an integer, a "
            "floating-point or a complex number, little-endian");
  members.data = npy("{'descr': '|O', 'fortran_order': False, 'shape': (4,)}", "(pickled)");
  EXPECT_THAT(fault_of(members.file()), StartsWith("data.npy: found elements of type \"|O\""));
  members.data = npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (4,)}",
                     std::string(32, '\0'));
  EXPECT_THAT(fault_of(members.file()), StartsWith("data.npy: found the array header"));
  members.data = npy_list<Complex>("<c16", {1, 2, 3, 4});
  EXPECT_EQ(fault_of(members.file()),
            "data.npy: found elements of type <c16, expected real numbers");
  members.data =
      npy("{'descr': '|S4', 'fortran_order': False, 'shape': (4,)}", std::string(16, 'a'));
  EXPECT_EQ(fault_of(members.file()), "data.npy: found elements of type |S4, expected numbers");
  members = {};
  members.indices = npy_list<double>("<f8", {0, 2, 1, 3});
  EXPECT_EQ(fault_of(members.file()), "indices.npy: found elements of type <f8, expected integers");
}

TEST(NpzFaults, Headers) {
  CsrMembers members;
  members.data = "not an array";
  EXPECT_EQ(fault_of(members.file()),
            "data.npy: found \"not an\", expected the begin of a NumPy array, \"\\x93NUMPY\"");
  for (const char* dictionary :
       {"", "{", "{'descr': '<f8'}", "{'descr': '<f8', 'shape': (-4,)}", "{'descr': '<f8' 'shape'",
        "{'descr': '<f8', 'fortran_order': Perhaps, 'shape': (4,)}", "{'descr': '<f8', 'shape': (4",
        "{'descr': '<f8', 'shape': (99999999999999999999,)}"}) {
    members.data = npy(dictionary, std::string(32, '\0'));
    EXPECT_THAT(fault_of(members.file()), StartsWith("data.npy: found the array header"))
        << dictionary;
  }
  members.data =
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}", std::string(31, '\0'));
  EXPECT_EQ(fault_of(members.file()),
            "data.npy: found 31 bytes of elements, expected 32, as its header says");
  members.data =
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", std::string(32, '\0'));
  EXPECT_EQ(fault_of(members.file()),
            "data.npy: found an array of 2 dimensions, expected one dimension");
  members.data =
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "");
  EXPECT_THAT(fault_of(members.file()), HasSubstr("expected less than 2^63"));
}

TEST(NpzFaults, Structure) {
  CsrMembers members;
  members.indices = npy_list<std::int32_t>("<i4", {0, 2, 1});
  EXPECT_EQ(fault_of(members.file()), "indices.npy: found 3 elements, expected 4, as in data.npy");
  members.indices = npy_list<std::int32_t>("<i4", {0, 2, 1, 4});
  EXPECT_EQ(fault_of(members.file()),
            "indices.npy: found element 3: 4, expected an index from 0 to 3");
  members.indices = npy_list<std::int64_t>("<i8", {0, -1, 1, 3});
  EXPECT_EQ(fault_of(members.file()),
            "indices.npy: found element 1: -1, expected an index from 0 to 3");
  members.indices = npy_list<std::int64_t>("<i8", {0, 1, std::int64_t{1} << 40, 3});
  EXPECT_EQ(fault_of(members.file()),
            "indices.npy: found element 2: 1099511627776, expected an index from 0 to 3");
  members = {};
  members.indptr = npy_list<std::int32_t>("<i4", {0, 2, 4});
  EXPECT_EQ(fault_of(members.file()), "indptr.npy: found 3 offsets, expected one more than 3 rows");
  members.indptr = npy_list<std::int32_t>("<i4", {1, 2, 2, 4});
  EXPECT_EQ(fault_of(members.file()), "indptr.npy: found the first offset 1, expected 0");
  members.indptr = npy_list<std::int32_t>("<i4", {0, 3, 2, 4});
  EXPECT_EQ(fault_of(members.file()),
            "indptr.npy: found offset 2 after 3, element 2, expected ascending offsets");
  members.indptr = npy_list<std::int32_t>("<i4", {0, 2, 2, 5});
  EXPECT_EQ(fault_of(members.file()),
            "indptr.npy: found the last offset 5, expected 4, the number of indices");
  members = {};
  members.shape = npy_list<std::int64_t>("<i8", {3, -4});
  EXPECT_EQ(fault_of(members.file()), "shape.npy: found the size -4, expected one below 2^63");
  members.shape = npy_list<std::int64_t>("<i8", {3, 4, 5});
  EXPECT_EQ(fault_of(members.file()), "shape.npy: found 3 sizes, expected 2: rows and columns");
  members.shape = npy_list<std::int64_t>("<i8", {3, std::int64_t{1} << 31});
  EXPECT_EQ(fault_of(members.file()),
            "found 2147483648 columns, expected at most 2147483647 (32-bit indices)");
}

TEST(NpzFaults, EncryptedAndOtherMethods) {
  std::string file = CsrMembers().file();
  file[6] = '\1';
  EXPECT_EQ(fault_of(file), "indices.npy: found an encrypted member, expected one that is not");
  file = CsrMembers().file(true);
  for (std::size_t at = file.find("PK\1\2"); at != std::string::npos;
       at = file.find("PK\1\2", at + 1))
    file[at + 10] = 12;
  EXPECT_EQ(fault_of(file),
            "format.npy: found compression method 12, expected 0 (stored) or 8 (deflated)");
}

TEST(ReadNpz, KeepsToTheBudget) {
  const TemporaryFolder folder;
  const auto matrix = erdos_renyi<double>(1000, 1000, 10, 1);
  const std::string path = folder.path("a.npz");
  write_npz(context(), path, matrix);
  HostContext tight = context();
  tight.memory_budget = 50'000;
  expect_error([&] { static_cast<void>(read_npz<double>(tight, path)); }, ErrorKind::out_of_memory,
               StartsWith(path + ": out of memory: "));
  tight.memory_budget = 1000 * 8 + 8 + 10'000 * 12;
  EXPECT_EQ(read_npz<double>(tight, path), matrix);
}

}  // namespace
}  // namespace sortie::test
