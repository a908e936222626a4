#define _GNU_SOURCE // uselocale
#include "CLibedit.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

// --- the part of libedit that is used, under its own names --------------------------------------------------------------

typedef struct editline EditLine;
typedef struct history History;

enum {
    set_prompt = 0,
    set_editor = 2,
    set_signal = 3,
    set_bind = 4,
    set_terminal = 8,
    set_function = 9,
    set_history = 10,
    set_client_data = 14,
    set_prepared = 16,
    history_set_size = 1,
    history_enter = 10,
    result_refresh = 4,
    result_error = 6,
    result_redisplay = 8,
};

// Name, result, parameters.
#define FUNCTIONS(each) \
    each(el_init, EditLine *, (const char *, FILE *, FILE *, FILE *)) \
    each(el_end, void, (EditLine *)) \
    each(el_gets, const char *, (EditLine *, int *)) \
    each(el_set, int, (EditLine *, int, ...)) \
    each(el_get, int, (EditLine *, int, ...)) \
    each(el_source, int, (EditLine *, const char *)) \
    each(el_resize, void, (EditLine *)) \
    each(el_line, const LineInfo *, (EditLine *)) \
    each(el_insertstr, int, (EditLine *, const char *)) \
    each(el_deletestr, void, (EditLine *, int)) \
    each(history_init, History *, (void)) \
    each(history_end, void, (History *)) \
    each(history, int, (History *, HistEvent *, int, ...))

// In our own checks, the declarations are compared with the header where it is installed. Other builds do not depend on it.
#if defined(HARALD_STRICT) && __has_include(<histedit.h>)
#include <histedit.h>
#include <stddef.h>
#define CHECK(name, result, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), result (*) parameters), #name);
FUNCTIONS(CHECK)
_Static_assert(set_prompt == EL_PROMPT && set_editor == EL_EDITOR && set_signal == EL_SIGNAL, "settings");
_Static_assert(set_bind == EL_BIND && set_terminal == EL_SETTY && set_function == EL_ADDFN, "settings");
_Static_assert(set_history == EL_HIST && set_client_data == EL_CLIENTDATA, "settings");
_Static_assert(history_set_size == H_SETSIZE && history_enter == H_ENTER, "operations of the history");
_Static_assert(result_refresh == CC_REFRESH && result_error == CC_ERROR && result_redisplay == CC_REDISPLAY, "results");
#else
typedef struct {
    const char *buffer, *cursor, *lastchar;
} LineInfo;
typedef struct {
    int num;
    const char *str;
} HistEvent;
#endif

// --- loading it ---------------------------------------------------------------------------------------------------------

struct functions {
#define FIELD(name, result, parameters) result (*name) parameters;
    FUNCTIONS(FIELD)
};

// Written before the first editor is created.
static struct functions loaded;

struct harald_editor {
    EditLine *line;
    History *past;
    // The editor decodes characters in the locale of its thread. The program's own may be "C".
    locale_t locale;
    const char *prompt;
    void *context;
    harald_editor_complete complete;
};

struct harald_completion {
    struct harald_editor *editor;
    int has_changed, has_listed;
};

static int find(const char *name, struct functions *found) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define FIND(name, result, parameters) \
    if (!(found->name = (result (*) parameters)dlsym(library, #name))) return 0;
    FUNCTIONS(FIND)
    return 1;
}

// --- what the library calls ---------------------------------------------------------------------------------------------

static struct harald_editor *editor_of(EditLine *line) {
    struct harald_editor *editor = NULL;
    loaded.el_get(line, set_client_data, &editor);
    return editor;
}

static char *prompt_of(EditLine *line) { return (char *)editor_of(line)->prompt; }

static unsigned char complete(EditLine *line, int key) {
    (void)key;
    struct harald_editor *editor = editor_of(line);
    struct harald_completion completion = {.editor = editor};
    const LineInfo *info = loaded.el_line(line);
    if (!editor->complete || !info || info->cursor < info->buffer) return result_error;
    editor->complete(editor->context, info->buffer, (size_t)(info->cursor - info->buffer), &completion);
    if (completion.has_listed) {
        fflush(stdout);
        return result_redisplay;
    }
    return completion.has_changed ? result_refresh : result_error;
}

void harald_completion_replace(struct harald_completion *completion, int count, const char *text) {
    EditLine *line = completion->editor->line;
    if (count > 0) loaded.el_deletestr(line, count);
    loaded.el_insertstr(line, text);
    completion->has_changed = 1;
}

void harald_completion_list(struct harald_completion *completion, const char *text) {
    if (!completion->has_listed) fputc('\n', stdout);
    completion->has_listed = 1;
    fprintf(stdout, "%s\n", text);
}

// --- the editor ---------------------------------------------------------------------------------------------------------

static int prepare(struct harald_editor *editor, int history) {
    HistEvent event;
    if (!(editor->line = loaded.el_init("harald", stdin, stdout, stderr))) return 0;
    if (!(editor->past = loaded.history_init())) return 0;
    loaded.history(editor->past, &event, history_set_size, history);
    loaded.el_set(editor->line, set_client_data, editor);
    loaded.el_set(editor->line, set_prompt, prompt_of);
    loaded.el_set(editor->line, set_history, loaded.history, editor->past);
    // Signals are the program's own. The library would pass them on to the whole process group.
    loaded.el_set(editor->line, set_signal, 0);
    loaded.el_set(editor->line, set_editor, "emacs");
    loaded.el_source(editor->line, NULL);
    // While a line is edited, Ctrl-C clears it, instead of sending a signal.
    loaded.el_set(editor->line, set_terminal, "-d", "-isig", NULL);
    loaded.el_set(editor->line, set_bind, "^C", "ed-start-over", NULL);
    loaded.el_set(editor->line, set_bind, "^R", "em-inc-search-prev", NULL);
    loaded.el_set(editor->line, set_function, "harald-complete", "Complete the word before the cursor", complete);
    loaded.el_set(editor->line, set_bind, "^I", "harald-complete", NULL);
    return 1;
}

struct harald_editor *harald_editor_create(const char *name, int history) {
    struct harald_editor *editor = calloc(1, sizeof(*editor));
    if (!editor) return NULL;
    if (!find(name, &loaded)) {
        free(editor);
        return NULL;
    }
    editor->prompt = "";
    editor->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = editor->locale ? uselocale(editor->locale) : (locale_t)0;
    int is_ready = prepare(editor, history);
    if (before) uselocale(before);
    if (is_ready) return editor;
    harald_editor_free(editor);
    return NULL;
}

void harald_editor_free(struct harald_editor *editor) {
    if (editor->line) loaded.el_end(editor->line);
    if (editor->past) loaded.history_end(editor->past);
    if (editor->locale) freelocale(editor->locale);
    free(editor);
}

long harald_editor_read(
    struct harald_editor *editor, const char *prompt, void *context, harald_editor_complete complete, const char **line
) {
    int count = 0;
    editor->prompt = prompt;
    editor->context = context;
    editor->complete = complete;
    locale_t before = editor->locale ? uselocale(editor->locale) : (locale_t)0;
    // The size of the terminal may have changed since the last line.
    loaded.el_resize(editor->line);
    // Before the prompt, after which the library would do it by itself: between the two, the terminal would take Ctrl-D for
    // the end of a line without characters, and nothing would arrive.
    loaded.el_set(editor->line, set_prepared, 1);
    // A count of -1 is an error (editline(3)). At the end of input the count is 0, and errno may be that of a read that was
    // interrupted before: the end must not be taken for an interruption.
    do {
        errno = 0;
        *line = loaded.el_gets(editor->line, &count);
    } while (!*line && count < 0 && errno == EINTR);
    if (before) uselocale(before);
    editor->prompt = "";
    editor->complete = NULL;
    return *line && count > 0 ? count : -1;
}

void harald_editor_remember(struct harald_editor *editor, const char *line) {
    HistEvent event;
    locale_t before = editor->locale ? uselocale(editor->locale) : (locale_t)0;
    loaded.history(editor->past, &event, history_enter, line);
    if (before) uselocale(before);
}
