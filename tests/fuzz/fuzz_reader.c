/* Any bytes as a log file: every packing and both formats, told by content. */
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = tmpfile();
	struct log_reader *reader;
	const struct event *event;
	struct err err = ERR_INIT;

	if (!file || fwrite(data, 1, size, file) != size || fflush(file) != 0)
		abort();
	rewind(file);
	if (log_reader_open(&reader, dup(fileno(file)), "fuzz", size % 2, &err) == 0) {
		while (log_reader_next(reader, &event, &err) > 0)
			if (event->kind == EVENT_NONE || !event->seq)
				abort();
		if (log_reader_ending(reader) == STREAM_OPEN)
			abort();
		log_reader_free(reader);
	}
	fclose(file);
	return 0;
}
