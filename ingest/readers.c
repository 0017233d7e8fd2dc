#include "readers.h"

#include "util/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each holds a zstd window, of 4 MiB as Buck2 packs; storing keeps up with fewer. */
#define THREADS_MAX 3
/* Logs that are being read, or read and waiting for their turn. */
#define SEATS 32
/* Bytes of rows that wait, of all logs together: several hundred actions. */
#define WAITING_MAX ((size_t)1 << 20)

struct batch {
	struct batch *next;
	struct rows rows;
	size_t bytes;
};

/* A log from its first batch to its outcome. */
struct seat {
	struct reading *reading; /* NULL: empty; its thread's until `ended` */
	struct batch *first, *last;
	struct reading_progress progress;
	bool moved; /* the progress was not shown yet */
	bool ended;
};

struct readers {
	struct readers_options options;
	pthread_t threads[THREADS_MAX];
	size_t thread_count;
	size_t cores;

	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t changed;
	struct seat seats[SEATS]; /* log `index` sits at index % SEATS */
	size_t begun, turn;	  /* numbers of logs */
	size_t ended;		  /* logs that are read to their end */
	size_t waiting;		  /* bytes */
	bool stop;

	struct reading *done; /* its outcome is lent out */
};

static struct seat *seat_of(struct readers *readers, size_t index)
{
	return &readers->seats[index % SEATS];
}

/* ---- queues: with the mutex ---- */

static bool has_room(struct readers *readers, size_t index, size_t bytes)
{
	if (index == readers->turn && !seat_of(readers, index)->first)
		return true; /* however large: else nobody would get on */
	return readers->waiting + bytes <= WAITING_MAX;
}

static void push(struct readers *readers, struct seat *seat, struct rows *rows)
{
	struct batch *batch;

	if (!rows->count) {
		rows_release(rows);
		return;
	}
	batch = xcalloc(1, sizeof(*batch));
	rows_move(&batch->rows, rows);
	batch->bytes = rows_bytes(&batch->rows);
	readers->waiting += batch->bytes;
	if (seat->last)
		seat->last->next = batch;
	else
		seat->first = batch;
	seat->last = batch;
}

static bool pop(struct readers *readers, struct seat *seat, struct rows *out_rows)
{
	struct batch *batch = seat->first;

	if (!batch)
		return false;
	seat->first = batch->next;
	if (!seat->first)
		seat->last = NULL;
	readers->waiting -= batch->bytes;
	rows_move(out_rows, &batch->rows);
	free(batch);
	return true;
}

/* ---- threads ---- */

/*
 * With the mutex. Is there a core for unpacking, beside one for each log that is
 * read or will be? At last there is. A reader that unpacks by itself finds the bytes in its own
 * cache, and what all of them do together is less.
 */
static bool has_spare_core(const struct readers *readers)
{
	return readers->options.count - readers->ended < readers->cores;
}

/* With the mutex. Takes a seat for the next log. */
static struct reading *begin(struct readers *readers, size_t *out_index)
{
	struct runlog_place place;
	struct seat *seat;

	*out_index = readers->begun++;
	readers->options.place(readers->options.context, *out_index, &place);
	seat = seat_of(readers, *out_index);
	memset(seat, 0, sizeof(*seat));
	seat->reading = reading_new(&place, readers->options.keep_rows);
	return seat->reading;
}

/* With the mutex. Waits for a free seat. NULL: no more logs, or told to stop. */
static struct reading *begin_next(struct readers *readers, size_t *out_index)
{
	while (!readers->stop && readers->begun < readers->options.count &&
	       readers->begun >= readers->turn + SEATS)
		pthread_cond_wait(&readers->changed, &readers->mutex);
	if (readers->stop || readers->begun == readers->options.count)
		return NULL;
	return begin(readers, out_index);
}

/* With the mutex. */
static void hand_over(struct readers *readers, size_t index, struct rows *rows, bool ended)
{
	struct seat *seat = seat_of(readers, index);
	size_t bytes = rows_bytes(rows);

	while (!readers->stop && rows->count && !has_room(readers, index, bytes))
		pthread_cond_wait(&readers->changed, &readers->mutex);
	push(readers, seat, rows);
	seat->progress = reading_progress(seat->reading);
	seat->moved = true;
	seat->ended = ended;
	readers->ended += ended;
	pthread_cond_broadcast(&readers->changed);
}

static void read_one(struct readers *readers, struct reading *reading, size_t index)
{
	bool more = true;

	while (more && !readers->stop) {
		bool spare = has_spare_core(readers);
		struct rows rows;

		pthread_mutex_unlock(&readers->mutex);
		if (spare)
			reading_go_ahead(reading);
		more = reading_next(reading, &rows);
		pthread_mutex_lock(&readers->mutex);
		hand_over(readers, index, &rows, !more);
	}
}

static void *run(void *argument)
{
	struct readers *readers = argument;
	struct reading *reading;
	size_t index;

	pthread_mutex_lock(&readers->mutex);
	while ((reading = begin_next(readers, &index)))
		read_one(readers, reading, index);
	pthread_mutex_unlock(&readers->mutex);
	return NULL;
}

static size_t count_cores(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores < 1 ? 1 : (size_t)cores;
}

static size_t wanted_threads(const struct readers *readers)
{
	size_t count = readers->cores < THREADS_MAX ? readers->cores : THREADS_MAX;

	return count < readers->options.count ? count : readers->options.count;
}

/* Signals are the main thread's. Where no thread can be had, readers_next() reads by itself. */
static void start(struct readers *readers)
{
	size_t wanted = wanted_threads(readers);
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (readers->thread_count < wanted &&
	       pthread_create(&readers->threads[readers->thread_count], NULL, run, readers) == 0)
		readers->thread_count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop(struct readers *readers)
{
	size_t i;

	pthread_mutex_lock(&readers->mutex);
	readers->stop = true;
	pthread_cond_broadcast(&readers->changed);
	pthread_mutex_unlock(&readers->mutex);
	for (i = 0; i < readers->thread_count; i++)
		pthread_join(readers->threads[i], NULL);
}

/* ---- the taker ---- */

struct readers *readers_new(const struct readers_options *options)
{
	struct readers *readers = xcalloc(1, sizeof(*readers));

	readers->options = *options;
	readers->cores = count_cores();
	pthread_mutex_init(&readers->mutex, NULL);
	pthread_cond_init(&readers->changed, NULL);
	start(readers);
	return readers;
}

static void empty_seat(struct readers *readers, struct seat *seat)
{
	struct rows rows;

	while (pop(readers, seat, &rows))
		rows_release(&rows);
	reading_free(seat->reading);
	memset(seat, 0, sizeof(*seat));
}

void readers_free(struct readers *readers)
{
	size_t i;

	if (!readers)
		return;
	stop(readers);
	for (i = 0; i < SEATS; i++)
		empty_seat(readers, &readers->seats[i]);
	reading_free(readers->done);
	pthread_cond_destroy(&readers->changed);
	pthread_mutex_destroy(&readers->mutex);
	free(readers);
}

/* With the mutex. Has something of the log whose turn it is. */
static void wait_for_news(struct readers *readers, struct seat *seat)
{
	if (!readers->thread_count) {
		struct rows rows;
		size_t index;

		if (!seat->reading)
			begin(readers, &index);
		if (!seat->ended && !seat->first) {
			bool more;

			if (has_spare_core(readers))
				reading_go_ahead(seat->reading);
			more = reading_next(seat->reading, &rows);

			hand_over(readers, readers->turn, &rows, !more);
		}
		return;
	}
	while (!seat->first && !seat->moved && !seat->ended)
		pthread_cond_wait(&readers->changed, &readers->mutex);
}

/* With the mutex. The turn is the next log's. */
static void end_turn(struct readers *readers, struct seat *seat)
{
	reading_free(readers->done);
	readers->done = seat->reading;
	seat->reading = NULL;
	empty_seat(readers, seat);
	readers->turn++;
}

bool readers_next(struct readers *readers, struct rows *out_rows,
		  struct reading_progress *out_progress, const struct reading_outcome **out_outcome)
{
	struct seat *seat;
	bool ended;

	rows_init(out_rows);
	pthread_mutex_lock(&readers->mutex);
	seat = seat_of(readers, readers->turn);
	wait_for_news(readers, seat);
	pop(readers, seat, out_rows);
	*out_progress = seat->progress;
	seat->moved = false;
	ended = seat->ended && !seat->first;
	if (ended) {
		end_turn(readers, seat);
		*out_outcome = reading_outcome(readers->done);
	}
	pthread_cond_broadcast(&readers->changed);
	pthread_mutex_unlock(&readers->mutex);
	return !ended;
}
