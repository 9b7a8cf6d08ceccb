// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/files/checksum.hpp"
#include "sortie/run_report.hpp"
#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class QueryCommand : public ProgramTest {
 protected:
  /// Writes a text and its suffix array, which the host makes, with more options of `suffix-array`.
  void index(const std::string& fasta, const std::vector<std::string>& options = {}) {
    write_file(path("text.fa"), fasta);
    index_file(path("text.fa"), options);
  }
  void index_file(const std::string& file, const std::vector<std::string>& options = {}) {
    text_ = file;
    std::vector<std::string> arguments = {"suffix-array", file, "-o", path("text.sa")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Result result = run_on_host(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  Result query(const std::vector<std::string>& options) const { return run(arguments_of(options)); }
  /// Files and patterns are read and refused in the same way for each backend.
  void expect_refused(const std::vector<std::string>& options, int exit_code,
                      const std::string& message) const {
    expect_error(run_on_host(arguments_of(options)), exit_code, message);
  }
  /// Lines of a query that has to be right, and is checked by the program too.
  std::vector<std::string> found(std::vector<std::string> options) const {
    options.emplace_back("--verify");
    const Result result = query(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return lines(result.out);
  }
  /// Changes the description of the suffix array.
  void edit_description(const std::function<void(nlohmann::json&)>& edit) const {
    auto description = nlohmann::json::parse(read_file(path("text.sa.json")));
    edit(description);
    write_file(path("text.sa.json"), description.dump());
  }

  std::string text_;

 private:
  [[nodiscard]] std::vector<std::string> arguments_of(
      const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {"query", text_, path("text.sa")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }
};

TEST_F(QueryCommand, LocatesPatterns) {
  index(">x\nBAN\nANA\n");
  EXPECT_THAT(found({"-p", "ANA", "--pattern", "NAB", "-p", "BANANA", "-p", "A"}),
              ElementsAre("ANA\t2\t1,3", "NAB\t0\t", "BANANA\t1\t0", "A\t3\t1,3,5"));
}

// Several MiB of lines, which all threads format: their order and bytes do not depend on the number.
TEST_F(QueryCommand, ManyLinesAreThoseOfOneThread) {
  std::string letters;
  for (std::uint64_t i = 0, x = 7; i < 200'000; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    letters += "ACGT"[x >> 62];
  }
  index(">x\n" + letters + "\n");
  std::string patterns;
  for (std::size_t i = 0; i + 12 < 3000; i += 3)
    patterns += letters.substr(i, 3 + i / 3 % 3) + '\n';
  write_file(path("patterns"), patterns);
  const auto written = [&](const std::string& threads) {
    const std::string file = path("hits" + threads);
    const Result result = query({"-f", path("patterns"), "-o", file, "-t", threads, "-q"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_file(file);
  };
  const std::string alone = written("1");
  EXPECT_GT(alone.size(), std::size_t{4} << 20);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), '\n'),
            std::count(patterns.begin(), patterns.end(), '\n'));
  EXPECT_TRUE(written("3") == alone);
  EXPECT_TRUE(written("8") == alone);
}

TEST_F(QueryCommand, CountsPatterns) {
  index(">x\nBANANA\n");
  EXPECT_THAT(found({"--count", "-p", "ANA", "-p", "NAB"}), ElementsAre("ANA\t2", "NAB\t0"));
  EXPECT_THAT(query({"--count", "-p", "ANA"}).err,
              HasSubstr("1 of 1 pattern found, 2 occurrences, in "));
}

TEST_F(QueryCommand, NamesRecords) {
  index(">first of all\nACAC\n>\nGGG\n>third\nACA\n");
  EXPECT_THAT(found({"-p", "AC", "-p", "GG", "-p", "CG"}),
              ElementsAre("AC\t3\tfirst:0,first:2,third:0", "GG\t2\t#2:0,#2:1", "CG\t0\t"));
}

TEST_F(QueryCommand, ReadsPatternsFromLinesAndFasta) {
  index(">x\nBANANA\n");
  write_file(path("lines"), "ANA\r\nNA\nB");
  EXPECT_THAT(found({"-p", "A", "-f", path("lines")}),
              ElementsAre("A\t3\t1,3,5", "ANA\t2\t1,3", "NA\t2\t2,4", "B\t1\t0"));
  write_file(path("records"), ">ana in two lines\nAN\nA\n>\nNA\n");
  EXPECT_THAT(found({"--patterns", path("records")}), ElementsAre("ana\t2\t1,3", "#2\t2\t2,4"));
  const Result piped = run({"query", text_, path("text.sa"), "-f", "-"}, {.in = path("lines")});
  EXPECT_THAT(lines(piped.out), ElementsAre("ANA\t2\t1,3", "NA\t2\t2,4", "B\t1\t0"));
}

TEST_F(QueryCommand, MapsPatternsLikeTheText) {
  index(">x\nacgNRt\n");
  EXPECT_THAT(found({"-p", "cG", "-p", "nr", "-p", "NN"}),
              ElementsAre("cG\t1\t1", "nr\t1\t3", "NN\t0\t"));
  index(">x\nacGT\n", {"--case", "keep"});
  EXPECT_THAT(found({"-p", "ac", "-p", "AC", "-p", "GT"}),
              ElementsAre("ac\t1\t0", "AC\t0\t", "GT\t1\t2"));
  index(">x\nacgNRt\n", {"--ambiguous", "unify"});
  EXPECT_THAT(found({"-p", "gnn", "-p", "YK", "-p", "GT"}),
              ElementsAre("gnn\t1\t2", "YK\t1\t3", "GT\t0\t"));
  index(">x\nacgNRtAC\n", {"--ambiguous", "separate"});
  EXPECT_THAT(found({"-p", "AC", "-p", "N", "-p", "GN", "-p", "TAC"}),
              ElementsAre("AC\t2\t0,6", "N\t0\t", "GN\t0\t", "TAC\t1\t5"));
}

TEST_F(QueryCommand, FindsTheOtherStrandWhereItWasAppended) {
  index(">x one\nAACG\n>y\nTTT\n", {"--reverse-complement"});
  EXPECT_THAT(found({"-p", "CGTT", "-p", "AA", "-p", "GTTT"}),
              ElementsAre("CGTT\t1\tx/reverse-complement:0",
                          "AA\t3\tx:0,y/reverse-complement:0,y/reverse-complement:1", "GTTT\t0\t"));
}

TEST_F(QueryCommand, TakesBoundedOrderUpToItsBound) {
  index(">x\nBANANABAN\n", {"--max-context", "3", "--verify"});
  EXPECT_THAT(found({"-p", "ANA", "-p", "BAN"}), ElementsAre("ANA\t2\t1,3", "BAN\t2\t0,6"));
  expect_error(query({"-p", "ANA", "-p", "ANAN"}), 1,
               "pattern \"ANAN\": found 4 letters, expected at most 3, the --max-context that the "
               "suffix array was built with");
}

TEST_F(QueryCommand, ReadsEveryWidth) {
  for (const char* width : {"32", "40", "64"}) {
    index_file(sequence("lambda_phage.fa.gz"), {"--width", width});
    EXPECT_EQ(read_file(path("text.sa")).size(), 48502u * std::stoul(width) / 8);
    EXPECT_THAT(found({"-p", "GGGCGGCGACCT"}), ElementsAre("GGGCGGCGACCT\t1\t0")) << width;
  }
}

TEST_F(QueryCommand, BothBackendsFindTheSame) {
  index_file(sequence("mirbase_hairpin_200.fa"));
  const std::string patterns = sequence("mirbase_hairpin_200.fa");
  const auto here = found({"-f", patterns});
  EXPECT_EQ(here.size(), 200u);
  EXPECT_EQ(found({"-f", patterns, "--backend", "host", "-t", "1"}), here);
}

TEST_F(QueryCommand, ListsSomePositions) {
  index(">x\nBANANA\n");
  // In the order of the suffix array: A at 5, ANA at 3.
  EXPECT_THAT(found({"-p", "A", "--max-hits", "2"}), ElementsAre("A\t3\t3,5"));
  EXPECT_THAT(found({"-p", "A", "--max-hits", "0"}), ElementsAre("A\t3\t"));
}

TEST_F(QueryCommand, WritesAFileAndAReport) {
  index(">x\nBANANA\n");
  const Result result = query({"-p", "ANA", "-p", "X", "-o", path("out"), "--json",
                               path("report.json"), "--verify", "--repeat", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("1 of 2 patterns found, 2 occurrences, 2 positions listed, "));
  EXPECT_THAT(result.err, HasSubstr("verified: a search of the text itself finds the same"));
  EXPECT_EQ(read_file(path("out")), "ANA\t2\t1,3\nX\t0\t\n");
  const auto report = nlohmann::json::parse(read_file(path("report.json")));
  EXPECT_EQ(report["figures"]["patterns"], 2);
  EXPECT_EQ(report["figures"]["patterns_found"], 1);
  EXPECT_EQ(report["figures"]["occurrences"], 2);
  EXPECT_EQ(report["figures"]["verified"], true);
  EXPECT_GT(report["figures"]["query_seconds"], 0);
  std::set<std::string> phases;
  for (const auto& phase : report["phases"]) phases.insert(phase["name"]);
  for (const char* name : {"read", "read array", "read patterns", "query", "locate", "write"}) {
    EXPECT_EQ(phases.count(name), 1u) << name;
  }
}

TEST_F(QueryCommand, TakesATextWithoutLetters) {
  index(">nothing\n");
  EXPECT_THAT(found({"-p", "A"}), ElementsAre("A\t0\t"));
}

TEST_F(QueryCommand, RefusesAnotherText) {
  index(">x\nBANANA\n");
  write_file(path("longer.fa"), ">x\nBANANAS\n");
  write_file(path("other.fa"), ">x\nBANANE\n");
  const std::string array = path("text.sa");
  expect_error(
      run_on_host({"query", path("longer.fa"), array, "-p", "A"}), 1,
      array + ": found a suffix array of 6 symbols, expected 7, as " + path("longer.fa") + " has");
  const Result other = run_on_host({"query", path("other.fa"), array, "-p", "A"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(other.out, "");
  EXPECT_THAT(other.err, HasSubstr(": found the suffix array of a text with checksum "));
}

TEST_F(QueryCommand, ChecksArraysOfVersionsWithoutAChecksumOfTheText) {
  index(">x\nBANANA\n");
  edit_description([](nlohmann::json& description) {
    description.erase("text_checksum");
    description.erase("ambiguous");
    description.erase("reverse_complement");
  });
  EXPECT_THAT(found({"-p", "ANA"}), ElementsAre("ANA\t2\t1,3"));
  write_file(path("text.fa"), ">x\nABNANA\n");
  const Result result = query({"-p", "A"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("text.sa does not belong to " + text_ + ": suffix array"));
}

TEST_F(QueryCommand, ReadsAndChecksArraysOfVersion1) {
  index(">x\nBANANA\n");
  const std::string array = path("text.sa");
  const std::string bytes = read_file(array);
  const auto fnv1a = [](const std::string& of) {
    return checksum_text(extend_fnv1a(fnv1a_seed, of.data(), of.size()));
  };
  edit_description([&](nlohmann::json& description) {
    EXPECT_EQ(description["format_version"], 2);
    description["format_version"] = 1;
    description["text_checksum"] = fnv1a("BANANA");
    description["checksum"] = fnv1a(bytes);
  });
  EXPECT_THAT(found({"-p", "ANA"}), ElementsAre("ANA\t2\t1,3"));
  std::string damaged = bytes;
  damaged[0] = 4;
  write_file(array, damaged);
  expect_refused({"-p", "A"}, 1,
                 array + ": found checksum " + fnv1a(damaged) + ", expected " + fnv1a(bytes) +
                     ", as " + array + ".json says");
  write_file(array, bytes);
  write_file(path("text.fa"), ">x\nBANANE\n");
  expect_refused({"-p", "A"}, 1,
                 array + ": found the suffix array of a text with checksum " + fnv1a("BANANA") +
                     ", expected " + fnv1a("BANANE") + ", as " + path("text.fa") + " has");
}

TEST_F(QueryCommand, RefusesDamagedArrays) {
  index(">x\nBANANA\n");
  const std::string array = path("text.sa");
  const std::string bytes = read_file(array);
  std::string damaged = bytes;
  damaged[0] = 4;
  write_file(array, damaged);
  const Result changed = query({"-p", "A"});
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.err, HasSubstr("text.sa: found checksum "));
  write_file(array, bytes.substr(0, 20));
  expect_refused({"-p", "A"}, 1, array + ": found 5 positions, expected 6");
  write_file(array, bytes.substr(0, 22));
  expect_refused({"-p", "A"}, 1, array + ": found 22 bytes, expected 6 positions of 4 bytes");
  write_file(array, bytes + bytes);
  expect_refused({"-p", "A"}, 1, array + ": found 48 bytes, expected 6 positions of 4 bytes");
}

TEST_F(QueryCommand, RefusesDescriptionsOfOtherThings) {
  index(">x\nBANANA\n");
  const std::string json = path("text.sa.json");
  const std::string description = read_file(json);
  const auto expect_fault = [&](const std::string& content, const std::string& message) {
    write_file(json, content);
    expect_refused({"-p", "A"}, 1, json + ": " + message);
  };
  expect_fault("[]", "found something else, expected a JSON object that describes an array");
  expect_fault("{}", "found no \"format\", expected \"format\": sortie suffix array");
  expect_fault("{\"format\": \"x\"}", "found \"x\", expected \"format\": sortie suffix array");
  for (const auto& [key, value, message] :
       {std::tuple{"format_version", 9, "found 9, expected \"format_version\": 1 or 2"},
        std::tuple{"width_bits", 24, "found 24, expected \"width_bits\": 32, 40 or 64"}}) {
    auto changed = nlohmann::json::parse(description);
    changed[key] = value;
    expect_fault(changed.dump(), message);
  }
  std::filesystem::remove(json);
  const Result result = query({"-p", "A"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("text.sa.json"));
}

TEST_F(QueryCommand, RefusesPatternsThatAreNone) {
  index(">x\nBANANA\n");
  expect_refused({}, 2, "found no patterns, expected --pattern or --patterns");
  expect_refused({"-p", ""}, 2, "--pattern: found an empty pattern, expected at least one letter");
  write_file(path("p"), "");
  expect_refused({"-f", path("p")}, 1,
                 path("p") + ": found an empty file, expected at least one pattern");
  write_file(path("p"), "A\n\nB\n");
  expect_refused({"-f", path("p")}, 1, path("p") + ":2: found an empty line, expected a pattern");
  write_file(path("p"), std::string("A\nB\0C\n", 6));
  expect_refused({"-f", path("p")}, 1,
                 path("p") + ":2: found \"\\x00\", expected a pattern without control characters");
  write_file(path("p"), ">x\nA\n>y\n");
  expect_refused({"-f", path("p")}, 1,
                 path("p") + ": found record 2 without letters, expected a pattern");
  expect_error(run_on_host({"query", "-", path("text.sa"), "-f", "-"}), 2,
               "found standard input for the text and the patterns, expected at least one file");
}

// Texts are case-sensitive and keep all bytes; a pattern is what stands on a line.
TEST_F(QueryCommand, FindsBytesOfTexts) {
  write_file(path("a"), std::string("Band\0ana\r\n>Band\xff\xff", 18));
  index_file(path("a"), {"--input", "text"});
  write_file(path("p"), "an\n>B\nd\xff\xff\nAn\n\r\n");
  EXPECT_THAT(found({"-f", path("p"), "-p", "a\r\n>"}),
              ElementsAre("a\r", ">\t1\t7", "an\t3\t1,5,12", ">B\t1\t10", "d\xff\xff\t1\t14",
                          "An\t0\t", "\r\t1\t8"));
}

TEST_F(QueryCommand, NamesDocumentsByFileAndLine) {
  if (!SORTIE_HAVE_SIMDJSON) GTEST_SKIP() << "JSONL needs simdjson";
  write_file(path("a.jsonl"), "{\"x\":\"\\u00e9t\\u00e9\"}\n\n{\"x\":\"\"}\n{\"x\":\"t\"}\n");
  write_file(path("list"), path("a.jsonl") + "\n" + path("a.jsonl") + "\n");
  index_file("@" + path("list"), {"--input", "jsonl", "--field", "x"});
  const std::string a = path("a.jsonl");
  EXPECT_THAT(found({"-p", "t", "-p", "\xc3\xa9"}),
              ElementsAre("t\t4\t" + a + ":1:2," + a + ":4:0," + a + ":1:2," + a + ":4:0",
                          "\xc3\xa9\t4\t" + a + ":1:0," + a + ":1:3," + a + ":1:0," + a + ":1:3"));
}

// The byte 0 of a document and a separator are the same byte.
TEST_F(QueryCommand, TellsDocumentsFromOneDocumentOfTheSameBytes) {
  if (!SORTIE_HAVE_SIMDJSON) GTEST_SKIP() << "JSONL needs simdjson";
  write_file(path("a.jsonl"), "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
  index_file(path("a.jsonl"), {"--input", "jsonl"});
  write_file(path("a.jsonl"), "{\"text\":\"a\\u0000b\"}\n");
  expect_error(query({"-p", "a"}), 1,
               path("text.sa") + ": found a suffix array of 2 letters, expected 3, as " +
                   path("a.jsonl") + " has");
}

TEST_F(QueryCommand, LeavesNoFileWhereItFails) {
  index(">x\nBANANA\n");
  write_file(path("text.sa"), "");
  const Result result = query({"-p", "A", "-o", path("out")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(names(), ElementsAre("text.fa", "text.sa", "text.sa.json"));
}

}  // namespace
}  // namespace sortie::test
