/* SPDX-License-Identifier: MIT */
/* The proofs of a container: its header for all of it, and a signed list of members for each. */
#ifndef CLAMAV_CONTAINER_CHECK_H
#define CLAMAV_CONTAINER_CHECK_H

#include "clamav/set.h"

enum { CONTAINER_HEADER_LEN = 512 };

/* By the container's suffix. */
enum container_kind {
    CONTAINER_CVD, /* its header has an MD5 and its signature */
    CONTAINER_CLD, /* made of an older one and of differences: its list of members is signed */
    CONTAINER_CUD  /* not signed */
};

enum container_kind container_kind_of(const char *path);

/* Checks a header against the bytes of the whole container. */
enum sl_status container_check_header(const struct sl_clamav_set *set, const char *path,
                                      const uint8_t *bytes, size_t len, struct sl_diag *diag);

/* Checks the signature of a list, and cuts the list to what is signed. */
enum sl_status container_check_list(const struct sl_clamav_set *set, const char *path,
                                    struct clam_text *list, struct sl_diag *diag);

/* Checks a member against a list that was checked. */
enum sl_status container_check_member(struct clam_text list, const char *path, const char *name,
                                      const void *bytes, size_t len, struct sl_diag *diag);

#endif
