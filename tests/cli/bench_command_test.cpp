// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

class BenchCommand : public ProgramTest {
 protected:
  // Runs a benchmark and returns the rows of its report, all of which have to be right.
  std::vector<nlohmann::json> rows(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", path("rows.json"), "--repeat", "1"});
    const Result result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("median ms"));
    const auto report = nlohmann::json::parse(read_file(path("rows.json")));
    EXPECT_EQ(report["program"], "sortie");
    std::vector<nlohmann::json> rows = report["rows"];
    const auto printed = lines(result.out);  // phases are indented
    EXPECT_EQ(std::count_if(printed.begin(), printed.end(),
                            [](const std::string& line) { return !line.starts_with(' '); }),
              rows.size() + 1);
    for (const auto& row : rows) {
      EXPECT_EQ(row["failure"], "") << row;
      EXPECT_TRUE(row["agrees"]) << row;
      EXPECT_GT(row["rate"], 0) << row;
      EXPECT_EQ(row["repetitions"], 1);
    }
    return rows;
  }

  static std::set<std::string> column(const std::vector<nlohmann::json>& rows,
                                      const std::string& key) {
    std::set<std::string> values;
    for (const auto& row : rows) values.insert(row[key].get<std::string>());
    return values;
  }
};

TEST_F(BenchCommand, SortsEveryCaseOfSegments) {
  const auto found = rows({"bench", "segsort", "--items", "64K"});
  const auto cases = column(found, "case");
  for (const char* name : {"length 1", "length 65536", "length 1048576", "one segment",
                           "power law a=1.6 max 50", "skew, few huge", "skew, half in huge"}) {
    EXPECT_EQ(cases.count(name), 1u) << name;
  }
  EXPECT_EQ(cases.size(), 26u);
  EXPECT_EQ(column(found, "method").count("sortie"), 1u);
  for (const auto& row : found) EXPECT_EQ(row["items"], 65536);
}

TEST_F(BenchCommand, SortsOneArrayOnTheHostBesidePeers) {
  for (const char* type : {"u32", "u64", "f32", "f64"}) {
    const Result result =
        run({"bench", "sort", "--backend", "host", "--items", "20K", "--type", type, "--values",
             "u64", "--repeat", "1", "--json", path("rows.json"), "--csv", path("rows.csv")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(lines(result.out).front(), HasSubstr("median ms"));
    const auto report = nlohmann::json::parse(read_file(path("rows.json")));
    const std::vector<nlohmann::json> found = report["rows"];
    EXPECT_EQ(lines(read_file(path("rows.csv"))).size(), found.size() + 1);
    EXPECT_EQ(column(found, "case").size(), 13u);
    for (const char* method :
         {"memcpy", "sortie radix", "sortie merge", "std::sort", "std::stable_sort"})
      EXPECT_EQ(column(found, "method").count(method), 1u) << method;
    for (const auto& row : found) {
      EXPECT_EQ(row["backend"], "host");
      EXPECT_EQ(row["items"], 20480);
      EXPECT_TRUE(row["agrees"]) << row;
    }
  }
}

TEST_F(BenchCommand, SortOnTheHostRefusesWhatIsForGpus) {
  const std::vector<std::string> command = {"bench", "sort", "--backend", "host", "--items", "1K"};
  const std::vector<std::pair<std::vector<std::string>, int>> wrong = {
      {{"--gpus", "2"}, 2},           {{"--host-to-host"}, 2}, {{"--without-cub"}, 2},
      {{"--transport", "staged"}, 2}, {{"--type", "u8"}, 2},   {{"--algorithm", "rmg"}, 1},
      {{"--rmg", "fuse=2"}, 2}};
  for (const auto& [more, exit_code] : wrong) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).exit_code, exit_code) << more.front();
  }
}

TEST_F(BenchCommand, SortWithoutGpuTakesTheHost) {
  if (backend() == Backend::cuda) GTEST_SKIP() << "auto is CUDA here";
  const Result result =
      run({"bench", "sort", "--items", "1K", "--case", "uniform", "--repeat", "1", "--json", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_FALSE(report["rows"].empty());
  for (const auto& row : report["rows"]) EXPECT_EQ(row["backend"], "host");
}

TEST_F(BenchCommand, SortsOneArrayOverGpus) {
  if (backend() != Backend::cuda) GTEST_SKIP() << "no GPU";
  const Result result =
      run({"bench", "sort", "--items", "300K", "--gpus", "1", "--gpus", "3", "--values", "u32",
           "--algorithm", "radix", "--algorithm", "rmg", "--repeat", "1", "--json", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  const std::vector<nlohmann::json> found = report["rows"];
  EXPECT_EQ(column(found, "case").count("shared-digit"), 1u);
  EXPECT_EQ(column(found, "method").count("cub radix, 1 GPU"), 1u);
  EXPECT_EQ(column(found, "method").count("radix, 3 devices"), 1u);
  for (const auto& row : found) {
    EXPECT_EQ(row["items"], 307200);
    EXPECT_TRUE(row["agrees"]) << row;
  }
}

TEST_F(BenchCommand, SortsArraysOfOneDeviceBesideCub) {
  std::vector<std::string> arguments = {"bench", "device-sort", "--items", "20K",    "--items",
                                        "1K",    "--repeat",    "1",       "--json", "-"};
  for (const char* const type : {"u8", "f16", "i32", "f64"})
    arguments.insert(arguments.end(), {"--type", type});
  for (const char* const values : {"none", "u8", "u32", "u128", "positions64"})
    arguments.insert(arguments.end(), {"--values", values});
  for (const char* const keys : {"uniform", "few:3", "high-bits"})
    arguments.insert(arguments.end(), {"--keys", keys});
  const Result result = run(arguments);
  if (backend() != Backend::cuda) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, testing::HasSubstr("found the host backend, expected CUDA"));
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  // Each is also sorted by CUB and copied; floating-point keys have a second row of CUB's with their own type.
  EXPECT_EQ(report["rows"].size(), 4 * 5 * 3 * 2 * 3u + 2 * 2 * 3 * 2);
  for (const auto& row : report["rows"]) EXPECT_TRUE(row["agrees"]) << row;
  arguments.insert(arguments.end(), {"--values", "u24"});
  EXPECT_EQ(run(arguments).exit_code, 2);
}

TEST_F(BenchCommand, LinksAreMeasuredInAllDirections) {
  const Result result =
      run({"bench", "links", "--gpus", "2", "--bytes", "1M", "--repeat", "1", "--json", "-"});
  if (backend() != Backend::cuda) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, testing::HasSubstr("found the host backend, expected CUDA"));
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  const std::vector<nlohmann::json> found = report["rows"];
  // Two GPUs also copy without peer access, in each direction and both.
  const std::size_t by_runtime = static_cast<std::size_t>(std::count_if(
      found.begin(), found.end(), [](const auto& row) { return row["method"] == "runtime"; }));
  EXPECT_TRUE(by_runtime == 0 || by_runtime == 3) << by_runtime;
  EXPECT_EQ(found.size(), 2 * 3 + 3 + 2 + 3 * 2 + by_runtime);
  EXPECT_EQ(column(found, "case").count("device 0 and device 1, both ways"), 1u);
  std::set<std::string> methods{"direct", "staged"};
  if (by_runtime > 0) methods.insert("runtime");
  EXPECT_EQ(column(found, "method"), methods);
  for (const auto& row : found) EXPECT_TRUE(row["agrees"]) << row;
}

TEST_F(BenchCommand, HostToHostTimesAreComparedWithCubPlusCopies) {
  if (backend() != Backend::cuda) GTEST_SKIP() << "no GPU";
  const Result result =
      run({"bench", "sort", "--items", "300K", "--gpus", "1", "--case", "uniform", "--host-to-host",
           "--algorithm", "radix", "--repeat", "2", "--json", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string with_copies = "cub radix, 1 GPU + copies alone, 1 device";
  const auto report = nlohmann::json::parse(result.out);
  const std::vector<nlohmann::json> found = report["rows"];
  EXPECT_EQ(column(found, "method").count(with_copies), 1u);
  for (const auto& row : found) {
    const bool is_resident = row["method"] == "cub radix, 1 GPU";
    EXPECT_EQ(row["timed"],
              is_resident ? "device memory to device memory" : "host memory to host memory");
    const bool is_compared = row["method"] == "radix, 1 device, host to host";
    EXPECT_EQ(row["ratios"].size(), is_compared ? 1u : 0u) << row;
    EXPECT_EQ(row["ratios"].contains(with_copies), is_compared) << row;
  }
}

// A test for each type of key, so that processes can share them: each row starts the program.
class BenchCommandOfKeys : public BenchCommand, public testing::WithParamInterface<const char*> {};

TEST_P(BenchCommandOfKeys, SortsEveryTypeOfValue) {
  const std::string key = GetParam();
  for (const char* value : {"none", "u32", "f64"}) {
    const auto found = rows({"bench", "segsort", "--items", "10000", "--key", key, "--value", value,
                             "--case", "power law a=0.5 max 200"});
    EXPECT_EQ(column(found, "method").count("sortie"), 1u);
    // On CUDA there are two peers, compiled for unsigned keys only.
    const std::size_t peers = backend() == Backend::host ? 1 : key[0] == 'u' ? 2 : 0;
    EXPECT_EQ(found.size(), 2 + peers) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, BenchCommandOfKeys,
                         testing::Values("u32", "i32", "f32", "u64", "i64", "f64"),
                         [](const auto& key) { return std::string(key.param); });

TEST_F(BenchCommand, SortsCasesOfAnyLength) {
  const std::set<std::string> cases = {"length 3", "length 1000", "power law a=0.75 max 33"};
  std::vector<std::string> arguments = {"bench", "segsort", "--items", "5000"};
  for (const std::string& name : cases) arguments.insert(arguments.end(), {"--case", name});
  EXPECT_EQ(column(rows(arguments), "case"), cases);
}

TEST_F(BenchCommand, SortsSegmentsByTheAlgorithmsAskedFor) {
  const std::vector<std::string> command = {"bench",  "segsort",   "--backend", "host",
                                            "--case", "length 32", "--items",   "5000"};
  using Names = std::vector<std::string>;
  for (const auto& [asked, expected] : std::vector<std::pair<Names, Names>>{
           {{"sortie"}, {"memcpy", "sortie"}},
           {{"std::sort"}, {"memcpy", "std::sort"}},
           {{"std::sort", "sortie", "std::sort"}, {"memcpy", "std::sort", "sortie"}},
           {{}, {"memcpy", "sortie", "std::sort"}}}) {
    std::vector<std::string> arguments = command;
    for (const std::string& name : asked) arguments.insert(arguments.end(), {"--algorithm", name});
    Names found;
    for (const auto& row : rows(arguments)) found.push_back(row["method"]);
    EXPECT_EQ(found, expected);
  }
}

TEST_F(BenchCommand, RefusesAlgorithmsThatDoNotSortSegments) {
  expect_error(run_on_host({"bench", "segsort", "--algorithm", "std::qsort"}), 2,
               "segsort algorithm: found \"std::qsort\", expected sortie or std::sort");
  EXPECT_EQ(run({"bench", "segsort", "--grid", "--algorithm", "sortie"}).exit_code, 2);
  EXPECT_EQ(run({"bench", "segsort", "--launch-cost", "--algorithm", "sortie"}).exit_code, 2);
  if (backend() == Backend::cuda) {
    expect_error(run({"bench", "segsort", "--algorithm", "sortie"}), 2,
                 "segsort algorithm: found sortie and the CUDA backend, which times all methods, "
                 "expected the host");
  }
}

TEST_F(BenchCommand, SortsByBothPolicies) {
  const std::vector<std::string> arguments = {"bench",    "segsort", "--items", "5000",
                                              "--policy", "tuned",   "--case",  "length 32",
                                              "--policy", "ics17"};
  if (backend() == Backend::host) {
    expect_error(run(arguments), 1, "policy ics17: found the host backend, expected CUDA");
    return;
  }
  const auto methods = column(rows(arguments), "method");
  EXPECT_EQ(methods.count("sortie"), 1u);
  EXPECT_EQ(methods.count("sortie ics17"), 1u);
}

TEST_F(BenchCommand, SelectsTheTopOfSegments) {
  const std::vector<std::string> arguments = {"bench",   "segsort",   "--items", "5000",
                                              "--case",  "length 32", "--top-k", "3",
                                              "--top-k", "40"};
  if (backend() == Backend::host) {
    expect_error(run(arguments), 1, "top k: found the host backend, expected CUDA");
    return;
  }
  const auto methods = column(rows(arguments), "method");
  EXPECT_EQ(methods.count("read keys"), 1u);
  EXPECT_EQ(methods.count("sortie top-k"), 1u);
  EXPECT_EQ(methods.count("cub segmented"), 1u);
}

TEST_F(BenchCommand, SortsSegmentsOfOtherDistributions) {
  const std::vector<std::string> arguments = {
      "bench", "segsort", "--items", "5000", "--case", "length 100", "--key",
      "u16",   "--keys",  "uniform", "zipf", "sorted", "few",        "--no-peers"};
  if (backend() == Backend::host) {
    expect_error(run(arguments), 2, "keys: found zipf, expected uniform, or unsigned keys on CUDA");
    return;
  }
  const auto found = rows(arguments);
  EXPECT_EQ(column(found, "case"),
            (std::set<std::string>{"length 100", "length 100, zipf", "length 100, sorted",
                                   "length 100, few"}));
  EXPECT_EQ(column(found, "method"), (std::set<std::string>{"memcpy", "sortie"}));
  for (const auto& row : found) EXPECT_TRUE(row["agrees"]) << row;
}

TEST_F(BenchCommand, MeasuresAPartOfTheGrid) {
  const std::vector<std::string> arguments = {
      "bench", "segsort", "--grid", "--grid-part", "640/640", "--items", "100K", "--json", "-"};
  const Result result = run(arguments);
  if (backend() == Backend::host) {
    expect_error(result, 1, "the grid compares with CUB: found the host backend, expected CUDA");
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 points: minimum speedup"));
  const auto grid = nlohmann::json::parse(result.out)["grid"];
  EXPECT_EQ(grid["items"], 102400);
  ASSERT_EQ(grid["points"].size(), 1u);
  const auto point = grid["points"][0];
  EXPECT_EQ(point["exponent"], 1.6);
  EXPECT_EQ(point["longest"], 2000);
  EXPECT_GT(point["segments"], 0);
  EXPECT_GT(point["speedup"], 0);
  EXPECT_TRUE(point["agrees"]);
  EXPECT_EQ(grid["summary"]["minimum_speedup"], point["speedup"]);
  EXPECT_EQ(grid["summary"]["points"], 1);
}

TEST_F(BenchCommand, MeasuresTheCostOfALaunch) {
  const Result result = run({"bench", "segsort", "--launch-cost", "--json", "-"});
  if (backend() == Backend::host) {
    expect_error(result, 1, "the cost of a launch: found the host backend, expected CUDA");
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("graph us/call"));
  const auto report = nlohmann::json::parse(result.out)["launch_cost"];
  EXPECT_EQ(report["calls"], 100);
  std::set<std::string> methods;
  for (const auto& row : report["rows"]) {
    EXPECT_EQ(row["failure"], "") << row;
    EXPECT_TRUE(row["agrees"]) << row;
    EXPECT_GT(row["plain_microseconds"], 0) << row;
    if (row["method"] != "cub segmented") {
      EXPECT_GT(row["graph_microseconds"], 0) << row;
    }
    methods.insert(row["method"].get<std::string>());
  }
  EXPECT_EQ(methods,
            (std::set<std::string>{"empty kernel", "copy kernel", "sortie", "cub segmented"}));
}

TEST_F(BenchCommand, TunesTheKernels) {
  write_file(path("blocks.hpp"), "older");
  const Result result = run({"bench", "tune", "--items", "64K", "--repeat", "1", "--paper",
                             "--json", "-", "-o", path("blocks.hpp")});
  if (backend() == Backend::host) {
    expect_error(result, 1,
                 "tuning measures the kernels of CUDA: found the host backend, expected CUDA");
    EXPECT_EQ(read_file(path("blocks.hpp")), "older");
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("chosen:  batches to "));
  EXPECT_THAT(result.err, HasSubstr("smem-merge"));
  const auto tuning = nlohmann::json::parse(result.out)["tune"];
  EXPECT_EQ(tuning["items"], 65536);
  EXPECT_GT(tuning["times"].size(), 100u);
  EXPECT_EQ(tuning["chosen"]["classes"].back()["capacity"], 8192);
  EXPECT_EQ(tuning["paper"]["reg_sort"].size(), 216u);
  EXPECT_EQ(tuning["paper"]["smem_merge"].size(), 30u);
  const std::string header = read_file(path("blocks.hpp"));
  EXPECT_THAT(header, HasSubstr("struct BlockShapes {\n  int warps[block_classes] = {"));
}

TEST_F(BenchCommand, RelatesSortieToItsPeers) {
  for (const auto& row : rows({"bench", "segsort", "--items", "64K", "--case", "length 32"})) {
    if (row["method"] != "sortie") continue;
    ASSERT_FALSE(row["ratios"].empty());
    for (const auto& ratio : row["ratios"]) EXPECT_GT(ratio, 0);
    EXPECT_GT(row["percent_of_copy"], 0);
  }
}

// On CUDA rows are from device memory to device memory, and say so.
std::string product_case(const std::string& source) {
  return backend() == Backend::cuda ? source + " on the device" : source;
}

TEST_F(BenchCommand, MultipliesFilesAndGeneratedMatrices) {
  const std::vector<std::string> sources = {matrix("can___24.mtx"),
                                            "gen:er:500:5",
                                            "gen:rmat:8:4",
                                            "gen:banded:300:4",
                                            "gen:stencil5:20",
                                            "gen:stencil7:8",
                                            "gen:stencil9:20",
                                            "gen:stencil7:6:shuffled",
                                            "gen:stencil9:20x3",
                                            "gen:stencil7:8x2x5:2:shuffled",
                                            "gen:stencil27:6",
                                            "gen:stencil27:3:3",
                                            "gen:powerlaw:300:1.5:50",
                                            "gen:web:2K:8K:60K:50:2:0.3"};
  std::vector<std::string> arguments = {"bench", "spgemm"};
  arguments.insert(arguments.end(), sources.begin(), sources.end());
  const auto found = rows(arguments);
  for (const std::string& source : sources) {
    EXPECT_EQ(column(found, "case").count(product_case(source)), 1u) << source;
  }
  EXPECT_EQ(column(found, "method").count("essc"), 1u);
}

TEST_F(BenchCommand, TellsTheFiguresOfAProduct) {
  for (const auto& row : rows({"bench", "spgemm", "gen:stencil27:3:2", "--check-by", "row-wise"})) {
    EXPECT_EQ(row["case"], product_case("gen:stencil27:3:2"));
    EXPECT_EQ(row["nnz_c"], 54 * 54);  // every point is at most two steps from every other
    EXPECT_EQ(row["items"], 2 * row["products"].get<std::int64_t>());
    int rows_of_c = 0;
    for (const auto& [products, count] : row["rows_by_products"].items())
      rows_of_c += count.get<int>();
    EXPECT_EQ(rows_of_c, 54) << row["rows_by_products"];
    const bool on_device = backend() == Backend::cuda;
    EXPECT_EQ(row["peak_work_space"].is_number(), on_device) << row;
    EXPECT_EQ(row.contains("allocating_seconds"), on_device) << row;
    if (on_device) {
      EXPECT_EQ(row["allocating_seconds"].size(), 1u);
      EXPECT_GT(row["median_allocating_seconds"], 0);
    }
  }
}

TEST_F(BenchCommand, RefusesGeneratorsItDoesNotKnow) {
  expect_error(
      run_on_host({"bench", "spgemm", "gen:stencil5:3x3x3"}), 2,
      "found \"gen:stencil5:3x3x3\", expected gen:stencil5:N[:UNKNOWNS][:shuffled], with N "
      "or NxN");
  expect_error(run_on_host({"bench", "spgemm", "gen:stencil5:3x"}), 2,
               "gen:stencil5:3x: found \"\", expected a count such as 4096 or 10M");
  expect_error(
      run_on_host({"bench", "spgemm", "gen:stencil27:3:2:1"}), 2,
      "found \"gen:stencil27:3:2:1\", expected gen:stencil27:N[:UNKNOWNS][:shuffled], with N "
      "or NxNxN");
  expect_error(run_on_host({"bench", "spgemm", "gen:web:10:20"}), 2,
               "found \"gen:web:10:20\", expected "
               "gen:web:ROWS:NNZ:PRODUCTS:MAX_ROW_NNZ:SITE_ROWS:LOCALITY");
}

TEST_F(BenchCommand, MultipliesBySomeAlgorithmsInSinglePrecision) {
  const auto found =
      rows({"bench", "spgemm", "gen:er:500:5", "--precision", "f32", "--algorithm", "essc"});
  EXPECT_EQ(column(found, "method"), std::set<std::string>{"essc"});
}

TEST_F(BenchCommand, IndexesFilesAndGeneratedTexts) {
  const std::string phage = sequence("lambda_phage.fa.gz");
  const auto found = rows({"bench", "suffix-array", phage, "gen:dna:20K", "gen:repeats:20000",
                           "gen:mutated:" + phage + ":100K:0.01", "gen:fibonacci:5000",
                           "gen:letter:5000", "gen:period:7:5000:400", "text:" + phage});
  EXPECT_EQ(column(found, "case").size(), 8u);
  EXPECT_EQ(column(found, "method").count("prefix-doubling"), 1u);
  expect_error(run({"bench", "suffix-array", "gen:mutated:a.fa:100K"}), 2,
               "found \"gen:mutated:a.fa:100K\", expected gen:mutated:FILE:N:RATE");
}

TEST_F(BenchCommand, TellsTheRoundsOfDoubling) {
  const Result result = run({"bench", "suffix-array", "gen:letter:9", "--rounds", "2", "--repeat",
                             "1", "--json", path("rows.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("groups of a size"));
  const auto report = nlohmann::json::parse(read_file(path("rows.json")));
  const auto rounds = report["rows"][0]["rounds"];
  ASSERT_EQ(rounds.size(), 3u);  // 8 suffixes have 2 letters, 6 have 4, 2 have 8
  EXPECT_EQ(rounds[0]["depth"], 2);
  EXPECT_EQ(rounds[0]["unresolved"], 8);
  EXPECT_EQ(rounds[0]["groups"], 1);
  EXPECT_EQ(rounds[1]["largest_group"], 6);
  EXPECT_EQ(rounds[1]["groups_of_size"]["4-7"], 1);
  EXPECT_EQ(rounds[2]["groups_of_size"]["2-3"], 1);
  EXPECT_TRUE(report["rows"][0]["construction"].contains("rounds"));
  EXPECT_THAT(result.out, HasSubstr("the construction itself: "));
  for (std::size_t i = 1; i < report["rows"].size(); ++i) {
    EXPECT_FALSE(report["rows"][i].contains("rounds"));
  }
}

TEST_F(BenchCommand, QueriesDrawnAndRandomPatterns) {
  const auto found = rows({"bench", "query", sequence("lambda_phage.fa.gz"), "gen:repeats:20000",
                           "--patterns", "500", "--length", "12", "--max-hits", "3"});
  EXPECT_EQ(found.size(), 8u);
  EXPECT_EQ(column(found, "method"), (std::set<std::string>{"count", "locate"}));
  const std::string place = backend() == Backend::cuda ? " on the device" : "";
  EXPECT_EQ(column(found, "case").count("gen:repeats:20000, drawn" + place), 1u);
  EXPECT_EQ(column(found, "case").count("gen:repeats:20000, random" + place), 1u);
  for (const auto& row : found) EXPECT_EQ(row["items"], 500);
}

TEST_F(BenchCommand, WritesCsv) {
  const Result result = run({"bench", "spgemm", "gen:er:200:3", "--csv", "-", "--repeat", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto out = lines(result.out);
  ASSERT_GE(out.size(), 2u);
  EXPECT_EQ(out[0].substr(0, 27), "case,method,backend,items,r");
  EXPECT_EQ(out[1].substr(0, out[1].find(',')), product_case("gen:er:200:3"));
  EXPECT_THAT(result.err, HasSubstr("median ms"));
}

// What cannot be squared, read or had in f32 is told; the rest is measured, and the exit code says
// at the end that something is missing.
TEST_F(BenchCommand, GoesOnAfterASourceThatCannotBeMeasured) {
  const std::string wide = matrix("lp_share1b.mtx");
  const std::string empty = matrix("3by0.mtx");
  const std::string square = matrix("can___24.mtx");
  const Result result =
      run({"bench", "spgemm", wide, path("nowhere.mtx"), empty, square, "--repeat", "1",
           "--algorithm", "essc", "--json", path("rows.json"), "--csv", path("rows.csv")});
  const std::string complaint =
      wide + ": found a 117 x 253 matrix, expected a square one, which can be multiplied by itself";
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_NE(result.err, "");
  EXPECT_THAT(lines(result.err).back(),
              testing::EndsWith(complaint + " (and 2 of the other sources failed)"));
  const auto found = nlohmann::json::parse(read_file(path("rows.json")))["rows"];
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0]["case"], wide);
  EXPECT_EQ(found[0]["method"], "");
  EXPECT_EQ(found[0]["failure"], complaint);
  EXPECT_THAT(found[1]["failure"], HasSubstr("nowhere.mtx"));
  EXPECT_THAT(found[2]["failure"], HasSubstr("found a 3 x 0 matrix"));
  EXPECT_EQ(found[3]["case"], product_case(square));
  EXPECT_EQ(found[3]["agrees"], true);
  EXPECT_EQ(lines(read_file(path("rows.csv"))).size(), 5u);
}

TEST_F(BenchCommand, MultipliesComplexMatricesAsSuch) {
  const std::string file = matrix("young1c.mtx");
  const auto methods = column(rows({"bench", "spgemm", file}), "method");
  EXPECT_EQ(methods.count("essc"), 1u);
  const Result single = run({"bench", "spgemm", file, "gen:er:50:3", "--precision", "f32",
                             "--repeat", "1", "--algorithm", "essc"});
  EXPECT_EQ(single.exit_code, 1);
  EXPECT_THAT(single.out, HasSubstr("found complex entries, expected real ones, for f32"));
  EXPECT_THAT(single.out, HasSubstr(product_case("gen:er:50:3")));
}

TEST_F(BenchCommand, ReadsAMatrixFromStandardInput) {
  const Result result = run({"bench", "spgemm", "-", "--repeat", "1", "--algorithm", "essc"},
                            {.in = matrix("can___24.mtx.gz")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(BenchCommand, TellsThePhasesOfItsOwnAlgorithms) {
  const std::vector<std::string> arguments = {
      "bench", "spgemm", "gen:er:3000:9", "--algorithm", "essc", "--algorithm", "auto"};
  const auto found = rows(arguments);
  ASSERT_EQ(found.size(), 2u);
  for (const auto& row : found) {
    const auto& phases = row["phase_seconds"];
    EXPECT_TRUE(phases.contains("analysis")) << row;
    EXPECT_TRUE(phases.contains("rest")) << row;
    for (const auto& seconds : phases) EXPECT_GE(seconds, 0);
  }
  for (const char* phase : {"expansion", "sort", "compression"})
    EXPECT_GT(found[0]["phase_seconds"][phase], 0) << phase;
  auto with_phases = arguments;
  with_phases.insert(with_phases.end(), {"--phases", "--repeat", "2"});
  const Result shown = run(with_phases);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  const auto out = lines(shown.out);
  ASSERT_EQ(out.size(), 5u);
  EXPECT_THAT(out[2], HasSubstr("    analysis "));
  EXPECT_THAT(out[2], HasSubstr(" ms expansion "));
  EXPECT_THAT(out[4], HasSubstr(" ms rest "));
}

// Every way to make what results are compared with.
class BenchCommandCheckedBy : public BenchCommand,
                              public testing::WithParamInterface<const char*> {};

TEST_P(BenchCommandCheckedBy, AHostAlgorithm) {
  for (const char* precision : {"f32", "f64"}) {
    rows({"bench", "spgemm", "gen:powerlaw:2000:1.3:500", "--check-by", GetParam(), "--precision",
          precision});
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, BenchCommandCheckedBy,
                         testing::Values("eigen", "row-wise", "reference", "essc"),
                         [](const auto& algorithm) {
                           std::string name = algorithm.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(BenchCommand, MultipliesByTheTransposeWhereAsked) {
  const std::string file = matrix("lp_share1b.mtx");
  const auto products = rows({"bench", "spgemm", file, "--transpose-b", "--algorithm", "essc"});
  ASSERT_EQ(products.size(), 1u);
  EXPECT_EQ(products[0]["agrees"], true);
}

}  // namespace
}  // namespace sortie::test
