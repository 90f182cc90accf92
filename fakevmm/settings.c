/* settings.c: reads the FAKEVMM_* variables that choose what GPU is played, once, and keeps the
 * complaint about a malformed one until cuInit can say it. A test tool that quietly played
 * another GPU than the one asked for would be worse than one that stops. It must not know who
 * uses a value. */
#include "settings.h"
#include "card.h"
#include "door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES  16
#define MAX_DELAY_US 10000000

static struct fv_settings settings;
static char complaint[512];

static void complain(const char *name, const char *value, const char *remedy)
{
    if (!complaint[0])
        snprintf(complaint, sizeof complaint, "%s=%s: %s", name, value, remedy);
}

/* Index of a word in a NULL-ended list, -1 when it is not there. */
static int word_index(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(word, list[i]) == 0)
            return i;
    return -1;
}

static void read_driver(void)
{
    static const char *const names[] = {"11080", "12000", "12040", "13000", NULL};
    const char *value = fv_env("FAKEVMM_DRIVER");

    if (!value)
        return;
    if (word_index(value, names) < 0)
        complain("FAKEVMM_DRIVER", value, "use 11080, 12000, 12040 or 13000");
    else
        settings.driver = atoi(value);
}

static void read_devices(void)
{
    const char *value = fv_env("FAKEVMM_DEVICES");
    char *end;
    long count;

    if (!value)
        return;
    count = strtol(value, &end, 10);
    if (*end || count < 0 || count > MAX_DEVICES)
        complain("FAKEVMM_DEVICES", value, "use a number from 0 to 16");
    else
        settings.devices = (int)count;
}

/* The message lists the names there are. */
static void complain_about_card(const char *value)
{
    char remedy[256] = "use one of";

    for (size_t i = 0; fv_card_at(i); i++) {
        size_t used = strlen(remedy);
        snprintf(remedy + used, sizeof remedy - used, " %s", fv_card_at(i)->name);
    }
    complain("FAKEVMM_DEVICE", value, remedy);
}

static void read_device(void)
{
    const char *value = fv_env("FAKEVMM_DEVICE");
    const struct fv_card *card = value ? fv_card_named(value) : NULL;

    if (value && !card)
        complain_about_card(value);
    if (!card)
        return;
    settings.card = card;
    settings.memory = card->memory;
}

static void read_delay(void)
{
    const char *value = fv_env("FAKEVMM_DELAY_US");
    unsigned long number;
    char *end;

    if (!value)
        return;
    number = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || number > MAX_DELAY_US)
        complain("FAKEVMM_DELAY_US", value, "use microseconds from 0 to 10000000");
    else
        settings.delay_us = (unsigned)number;
}

static void read_cost(void)
{
    static const char *const names[] = {"none", "model", NULL};
    const char *value = fv_env("FAKEVMM_COST");
    int index = value ? word_index(value, names) : 0;

    if (index < 0)
        complain("FAKEVMM_COST", value, "use model, or none");
    settings.cost = index == 1;
}

static bool parse_size(const char *text, size_t *out)
{
    static const char units[] = "KMG";
    char *end;
    unsigned long long number;
    const char *unit;
    int shift = 0;

    if (*text < '0' || *text > '9')
        return false;
    number = strtoull(text, &end, 10);
    if (*end) {
        unit = strchr(units, *end);
        if (!unit || end[1])
            return false;
        shift = 10 * (int)(unit - units + 1);
    }
    if (number == 0 || number > SIZE_MAX >> shift)
        return false;
    *out = (size_t)number << shift;
    return true;
}

static void read_memory(void)
{
    const char *value = fv_env("FAKEVMM_MEMORY");

    if (value && !parse_size(value, &settings.memory))
        complain("FAKEVMM_MEMORY", value, "use a number of bytes, with K, M or G if you like");
}

static void read_va(void)
{
    static const char *const names[] = {"churn", "lifo", NULL};
    const char *value = fv_env("FAKEVMM_VA");
    int index;

    if (!value)
        return;
    index = word_index(value, names);
    if (index < 0)
        complain("FAKEVMM_VA", value, "use churn or lifo");
    settings.va_lifo = index == 1;
}

/* A variable that is 1, or 0 as if it were not there. */
static void read_switch(const char *name, bool *out)
{
    static const char *const names[] = {"0", "1", NULL};
    const char *value = fv_env(name);
    int index;

    if (!value)
        return;
    index = word_index(value, names);
    if (index < 0)
        complain(name, value, "use 1 or 0");
    *out = index == 1;
}

/* Words of FAKEVMM_MODEL; those without a flag are read by the fake runtime. */
static const struct {
    const char *word;
    bool *flag;
    bool value;
} model_words[] = {
    {"gpa=same", &settings.gpa_distinct, false},
    {"gpa=distinct", &settings.gpa_distinct, true},
    {"copynode=accept", &settings.copynode_refuse, false},
    {"copynode=refuse", &settings.copynode_refuse, true},
    {"free=sync", &settings.free_async, false},
    {"free=async", &settings.free_async, true},
    {"peersync=safe", &settings.peersync_breaks, false},
    {"peersync=breaks", &settings.peersync_breaks, true},
    {"launchform=func", NULL, false},
    {"launchform=kern", NULL, false},
};

static bool apply_model_word(const char *word)
{
    for (size_t i = 0; i < sizeof model_words / sizeof model_words[0]; i++) {
        if (strcmp(word, model_words[i].word) != 0)
            continue;
        if (model_words[i].flag)
            *model_words[i].flag = model_words[i].value;
        return true;
    }
    return false;
}

static void read_model(void)
{
    const char *value = fv_env("FAKEVMM_MODEL");
    char copy[256], *rest = copy;

    if (!value)
        return;
    snprintf(copy, sizeof copy, "%s", value);
    while (rest) {
        if (!apply_model_word(strsep(&rest, ",")))
            complain("FAKEVMM_MODEL", value,
                     "use copynode=accept|refuse, free=sync|async, gpa=same|distinct, "
                     "launchform=func|kern, peersync=safe|breaks, separated by commas");
    }
}

static void read_fault(void)
{
    const char *value = fv_env("FAKEVMM_FAULT");
    const char *wrong = value ? fv_fault_parse(value) : NULL;
    char remedy[256];

    if (!wrong)
        return;
    snprintf(remedy, sizeof remedy,
             "%s; use <function>:<nth>[:<error name or number>][:persistent], separated by commas",
             wrong);
    complain("FAKEVMM_FAULT", value, remedy);
}

void fv_settings_read(void)
{
    settings = (struct fv_settings){.driver = FV_DRIVER_VERSION,
                                    .devices = 1,
                                    .card = fv_card_default(),
                                    .memory = fv_card_default()->memory,
                                    .journal = fv_env("FAKEVMM_JOURNAL") != NULL};
    read_device();
    read_driver();
    read_devices();
    read_memory();
    read_va();
    read_model();
    read_cost();
    read_delay();
    read_fault();
    read_switch("FAKEVMM_STRICT", &settings.strict);
    read_switch("FAKEVMM_LEAKS", &settings.leaks);
}

const struct fv_settings *fv_settings(void)
{
    return &settings;
}

const char *fv_settings_complaint(void)
{
    return complaint[0] ? complaint : NULL;
}
