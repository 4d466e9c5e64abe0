/* SPDX-License-Identifier: MIT */
/* Macros of office documents (MS-OVBA). */
#ifndef UNPACK_VBA_H
#define UNPACK_VBA_H

#include "unpack/ole2.h"

/* Gives the source of each module of the projects in a compound file. */
void vba_give(struct unpack *unpack, const struct unpack_object *object, const struct ole2 *ole2);

#endif
