/* SPDX-License-Identifier: MIT */
/* The sets of data that rules name, and the demands of their options on them. */
#ifndef DETECT_RULE_DATA_H
#define DETECT_RULE_DATA_H

#include "data_file.h"

/* A set of data, known by its name in lower case. */
struct rule_dataset {
    const char *name;
    uint64_t key; /* of the name */
    struct data_set set;
    struct data_form form; /* of its file */
    const char *load;      /* the file that it begins with; NULL: it begins empty */
    const char *save;      /* below the folder of data; NULL: it is not saved */
    bool state;            /* it begins with what was saved */
    bool unsaved;          /* rules want it saved, and there is no folder of data */
    bool loaded, failed;
    bool changes; /* some rule sets or unsets values */
    struct rule_dataset *next;
};

enum rule_data_act {
    DATA_IS_SET,
    DATA_IS_NOT_SET,
    DATA_SET,   /* holds where the value is new */
    DATA_UNSET, /* holds where the value was there */
    DATA_LESS,  /* these hold where the value is there, and compare its reputation */
    DATA_GREATER,
    DATA_EQUAL
};

struct rule_data {
    struct rule_dataset *dataset;
    enum rule_data_act act;
    uint16_t reputation;
    bool by_parents; /* a part that begins at a dot of the value is looked up, too */
};

/* Whether the option holds for a value, by a set that it does not change. */
bool rule_data_holds(const struct rule_data *data, const struct data_set *set, const uint8_t *bytes,
                     uint32_t len);

#endif
