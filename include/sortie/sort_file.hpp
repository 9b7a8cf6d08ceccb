// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"
#include "sortie/sort.hpp"

namespace sortie::sorting {

/// Layout of a record in a file: a key, followed by its value if there is one; both little-endian,
/// without padding, as NumPy's dtype([("key", "<u4"), ("value", "<u8")]).
struct RecordFormat {
  KeyType key = KeyType::u32;
  std::optional<KeyType> value;

  [[nodiscard]] int value_bytes() const { return value ? key_bytes(*value) : 0; }
  [[nodiscard]] std::uint64_t record_bytes() const {
    return static_cast<std::uint64_t>(key_bytes(key) + value_bytes());
  }
};

/// \param key    "u8" to "f64"
/// \param value  "" for no values, else a type of 4 or 8 bytes
/// \throws Error (usage)
[[nodiscard]] SORTIE_API RecordFormat parse_record_format(std::string_view key,
                                                          std::string_view value);

/// "u32 keys", "u32 keys with u64 values"
[[nodiscard]] SORTIE_API std::string describe(const RecordFormat& format);

/// A sequential source of records.
class SORTIE_API RecordSource {
 public:
  virtual ~RecordSource() = default;

  /// Reads the next records into `into`, whose size is a multiple of a record. Returns the number
  /// of records read; it is less than the capacity of `into` only at the end. A sort calls it from
  /// one thread at a time, but not always from the same one.
  /// \throws Error (input)
  [[nodiscard]] virtual std::uint64_t read(std::span<char> into) = 0;

  /// Total number of records, if known before reading.
  [[nodiscard]] virtual std::optional<std::uint64_t> records() const = 0;

  /// Whether read_at() works; then records() is known. A sort on a GPU then need not hold the
  /// records in host memory.
  [[nodiscard]] virtual bool in_any_order() const { return false; }

  /// Reads records from number `first` on. Does not change what read() returns next. Several threads
  /// may call it at the same time.
  /// \pre in_any_order(), and the records exist
  /// \throws Error (input); (usage) the source does not have it
  virtual void read_at(std::uint64_t first, std::span<char> into) const;
};

/// Opens a raw file ("-": standard input). It is never decompressed, unlike the text formats of
/// other subcommands: keys may begin with the magic bytes of any format.
/// \param threads  threads that read large ranges of a file, at least 1; a pipe takes one
/// \throws Error (input) it cannot be opened or is a directory; its length is not a multiple of a
///         record (thrown as soon as the length is known)
[[nodiscard]] SORTIE_API std::unique_ptr<RecordSource> open_record_file(const std::string& path,
                                                                        const RecordFormat& format,
                                                                        int threads = 1);

/// What sort_records_of() does.
struct FileSortRequest {
  RecordFormat format;
  SortOptions options;
  std::string output;   ///< file to write, "-" for standard output, "" for none
  bool verify = false;  ///< Check the order, and that the records are those that were read.
  int repeat = 1;       ///< Repetitions; the median time is reported. Only if all records fit.
};

struct SortResult {
  std::uint64_t records = 0;
  std::uint64_t runs = 1;          ///< sorted chunks that were merged; 1: all records fit in memory
  std::uint64_t merge_rounds = 0;  ///< how often every record was merged
  double seconds = 0;              ///< sort time; includes I/O only if the records did not fit
};

/// Sorts the records of a source into a file, also if memory does not hold them.
///
/// The budget is context.memory_budget, or three quarters of the free memory. It bounds all
/// buffers: at most 3 MiB per thread for blocks, which take at most a quarter, and the rest for
/// records and the scratch of the sort:
///
/// | sort                                    | scratch               | in memory       | chunk   |
/// |-----------------------------------------|-----------------------|-----------------|---------|
/// | on the host, not `merge`; without       | at most 8 MiB per     | all of the rest | half as |
/// | values, or not stable                   | thread and 1/16 byte  | but the scratch | much    |
/// |                                         | per record            |                 |         |
/// | others, and all with little memory      | a copy                | half            | a third |
///
/// Records beyond that are sorted in chunks. While one is sorted, the previous one is spilled to a
/// temporary file beside the output, and the next one is read, on other threads. Then the runs are
/// merged: parts of each run are in memory, the next parts are read beside the merge, and exact
/// splits (plan/multi_sequence.hpp) divide it among the threads, which write their blocks. Many
/// chunks and little memory take several rounds. The output is complete or absent, and no temporary
/// file outlives the process.
///
/// On CUDA the GPUs sort the chunks, also those beyond GPU memory, and the host merges.
///
/// \param context  backend, threads, memory budget (of host memory);
///                 progress: "sort", or "sort chunks" and "merge"; report: phases "read", "sort"
///                 and those of sort(), "spill", "merge", "verify", "write". Beyond memory, "spill"
///                 is the time that the sort waited for the end of spilling and reading beside it,
///                 and "read" within "merge" the same of the merge
/// \throws Error (input) from the source; (output) the output or a temporary file cannot be
///         written; (out_of_memory) the budget is below 64 KiB; (usage) `repeat` is not 1 and the
///         records do not fit; (unavailable) as sort(); (check) `verify` failed
[[nodiscard]] SORTIE_API SortResult sort_records_of(const Context& context, RecordSource& source,
                                                    const FileSortRequest& request);

}  // namespace sortie::sorting
