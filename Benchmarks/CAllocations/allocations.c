/* Counts heap allocations exactly: a program that defines malloc has it called in place of the C library's, by the
 * Swift runtime too. The work itself stays with glibc. Linked into the benchmarks only. */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

#include "CAllocations.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ulong count;

static void add_one(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

void *malloc(size_t size)
{
    add_one();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    add_one();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    add_one();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    add_one();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    add_one();
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

unsigned long harald_allocations(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

unsigned long harald_heap(void)
{
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

void harald_measurement_begins(void) { __asm__ volatile(""); }

void harald_measurement_ends(void) { __asm__ volatile(""); }
