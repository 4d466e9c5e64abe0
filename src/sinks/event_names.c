/* SPDX-License-Identifier: MIT */
#include "event_names.h"

#include <stdio.h>

/* IANA, "Domain Name System (DNS) Parameters": those that queries ask for. */
static const struct {
    uint16_t type;
    const char *text;
} types[] = {
    {1, "A"},           {2, "NS"},          {5, "CNAME"},   {6, "SOA"},     {12, "PTR"},
    {13, "HINFO"},      {15, "MX"},         {16, "TXT"},    {17, "RP"},     {18, "AFSDB"},
    {24, "SIG"},        {25, "KEY"},        {28, "AAAA"},   {29, "LOC"},    {33, "SRV"},
    {35, "NAPTR"},      {36, "KX"},         {37, "CERT"},   {38, "A6"},     {39, "DNAME"},
    {41, "OPT"},        {42, "APL"},        {43, "DS"},     {44, "SSHFP"},  {45, "IPSECKEY"},
    {46, "RRSIG"},      {47, "NSEC"},       {48, "DNSKEY"}, {49, "DHCID"},  {50, "NSEC3"},
    {51, "NSEC3PARAM"}, {52, "TLSA"},       {53, "SMIMEA"}, {55, "HIP"},    {59, "CDS"},
    {60, "CDNSKEY"},    {61, "OPENPGPKEY"}, {62, "CSYNC"},  {63, "ZONEMD"}, {64, "SVCB"},
    {65, "HTTPS"},      {99, "SPF"},        {108, "EUI48"}, {109, "EUI64"}, {249, "TKEY"},
    {250, "TSIG"},      {251, "IXFR"},      {252, "AXFR"},  {255, "ANY"},   {256, "URI"},
    {257, "CAA"}};

const char *event_dns_type(uint16_t type, char number[EVENT_NUMBER_LEN])
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].text;
    snprintf(number, EVENT_NUMBER_LEN, "TYPE%u", type);
    return number;
}

const char *event_dns_rcode(uint16_t flags, char number[EVENT_NUMBER_LEN])
{
    static const char *const codes[] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                        "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
                                        "NXRRSET", "NOTAUTH", "NOTZONE"};
    const uint32_t code = flags & 15u;

    if (code < sizeof codes / sizeof *codes)
        return codes[code];
    snprintf(number, EVENT_NUMBER_LEN, "%u", code);
    return number;
}

const char *event_tls_version(uint16_t version, char number[EVENT_NUMBER_LEN])
{
    static const char *const versions[] = {"SSLv3", "TLSv1", "TLS 1.1", "TLS 1.2", "TLS 1.3"};

    if (version >= 0x0300 && version <= 0x0304)
        return versions[version - 0x0300];
    snprintf(number, EVENT_NUMBER_LEN, "0x%04x", version);
    return number;
}
