/* SPDX-License-Identifier: MIT */
/* Transactions of a flow of HTTP/1, and the reports of them. */
#include "http_flow.h"

/* ---- reporting ------------------------------------------------------------------------------ */

void http_report(struct http_flow *flow, struct app_news news, enum app_side side,
                 struct http_transaction *transaction)
{
    news.transaction = transaction;
    news.note = transaction != NULL ? &transaction->note : NULL;
    news.number = transaction != NULL ? transaction->number : flow->count;
    news.side = (uint8_t)side;
    news.parser = &http_parser;
    app_report(flow->listener, &news);
}

void http_report_event(struct http_flow *flow, enum app_side side, const char *event)
{
    http_report(flow, (struct app_news){.kind = APP_EVENT, .event = event}, side,
                flow->side[side].transaction);
}

/* ---- transactions ---------------------------------------------------------------------------- */

void http_transaction_done(struct http_flow *flow, struct http_transaction *transaction)
{
    struct http_transaction **link = &flow->first, *before = NULL;

    while (*link != transaction) {
        before = *link;
        link = &before->next;
    }
    *link = transaction->next;
    if (flow->last == transaction)
        flow->last = before;
    flow->n_open--;
    http_report(flow, (struct app_news){.kind = APP_DONE}, APP_CLIENT, transaction);
    for (int side = 0; side < 2; side++)
        http_head_free(&transaction->message[side].head);
    free(transaction);
}

/* Makes room: the oldest request that no response has come to is reported as done. */
static void forget_oldest(struct http_flow *flow)
{
    struct http_transaction *transaction = flow->first;

    while (transaction != NULL && (transaction == flow->side[APP_CLIENT].transaction ||
                                   transaction == flow->side[APP_SERVER].transaction ||
                                   !transaction->message[APP_CLIENT].has_ended))
        transaction = transaction->next;
    if (transaction == NULL)
        return;
    flow->n_forgotten++;
    http_transaction_done(flow, transaction);
}

struct http_transaction *http_transaction_open(struct http_flow *flow)
{
    struct http_transaction *transaction;

    if (flow->n_open >= HTTP_OPEN_MAX)
        forget_oldest(flow);
    transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL)
        return NULL;
    transaction->number = flow->count++;
    if (flow->last != NULL)
        flow->last->next = transaction;
    else
        flow->first = transaction;
    flow->last = transaction;
    flow->n_open++;
    return transaction;
}
