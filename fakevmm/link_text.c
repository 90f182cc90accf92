/* link_text.c: joins PTX texts. A text is cut into its statements (PTX ISA, "Directives"), and
 * these are put together again: variables first, then declarations of functions, then their bodies,
 * so that everything is known before it is used. It must not know more PTX than that. */
#include "link.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum linkage { OWN, VISIBLE, WEAK, EXTERN };
enum kind { LINE, VARIABLE, DECLARATION, BODY, OTHER };

struct statement {
    const char *at;
    size_t length;
    const char *name; /* inside it, NULL: none */
    size_t name_length;
    unsigned text; /* which one it comes from */
    enum linkage linkage;
    enum kind kind;
    bool dropped;
};

struct link {
    struct statement *statements;
    size_t count, room;
    FILE *out;
};

/* ---- words ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Behind white space and comments. */
static const char *skip_space(const char *at)
{
    for (;;) {
        const char *end = NULL;

        while (isspace((unsigned char)*at))
            at++;
        if (at[0] == '/' && at[1] == '/')
            end = strchr(at, '\n');
        else if (at[0] == '/' && at[1] == '*')
            end = strstr(at, "*/");
        else
            return at;
        if (!end)
            return at + strlen(at);
        at = end + (*end == '*' ? 2 : 1);
    }
}

static const char *skip_string(const char *at)
{
    while (*++at && *at != '"')
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static const char *skip_word(const char *at)
{
    while (is_word(*at))
        at++;
    return at;
}

/* Behind one token: a word, a directive, a register, a string or a single character. */
static const char *skip_token(const char *at)
{
    if (*at == '"')
        return skip_string(at);
    if ((*at == '.' || *at == '%') && is_word(at[1]))
        return skip_word(at + 1);
    return is_word(*at) ? skip_word(at) : at + (*at != '\0');
}

static bool is(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && memcmp(at, word, (size_t)(end - at)) == 0;
}

/* ---- statements ---- */

/* Directives that end with their line. */
static bool is_line(const char *at, const char *end)
{
    static const char *const lines[] = {".version", ".target", ".address_size", ".file", ".loc"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (is(at, end, lines[i]))
            return true;
    return false;
}

static void note_directive(struct statement *statement, const char *at, const char *end)
{
    if (is(at, end, ".extern"))
        statement->linkage = EXTERN;
    else if (is(at, end, ".visible") || is(at, end, ".common"))
        statement->linkage = VISIBLE;
    else if (is(at, end, ".weak"))
        statement->linkage = WEAK;
    else if (is(at, end, ".func"))
        statement->kind = DECLARATION;
    else if (is(at, end, ".entry")) /* what a text is for, whatever its linkage */
        statement->kind = DECLARATION, statement->linkage = VISIBLE;
    else if (statement->kind == OTHER &&
             (is(at, end, ".global") || is(at, end, ".const") || is(at, end, ".shared")))
        statement->kind = VARIABLE;
}

/* The name is the first word of a function outside of parentheses, and the last one of a variable
 * before its size or value. */
static void note_word(struct statement *statement, const char *at, const char *end)
{
    if (statement->kind != VARIABLE && (statement->kind != DECLARATION || statement->name))
        return;
    if (isdigit((unsigned char)*at))
        return;
    statement->name = at;
    statement->name_length = (size_t)(end - at);
}

/* Reads to the end of a statement: a semicolon, or the brace that closes a body. */
static const char *read_statement(const char *at, struct statement *statement)
{
    int depth = 0;
    bool named = false; /* past the name of a variable */

    while (*(at = skip_space(at))) {
        const char *end = skip_token(at);

        if (*at == ';' && !depth)
            return end;
        if (*at == '{' && !depth && statement->kind == DECLARATION)
            statement->kind = BODY;
        if (*at == '}' && depth == 1 && statement->kind != VARIABLE)
            return end;
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        if (*at == '[' || *at == '=')
            named = true;
        if (*at == '.' && !depth)
            note_directive(statement, at, end);
        else if (is_word(*at) && !depth && !named)
            note_word(statement, at, end);
        at = end;
    }
    return at;
}

static bool add(struct link *link, const struct statement *statement)
{
    if (link->count == link->room) {
        size_t room = link->room ? 2 * link->room : 64;
        struct statement *more = realloc(link->statements, room * sizeof *more);

        if (!more)
            return false;
        link->statements = more;
        link->room = room;
    }
    link->statements[link->count++] = *statement;
    return true;
}

static bool cut(struct link *link, const char *text, unsigned number)
{
    const char *at = text;

    while (*(at = skip_space(at))) {
        struct statement statement = {.at = at, .text = number, .kind = OTHER};
        const char *end = skip_token(at);

        if (is_line(at, end)) {
            statement.kind = LINE;
            end = at + strcspn(at, "\n");
        } else {
            end = read_statement(at, &statement);
        }
        statement.length = (size_t)(end - at);
        if (!add(link, &statement))
            return false;
        at = end;
    }
    return true;
}

/* ---- what stays ---- */

static bool same_name(const struct statement *a, const struct statement *b)
{
    return a->name && b->name && a->name_length == b->name_length &&
           memcmp(a->name, b->name, a->name_length) == 0;
}

/* Which of two statements about one name, the later one or the earlier, is superfluous. */
static void compare(struct statement *first, struct statement *second)
{
    bool variables = first->kind == VARIABLE;

    if (first->linkage == OWN || second->linkage == OWN || first->dropped || second->dropped ||
        variables != (second->kind == VARIABLE))
        return;
    if (first->linkage == EXTERN || second->linkage == EXTERN) {
        if (variables)
            (second->linkage == EXTERN ? second : first)->dropped = true;
    } else if (first->kind == second->kind && (first->linkage == WEAK || second->linkage == WEAK)) {
        (second->linkage == WEAK ? second : first)->dropped = true;
    }
}

static void choose(struct link *link)
{
    for (size_t i = 0; i < link->count; i++)
        for (size_t j = 0; j < i; j++)
            if (same_name(&link->statements[j], &link->statements[i]))
                compare(&link->statements[j], &link->statements[i]);
}

/* ---- writing ---- */

/* True for a name that the text keeps to itself. */
static bool is_own(const struct link *link, unsigned text, const char *word, size_t length)
{
    for (size_t i = 0; i < link->count; i++) {
        const struct statement *it = &link->statements[i];

        if (it->text == text && it->linkage == OWN && it->name && it->name_length == length &&
            memcmp(it->name, word, length) == 0)
            return true;
    }
    return false;
}

/* The first text keeps its names. */
static void write_statement(const struct link *link, const struct statement *statement)
{
    const char *end = statement->at + statement->length, *at = statement->at;

    while (at < end) {
        const char *token = skip_space(at), *next = skip_token(token);

        fwrite(at, 1, (size_t)(next - at), link->out);
        if (is_word(*token) && statement->text > 0 &&
            is_own(link, statement->text, token, (size_t)(next - token)))
            fprintf(link->out, "$%u", statement->text);
        at = next;
    }
    fputc('\n', link->out);
}

/* The newest of a directive's lines: versions and targets grow with their text. */
static void write_newest(const struct link *link, const char *directive)
{
    const struct statement *best = NULL;

    for (size_t i = 0; i < link->count; i++) {
        const struct statement *it = &link->statements[i];

        if (it->kind != LINE || !is(it->at, skip_token(it->at), directive))
            continue;
        if (!best || strtod(it->at + strcspn(it->at, "0123456789"), NULL) >
                         strtod(best->at + strcspn(best->at, "0123456789"), NULL))
            best = it;
    }
    if (best)
        fprintf(link->out, "%.*s\n", (int)best->length, best->at);
}

static void write_all(const struct link *link)
{
    static const enum kind order[] = {OTHER, VARIABLE, DECLARATION, BODY};

    write_newest(link, ".version");
    write_newest(link, ".target");
    write_newest(link, ".address_size");
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
        for (size_t i = 0; i < link->count; i++)
            if (link->statements[i].kind == order[k] && !link->statements[i].dropped)
                write_statement(link, &link->statements[i]);
}

char *fv_link_texts(char *const *texts, unsigned count)
{
    struct link link = {.count = 0};
    char *out = NULL;
    size_t size;
    bool good = true;

    for (unsigned i = 0; i < count && good; i++)
        good = cut(&link, texts[i], i);
    link.out = good ? open_memstream(&out, &size) : NULL;
    if (link.out) {
        choose(&link);
        write_all(&link);
        if (fclose(link.out)) {
            free(out);
            out = NULL;
        }
    }
    free(link.statements);
    return out;
}
