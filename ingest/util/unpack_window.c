#include "util/unpack_window.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Of x86-64, and of aarch64 with pages of 4 KiB. Where it is another, the advice is of no use. */
#define HUGE_PAGE ((size_t)2 << 20)

/* Stands before what is given out. */
struct header {
	alignas(max_align_t) void *memory;
	size_t mapped; /* bytes; 0: it is of malloc() */
};

static void *give_out(void *memory, size_t mapped, char *at)
{
	struct header *header = (struct header *)(void *)at - 1;

	header->memory = memory;
	header->mapped = mapped;
	return at;
}

static void advise(char *at, size_t size)
{
#ifdef MADV_HUGEPAGE
	madvise(at, size - size % HUGE_PAGE, MADV_HUGEPAGE); /* which a kernel may not know */
#else
	(void)at;
	(void)size;
#endif
}

/* What follows the last whole huge page has small ones: it may be only just begun. */
static void *take_huge(size_t size)
{
	size_t mapped = sizeof(struct header) + HUGE_PAGE + size;
	char *memory =
		mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (memory == MAP_FAILED)
		return NULL;
	before = HUGE_PAGE - ((uintptr_t)memory + sizeof(struct header)) % HUGE_PAGE;
	advise(memory + sizeof(struct header) + before, size);
	return give_out(memory, mapped, memory + sizeof(struct header) + before);
}

static void *take_small(size_t size)
{
	char *memory = malloc(sizeof(struct header) + size);

	return memory ? give_out(memory, 0, memory + sizeof(struct header)) : NULL;
}

void *unpack_window_take(size_t size, bool huge)
{
	if (size > SIZE_MAX - sizeof(struct header) - HUGE_PAGE)
		return NULL;
	return huge && size >= HUGE_PAGE ? take_huge(size) : take_small(size);
}

void unpack_window_give(void *window)
{
	const struct header *header = window;

	if (!window)
		return;
	header--;
	if (header->mapped)
		munmap(header->memory, header->mapped);
	else
		free(header->memory);
}
