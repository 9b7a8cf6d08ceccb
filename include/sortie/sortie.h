/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SORTIE_SORTIE_H
#define SORTIE_SORTIE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * The C interface of Sortie (C99): sorts, products of sparse matrices, suffix arrays, and the files
 * that hold their operands. It is implemented over the C++ headers of this folder, which say more
 * about algorithms, complexity and memory.
 *
 * Every call that can fail takes a context and returns a status. If it is not SORTIE_OK,
 * sortie_last_error() gives one line that says what was found and what was expected, results are not
 * set, and operands are as documented for the call. No C++ exception leaves a call. Null operands of
 * size 0 are accepted.
 *
 * A context serves one thread at a time; several contexts may be used by several threads at once.
 * The host algorithms use all cores when they are called by the thread that used them first, and one
 * core when called by another thread.
 *
 * Enumerations are of type int32_t; other values than theirs are refused.
 *
 * The caller states where arrays are, by sortie_memory. Device memory belongs to the context's
 * device, and calls on it are ordered on the context's stream; each call says whether the host waits.
 * Results are objects of the library with getters; they are freed by the caller.
 */

#if defined(__GNUC__)
#define SORTIE_C_API __attribute__((visibility("default")))
#else
#define SORTIE_C_API
#endif

/** Version of this interface. A library with another one cannot be used by a program compiled with
 * this header; see sortie_interface_version(). */
#define SORTIE_INTERFACE_VERSION 1

/* --- Status and context ----------------------------------------------------------------------- */

typedef int32_t sortie_status;
enum {
  SORTIE_OK = 0,
  SORTIE_INPUT = 1,         /**< the data is invalid: file, shape, offset, index, symbol */
  SORTIE_USAGE = 2,         /**< the call is invalid, whatever the data */
  SORTIE_OUTPUT = 3,        /**< a file could not be written */
  SORTIE_OUT_OF_MEMORY = 4, /**< the message has the bytes wanted and free where they are known */
  SORTIE_UNAVAILABLE = 5,   /**< not in this build, or no such device on this machine */
  SORTIE_DEVICE = 6,        /**< a call of CUDA or cuSPARSE failed */
  SORTIE_CHECK = 7,         /**< a result failed its verification */
  SORTIE_CANCELLED = 8,     /**< the progress function asked for it */
  SORTIE_INTERNAL = 9       /**< a fault of the library */
};

typedef int32_t sortie_backend;
enum {
  SORTIE_BACKEND_AUTOMATIC = 0, /**< CUDA if the build has it and a GPU is found, else the host */
  SORTIE_BACKEND_CUDA = 1,
  SORTIE_BACKEND_HOST = 2
};

/** Where the arrays of a call are. */
typedef int32_t sortie_memory;
enum {
  SORTIE_HOST_MEMORY = 0,  /**< also page-locked memory */
  SORTIE_DEVICE_MEMORY = 1 /**< of the context's device; also managed memory */
};

/** Types of array elements. */
typedef int32_t sortie_type;
enum {
  SORTIE_U8 = 0,
  SORTIE_I8 = 1,
  SORTIE_U16 = 2,
  SORTIE_I16 = 3,
  SORTIE_U32 = 4,
  SORTIE_I32 = 5,
  SORTIE_F32 = 6,
  SORTIE_U64 = 7,
  SORTIE_I64 = 8,
  SORTIE_F64 = 9,
  SORTIE_C128 = 10, /**< two doubles, real part first; values of matrices only */
  SORTIE_F16 = 11,  /**< keys only, as the next: IEEE 754 binary16 */
  SORTIE_BF16 = 12  /**< the upper half of a float */
};

/** Bytes of an element; 0 for a number that is not a sortie_type. */
SORTIE_C_API size_t sortie_type_bytes(sortie_type type);

/** Settings of calls, and the message of the last error. Opaque. */
typedef struct sortie_context sortie_context;

/** Called during long computations, on the thread of the call. `done` ascends to `total` in each
 * phase; a total of 0 is unknown. The names of phases are valid during the call. \return 0 to go on;
 * another value cancels: the call returns SORTIE_CANCELLED as soon as it can. What it should have
 * written, and arrays that it sorts in place, then hold anything */
typedef int (*sortie_progress)(void* user, const char* phase, uint64_t done, uint64_t total);

/** A context with the defaults: backend automatic, device 0, the default stream, all cores, all free
 * memory, no progress. \return NULL if there is no memory */
SORTIE_C_API sortie_context* sortie_context_create(void);
/** NULL is accepted. Results that were made with the context stay valid. */
SORTIE_C_API void sortie_context_destroy(sortie_context* context);

/** Applies to calls on host memory. Calls on device memory always run on the device. */
SORTIE_C_API sortie_status sortie_set_backend(sortie_context* context, sortie_backend backend);
/** \param device  CUDA device ordinal. That it exists is checked by the calls that use it. */
SORTIE_C_API sortie_status sortie_set_device(sortie_context* context, int device);
/** \param stream  a cudaStream_t of the context's device; NULL: the default stream */
SORTIE_C_API sortie_status sortie_set_stream(sortie_context* context, void* stream);
/** \param threads  of the host; 0: OMP_NUM_THREADS if set, else all cores. The first call that runs
 * on the host fixes the number for the process; later calls with another one return SORTIE_USAGE. */
SORTIE_C_API sortie_status sortie_set_threads(sortie_context* context, int threads);
/** \param bytes  that a call may take in addition to its operands and a sparse product; 0: all free
 * memory. On a GPU, of its memory. */
SORTIE_C_API sortie_status sortie_set_memory_budget(sortie_context* context, uint64_t bytes);
/** \param progress  NULL: none */
SORTIE_C_API sortie_status sortie_set_progress(sortie_context* context, sortie_progress progress,
                                               void* user);

/** The message of the last call with this context that did not return SORTIE_OK; "" if there was
 * none. Valid until the next such call. */
SORTIE_C_API const char* sortie_last_error(const sortie_context* context);

/* --- Version and devices ---------------------------------------------------------------------- */

/** SORTIE_INTERFACE_VERSION of the library. */
SORTIE_C_API int sortie_interface_version(void);
/** For example "0.2.0". */
SORTIE_C_API const char* sortie_version(void);
/** Commit of the sources, or "unknown". */
SORTIE_C_API const char* sortie_commit(void);
/** Whether the build has the CUDA backend. */
SORTIE_C_API int sortie_built_with_cuda(void);
/** Version of the CUDA toolkit of the build; "" without CUDA. */
SORTIE_C_API const char* sortie_cuda_toolkit_version(void);

typedef struct sortie_device_info {
  int ordinal;
  int compute_major;
  int compute_minor;
  int multiprocessors;
  uint64_t memory_total; /**< bytes */
  uint64_t memory_free;  /**< bytes, at the time of the call */
  char name[128];
} sortie_device_info;

/** Number of usable devices; 0 without CUDA, a driver or a GPU. */
SORTIE_C_API int sortie_device_count(void);
/** Why sortie_device_count() is 0; "" if it is not. Valid until the next call on this thread. */
SORTIE_C_API const char* sortie_why_no_device(void);
SORTIE_C_API sortie_status sortie_get_device(sortie_context* context, int ordinal,
                                             sortie_device_info* info);
/** Bytes that the library has in use on the context's device, kept results included; 0 if the device
 * has not been used. */
SORTIE_C_API sortie_status sortie_device_memory_in_use(sortie_context* context, uint64_t* bytes);

/* --- Sorting ---------------------------------------------------------------------------------- */

/** Flags of the sorts. */
enum {
  SORTIE_DESCENDING = 1, /**< the exact reverse of the ascending order of keys */
  SORTIE_STABLE = 2,     /**< equal keys keep their order. On device memory every sort does so. */
  SORTIE_UNSORTED = 4    /**< sortie_top_k() and sortie_segmented_top_k(): results in any order */
};

/** Sorts an array. Floating-point keys are ordered by IEEE 754 totalOrder: -NaN < -inf < ... < -0.0
 * < +0.0 < ... < +inf < +NaN.
 * \param type          of the keys, U8 to F64
 * \param keys          `size` elements
 * \param sorted_keys   `size` elements; the same array as `keys` (sorts in place), or one that does not
 *                      overlap it
 * \param values        moved with the keys: `size` elements of `value_bytes` bytes; NULL if value_bytes
 *                      is 0
 * \param sorted_values as sorted_keys
 * \param value_bytes   any size. Values of other sizes than 4 and 8 bytes are moved by their positions,
 *                      which take 8 bytes an element.
 * \param flags         SORTIE_DESCENDING | SORTIE_STABLE
 * Arrays of keys must not overlap arrays of values.
 * Extra memory: host as sortie/sort.hpp says; device a copy of keys and values, in place one more, and
 * for keys of less than 4 bytes 8 bytes an element.
 * Device memory: the work is ordered on the context's stream, and the host does not wait. */
SORTIE_C_API sortie_status sortie_sort(sortie_context* context, sortie_memory memory,
                                       sortie_type type, const void* keys, void* sorted_keys,
                                       uint64_t size, const void* values, void* sorted_values,
                                       size_t value_bytes, unsigned flags);

/** The positions of the keys in sorted order, equal keys by position: keys[positions[i]] ascends (or
 * descends). The keys are not changed.
 * \param position_type  SORTIE_U32 (fewer than 2^32 keys), SORTIE_I32 (up to 2^31), SORTIE_U64 or
 *                       SORTIE_I64
 * \param positions      `size` elements
 * Extra memory: a copy of the keys, 8 bytes an element for positions, for keys of segments of less than
 * 4 bytes 4 bytes an element more; work space as for sortie_sort(). Device memory: as sortie_sort(). */
SORTIE_C_API sortie_status sortie_argsort(sortie_context* context, sortie_memory memory,
                                          sortie_type type, const void* keys, uint64_t size,
                                          sortie_type position_type, void* positions,
                                          unsigned flags);

/** Segments of an array: segment i is [begins[i], ends[i]). Segments may be empty, in any order and
 * with gaps, whose elements are not moved, but must not overlap. For `count` + 1 offsets as in CSR,
 * pass offsets and offsets + 1. */
typedef struct sortie_segments {
  uint64_t count;
  sortie_type offset_type; /**< SORTIE_I32, SORTIE_U32, SORTIE_I64 or SORTIE_U64 */
  const void* begins;      /**< in the same memory as the keys */
  const void* ends;
} sortie_segments;

/** Sorts every segment of an array. Arrays and flags as for sortie_sort(); elements outside of all
 * segments are copied. Host memory: offsets beyond the array, negative ones, and ends before their
 * begins are an error (SORTIE_INPUT), and nothing is written. Device memory: offsets are not checked;
 * the work is ordered on the context's stream, and the host does not wait. */
SORTIE_C_API sortie_status sortie_segmented_sort(sortie_context* context, sortie_memory memory,
                                                 sortie_type type, const void* keys,
                                                 void* sorted_keys, uint64_t size,
                                                 const void* values, void* sorted_values,
                                                 size_t value_bytes,
                                                 const sortie_segments* segments, unsigned flags);

/** The positions in the array, from 0, of the keys of every segment in sorted order, equal keys by
 * position. Positions of elements outside of all segments are their own. The keys are not changed.
 * \param position_type  as for sortie_argsort()
 * \param positions      `size` elements
 * Extra memory: as sortie_argsort(). */
SORTIE_C_API sortie_status sortie_segmented_argsort(sortie_context* context, sortie_memory memory,
                                                    sortie_type type, const void* keys,
                                                    uint64_t size, const sortie_segments* segments,
                                                    sortie_type position_type, void* positions,
                                                    unsigned flags);

/** The k least keys of an array, in ascending order; with SORTIE_DESCENDING the k greatest, in
 * descending order; with SORTIE_UNSORTED in any order. They are the first k keys of sortie_sort()
 * with SORTIE_STABLE: of equal keys, those at the lowest positions, in the order of these. The keys
 * are not changed.
 * \param k              results, from 0. If there are fewer keys, the places that remain hold zeros
 *                       in top_keys, and -1 (all bits set) in positions.
 * \param top_keys       `k` elements; NULL: not wanted
 * \param position_type  as for sortie_argsort(), whatever k; of no meaning without positions
 * \param positions      `k` elements: where the keys are in `keys`; NULL: not wanted
 * Both arrays must not overlap `keys` or each other; one of them must be wanted.
 * Extra memory: host 8 bytes a result, and as sortie/top_k.hpp says; device as
 * sortie/device_top_k.hpp says. Device memory: as sortie_sort(). */
SORTIE_C_API sortie_status sortie_top_k(sortie_context* context, sortie_memory memory,
                                        sortie_type type, const void* keys, uint64_t size,
                                        uint64_t k, void* top_keys, sortie_type position_type,
                                        void* positions, unsigned flags);

/** The k least, or greatest, keys of every segment of an array. As sortie_top_k(), with `k` places
 * for each segment: those of segment i begin at i * k. Positions count from the start of the array.
 * Offsets are checked, or not, as by sortie_segmented_sort(). */
SORTIE_C_API sortie_status sortie_segmented_top_k(sortie_context* context, sortie_memory memory,
                                                  sortie_type type, const void* keys, uint64_t size,
                                                  const sortie_segments* segments, uint64_t k,
                                                  void* top_keys, sortie_type position_type,
                                                  void* positions, unsigned flags);

/* --- Arrays that the library owns ------------------------------------------------------------- */

/** A result. Opaque. */
typedef struct sortie_array sortie_array;

typedef struct sortie_array_view {
  void* data; /**< may be written; NULL if size is 0 */
  uint64_t size;
  sortie_type type;
  sortie_memory memory;
  int device; /**< of device memory */
} sortie_array_view;

/** \return a view that is valid until the array is destroyed */
SORTIE_C_API sortie_array_view sortie_array_get(const sortie_array* array);
/** NULL is accepted. Device memory is freed in the order of the stream of the call that made the
 * array, which must still exist. */
SORTIE_C_API void sortie_array_destroy(sortie_array* array);

/* --- Sparse matrices -------------------------------------------------------------------------- */

/** A sparse matrix in compressed sparse row form: row i is [row_ptr[i], row_ptr[i + 1]) of col_idx and
 * values. */
typedef struct sortie_csr_view {
  int64_t rows;
  int64_t cols;
  int64_t nnz;
  sortie_type row_ptr_type; /**< SORTIE_I32 or SORTIE_I64 */
  sortie_type col_idx_type; /**< SORTIE_I32 or SORTIE_I64 */
  sortie_type value_type;   /**< SORTIE_F32, SORTIE_F64 or SORTIE_C128; there is no complex float */
  sortie_memory memory;
  const void* row_ptr; /**< rows + 1 offsets, from 0 */
  const void* col_idx; /**< nnz columns, from 0 */
  const void* values;  /**< nnz values */
} sortie_csr_view;

/** A matrix that the library owns. Opaque. */
typedef struct sortie_csr sortie_csr;

/** \return a view that is valid until the matrix is destroyed. row_ptr has 64 bits. */
SORTIE_C_API sortie_csr_view sortie_csr_get(const sortie_csr* matrix);
/** Copies a matrix to arrays of the caller in the same memory, with the given types of indices.
 * \return SORTIE_INPUT if row_ptr or col_idx does not fit the type
 * Device memory: the host does not wait. */
SORTIE_C_API sortie_status sortie_csr_copy(sortie_context* context, const sortie_csr* matrix,
                                           sortie_type row_ptr_type, void* row_ptr,
                                           sortie_type col_idx_type, void* col_idx, void* values);
/** Frees a matrix. The library keeps the largest arrays of host memory that were freed for a later
 * result; the system may take their pages back at any time. */
SORTIE_C_API void sortie_csr_destroy(sortie_csr* matrix);

/** Flags of sortie_spgemm(). */
enum {
  SORTIE_DROP_ZEROS = 1 /**< leaves entries of value 0 out of C; host memory only */
};

/** C = A * B. Columns of C ascend in every row, without duplicates. Entries that become zero by
 * cancellation are kept unless SORTIE_DROP_ZEROS is set. In host memory C has the column type of A.
 *
 * Host memory: A and B are checked. Rows whose columns do not ascend are accepted: they are sorted,
 * and duplicates are added up, in a copy. \return SORTIE_INPUT if shapes do not conform, an index is
 * out of range, or offsets descend
 *
 * Device memory: \pre offsets and columns are valid, and columns ascend in every row; not checked. The
 * work is ordered on the context's stream. The host waits for the number of entries of C, not for its
 * values. 64-bit columns are copied. C has columns SORTIE_I32, or SORTIE_U32 if there are more than 2^31
 * of them; sortie_csr_copy() makes other types.
 *
 * \param a, b  with the same types and memory
 * \param c     receives the result, to be destroyed by the caller */
SORTIE_C_API sortie_status sortie_spgemm(sortie_context* context, const sortie_csr_view* a,
                                         const sortie_csr_view* b, unsigned flags, sortie_csr** c);

/** A product for operands whose values change while their structure stays. Opaque. */
typedef struct sortie_plan sortie_plan;

/** Computes the structure of C. On device memory the arrays of A and B must stay valid and their
 * indices unchanged as long as the plan is used, and so must the stream; on host memory the plan has
 * a copy of the structure, and values may be NULL. \pre as for sortie_spgemm(), and columns ascend in
 * every row */
SORTIE_C_API sortie_status sortie_plan_create(sortie_context* context, const sortie_csr_view* a,
                                              const sortie_csr_view* b, sortie_plan** plan);
/** \return the structure of C, with values NULL; valid until the plan is destroyed */
SORTIE_C_API sortie_csr_view sortie_plan_get(const sortie_plan* plan);
/** The values of C in the order of its structure, for new values of A and B in the order of theirs.
 * \param c_values  sortie_plan_get().nnz elements, in the memory of the operands
 * Device memory: the host does not wait, and nothing is allocated. Host memory: computes the whole
 * product. */
SORTIE_C_API sortie_status sortie_plan_multiply(sortie_context* context, sortie_plan* plan,
                                                const void* a_values, const void* b_values,
                                                void* c_values);
/** NULL is accepted. Any device may be current. Device memory is freed in the order of the stream of
 * the plan, which must still exist. */
SORTIE_C_API void sortie_plan_destroy(sortie_plan* plan);

/* --- Suffix arrays ---------------------------------------------------------------------------- */

/** A text of any bytes. A suffix ends at the next separator or at the end of the text, which sorts
 * before every symbol; ends sort by position.
 *
 * The other arrays of a call, suffix arrays, patterns and results, are in the same memory. Device
 * memory: suffix arrays are not checked, the work is ordered on the context's stream, and results are
 * complete in the order of the stream. The host waits several times in sortie_suffix_array() and
 * sortie_check_suffix_array(), once in sortie_lcp(), sortie_find() and sortie_locate() (which waits for
 * the number of positions, too), and not in the others. */
typedef struct sortie_text {
  const uint8_t* symbols;
  uint64_t size;
  const uint64_t* separators; /**< ascending positions of record ends within symbols */
  uint64_t separator_count;
  sortie_memory memory;
} sortie_text;

/** The start positions of all suffixes in lexicographic order.
 * \param position_type  SORTIE_U32 (texts of up to 2^32 - 2 symbols) or SORTIE_U64 */
SORTIE_C_API sortie_status sortie_suffix_array(sortie_context* context, const sortie_text* text,
                                               sortie_type position_type, sortie_array** suffixes);
/** Entry p is the rank of the suffix at position p.
 * \param suffixes  a permutation of 0 .. size - 1
 * \return SORTIE_USAGE if an entry is not below size; host memory only */
SORTIE_C_API sortie_status sortie_inverse_suffix_array(sortie_context* context,
                                                       sortie_memory memory,
                                                       sortie_type position_type,
                                                       const void* suffixes, uint64_t size,
                                                       sortie_array** inverse);
/** Entry i is the number of letters that suffixes i - 1 and i have in common; entry 0 is 0.
 * \param suffixes  the suffix array of the text: text->size elements of position_type */
SORTIE_C_API sortie_status sortie_lcp(sortie_context* context, const sortie_text* text,
                                      sortie_type position_type, const void* suffixes,
                                      sortie_array** lcp);
/** Entry i is the symbol before suffix i, and the last one of the text for the suffix at 0. */
SORTIE_C_API sortie_status sortie_bwt(sortie_context* context, const sortie_text* text,
                                      sortie_type position_type, const void* suffixes,
                                      sortie_array** bwt);
/** Checks that `suffixes` is the suffix array of the text. \return SORTIE_CHECK if it is not */
SORTIE_C_API sortie_status sortie_check_suffix_array(sortie_context* context,
                                                     const sortie_text* text,
                                                     sortie_type position_type,
                                                     const void* suffixes);

/** Patterns: pattern i is letters[begins[i] .. begins[i + 1]). */
typedef struct sortie_patterns {
  const uint8_t* letters;
  const uint64_t* begins; /**< count + 1 ascending offsets */
  uint64_t count;
} sortie_patterns;

/** The entries of the suffix array whose suffixes begin with each pattern: [begins[i], ends[i]), whose
 * number is how often it occurs.
 * \param begins, ends  patterns->count elements each */
SORTIE_C_API sortie_status sortie_find(sortie_context* context, const sortie_text* text,
                                       sortie_type position_type, const void* suffixes,
                                       const sortie_patterns* patterns, uint64_t* begins,
                                       uint64_t* ends);
/** The positions where each pattern occurs, at most `most` of them, in the order of the suffix array.
 * \param begins     patterns->count + 1 elements: those of pattern i are [begins[i], begins[i + 1])
 * \param positions  of position_type */
SORTIE_C_API sortie_status sortie_locate(sortie_context* context, const sortie_text* text,
                                         sortie_type position_type, const void* suffixes,
                                         const sortie_patterns* patterns, uint64_t most,
                                         uint64_t* begins, sortie_array** positions);

/* --- Files ------------------------------------------------------------------------------------ */

/* The path "-" is standard input, or standard output. */

typedef struct sortie_matrix_header {
  int64_t rows;
  int64_t cols;
  int64_t entries; /**< in the file */
  int is_complex;
  int is_pattern;   /**< without values; read as ones */
  int is_symmetric; /**< symmetric, skew-symmetric or hermitian; read as the whole matrix */
} sortie_matrix_header;

/** The header of a Matrix Market file: plain, gzip or zstd. */
SORTIE_C_API sortie_status sortie_read_matrix_header(sortie_context* context, const char* path,
                                                     sortie_matrix_header* header);
/** Reads a Matrix Market file to host memory. Duplicates are added up.
 * \param col_idx_type  SORTIE_I32 or SORTIE_I64 */
SORTIE_C_API sortie_status sortie_read_matrix(sortie_context* context, const char* path,
                                              sortie_type value_type, sortie_type col_idx_type,
                                              sortie_csr** matrix);
/** Writes a matrix in host memory as a Matrix Market file, which appears whole or not at all. */
SORTIE_C_API sortie_status sortie_write_matrix(sortie_context* context, const char* path,
                                               const sortie_csr_view* matrix);

/** Records of a FASTA or FASTQ file, joined into one text with a separator of value 0 between
 * neighbours. Opaque. */
typedef struct sortie_sequences sortie_sequences;

/** Flags of sortie_read_sequences(). */
enum {
  SORTIE_KEEP_CASE = 1 /**< keeps lower case, which is raised otherwise */
};

/** Reads a FASTA or FASTQ file: plain, gzip or zstd.
 * \param alphabet  "auto", "dna", "dna-iupac", "rna", "rna-iupac", "protein" or "bytes"; a symbol that
 *                  is not in it is SORTIE_INPUT */
SORTIE_C_API sortie_status sortie_read_sequences(sortie_context* context, const char* path,
                                                 const char* alphabet, unsigned flags,
                                                 sortie_sequences** sequences);
/** The text; valid until the sequences are destroyed. */
SORTIE_C_API sortie_text sortie_sequences_text(const sortie_sequences* sequences);
SORTIE_C_API uint64_t sortie_sequences_count(const sortie_sequences* sequences);
/** Record `i`: its name (0-terminated, valid until the sequences are destroyed), its first symbol in
 * the text and its number of symbols. \pre i < sortie_sequences_count() */
SORTIE_C_API const char* sortie_sequences_record(const sortie_sequences* sequences, uint64_t i,
                                                 uint64_t* offset, uint64_t* length);
SORTIE_C_API void sortie_sequences_destroy(sortie_sequences* sequences);

#ifdef __cplusplus
}
#endif

#endif /* SORTIE_SORTIE_H */
