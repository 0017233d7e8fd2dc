/* Feeds files, and the files in folders, to a fuzzer's entry point: for compilers without one. */
#include "util/mem.h"

#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = xmalloc(size ? size : 1); /* its own size: sanitizers see the edge */

	if (!file || fread(data, 1, size, file) != size) {
		perror(path);
		exit(1);
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

int main(int argc, char **argv)
{
	FTS *walk = argc > 1 ? fts_open(argv + 1, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	FTSENT *entry;
	int count = 0;

	if (!walk)
		return 2;
	while ((entry = fts_read(walk)) != NULL) {
		if (entry->fts_info != FTS_F)
			continue;
		replay(entry->fts_path, (size_t)entry->fts_statp->st_size);
		count++;
	}
	fts_close(walk);
	printf("%d inputs\n", count);
	return count ? 0 : 1;
}
