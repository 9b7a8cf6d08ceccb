/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes the sequences of a FASTA file, and counts two patterns. */
#include <sortie/sortie.h>
#include <stdio.h>

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const uint8_t letters[] = {'A', 'C', 'G', 'T', 'T'};
  const uint64_t bounds[] = {0, 3, 5}; /* ACG and TT */
  const sortie_patterns patterns = {letters, bounds, 2};
  uint64_t begins[2] = {0, 0};
  uint64_t ends[2] = {0, 0};
  sortie_context* context = sortie_context_create();
  sortie_sequences* sequences = NULL;
  sortie_array* suffixes = NULL;
  sortie_status status = sortie_read_sequences(context, arguments[2], "dna", 0, &sequences);
  const sortie_text text = sortie_sequences_text(sequences);
  if (status == SORTIE_OK) status = sortie_suffix_array(context, &text, SORTIE_U32, &suffixes);
  if (status == SORTIE_OK)
    status = sortie_find(context, &text, SORTIE_U32, sortie_array_get(suffixes).data, &patterns,
                         begins, ends);
  if (status != SORTIE_OK) fprintf(stderr, "%s\n", sortie_last_error(context));
  printf("ACG occurs %d times, TT %d times\n", (int)(ends[0] - begins[0]),
         (int)(ends[1] - begins[1]));
  sortie_array_destroy(suffixes);
  sortie_sequences_destroy(sequences);
  sortie_context_destroy(context);
  return status == SORTIE_OK && ends[0] - begins[0] == 2 && ends[1] - begins[1] == 1 ? 0 : 1;
}
