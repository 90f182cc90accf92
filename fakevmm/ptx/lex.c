/* lex.c: splits PTX text into tokens (PTX ISA, "Syntax"). It knows no directive and no opcode. */
#include "lex.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ptx_lex(struct ptx_lexer *lexer, const char *text, char *message, size_t message_size)
{
    *lexer =
        (struct ptx_lexer){.at = text, .line = 1, .message = message, .message_size = message_size};
    ptx_next(lexer);
}

void ptx_error(struct ptx_lexer *lexer, const char *format, ...)
{
    va_list args;
    int used;

    if (lexer->failed)
        return;
    lexer->failed = true;
    lexer->token = (struct ptx_token){.kind = PTX_END};
    used = snprintf(lexer->message, lexer->message_size, "line %u: ", lexer->line);
    if (used < 0 || (size_t)used >= lexer->message_size)
        return;
    va_start(args, format);
    vsnprintf(lexer->message + used, lexer->message_size - used, format, args);
    va_end(args);
}

static void skip_comment(struct ptx_lexer *lexer)
{
    if (lexer->at[1] == '/') {
        lexer->at += strcspn(lexer->at, "\n");
        return;
    }
    for (lexer->at += 2; *lexer->at; lexer->at++) {
        if (lexer->at[0] == '*' && lexer->at[1] == '/') {
            lexer->at += 2;
            return;
        }
        lexer->line += *lexer->at == '\n';
    }
    ptx_error(lexer, "a comment does not end");
}

static void skip_blank(struct ptx_lexer *lexer)
{
    while (*lexer->at) {
        if (*lexer->at == '/' && (lexer->at[1] == '/' || lexer->at[1] == '*')) {
            skip_comment(lexer);
            continue;
        }
        if (!isspace((unsigned char)*lexer->at))
            return;
        lexer->line += *lexer->at == '\n';
        lexer->at++;
    }
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void lex_word(struct ptx_lexer *lexer)
{
    const char *start = lexer->at++;

    while (in_word(*lexer->at))
        lexer->at++;
    lexer->token.kind = PTX_WORD;
    lexer->token.text = (struct ptx_text){start, (unsigned)(lexer->at - start)};
}

/* A modifier may hold a double colon: .L2::128B. */
static void lex_dot(struct ptx_lexer *lexer)
{
    const char *start = ++lexer->at;

    while (in_word(*lexer->at) || (lexer->at[0] == ':' && lexer->at[1] == ':')) {
        lexer->at += *lexer->at == ':' ? 2 : 1;
    }
    lexer->token.kind = PTX_DOT;
    lexer->token.text = (struct ptx_text){start, (unsigned)(lexer->at - start)};
    if (lexer->at == start)
        ptx_error(lexer, "a dot without a name");
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits of a float or a double. */
static bool lex_float_bits(struct ptx_lexer *lexer, bool wide)
{
    unsigned digits = wide ? 16 : 8;
    char text[17] = "";
    uint64_t bits;

    for (unsigned i = 0; i < digits; i++) {
        if (!isxdigit((unsigned char)lexer->at[2 + i]))
            return false;
        text[i] = lexer->at[2 + i];
    }
    bits = strtoull(text, NULL, 16);
    if (wide) {
        memcpy(&lexer->token.number, &bits, sizeof(bits));
    } else {
        uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof(value));
        lexer->token.number = value;
    }
    lexer->at += 2 + digits;
    lexer->token.kind = PTX_FLOAT;
    lexer->token.bits = bits;
    return true;
}

static void lex_number(struct ptx_lexer *lexer)
{
    const char *start = lexer->at;
    char second = (char)tolower((unsigned char)start[1]);
    char *end;

    if (start[0] == '0' && (second == 'f' || second == 'd') && lex_float_bits(lexer, second == 'd'))
        return;
    if (start[0] == '0' && second == 'b') {
        lexer->token.bits = strtoull(start + 2, &end, 2);
    } else {
        size_t digits = strspn(start, "0123456789");
        if (second != 'x' && strchr(".eE", start[digits]) && start[digits]) {
            lexer->token.kind = PTX_FLOAT;
            lexer->token.number = strtod(start, &end);
            memcpy(&lexer->token.bits, &lexer->token.number, sizeof(double));
            lexer->at = end;
            return;
        }
        lexer->token.bits = strtoull(start, &end, 0);
    }
    lexer->token.kind = PTX_INT;
    lexer->at = end + (*end == 'U');
}

static void lex_string(struct ptx_lexer *lexer)
{
    const char *start = lexer->at + 1;
    size_t length = strcspn(start, "\"\n");

    if (start[length] != '"') {
        ptx_error(lexer, "a string does not end");
        return;
    }
    lexer->token.kind = PTX_STRING;
    lexer->token.text = (struct ptx_text){start, (unsigned)length};
    lexer->at = start + length + 1;
}

void ptx_next(struct ptx_lexer *lexer)
{
    char c;

    if (lexer->failed)
        return;
    skip_blank(lexer);
    if (lexer->failed)
        return;
    lexer->token = (struct ptx_token){.kind = PTX_END, .text = {lexer->at, 0}};
    c = *lexer->at;
    if (!c)
        return;
    if (isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%') {
        lex_word(lexer);
    } else if (c == '.') {
        lex_dot(lexer);
    } else if (isdigit((unsigned char)c)) {
        lex_number(lexer);
    } else if (c == '"') {
        lex_string(lexer);
    } else {
        lexer->token.kind = PTX_MARK;
        lexer->token.mark = c;
        lexer->at++;
    }
}

void ptx_skip_line(struct ptx_lexer *lexer)
{
    if (lexer->failed)
        return;
    lexer->at += strcspn(lexer->at, "\n");
    ptx_next(lexer);
}

void ptx_skip_past(struct ptx_lexer *lexer, char mark)
{
    unsigned depth = 0;

    while (lexer->token.kind != PTX_END) {
        if (ptx_at(lexer, mark) && depth == (mark == '}')) {
            ptx_next(lexer);
            return;
        }
        if (ptx_at(lexer, '{'))
            depth++;
        else if (ptx_at(lexer, '}') && depth)
            depth--;
        ptx_next(lexer);
    }
    ptx_error(lexer, "expected %c before the end", mark);
}

bool ptx_at(const struct ptx_lexer *lexer, char mark)
{
    return lexer->token.kind == PTX_MARK && lexer->token.mark == mark;
}

bool ptx_at_dot(const struct ptx_lexer *lexer, const char *name)
{
    return lexer->token.kind == PTX_DOT && ptx_text_is(lexer->token.text, name);
}

bool ptx_accept(struct ptx_lexer *lexer, char mark)
{
    if (!ptx_at(lexer, mark))
        return false;
    ptx_next(lexer);
    return true;
}

bool ptx_accept_dot(struct ptx_lexer *lexer, const char *name)
{
    if (!ptx_at_dot(lexer, name))
        return false;
    ptx_next(lexer);
    return true;
}

void ptx_expect(struct ptx_lexer *lexer, char mark)
{
    if (!ptx_accept(lexer, mark))
        ptx_error(lexer, "expected %c", mark);
}

uint64_t ptx_expect_int(struct ptx_lexer *lexer)
{
    bool negative = ptx_accept(lexer, '-');
    uint64_t bits = lexer->token.bits;

    if (lexer->token.kind != PTX_INT) {
        ptx_error(lexer, "expected a whole number");
        return 0;
    }
    ptx_next(lexer);
    return negative ? 0 - bits : bits;
}

struct ptx_text ptx_expect_word(struct ptx_lexer *lexer)
{
    struct ptx_text text = lexer->token.text;

    if (lexer->token.kind != PTX_WORD) {
        ptx_error(lexer, "expected a name");
        return (struct ptx_text){"", 0};
    }
    ptx_next(lexer);
    return text;
}

bool ptx_text_is(struct ptx_text text, const char *other)
{
    return strlen(other) == text.length &&
           (!text.length || memcmp(text.at, other, text.length) == 0);
}

bool ptx_text_same(struct ptx_text a, struct ptx_text b)
{
    return a.length == b.length && (!a.length || memcmp(a.at, b.at, a.length) == 0);
}
