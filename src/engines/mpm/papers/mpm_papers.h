/* SPDX-License-Identifier: MIT */
/* The papers' algorithms. X(name) stands for the descriptor mpm_<name>. Every build knows the
 * names; the descriptors exist where SLUICE_PAPERS is on. */
#ifndef MPM_PAPERS_H
#define MPM_PAPERS_H

#define MPM_PAPERS(X) X(pfac) X(naive) X(wm) X(wm2) X(wm3) X(rk) X(tag)

/* Those that the build has. */
#ifdef SLUICE_PAPERS
#define MPM_PAPERS_BUILT(X) MPM_PAPERS(X)
#else
#define MPM_PAPERS_BUILT(X)
#endif

#endif
