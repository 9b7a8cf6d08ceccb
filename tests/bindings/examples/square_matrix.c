/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a matrix, multiplies it by its own transpose, given by hand, and prints the product. */
#include <sortie/sortie.h>
#include <stdio.h>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const int64_t row_ptr[] = {0, 1, 2, 3};
  const int32_t col_idx[] = {0, 0, 1};
  const double values[] = {1.5, 4, -2};
  const sortie_csr_view b = {
      3, 2, 3, SORTIE_I64, SORTIE_I32, SORTIE_F64, SORTIE_HOST_MEMORY, row_ptr, col_idx, values};
  sortie_context* context = sortie_context_create();
  sortie_csr* a = NULL;
  sortie_csr* c = NULL;
  sortie_status status = sortie_read_matrix(context, arguments[1], SORTIE_F64, SORTIE_I32, &a);
  if (status == SORTIE_OK) {
    const sortie_csr_view view = sortie_csr_get(a);
    status = sortie_spgemm(context, &view, &b, 0, &c);
  }
  if (status != SORTIE_OK) fprintf(stderr, "%s\n", sortie_last_error(context));
  const sortie_csr_view product = sortie_csr_get(c);
  for (int64_t row = 0; row < product.rows; ++row) {
    const int64_t* offsets = product.row_ptr;
    for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i)
      printf("(%d, %d) %g\n", (int)row, (int)((const int32_t*)product.col_idx)[i],
             ((const double*)product.values)[i]);
  }
  sortie_csr_destroy(a);
  sortie_csr_destroy(c);
  sortie_context_destroy(context);
  return status == SORTIE_OK && product.nnz > 0 ? 0 : 1;
}
