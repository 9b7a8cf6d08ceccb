// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "apps/genome_index/genome_text.hpp"
#include "apps/genome_index/index_outputs.hpp"
#include "apps/genome_index/suffix_rows.hpp"
#include "sortie/genome_index.hpp"

/// The formats of indexes. To add one: write a source with the two functions of a family, declare
/// them here, and add the family, or the name of a format to an existing family, to the table in
/// genome_index.cpp.
namespace sortie::genomes {

class BwaLetters;

/// What is wanted of a family.
struct IndexRequest {
  const GenomeText& genome;
  const GenomeIndexOptions& options;
  std::string_view fasta;  ///< the path of the FASTA as the user gave it
  std::string_view gtf;    ///< its bytes, if there is one
  bool is_last = false;    ///< no other family reads the genome later
  /// Of plan_bwa_indexes(), for write_bwa_indexes().
  mutable std::shared_ptr<const BwaLetters> bwa_letters;

  [[nodiscard]] bool wants(std::string_view format) const {
    return std::ranges::find(options.formats, format) != options.formats.end();
  }
};

/// The settings of work on the host: the memory budget of a context on CUDA is of the device.
[[nodiscard]] HostContext on_host(const Context& context);

/// The context with the budget that is left when `bytes` of host memory are taken, at least 1 byte,
/// since 0 is none.
[[nodiscard]] Context less_memory(const Context& context, std::uint64_t bytes);

/// The context with a budget to which the bytes of the genome are added, if no other family reads
/// them later: the family then frees them before it takes what the budget is for.
[[nodiscard]] Context without_genome(const Context& context, const IndexRequest& request);

/// Formats that share work: the suffix arrays of the same texts. Both functions are called if one
/// of the formats, or several, are wanted.
struct IndexFamily {
  std::span<const std::string_view> formats;
  /// Checks that the tool can index this genome, adds the files with their sizes and warnings, and
  /// raises the memory to what write() takes beside the genome.
  /// \throws Error (input) a genome of which the tool would make a wrong or useless index
  void (*plan)(const Context& context, const IndexRequest& request, GenomeIndexPlan& plan);
  /// Writes the files. \pre plan() was called
  void (*write)(const Context& context, const IndexRequest& request, IndexOutputs& outputs);
};

/// bwa and bwa-mem2.
void plan_bwa_indexes(const Context& context, const IndexRequest& request, GenomeIndexPlan& plan);
void write_bwa_indexes(const Context& context, const IndexRequest& request, IndexOutputs& outputs);

/// bowtie2 and HISAT2.
void plan_fm_indexes(const Context& context, const IndexRequest& request, GenomeIndexPlan& plan);
void write_fm_indexes(const Context& context, const IndexRequest& request, IndexOutputs& outputs);

/// STAR.
void plan_star_index(const Context& context, const IndexRequest& request, GenomeIndexPlan& plan);
void write_star_index(const Context& context, const IndexRequest& request, IndexOutputs& outputs);

}  // namespace sortie::genomes
