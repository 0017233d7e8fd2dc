#include "report_sql.h"

#include <stdlib.h>
#include <string.h>

const char *report_sql(const char *name)
{
	const struct embedded_sql *statement;

	for (statement = report_statements; statement->name; statement++)
		if (strcmp(statement->name, name) == 0)
			return statement->text;
	abort();
}
