#include "arena.h"

#include <stdint.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define ARENA_RED_ZONE 64
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ARENA_RED_ZONE 0
#endif

enum { ARENA_ALIGN = 64, ARENA_CHUNK = 32 << 20 };

struct arena_chunk {
    arena_chunk *before;
    size_t size, used;
};

static size_t arena_round(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

static arena_chunk *arena_grow(arena *a, size_t size)
{
    size_t whole = arena_round(size + ARENA_ALIGN, 2 << 20);
    if (whole < ARENA_CHUNK)
        whole = ARENA_CHUNK; /* pages that are never touched cost nothing */
    arena_chunk *chunk = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(chunk, whole, MADV_HUGEPAGE); /* one fault for 2 MB instead of 512: decides how fast a small run starts */
#endif
    chunk->before = a->last;
    chunk->size = whole;
    chunk->used = ARENA_ALIGN; /* the header has the first line for itself */
    ASAN_POISON_MEMORY_REGION((char *)chunk + ARENA_ALIGN, whole - ARENA_ALIGN);
    a->last = chunk;
    return chunk;
}

void *arena_alloc(arena *a, size_t size)
{
    size_t wanted = arena_round(size, ARENA_ALIGN) + ARENA_RED_ZONE;
    if (wanted < size)
        return NULL;
    arena_chunk *chunk = a->last;
    if (!chunk || chunk->size - chunk->used < wanted)
        chunk = arena_grow(a, wanted);
    if (!chunk)
        return NULL;
    char *block = (char *)chunk + chunk->used;
    chunk->used += wanted;
    a->used += wanted;
    ASAN_UNPOISON_MEMORY_REGION(block, size);
    return block; /* fresh anonymous pages are zero */
}

void arena_free(arena *a)
{
    while (a->last) {
        arena_chunk *chunk = a->last;
        a->last = chunk->before;
        ASAN_UNPOISON_MEMORY_REGION((char *)chunk, chunk->size);
        munmap(chunk, chunk->size);
    }
    a->used = 0;
}
