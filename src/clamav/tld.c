/* SPDX-License-Identifier: MIT */
#include "clamav/tld.h"

#include <string.h>

/* Two letters each. */
static const char countries[] =
    "acadaeafagaialamanaoaqarasatauawaxazbabbbdbebfbgbhbibjblbmbnbobrbsbtbvbwbybzcacc"
    "cdcfcgchcickclcmcncocrcucvcxcyczdedjdkdmdodzeceeegehereseteufifjfkfmfofrgagbgdge"
    "gfggghgiglgmgngpgqgrgsgtgugwgyhkhmhnhrhthuidieiliminioiqirisitjejmjojpkekgkhkikm"
    "knkpkrkwkykzlalblclilklrlsltlulvlymamcmdmemfmgmhmkmlmmmnmompmqmrmsmtmumvmwmxmymz"
    "nancnenfngninlnonpnrnunzompapepfpgphpkplpmpnprpsptpwpyqarerorsrurwsasbscsdsesgsh"
    "sisjskslsmsnsosrstsusvsysztctdtftgthtjtktltmtntotptrtttvtwtzuaugukumusuyuzvavcve"
    "vgvivnvuwfwsyeytyuzazmzw";

/* Countries whose names are no top-level domains in use. */
static const char unused[] = "blehmfum";

static const char *const others[] = {"aero",
                                     "arpa",
                                     "asia",
                                     "biz",
                                     "cat",
                                     "com",
                                     "coop",
                                     "edu",
                                     "gov",
                                     "info",
                                     "int",
                                     "jobs",
                                     "mil",
                                     "mobi",
                                     "museum",
                                     "name",
                                     "net",
                                     "org",
                                     "pro",
                                     "tel",
                                     "travel",
                                     "xn--0zwm56d",
                                     "xn--11b5bs3a9aj6g",
                                     "xn--80akhbyknj4f",
                                     "xn--9t4b11yi5a",
                                     "xn--deba0ad",
                                     "xn--g6w251d",
                                     "xn--hgbk6aj7f53bba",
                                     "xn--hlcj6aya9esc7a",
                                     "xn--jxalpdlp",
                                     "xn--kgbechtv",
                                     "xn--zckzah"};

static bool has_pair(const char *pairs, const char *name, size_t len)
{
    for (; len == 2 && *pairs != '\0'; pairs += 2)
        if (memcmp(pairs, name, 2) == 0)
            return true;
    return false;
}

bool tld_is_country(const char *name, size_t len)
{
    return has_pair(countries, name, len);
}

bool tld_is(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) == len && memcmp(others[i], name, len) == 0)
            return true;
    return tld_is_country(name, len) && !has_pair(unused, name, len);
}
