// SPDX-License-Identifier: Apache-2.0
#include "core/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie {

namespace {

/// Compressed bytes read at a time: enough to make the cost of the system call negligible beside
/// inflate, few enough to stay in the L2 cache.
constexpr std::size_t compressed_chunk = std::size_t{256} << 10;

/// First allocation for input of unknown size.
constexpr std::size_t unknown_size_start = std::size_t{1} << 20;

/// Largest expansion factor of deflate: an upper bound for the size field of a gzip file.
constexpr std::uint64_t max_deflate_ratio = 1032;

constexpr std::string_view gzip_magic = "\x1f\x8b";

/// An open file descriptor, closed by the destructor unless it is standard input.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0)
      throw Error(ErrorKind::input,
                  fmt::format("{}: cannot be opened: {}, expected a readable file", path,
                              std::strerror(errno)));
  }
  ~Descriptor() {
    if (number_ != STDIN_FILENO) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

struct ByteSource::State {
  State(const std::string& path, Content content)
      : name(path == "-" ? "<stdin>" : path), descriptor(path) {
    struct stat status = {};
    if (::fstat(descriptor.number(), &status) == 0) {
      if (S_ISDIR(status.st_mode)) throw input_error(name, 0, "a folder", "a file");
      if (S_ISREG(status.st_mode)) {
        size_hint = static_cast<std::uint64_t>(status.st_size);
        // Advice only: correctness does not depend on it.
        static_cast<void>(::posix_fadvise(descriptor.number(), 0, 0, POSIX_FADV_SEQUENTIAL));
      }
    }
    if (content == Content::raw) return;
    head.resize(gzip_magic.size());
    head.resize(read_raw(head));
    compressed = std::string_view(head.data(), head.size()) == gzip_magic;
    if (compressed) start_gzip();
  }
  ~State() {
    if (compressed) inflateEnd(&stream);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Fills `into` from the file. Returns fewer bytes only at the end of the file.
  std::size_t read_raw(std::span<char> into) const {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t got = ::read(descriptor.number(), into.data() + filled, into.size() - filled);
      if (got == 0) break;
      if (got < 0) {
        if (errno == EINTR) continue;
        throw Error(ErrorKind::input,
                    fmt::format("{}: cannot be read: {}, expected a readable file", name,
                                std::strerror(errno)));
      }
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  }

  std::size_t read_plain(std::span<char> into) {
    const std::size_t from_head = std::min(head.size(), into.size());
    std::copy_n(head.begin(), from_head, into.begin());
    head.erase(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(from_head));
    return from_head + read_raw(into.subspan(from_head));
  }

  void start_gzip() {
    constexpr int gzip_window = 15 + 16;  // largest window, gzip wrapper only
    if (inflateInit2(&stream, gzip_window) != Z_OK)
      throw out_of_memory_error("the gzip decoder", compressed_chunk, host_memory_available());
    buffer.resize(compressed_chunk);
    std::copy(head.begin(), head.end(), buffer.begin());
    fetched = head.size();
    stream.next_in = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_in = static_cast<uInt>(head.size());
    head.clear();
    first_header.extra = extra_field.data();
    first_header.extra_max = static_cast<uInt>(extra_field.size());
    inflateGetHeader(&stream, &first_header);
  }

  /// Reads compressed bytes when the buffer is empty. Returns false at the end of the file.
  bool refill() {
    if (stream.avail_in > 0) return true;
    const std::size_t got = read_raw(buffer);
    fetched += got;
    stream.next_in = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  [[nodiscard]] Error damaged(std::string_view why) const {
    return input_error(
        name, 0, fmt::format("damaged gzip stream at byte {} ({})", fetched - stream.avail_in, why),
        "valid deflate data");
  }

  /// True if only zero bytes follow: padding of tapes and blocks, which gzip accepts as well.
  bool only_zeros_left() {
    while (refill()) {
      const auto* const end = stream.next_in + stream.avail_in;
      const auto* const other = std::find_if(stream.next_in, stream.next_in + stream.avail_in,
                                             [](Bytef b) { return b != 0; });
      stream.avail_in = static_cast<uInt>(end - other);
      if (other != end) return false;
    }
    return true;
  }

  /// Handles the bytes after a complete member: another member, zero padding or the end of the file.
  void end_member() {
    const bool last_was_empty = member_size == 0;
    // The extra field "BC" (which holds the block size) identifies bgzf.
    if (first_header.done == 1 && first_header.extra_len >= 2)
      blocked = extra_field[0] == 'B' && extra_field[1] == 'C';
    member_size = 0;
    if (!refill() || *stream.next_in == 0) {
      if (!only_zeros_left()) throw damaged("data after the zero padding");
      // A bgzf file truncated between two blocks is valid gzip. Only the missing end marker shows it.
      if (blocked && !last_was_empty)
        throw input_error(name, 0, fmt::format("bgzf stream cut off after {} bytes", fetched),
                          "its end marker, an empty block");
      finished = true;
      return;
    }
    if (*stream.next_in != static_cast<Bytef>(gzip_magic[0]))
      throw damaged("trailing bytes that are not gzip");
    inflateReset(&stream);
  }

  std::size_t read_gzip(std::span<char> into) {
    std::size_t filled = 0;
    while (filled < into.size() && !finished) {
      if (!refill()) {
        throw input_error(name, 0, fmt::format("gzip stream cut off after {} bytes", fetched),
                          "its end with checksum and length");
      }
      const std::size_t wanted =
          std::min<std::size_t>(into.size() - filled, std::numeric_limits<uInt>::max());
      stream.next_out = reinterpret_cast<Bytef*>(into.data() + filled);
      stream.avail_out = static_cast<uInt>(wanted);
      const int status = inflate(&stream, Z_NO_FLUSH);
      const std::size_t got = wanted - stream.avail_out;
      filled += got;
      member_size += got;
      if (status == Z_STREAM_END) {
        end_member();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw damaged(stream.msg != nullptr ? stream.msg : "unreadable");
      }
    }
    return filled;
  }

  std::string name;
  Descriptor descriptor;
  std::uint64_t size_hint = 0;
  std::vector<char> head;  ///< bytes read to recognise gzip, not yet returned
  bool compressed = false;

  // The rest is used for gzip only.
  z_stream stream = {};
  std::vector<char> buffer;       ///< compressed bytes; stream.next_in points into it
  std::uint64_t fetched = 0;      ///< compressed bytes read from the file
  std::uint64_t member_size = 0;  ///< bytes decompressed from the current member
  bool finished = false;
  gz_header first_header = {};  ///< its extra field identifies bgzf
  std::array<unsigned char, 64> extra_field = {};
  bool blocked = false;  ///< the file is bgzf, which ends with an empty member
};

ByteSource::ByteSource(const std::string& path, Content content)
    : state_(std::make_unique<State>(path, content)) {}
ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(std::span<char> into) {
  return state_->compressed ? state_->read_gzip(into) : state_->read_plain(into);
}

const std::string& ByteSource::name() const {
  return state_->name;
}
std::uint64_t ByteSource::size_hint() const {
  return state_->size_hint;
}
bool ByteSource::compressed() const {
  return state_->compressed;
}

std::uint64_t ByteSource::content_size_hint() const {
  if (!compressed()) return size_hint();
  // The last four bytes of a gzip file hold the size of its last member modulo 2^32. This is exact
  // for the common case of one member below 4 GiB and a lower bound otherwise.
  std::array<unsigned char, 4> field = {};
  if (size_hint() < field.size() ||
      ::pread(state_->descriptor.number(), field.data(), field.size(),
              static_cast<off_t>(size_hint() - field.size())) != ssize_t{field.size()})
    return 0;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < field.size(); ++i) size |= std::uint64_t{field[i]} << (8 * i);
  return std::min(size, size_hint() * max_deflate_ratio);
}

namespace {

/// \throws Error (out_of_memory) `size` and the `held` bytes exceed the budget, or the memory
ByteBuffer allocate(std::size_t size, std::size_t held, std::uint64_t budget,
                    const std::string& name) {
  const auto refusal = [&](std::uint64_t wanted, std::uint64_t free) {
    const Error error = out_of_memory_error("reading the file", wanted, free);
    return Error(error.kind(), fmt::format("{}: {}", name, error.what()));
  };
  if (budget != 0 && held + size > budget) throw refusal(held + size, budget);
  try {
    return {std::make_unique_for_overwrite<char[]>(size), size};
  } catch (const std::bad_alloc&) {
    throw refusal(size, host_memory_available());
  }
}

}  // namespace

ByteBuffer read_all(const std::string& path, std::uint64_t memory_budget) {
  ByteSource source(path);
  const std::uint64_t hint = source.content_size_hint();
  // With one byte more than expected, the first read reaches the end of the file.
  ByteBuffer buffer =
      allocate(hint > 0 ? hint + 1 : unknown_size_start, 0, memory_budget, source.name());
  std::size_t filled = 0;
  while (true) {
    filled += source.read({buffer.data.get() + filled, buffer.size - filled});
    if (filled < buffer.size) break;
    ByteBuffer larger = allocate(2 * buffer.size, buffer.size, memory_budget, source.name());
    std::memcpy(larger.data.get(), buffer.data.get(), filled);
    buffer = std::move(larger);
  }
  buffer.size = filled;
  return buffer;
}

}  // namespace sortie
