/* lex.h: PTX text as tokens, and the place where a syntax error is noted. After the first error
 * every further token is the end of the text, so that callers' loops end by themselves. */
#ifndef FAKEVMM_PTX_LEX_H
#define FAKEVMM_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the module's text. */
struct ptx_text {
    const char *at;
    unsigned length;
};

enum ptx_token_kind {
    PTX_END,
    PTX_WORD,   /* add, %r1, $L__BB0_1 */
    PTX_DOT,    /* .reg, .s32, .L2::128B; text without the first dot */
    PTX_INT,    /* bits */
    PTX_FLOAT,  /* number */
    PTX_STRING, /* text without the quotes */
    PTX_MARK    /* one character: mark */
};

struct ptx_token {
    enum ptx_token_kind kind;
    struct ptx_text text;
    uint64_t bits;
    double number;
    char mark;
};

struct ptx_lexer {
    const char *at; /* behind the current token; the text ends with NUL */
    unsigned line;  /* of the current token */
    struct ptx_token token;
    bool failed;
    char *message;
    size_t message_size;
};

/* Starts on the first token. */
void ptx_lex(struct ptx_lexer *lexer, const char *text, char *message, size_t message_size);
void ptx_next(struct ptx_lexer *lexer);
/* Goes on behind the end of the current line (debug directives end there, without a semicolon). */
void ptx_skip_line(struct ptx_lexer *lexer);
/* Goes on behind the next `mark` that is outside braces. */
void ptx_skip_past(struct ptx_lexer *lexer, char mark);

/* Notes the first error, with the line; later ones are ignored. */
void ptx_error(struct ptx_lexer *lexer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool ptx_at(const struct ptx_lexer *lexer, char mark);
bool ptx_at_dot(const struct ptx_lexer *lexer, const char *name);
/* Step over the token if it is the one named; true if so. */
bool ptx_accept(struct ptx_lexer *lexer, char mark);
bool ptx_accept_dot(struct ptx_lexer *lexer, const char *name);
/* As accept, but another token is an error. */
void ptx_expect(struct ptx_lexer *lexer, char mark);
/* The value of an integer, with an optional sign; an error if there is none. */
uint64_t ptx_expect_int(struct ptx_lexer *lexer);
/* A word; an error if there is none (then of length 0). */
struct ptx_text ptx_expect_word(struct ptx_lexer *lexer);

bool ptx_text_is(struct ptx_text text, const char *other);
bool ptx_text_same(struct ptx_text a, struct ptx_text b);

#endif
