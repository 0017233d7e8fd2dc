/* The canned views of a database: made, kept, and left alone where they are the user's. */
#ifndef BR2_STORE_VIEWS_H
#define BR2_STORE_VIEWS_H

#include "store.h"

/*
 * STORE_WRITE: makes the views as this program has them, in one transaction, and
 * drops those of ours that it has no more. Writes nothing where nothing differs.
 * STORE_READ, and where a view or table of somebody else's has the name of one of
 * ours: all are made for this handle, too, and stand before the stored ones, so
 * that no statement of the program runs SQL that is not its own.
 */
int views_refresh(struct store *store, struct err *err);

#endif
