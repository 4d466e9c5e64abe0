/* SPDX-License-Identifier: MIT */
#include "bench_frame.h"

#include <stdio.h>

#include "machine.h"
#include "results.h"

void bench_print_head(const struct bench_frame *frame)
{
    static bool done;
    json_t *machine = json_object_get(frame->results, "machine");
    char text[512];

    if (done)
        return;
    done = true;
    bench_machine_text(machine, text, sizeof text);
    if (frame->json) {
        json_t *line = json_pack("{s:O}", "machine", machine);

        bench_print_json(line);
        json_decref(line);
    } else if (frame->saved)
        printf("sluice bench: %s, as saved\n", text);
    else
        printf("sluice bench: %s; median (minimum to maximum) of %u runs\n", text, frame->runs);
}

/* JSON has no text that is not UTF-8. */
void bench_record_command(const struct bench_frame *frame, char *const *words)
{
    json_t *array = json_array();

    for (char *const *word = words; *word != NULL; word++) {
        json_t *text = json_string(*word);

        json_array_append_new(array, text != NULL ? text : json_string("?"));
    }
    json_object_set_new(frame->results, "command", array);
}

void bench_record_others(const struct bench_frame *frame, double percent)
{
    json_object_set_new(frame->results, "others_percent", json_real(percent));
    if (frame->json) {
        json_t *line = json_pack("{s:f}", "others_percent", percent);

        bench_print_json(line);
        json_decref(line);
    } else if (percent >= BENCH_OTHERS_SHOWN) {
        printf("NOT ALONE: other work took %.0f %% of all cores meanwhile, and rates are lower for "
               "it\n",
               percent);
    }
}
