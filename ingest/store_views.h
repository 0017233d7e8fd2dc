/* The canned views of a database: made, kept, and left alone where they are the user's. */
#ifndef BR2_STORE_VIEWS_H
#define BR2_STORE_VIEWS_H

#include "store.h"

/*
 * STORE_WRITE: makes the views as this program has them, in one transaction, and
 * drops those of ours that it has no more. Writes nothing where nothing differs.
 * STORE_READ: those that differ are made for this handle only.
 */
int views_refresh(struct store *store, struct err *err);

#endif
