// The build's origin, which only C targets can receive as values from the package manifest.
#ifndef C_VERSION_H
#define C_VERSION_H

/// The commit that the program was built from; NULL for a development build.
const char *_Nullable harald_commit(void);

/// The version of the Swift compiler; NULL for a development build.
const char *_Nullable harald_compiler(void);

#endif
