/*
 * What we read of Buck2's messages, as tables: one row a field, with its number
 * in protobuf, its name in JSON, and the member of struct event (or of what
 * lies in it) where the value goes. decode_pb.c and decode_json.c walk the same
 * tables, so that equal records give equal events; a new field is one row here.
 *
 * For decode*.c only.
 */
#ifndef BR2_DECODE_SHAPE_H
#define BR2_DECODE_SHAPE_H

#include "model.h"
#include "util/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a field's value is written, and what it becomes. */
enum shape_type {
	SHAPE_NONE,	/* no row: a field that we do not read */
	SHAPE_TEXT,	/* text -> struct str; an empty one leaves it as it is */
	SHAPE_NAME,	/* presence -> struct str, the row's text */
	SHAPE_INT,	/* a signed integer or an enum -> int64_t */
	SHAPE_ENUM,	/* an ActionKind; JSON has its name instead */
	SHAPE_ZIGZAG,	/* protobuf's sint -> int64_t */
	SHAPE_SIZE,	/* unsigned -> int64_t, UNKNOWN if it does not fit */
	SHAPE_NONZERO,	/* as SHAPE_SIZE, and UNKNOWN for 0; JSON also has booleans */
	SHAPE_ID,	/* unsigned -> uint64_t */
	SHAPE_IDS,	/* repeated unsigned, packed or not -> uint64_t, the first one */
	SHAPE_BOOL,	/* -> bool */
	SHAPE_TIME,	/* Timestamp or [s, ns] -> int64_t in ns, UNKNOWN for 0 s 0 ns */
	SHAPE_DURATION, /* Duration or an integer -> int64_t in us, truncated */
	SHAPE_DIGEST,	/* "hash:size" -> struct digest, hash_len 0 if it is none */
	SHAPE_MESSAGE,	/* once or repeated: read by the row's shape */
	SHAPE_MAP,	/* map<string, string>: each entry read as struct property */
	SHAPE_TEXTS,	/* repeated text: each one into the struct str that enter() gives */
};

struct shape_row;

/* What a record is read into. */
struct shape_sink {
	struct event *event;
	struct arena *arena;
	unsigned int used; /* bits by enum event_kind: whose parts of *event are not unknown */
	struct property *metadata; /* of CommandStart */
	size_t metadata_count;
	struct str unused; /* takes what is only counted */
};

/*
 * Called when a message, map entry or text begins: sets what its mere presence
 * says, and returns where to read it into; `target` is the row's own target.
 * NULL: the arena is exhausted.
 */
typedef void *shape_enter(struct shape_sink *sink, void *target, const struct shape_row *row);

struct shape {
	const struct shape_row *rows; /* indexed by the field's number */
	uint32_t count;
	/*
	 * The message only leads to others: the first step (is the record
	 * wanted?) looks into it. A message that is no route is wanted. Rows that lead
	 * to a route have no enter().
	 */
	bool is_route;
};

/* 64 bytes: a row is found by a shift. */
struct shape_row {
	enum shape_type type;
	const char *name;  /* in JSON; where `oneof` is set, the variant's */
	const char *oneof; /* the JSON member that holds the variant; NULL: a plain member */
	const struct shape *shape;
	shape_enter *enter; /* NULL: read into `target` */
	const char *older;  /* what JSON called it before; NULL */
	const char *text;   /* of SHAPE_NAME, and for enter() */
	uint32_t offset;    /* of the target in that of the message around */
	int value;	    /* for enter() */
};

/* Both are read into struct event. */
extern const struct shape shape_progress; /* CommandProgress */
extern const struct shape shape_buck_event;
extern const struct shape shape_invocation;
/* The entry of a map: {key, value}, read into struct property. */
extern const struct shape shape_entry;

/* The row of a protobuf field, or NULL. */
static inline const struct shape_row *shape_find(const struct shape *shape, uint32_t number)
{
	if (number >= shape->count || shape->rows[number].type == SHAPE_NONE)
		return NULL;
	return &shape->rows[number];
}

/* The target of a row, and of what stands in its message; NULL: the arena is exhausted. */
static inline void *shape_enter_row(struct shape_sink *sink, void *around,
				    const struct shape_row *row)
{
	void *target = (char *)around + row->offset;

	return row->enter ? row->enter(sink, target, row) : target;
}

#endif
