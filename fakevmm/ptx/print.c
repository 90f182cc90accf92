/* print.c: device printf (CUDA C++ Programming Guide, "Formatted Output"): finds the conversions of
 * the format and the arguments they take, and has the host's printf write each, as on a GPU, where
 * the host does so too. */
#include "exec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 1 << 16 };

struct output {
    char *bytes;
    size_t length, room;
    bool failed; /* memory is out */
};

struct source {
    struct ptx_block *block;
    struct ptx_thread *thread;
    uint64_t format, arguments; /* where to read on */
    int taken;                  /* arguments */
    bool failed;                /* memory cannot be read; there is a fault */
};

/* %[flags][width][.precision][length]type */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    unsigned bytes;       /* of an integer */
    char type;
};

/* ---- output ---- */

static char *room_for(struct output *output, size_t size)
{
    if (output->room - output->length < size) {
        size_t room = (output->length + size) * 2;
        char *bytes = realloc(output->bytes, room);
        if (!bytes) {
            output->failed = true;
            return NULL;
        }
        output->bytes = bytes;
        output->room = room;
    }
    return output->bytes + output->length;
}

static void put(struct output *output, char byte)
{
    char *at = room_for(output, 1);

    if (!at)
        return;
    *at = byte;
    output->length++;
}

static void put_formatted(struct output *output, const char *format, ...)
{
    va_list args, again;
    int wanted;

    va_start(args, format);
    va_copy(again, args);
    wanted = vsnprintf(NULL, 0, format, args);
    if (wanted >= 0 && room_for(output, (size_t)wanted + 1)) {
        vsnprintf(output->bytes + output->length, (size_t)wanted + 1, format, again);
        output->length += (size_t)wanted;
    }
    va_end(again);
    va_end(args);
}

enum { HOST_FORMAT = 48 };

/* The conversion as the host's printf wants it. */
static const char *host_format(const struct conversion *conversion, const char *length,
                               char out[HOST_FORMAT])
{
    char width[16] = "", precision[16] = "";

    if (conversion->width >= 0)
        snprintf(width, sizeof(width), "%d", conversion->width);
    if (conversion->precision >= 0)
        snprintf(precision, sizeof(precision), ".%d", conversion->precision);
    snprintf(out, HOST_FORMAT, "%%%s%s%s%s%c", conversion->flags, width, precision, length,
             conversion->type);
    return out;
}

/* ---- input ---- */

static char next_byte(struct source *source)
{
    char byte = '\0';

    if (!source->failed &&
        !ptx_read(source->block, source->thread, source->format++, &byte, sizeof(byte)))
        source->failed = true;
    return source->failed ? '\0' : byte;
}

/* Each argument is aligned to its own size. */
static uint64_t take(struct source *source, unsigned bytes)
{
    uint64_t value = 0;

    source->arguments = (source->arguments + bytes - 1) / bytes * bytes;
    if (!source->failed &&
        !ptx_read(source->block, source->thread, source->arguments, &value, bytes))
        source->failed = true;
    source->arguments += bytes;
    source->taken++;
    return source->failed ? 0 : value;
}

/* Digits or '*'; the byte behind them. */
static char read_number(struct source *source, char byte, int *out)
{
    if (byte == '*') {
        *out = (int)(uint32_t)take(source, 4);
        byte = next_byte(source);
    } else {
        for (*out = 0; byte >= '0' && byte <= '9'; byte = next_byte(source))
            *out = *out < WIDEST ? *out * 10 + (byte - '0') : WIDEST;
    }
    if (*out > WIDEST)
        *out = WIDEST;
    return byte;
}

static char read_length(struct source *source, char byte, unsigned *bytes)
{
    *bytes = 4;
    for (; byte && strchr("hlLqjzt", byte); byte = next_byte(source))
        *bytes = byte == 'h' ? (*bytes == 2 ? 1 : 2) : 8;
    return byte;
}

/* What follows '%'. */
static void read_conversion(struct source *source, struct conversion *conversion)
{
    char byte = next_byte(source);
    unsigned flags = 0;

    *conversion = (struct conversion){.width = -1, .precision = -1};
    for (; byte && strchr("-+ #0", byte); byte = next_byte(source)) {
        if (!strchr(conversion->flags, byte) && flags < sizeof(conversion->flags) - 2)
            conversion->flags[flags++] = byte;
    }
    if (byte == '*' || (byte >= '1' && byte <= '9'))
        byte = read_number(source, byte, &conversion->width);
    if (conversion->width < -1) { /* a negative width means the flag and its absolute value */
        conversion->width = conversion->width < -WIDEST ? WIDEST : -conversion->width;
        if (!strchr(conversion->flags, '-'))
            conversion->flags[flags++] = '-';
    }
    if (byte == '.')
        byte = read_number(source, next_byte(source), &conversion->precision);
    conversion->type = read_length(source, byte, &conversion->bytes);
}

/* ---- conversions ---- */

static void write_integer(struct output *output, const struct conversion *conversion,
                          uint64_t value)
{
    bool sign = conversion->type == 'd' || conversion->type == 'i';
    unsigned shift = 64 - 8 * conversion->bytes;
    char host[HOST_FORMAT];

    host_format(conversion, "ll", host);
    if (sign)
        put_formatted(output, host, (long long)((int64_t)(value << shift) >> shift));
    else
        put_formatted(output, host, (unsigned long long)(value << shift >> shift));
}

static void write_text(struct output *output, struct source *source,
                       const struct conversion *conversion, uint64_t address)
{
    struct source text = {.block = source->block, .thread = source->thread, .format = address};
    struct output copy = {0};
    char host[HOST_FORMAT], byte;

    while (address && (byte = next_byte(&text)))
        put(&copy, byte);
    put(&copy, '\0');
    source->failed |= text.failed;
    output->failed |= copy.failed;
    if (!text.failed && !copy.failed)
        put_formatted(output, host_format(conversion, "", host), address ? copy.bytes : "(null)");
    free(copy.bytes);
}

static void write_one(struct output *output, struct source *source)
{
    struct conversion conversion;
    char host[HOST_FORMAT];
    uint64_t bits;
    double number;

    read_conversion(source, &conversion);
    host_format(&conversion, "", host);
    switch (conversion.type) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        write_integer(output, &conversion, take(source, conversion.bytes == 8 ? 8 : 4));
        break;
    case 'c': put_formatted(output, host, (int)take(source, 4)); break;
    case 'p': put_formatted(output, host, (void *)take(source, 8)); break;
    case 's': write_text(output, source, &conversion, take(source, 8)); break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        bits = take(source, 8);
        memcpy(&number, &bits, sizeof(number));
        put_formatted(output, host, number);
        break;
    case '\0': break;
    default: put(output, conversion.type); /* %%, and what printf does not know */
    }
}

int ptx_print(struct ptx_block *block, struct ptx_thread *thread, uint64_t format,
              uint64_t arguments)
{
    const struct ptx_host *host = &block->launch->host;
    struct source source = {
        .block = block, .thread = thread, .format = format, .arguments = arguments};
    struct output output = {0};
    char byte;

    if (!format)
        return -1;
    while ((byte = next_byte(&source))) {
        if (byte == '%')
            write_one(&output, &source);
        else
            put(&output, byte);
    }
    if (!source.failed && !output.failed && output.length)
        host->print(host->context, output.bytes, output.length);
    free(output.bytes);
    return output.failed ? -2 : source.taken;
}
