/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts keys with values, and finds the positions of sorted keys. */
#include <sortie/sortie.h>
#include <stdio.h>

int main(void) {
  double prices[] = {3.5, -1.0, 2.25, 3.5};
  const char* names[] = {"pear", "refund", "fig", "plum"};
  uint32_t order[4];
  sortie_context* context = sortie_context_create();
  sortie_status status =
      sortie_argsort(context, SORTIE_HOST_MEMORY, SORTIE_F64, prices, 4, SORTIE_U32, order, 0);
  if (status == SORTIE_OK) /* Values of any size move with the keys: here pointers. */
    status = sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_F64, prices, prices, 4, names, names,
                         sizeof(names[0]), SORTIE_DESCENDING | SORTIE_STABLE);
  if (status != SORTIE_OK) fprintf(stderr, "%s\n", sortie_last_error(context));
  for (int i = 0; i < 4; ++i) printf("%s %g (%u)\n", names[i], prices[i], (unsigned)order[i]);
  sortie_context_destroy(context);
  return status == SORTIE_OK && order[0] == 1 && order[3] == 3 && prices[0] == 3.5 ? 0 : 1;
}
