// libedit, loaded at run time. A build needs neither the library nor its header: CLibedit.c declares the part of its stable interface that is
// used here.

#ifndef HARALD_CLIBEDIT_H
#define HARALD_CLIBEDIT_H

#include <stddef.h>

/// An editor of lines at the terminal: standard input and standard output. Only one thread at a time may use it.
struct harald_editor;
/// The completion of one word, valid during the call that gets it.
struct harald_completion;

/// Completes the word before the cursor. `line` has the `length` octets before the cursor, as UTF-8.
typedef void (*harald_editor_complete)(void *context, const char *line, size_t length, struct harald_completion *completion);

/// Loads the library `name`, and creates an editor that remembers `history` lines. Returns NULL if there is no such library, or it
/// lacks a function.
struct harald_editor *harald_editor_create(const char *name, int history);
/// Frees the editor, and restores the terminal. The library stays loaded.
void harald_editor_free(struct harald_editor *editor);

/// Reads a line. Returns its length in octets and sets `line`, which is valid until the next call. Returns -1 at the end of the input.
/// `complete` is called with `context` when the user presses Tab.
long harald_editor_read(
    struct harald_editor *editor, const char *prompt, void *context, harald_editor_complete complete, const char **line
);
/// Adds a line to those that the user can recall.
void harald_editor_remember(struct harald_editor *editor, const char *line);

/// Replaces the `count` characters before the cursor with `text`.
void harald_completion_replace(struct harald_completion *completion, int count, const char *text);
/// Prints a line of candidates below the line that is edited.
void harald_completion_list(struct harald_completion *completion, const char *text);

#endif
