/* settings.h: the FAKEVMM_* variables that choose what GPU is played. Owned by settings.c. */
#ifndef FAKEVMM_SETTINGS_H
#define FAKEVMM_SETTINGS_H

#include "fakevmm.h"

struct fv_card;

struct fv_settings {
    const struct fv_card *card; /* FAKEVMM_DEVICE */
    int driver;                 /* FAKEVMM_DRIVER */
    int devices;                /* FAKEVMM_DEVICES */
    size_t memory;              /* FAKEVMM_MEMORY, bytes per device; the card's by default */
    bool va_lifo;               /* FAKEVMM_VA */
    bool gpa_distinct;          /* FAKEVMM_MODEL: gpa=distinct */
    bool copynode_refuse;       /* copynode=refuse */
    bool free_async;            /* free=async */
    bool peersync_breaks;       /* peersync=breaks */
    bool strict;                /* FAKEVMM_STRICT */
    bool leaks;                 /* FAKEVMM_LEAKS */
    bool journal;               /* FAKEVMM_JOURNAL names a file */
    bool cost;                  /* FAKEVMM_COST=model */
    unsigned delay_us;          /* FAKEVMM_DELAY_US, per kernel */
};

/* Reads the environment; called by the door before the first call. Lock held. */
void fv_settings_read(void);
const struct fv_settings *fv_settings(void);
/* NULL, or the complaint about the first malformed variable: its name, value and the remedy. The
 * driver plays the default instead until cuInit prints it and exits. */
const char *fv_settings_complaint(void);

#endif
