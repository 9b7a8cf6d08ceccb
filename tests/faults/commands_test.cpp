// SPDX-License-Identifier: Apache-2.0

// Every command with a fault in every kind of system call that it makes: an error, a call that
// moves half of the bytes or none, a signal. After each run, every output is complete or as it was
// before, no temporary file is left, and the exit code and standard error tell which.
//
// One call of each kind gets each fault. With SORTIE_FAULTS_MANY set in the environment, up to 40
// do, which takes some minutes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "matrices/generators.hpp"
#include "sortie/matrix_market.hpp"
#include "tests/faults/injection.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A command. In its arguments, "@NAME" is the path of a file in the folder of the test.
struct Command {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> outputs;  ///< files that it writes; reports end with ".report"
  std::string in = {};               ///< file to be standard input
  std::string base = {};  ///< folder of the test's folder; empty: that of temporary files
  bool nameless = true;   ///< the file system has files without a name
  int single_files = 0;   ///< written before those that get their names together
  int together = 2;       ///< files that get their names together
  std::vector<std::string> last = {};  ///< outputs that come when all others are complete
};

void PrintTo(const Command& command, std::ostream* stream) {
  *stream << command.name;
}

std::vector<Command> commands() {
  return {
      {"spgemm_text",
       {"spgemm", "@a.mtx", "-o", "@c.mtx", "--json", "@r.report"},
       {"c.mtx", "r.report"}},
      {"spgemm_gzip", {"spgemm", "@a.mtx.gz", "@a.mtx", "-o", "@c.npz"}, {"c.npz"}},
      {"spgemm_npz", {"spgemm", "@a.npz", "-o", "@c.npz"}, {"c.npz"}},
      {"spgemm_standard_streams", {"spgemm", "-", "-o", "-"}, {}, "a.mtx"},
      {"spgemm_streamed", {"spgemm", "@g.mtx", "-o", "@c.mtx", "--max-memory", "256K"}, {"c.mtx"}},
      {"spgemm_streamed_npz",
       {"spgemm", "@g.mtx", "-o", "@c.npz", "--max-memory", "256K"},
       {"c.npz"}},
      {"suffix_array",
       {"suffix-array", "@t.fa", "-o", "@sa", "--lcp", "@lcp", "--bwt", "@bwt", "--inverse", "@inv",
        "--documents", "@doc", "--json", "@r.report"},
       {"sa", "sa.json", "lcp", "lcp.json", "bwt", "bwt.json", "inv", "inv.json", "doc", "doc.json",
        "r.report"}},
      {"suffix_array_bgzf_text", {"suffix-array", "@t.fa.gz", "-o", "@sa", "--text"}, {"sa"}},
      {"query", {"query", "@t.fa", "@index", "-f", "@patterns", "-o", "@found"}, {"found"}},
      {"matches",
       {"matches", "@t.fa", "@t.fa", "--min-length", "15", "-o", "@matches", "--plot", "@plot"},
       {"matches", "plot"}},
      {"dedup",
       {"dedup", "@letters", "--min-length", "40", "--keep", "first", "--ranges", "@ranges", "-o",
        "@cleaned", "--report", "@r.report"},
       {"ranges", "cleaned", "r.report"},
       "",
       "",
       true,
       1},
      {"index",
       {"index", "@t.fa", "--format", "bwa,bwa-mem2", "-p", "@i"},
       {"i.amb", "i.ann", "i.pac", "i.bwt", "i.sa", "i.0123", "i.bwt.2bit.64"},
       "",
       "",
       true,
       0,
       7,
       {"i.bwt", "i.bwt.2bit.64"}},
      {"kmers",
       {"kmers", "@t.fa", "-k", "7", "--histogram", "@histogram", "-o", "@table", "--json",
        "@r.report"},
       {"table", "histogram", "r.report"}},
      {"kmers_union", {"kmers", "--union", "@kmers.a", "@kmers.b", "-o", "@table"}, {"table"}},
      {"sort_memory", {"sort", "@keys", "--type", "u32", "-o", "@sorted"}, {"sorted"}},
      {"sort_spill",
       {"sort", "@keys", "--type", "u32", "--values", "u32", "--stable", "--verify", "--max-memory",
        "200K", "-o", "@sorted"},
       {"sorted"}},
      {"sort_standard_streams",
       {"sort", "-", "--type", "u32", "-o", "-", "--max-memory", "200K"},
       {},
       "keys"},
      {"sort_named_temporary",
       {"sort", "@keys", "--type", "u32", "-o", "@sorted", "--max-memory", "200K"},
       {"sorted"},
       {},
       {},
       false},
      {"sort_memory_file_system",
       {"sort", "gen:uniform:1500K", "--type", "u32", "-o", "@sorted"},
       {"sorted"},
       {},
       "/dev/shm"},
  };
}

/// Faults of a call, and what may come of them.
struct Fault {
  std::string call;
  std::string kind;
  int value = 0;
  bool harmless = false;  ///< the result must be complete
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"open", "error", EIO},
      {"open", "signal", SIGTERM},
      {"tmpfile", "error", EOPNOTSUPP, true},
      {"read", "error", EIO},
      {"read", "lasting", EIO},
      {"read", "error", EINTR, true},
      {"read", "short", 0, true},
      {"read", "signal", SIGTERM},
      {"write", "error", ENOSPC},
      {"write", "lasting", ENOSPC},
      {"write", "error", EPIPE},
      {"write", "error", EINTR, true},
      {"write", "short", 0, true},
      {"write", "nothing", ENOSPC},
      {"write", "signal", SIGINT},
      {"write", "signal", SIGKILL},
      {"truncate", "error", EFBIG},
      {"truncate", "signal", SIGTERM},
      {"punch", "error", EOPNOTSUPP, true},
      {"punch", "signal", SIGTERM},
      {"map", "error", ENOMEM, true},
      {"populate", "error", EFAULT, true},
      {"populate", "signal", SIGTERM},
      {"link", "error", ENOSPC},
      {"link", "error", EEXIST, true},
      {"link", "signal", SIGTERM},
      {"link", "signal", SIGKILL},
      {"rename", "error", EIO},
      {"rename", "signal", SIGTERM},
      {"rename", "signal", SIGKILL},
      {"close", "error", EIO},
      {"close", "signal", SIGTERM},
  };
  return all;
}

/// How runs ended, by fault.
struct Ends {
  int complete = 0;
  int reported = 0;
  int killed = 0;
};
std::map<std::string, Ends>& table() {
  static std::map<std::string, Ends> ends;
  return ends;
}

bool many_calls() {
  return std::getenv("SORTIE_FAULTS_MANY") != nullptr;
}

/// Numbers of the calls, of `count`, that get a fault: another one each time, or up to 40 at equal
/// distances.
std::set<int> chosen_calls(int count) {
  static int offset = 0;
  const int most = std::min(many_calls() ? 40 : 1, count);
  std::set<int> chosen;
  for (int i = 0; i < most; ++i) chosen.insert(1 + (offset + i * count / most) % count);
  ++offset;
  return chosen;
}

class CommandFaults : public testing::TestWithParam<std::tuple<Command, int>> {
 protected:
  static void TearDownTestSuite() {
    int injected = 0;
    fmt::print("{:<46}{:>10}{:>10}{:>10}{:>10}\n", "fault", "injected", "complete", "reported",
               "killed");
    for (const auto& [fault, ends] : table()) {
      const int all = ends.complete + ends.reported + ends.killed;
      fmt::print("{:<46}{:>10}{:>10}{:>10}{:>10}\n", fault, all, ends.complete, ends.reported,
                 ends.killed);
      injected += all;
    }
    fmt::print("{:<46}{:>10}\n", "all", injected);
  }

  void SetUp() override {
    static const bool works = can_inject();
    if (!works) GTEST_SKIP() << "LD_PRELOAD has no effect on this build of the program";
    if (!command_.base.empty() && !fs::exists(command_.base))
      GTEST_SKIP() << "found no " << command_.base;
    folder_.emplace(command_.base.empty() ? fs::temp_directory_path() : fs::path(command_.base));
    write_inputs();
    inputs_ = names();
    setting_.folder = fs::canonical(folder_->path(".")).string();
    if (!command_.in.empty()) setting_.in = path(command_.in);
    setting_.nameless = command_.nameless;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_->path(name); }

  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_->path("")))
      found.insert(entry.path().filename());
    return found;
  }

  void write_inputs() const {
    const std::string data = SORTIE_TEST_DATA;
    fs::copy_file(data + "/matrices/valid/can___24.mtx", path("a.mtx"));
    fs::copy_file(data + "/matrices/valid/can___24.mtx.gz", path("a.mtx.gz"));
    fs::copy_file(data + "/sequences/valid/mirbase_hairpin_200.fa", path("t.fa"));
    fs::copy_file(data + "/sequences/valid/lambda_phage.bgzf.fa.gz", path("t.fa.gz"));
    matrices::write_matrix_market({}, path("g.mtx"),
                                  matrices::erdos_renyi<double>(1500, 1500, 4, 7));
    write_file(path("patterns"), "ACGU\nGGA\nUUU\n");
    Random random(7);
    std::string keys;
    while (keys.size() < 1'200'000) keys.push_back(static_cast<char>(random.next()));
    write_file(path("keys"), keys);
    std::string letters;
    while (letters.size() < 300'000) letters += static_cast<char>('a' + random.below(26));
    write_file(path("letters"), letters + letters.substr(100'000));
    write_file(path("kmers.a"), "AAC\t1\nCCC\t2\n");
    write_file(path("kmers.b"), "AAC\t3\nGGG\t2\n");
    ASSERT_EQ(run({"spgemm", path("a.mtx"), "-o", path("a.npz")}).exit_code, 0);
    ASSERT_EQ(run({"suffix-array", path("t.fa"), "-o", path("index")}).exit_code, 0);
  }

  /// Runs the command with outputs that exist before, or do not.
  InjectedRun run_command(const Injection& injection, bool existing) const {
    for (const std::string& output : command_.outputs) {
      fs::remove(path(output));
      if (existing) write_file(path(output), older);
    }
    std::vector<std::string> arguments = command_.arguments;
    for (std::string& argument : arguments)
      if (argument.starts_with('@')) argument = path(argument.substr(1));
    arguments.insert(arguments.end(), {"-t", std::to_string(threads_), "-q"});
    return run_with(injection, setting_, arguments);
  }

  /// The content of an output; none if it does not exist.
  [[nodiscard]] std::optional<std::string> content(const std::string& output) const {
    if (!fs::exists(path(output))) return {};
    return content_of(path(output));
  }

  /// Whether an output is an array with a description in another file.
  [[nodiscard]] bool is_described(const std::string& output) const {
    return std::find(command_.outputs.begin(), command_.outputs.end(), output + ".json") !=
           command_.outputs.end();
  }

  /// Whether an output is what the command writes.
  [[nodiscard]] bool is_complete(const std::string& output) const {
    const auto found = content(output);
    if (!found) return false;
    // Reports contain times.
    if (output.ends_with(".report")) return nlohmann::json::accept(*found);
    return *found == expected_.at(output);
  }

  void check(const Fault& fault, const Injection& injection, bool existing) const {
    const InjectedRun done = run_command(injection, existing);
    if (!done.injected) return;  // several threads made fewer calls this time
    const bool complete = check_outputs(injection, existing, done.result.out);
    check_names(injection);
    check_end(fault, injection, done.result, complete);
  }

  /// \return whether all outputs are what the command writes
  [[nodiscard]] bool check_outputs(const Injection& injection, bool existing,
                                   const std::string& out) const {
    EXPECT_TRUE(expected_out_.starts_with(out)) << "standard output has other bytes";
    bool complete = out == expected_out_;
    for (const std::string& output : command_.outputs) {
      const auto found = content(output);
      const bool whole = is_complete(output);
      const bool as_before = existing ? found == older : !found;
      // Two files cannot be renamed at once: an array whose description cannot follow is removed, and
      // so are the files of an index.
      const bool removed_alone =
          !found && injection.call == "rename" && (is_described(output) || command_.together > 2);
      EXPECT_TRUE(whole || as_before || removed_alone)
          << output << (found ? " was changed" : " was removed");
      complete = complete && whole;
    }
    const auto is_last = [&](const std::string& output) {
      return std::ranges::find(command_.last, output) != command_.last.end();
    };
    const auto is_new = [&](const std::string& output) { return is_complete(output); };
    if (std::ranges::any_of(command_.last, is_new)) {
      for (const std::string& output : command_.outputs)
        EXPECT_TRUE(is_last(output) || is_complete(output)) << output << " is not there";
    }
    return complete;
  }

  /// Expects no file that the command does not write, and removes what is found.
  void check_names(const Injection& injection) const {
    std::set<std::string> left = names();
    for (const std::string& input : inputs_) left.erase(input);
    for (const std::string& output : command_.outputs) left.erase(output);
    // Nothing removes a name that exists when SIGKILL arrives. Of files that are completed together,
    // the first ones have names when the others get their own.
    const int later = injection.number - command_.single_files;
    const bool has_name = injection.call == "rename" || !command_.nameless ||
                          (injection.call == "link" && later > 0 && later % command_.together != 1);
    const bool excused = injection.kind == "signal" && injection.value == SIGKILL && has_name;
    if (!excused) {
      EXPECT_THAT(left, testing::IsEmpty());
    }
    for (const std::string& name : left) fs::remove(path(name));
  }

  /// Expects the exit code and the line that tell what happened.
  void check_end(const Fault& fault, const Injection& injection, const Result& result,
                 bool complete) const {
    Ends& ends = table()[describe(injection)];
    if (result.exit_code == 0) {
      ++ends.complete;
      EXPECT_TRUE(complete) << "exit code 0, but the output is not complete";
      EXPECT_EQ(result.err, "");
    } else if (injection.kind == "signal") {
      ++ends.killed;
      EXPECT_EQ(result.exit_code, 128 + injection.value) << result.err;
      EXPECT_EQ(result.err, "");
    } else {
      ++ends.reported;
      EXPECT_FALSE(fault.harmless);
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
      EXPECT_THAT(result.err, StartsWith("sortie: "));
      // Beyond memory, what goes to standard output is sorted in the folder of temporary files.
      EXPECT_THAT(result.err,
                  AnyOf(HasSubstr(fs::path(path("")).parent_path()), HasSubstr("<stdin>"),
                        HasSubstr("<stdout>"), HasSubstr(fs::temp_directory_path())));
      EXPECT_THAT(result.err, HasSubstr(std::strerror(injection.value)));
      if (injection.kind == "lasting" && injection.number == 1)
        expect_line_of_one_thread(injection, result.err);
    }
  }

  /// Where every call fails, the first fault in the order of the file is reported, whichever
  /// thread it is in: the line of several threads is that of one.
  void expect_line_of_one_thread(const Injection& injection, std::string line) const {
    static std::map<std::string, std::string> lines_of_one;
    for (std::size_t at = 0; (at = line.find(setting_.folder)) != std::string::npos;)
      line.erase(at, setting_.folder.size());
    const std::string run = command_.name + " " + describe(injection);
    EXPECT_EQ(line, lines_of_one.emplace(run, line).first->second);
  }

  static constexpr const char* older = "older";
  const Command command_ = std::get<0>(GetParam());
  const int threads_ = std::get<1>(GetParam());
  std::optional<TemporaryFolder> folder_;
  InjectionSetting setting_;
  std::set<std::string> inputs_;
  std::map<std::string, std::string> expected_;
  std::string expected_out_;
};

TEST_P(CommandFaults, LeaveWholeOutputsAndTheTruth) {
  const InjectedRun clean = run_command({}, true);
  ASSERT_EQ(clean.result.exit_code, 0) << clean.result.err;
  expected_out_ = clean.result.out;
  for (const std::string& output : command_.outputs) {
    ASSERT_NE(content(output), older) << output;
    expected_[output] = content(output).value();
  }
  static bool existing = false;
  for (const Fault& fault : faults()) {
    const auto calls = clean.calls.find(fault.call);
    if (calls == clean.calls.end()) continue;
    // Only streams can be pipes. Signals do the same to one thread as to several.
    if (fault.value == EPIPE && !command_.outputs.empty()) continue;
    if (fault.kind == "signal" && threads_ == 1 && !many_calls()) continue;
    std::set<int> numbers = chosen_calls(calls->second);
    if (fault.kind == "lasting") numbers.insert(1);
    // Every state that a kill may leave of files whose order matters.
    if (fault.call == "rename" && fault.value == SIGKILL && !command_.last.empty())
      for (int number = 1; number <= calls->second; ++number) numbers.insert(number);
    for (const int number : numbers) {
      const Injection injection{fault.call, fault.kind, fault.value, number};
      SCOPED_TRACE(fmt::format("{} at call {} of {}, outputs that {}", describe(injection), number,
                               calls->second, existing ? "exist" : "do not exist"));
      check(fault, injection, existing);
      existing = !existing;
      if (many_calls() && (fault.call == "link" || fault.call == "rename"))
        check(fault, injection, existing);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CommandFaults,
                         testing::Combine(testing::ValuesIn(commands()), testing::Values(1, 4)),
                         [](const auto& info) {
                           return fmt::format("{}_{}_threads", std::get<0>(info.param).name,
                                              std::get<1>(info.param));
                         });

}  // namespace
}  // namespace sortie::test
