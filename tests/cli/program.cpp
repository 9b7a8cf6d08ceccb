// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <system_error>

#include "tests/cli/program.hpp"
#include "tests/support/backend.hpp"

extern char** environ;

namespace sortie::test {
namespace {

// The place after the subcommand where options may be put in; none for calls that compute nothing.
std::size_t subcommand_length(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return 0;
  for (const char* name : {"spgemm", "suffix-array", "query"}) {
    if (arguments[0] == name) return 1;
  }
  return arguments[0] == "bench" && arguments.size() > 1 ? 2 : 0;
}

void choose_backend(std::vector<std::string>& arguments) {
  const std::size_t length = subcommand_length(arguments);
  if (length == 0 ||
      std::find(arguments.begin(), arguments.end(), "--backend") != arguments.end()) {
    return;
  }
  const std::string chosen = backend() == Backend::cuda ? "cuda" : "host";
  const auto place = arguments.begin() + static_cast<std::ptrdiff_t>(length);
  arguments.insert(place, {"--backend", chosen});
}

class SpawnActions {
 public:
  SpawnActions() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // A test driver may ignore signals, and the program would inherit that.
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void open(int descriptor, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0600);
  }
  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }

  /// \param variables  "NAME=value", added to the environment
  pid_t spawn(std::vector<std::string> words, std::vector<std::string> variables = {}) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    for (char** inherited = environ; *inherited != nullptr; ++inherited)
      environment.push_back(*inherited);
    environment.push_back(nullptr);
    pid_t child = 0;
    const int failure = posix_spawn(&child, pointers[0], &actions_, &attributes_, pointers.data(),
                                    environment.data());
    if (failure != 0) throw std::system_error(failure, std::generic_category(), words[0]);
    return child;
  }

  static bool has_ended(pid_t child) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child;
  }

  /// Waits for the end of a process; 128 + signal when it was killed.
  static int wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// The writing end of a pipe without a reader.
int closed_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  close(ends[0]);
  return ends[1];
}

}  // namespace

std::string program_path() {
  const char* installed = std::getenv("SORTIE_PROGRAM");
  return installed != nullptr ? installed : SORTIE_BUILT_PROGRAM;
}

Result run_on_host(std::vector<std::string> arguments, const Streams& streams) {
  const std::size_t words = !arguments.empty() && arguments[0] == "bench" ? 2 : 1;
  arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(words), {"--backend", "host"});
  return run(std::move(arguments), streams);
}

Result run(std::vector<std::string> arguments, const Streams& streams) {
  choose_backend(arguments);
  arguments.insert(arguments.begin(), streams.program);
  const auto scratch = std::filesystem::path(testing::TempDir());
  const std::string out_path = scratch / fmt::format("sortie_cli_out_{}", getpid());
  const std::string err_path = scratch / fmt::format("sortie_cli_err_{}", getpid());
  SpawnActions actions;
  constexpr int fresh = O_WRONLY | O_CREAT | O_TRUNC;
  actions.open(STDIN_FILENO, streams.in, O_RDONLY);
  const int pipe_end = streams.closed_pipe ? closed_pipe() : -1;
  if (streams.closed_pipe) {
    actions.duplicate(pipe_end, STDOUT_FILENO);
  } else {
    actions.open(STDOUT_FILENO, streams.out.empty() ? out_path : streams.out, fresh);
  }
  actions.open(STDERR_FILENO, err_path, fresh);
  Result result;
  result.exit_code = SpawnActions::wait(actions.spawn(arguments, streams.environment));
  if (pipe_end >= 0) close(pipe_end);
  if (streams.out.empty() && !streams.closed_pipe) result.out = read_file(out_path);
  result.err = read_file(err_path);
  std::filesystem::remove(out_path);
  std::filesystem::remove(err_path);
  return result;
}

int run_until_signal(std::vector<std::string> arguments, const std::string& pipe,
                     const std::string& input, int signal) {
  arguments.insert(arguments.begin(), program_path());
  // Opened for both, so that neither side waits for the other to open it.
  const int end = open(pipe.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (end < 0) throw std::system_error(errno, std::generic_category(), pipe);
  SpawnActions actions;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    actions.open(stream, "/dev/null", O_WRONLY);
  const pid_t child = actions.spawn(arguments);
  for (std::size_t done = 0; done < input.size();) {
    const ssize_t written = write(end, input.data() + done, input.size() - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
      continue;
    }
    if (errno != EAGAIN) throw std::system_error(errno, std::generic_category(), pipe);
    // The pipe is full: a program that has ended would never empty it.
    if (SpawnActions::has_ended(child)) break;
    constexpr int milliseconds = 10;
    pollfd writable{end, POLLOUT, 0};
    poll(&writable, 1, milliseconds);
  }
  kill(child, signal);
  const int code = SpawnActions::wait(child);
  close(end);
  return code;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

void ProgramTest::SetUp() {
  std::string pattern = (std::filesystem::path(testing::TempDir()) / "sortie_cli_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

void ProgramTest::TearDown() {
  std::filesystem::remove_all(folder_);
}

std::vector<std::string> ProgramTest::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    found.push_back(entry.path().filename());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void expect_error(const Result& result, int exit_code, const std::string& message) {
  EXPECT_EQ(result.exit_code, exit_code);
  EXPECT_EQ(result.out, "");
  // CLI11 writes a range as "1 to 31" or, in newer versions, as "[1 - 31]".
  static const std::regex range(R"(not in range \[(\S+) - (\S+)\])");
  EXPECT_EQ(std::regex_replace(result.err, range, "not in range $1 to $2"),
            "sortie: " + message + "\n");
}

}  // namespace sortie::test
