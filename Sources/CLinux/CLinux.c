// A target of C needs a source.
#include "CLinux.h"
