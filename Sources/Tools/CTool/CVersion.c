#include "CVersion.h"

#include <stddef.h>

#ifndef HARALD_COMMIT
#define HARALD_COMMIT NULL
#endif
#ifndef HARALD_COMPILER
#define HARALD_COMPILER NULL
#endif

const char *harald_commit(void) { return HARALD_COMMIT; }

const char *harald_compiler(void) { return HARALD_COMPILER; }
