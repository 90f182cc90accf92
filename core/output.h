/* output.h: opening the files that the environment names for us to write: statistics and log. */
#ifndef VR_OUTPUT_H
#define VR_OUTPUT_H

/* A descriptor for writing (made if missing, close-on-exec), or -1. `flags` is added to open's. It
 * never waits: a pipe nobody reads is refused. A symbolic link is followed, except where others may
 * have put it: in a folder that is sticky and writable by all. */
int vr_output_open(const char *path, int flags);

/* A descriptor for writing a whole document over what the file holds, or -1. Processes that name
 * the same file take turns, so the last one's document is whole; one that does not get its turn
 * within a second gives up. Close it after writing. */
int vr_output_replace(const char *path);

#endif
