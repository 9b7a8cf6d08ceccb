/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the rows of a ragged array. */
#include <sortie/sortie.h>
#include <stdio.h>

int main(void) {
  int32_t items[] = {5, 1, 4, 9, 2, 7, 7, 3};
  const int64_t offsets[] = {0, 3, 3, 8}; /* three rows, of which one is empty */
  const sortie_segments rows = {3, SORTIE_I64, offsets, offsets + 1};
  sortie_context* context = sortie_context_create();
  const sortie_status status = sortie_segmented_sort(context, SORTIE_HOST_MEMORY, SORTIE_I32, items,
                                                     items, 8, NULL, NULL, 0, &rows, 0);
  if (status != SORTIE_OK) fprintf(stderr, "%s\n", sortie_last_error(context));
  for (int i = 0; i < 8; ++i) printf("%d ", (int)items[i]);
  printf("\n");
  sortie_context_destroy(context);
  return status == SORTIE_OK && items[0] == 1 && items[2] == 5 && items[3] == 2 ? 0 : 1;
}
