/* version.h: the product's version, in one place. */
#ifndef VR_VERSION_H
#define VR_VERSION_H

#define VR_VERSION "0.1.0"

/* Of the JSON statistics: grows when a member changes its meaning or goes away. */
#define VR_STATS_SCHEMA 1

#endif
