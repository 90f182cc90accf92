/* settings.h: the FAKEVMM_* variables that choose what GPU is played. Owned by settings.c. */
#ifndef FAKEVMM_SETTINGS_H
#define FAKEVMM_SETTINGS_H

#include "fakevmm.h"

struct fv_settings {
    int driver;           /* FAKEVMM_DRIVER */
    int devices;          /* FAKEVMM_DEVICES */
    size_t memory;        /* FAKEVMM_MEMORY, bytes per device */
    bool va_lifo;         /* FAKEVMM_VA */
    bool gpa_distinct;    /* FAKEVMM_MODEL: gpa=distinct */
    bool copynode_refuse; /* copynode=refuse */
    bool free_async;      /* free=async */
    bool peersync_breaks; /* peersync=breaks */
    bool strict;          /* FAKEVMM_STRICT */
    bool leaks;           /* FAKEVMM_LEAKS */
};

/* Reads the environment; called by the door before the first call. Lock held. */
void fv_settings_read(void);
const struct fv_settings *fv_settings(void);
/* NULL, or the complaint about the first malformed variable: its name, value and the remedy. The
 * driver plays the default instead until cuInit prints it and exits. */
const char *fv_settings_complaint(void);

#endif
