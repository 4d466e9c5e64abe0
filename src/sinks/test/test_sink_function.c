/* SPDX-License-Identifier: MIT */
/* Events handed to a caller's function, and the fields that it visits. */
#include "test_sink_events.h"

enum { N_EVENTS = 2000 };

struct taken {
    const struct sl_event *expected;
    uint64_t n;
    uint64_t fail_at; /* fails at the event of this number */
};

static enum sl_status take(void *user, const struct sl_event *event, struct sl_diag *diag)
{
    struct taken *taken = user;

    (void)diag;
    assert_ptr_equal(event, taken->expected);
    taken->n++;
    return taken->n == taken->fail_at ? SL_EIO : SL_OK;
}

static struct sl_sink *open_function(struct taken *taken)
{
    struct sl_diag diag;
    struct sl_sink *sink;

    assert_int_equal(sl_sink_open_function(&sink, take, taken, &diag), SL_OK);
    return sink;
}

static void test_each_event_is_taken_once(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    struct taken taken = {.expected = &made->event};
    struct sl_sink *sink = open_function(&taken), *held;
    struct sl_diag diag;

    (void)state;
    for (uint32_t i = 0; i < N_EVENTS; i++) {
        make_plain(made, i);
        assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
        assert_int_equal(taken.n, i + 1);
    }
    assert_false(sl_sink_takes_stats(sink));
    assert_int_equal(sl_sink_hold(&held, sink, 1000, &diag), SL_EUNSUPPORTED);
    close_sink(sink, N_EVENTS);
    free(made);
}

static void test_a_failure_is_final(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    struct taken taken = {.expected = &made->event, .fail_at = 3};
    struct sl_sink *sink = open_function(&taken);
    struct sl_diag diag = {0};
    uint64_t written;

    (void)state;
    make_plain(made, 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(sl_sink_write(sink, &made->event, &diag), i < 2 ? SL_OK : SL_EIO);
    assert_int_equal(taken.n, 3);
    assert_true(diag.text[0] != '\0');
    assert_int_equal(sl_sink_close(sink, &written, &diag), SL_EIO);
    assert_int_equal(written, 2);
    free(made);
}

/* The names of fields, an object's between braces. */
struct names {
    char text[2000];
    int depth;
};

static void add_name(void *user, const struct sl_field *field)
{
    struct names *names = user;
    const char *behind = field->type == SL_FIELD_OBJECT ? "{" : " ";

    names->depth += (field->type == SL_FIELD_OBJECT) - (field->type == SL_FIELD_END);
    assert_true(names->depth >= 0);
    strcat(names->text, field->type == SL_FIELD_END ? "}" : field->name);
    strcat(names->text, behind);
}

static void check_names(const struct sl_event *event, const char *expected)
{
    struct names names = {.text = ""};

    sl_event_fields(event, add_name, &names);
    assert_int_equal(names.depth, 0);
    assert_string_equal(names.text, expected);
}

static void test_fields_are_visited_in_order(void **state)
{
    struct made_event *made = malloc(sizeof *made);

    (void)state;
    make_plain(made, 1);
    check_names(
        &made->event,
        "timestamp flow_id pcap_cnt event_type src_ip src_port dest_ip dest_port proto ip_v "
        "pkt_src alert{action gid signature_id rev signature category severity } direction "
        "payload stream pcap_filename classtype ");
    made->event.kind = SL_EVENT_ANOMALY;
    made->event.check = "land";
    made->event.live = true;
    check_names(
        &made->event,
        "timestamp flow_id in_iface event_type src_ip src_port dest_ip dest_port proto ip_v "
        "pkt_src anomaly{type event } pcap_cnt direction ");
    free(made);
}

static void check_field(void *user, const struct sl_field *field)
{
    const struct sl_event *event = user;

    if (strcmp(field->name, "signature_id") == 0)
        assert_int_equal(field->number, event->signature->sid);
    else if (strcmp(field->name, "timestamp") == 0)
        assert_int_equal(field->time_ns, event->origin.time_ns);
    else if (strcmp(field->name, "src_ip") == 0)
        assert_ptr_equal(field->addr, &event->tuple.src);
    else if (strcmp(field->name, "payload") == 0)
        assert_true(field->n <= SL_EVENT_PAYLOAD_MAX && field->bytes == event->payload);
    else if (strcmp(field->name, "signature") == 0)
        assert_true(field->n == strlen(event->signature->msg) &&
                    memcmp(field->text, event->signature->msg, field->n) == 0);
    else if (strcmp(field->name, "vlan") == 0)
        assert_int_equal(field->n, 1 + (event->origin.vlan[1] != SL_NO_VLAN));
    else if (strcmp(field->name, "src_port") == 0 && field->type == SL_FIELD_UNKNOWN)
        assert_int_equal(event->origin.flow, 0);
}

static void test_values_are_the_event_s(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    uint64_t random = 11;

    (void)state;
    for (int i = 0; i < N_EVENTS; i++) {
        struct names names = {.text = ""};

        make_hostile(made, &random);
        sl_event_fields(&made->event, check_field, &made->event);
        sl_event_fields(&made->event, add_name, &names);
        assert_int_equal(names.depth, 0);
    }
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_event_is_taken_once),
        cmocka_unit_test(test_a_failure_is_final),
        cmocka_unit_test(test_fields_are_visited_in_order),
        cmocka_unit_test(test_values_are_the_event_s),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
