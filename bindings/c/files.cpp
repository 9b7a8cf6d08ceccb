// SPDX-License-Identifier: Apache-2.0

// Files of matrices and sequences.

#include <string>
#include <utility>
#include <vector>

#include "bindings/c/context.hpp"
#include "bindings/c/sparse.hpp"
#include "bindings/c/types.hpp"
#include "sortie/fasta.hpp"
#include "sortie/matrix_market.hpp"

struct sortie_sequences {
  sortie::sequences::Text text;
  std::vector<std::uint64_t> separators;
};

using sortie::c::guarded;
using sortie::c::require_pointer;
namespace matrices = sortie::matrices;

sortie_status sortie_read_matrix_header(sortie_context* context, const char* path,
                                        sortie_matrix_header* header) {
  return guarded(context, [&] {
    require_pointer("path", path, 1);
    require_pointer("header", header, 1);
    const matrices::MatrixMarketHeader found = matrices::read_matrix_market_header(path);
    *header = {found.rows,
               found.cols,
               found.entries,
               found.field == matrices::Field::complex,
               found.field == matrices::Field::pattern,
               found.symmetry != matrices::Symmetry::general};
  });
}

sortie_status sortie_read_matrix(sortie_context* context, const char* path, sortie_type value_type,
                                 sortie_type col_idx_type, sortie_csr** matrix) {
  return guarded(context, [&] {
    require_pointer("path", path, 1);
    require_pointer("matrix", matrix, 1);
    const sortie::Context settings = sortie::c::settings_of(*context);
    *matrix =
        sortie::c::with_value_type(value_type, [&]<class Value>(Value) {
          return sortie::c::with_index_type("col_idx_type", col_idx_type, [&]<class Idx>(Idx) {
            return sortie::c::to_matrix(matrices::read_matrix_market<Value, Idx>(settings, path));
          });
        }).release();
  });
}

sortie_status sortie_write_matrix(sortie_context* context, const char* path,
                                  const sortie_csr_view* matrix) {
  return guarded(context, [&] {
    require_pointer("path", path, 1);
    sortie::c::check_view("matrix", matrix);
    if (matrix->memory != SORTIE_HOST_MEMORY)
      sortie::c::refuse("matrix.memory", "device memory", "host memory");
    require_pointer("matrix.values", matrix->values, static_cast<std::uint64_t>(matrix->nnz));
    const sortie::Context settings = sortie::c::settings_of(*context);
    sortie::c::with_value_type(matrix->value_type, [&]<class Value>(Value) {
      sortie::c::with_index_type("col_idx_type", matrix->col_idx_type, [&]<class Idx>(Idx) {
        matrices::write_matrix_market(settings, path,
                                      sortie::c::to_csr<Value, Idx>("matrix", *matrix));
      });
    });
  });
}

sortie_status sortie_read_sequences(sortie_context* context, const char* path, const char* alphabet,
                                    unsigned flags, sortie_sequences** sequences) {
  return guarded(context, [&] {
    require_pointer("path", path, 1);
    require_pointer("alphabet", alphabet, 1);
    require_pointer("sequences", sequences, 1);
    if ((flags & ~unsigned{SORTIE_KEEP_CASE}) != 0)
      sortie::c::refuse("flags", fmt::format("{:#x}", flags), "SORTIE_KEEP_CASE or 0");
    sortie::sequences::ReadOptions options;
    options.alphabet = sortie::sequences::parse_alphabet(alphabet);
    options.letter_case =
        flags != 0 ? sortie::sequences::Case::keep : sortie::sequences::Case::upper;
    auto text = sortie::sequences::read_fasta(sortie::c::settings_of(*context), path, options);
    auto separators = text.separators();
    *sequences = new sortie_sequences{std::move(text), std::move(separators)};
  });
}

sortie_text sortie_sequences_text(const sortie_sequences* sequences) {
  if (sequences == nullptr) return {};
  return {sequences->text.symbols.data(), sequences->text.symbols.size(),
          sequences->separators.data(), sequences->separators.size(), SORTIE_HOST_MEMORY};
}

uint64_t sortie_sequences_count(const sortie_sequences* sequences) {
  return sequences == nullptr ? 0 : sequences->text.records.size();
}

const char* sortie_sequences_record(const sortie_sequences* sequences, uint64_t i, uint64_t* offset,
                                    uint64_t* length) {
  if (i >= sortie_sequences_count(sequences)) return nullptr;
  const sortie::sequences::Record& record = sequences->text.records[i];
  if (offset != nullptr) *offset = record.offset;
  if (length != nullptr) *length = record.length;
  return record.name.c_str();
}

void sortie_sequences_destroy(sortie_sequences* sequences) {
  delete sequences;
}
