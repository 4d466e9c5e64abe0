/* SPDX-License-Identifier: MIT */
/* The trials that every algorithm passes, each with one of its backends, against the oracle. */
#ifndef MPM_TRIALS_H
#define MPM_TRIALS_H

/* The arguments of a program: ALGORITHM.BACKEND [TESTS], where TESTS is a pattern of names, as
 * test_run*. Returns the exit status of a test. */
int mpm_trials(int argc, char **argv);

#endif
