/* SPDX-License-Identifier: MIT */
/* Entities of HTML and XML, those of Latin-1 and of punctuation. */
#include "unpack/html_entity.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

enum { NAME_MAX_LEN = 10 };

static const struct name {
    char text[NAME_MAX_LEN];
    uint16_t value;
} names[] = {{"AElig", 0xC6},    {"Aacute", 0xC1},    {"Acirc", 0xC2},    {"Agrave", 0xC0},
             {"Alpha", 0x391},   {"Aring", 0xC5},     {"Atilde", 0xC3},   {"Auml", 0xC4},
             {"Beta", 0x392},    {"Ccedil", 0xC7},    {"Chi", 0x3A7},     {"Dagger", 0x2021},
             {"Delta", 0x394},   {"ETH", 0xD0},       {"Eacute", 0xC9},   {"Ecirc", 0xCA},
             {"Egrave", 0xC8},   {"Epsilon", 0x395},  {"Eta", 0x397},     {"Euml", 0xCB},
             {"Gamma", 0x393},   {"Iacute", 0xCD},    {"Icirc", 0xCE},    {"Igrave", 0xCC},
             {"Iota", 0x399},    {"Iuml", 0xCF},      {"Kappa", 0x39A},   {"Lambda", 0x39B},
             {"Mu", 0x39C},      {"Ntilde", 0xD1},    {"Nu", 0x39D},      {"OElig", 0x152},
             {"Oacute", 0xD3},   {"Ocirc", 0xD4},     {"Ograve", 0xD2},   {"Omega", 0x3A9},
             {"Omicron", 0x39F}, {"Oslash", 0xD8},    {"Otilde", 0xD5},   {"Ouml", 0xD6},
             {"Phi", 0x3A6},     {"Pi", 0x3A0},       {"Prime", 0x2033},  {"Psi", 0x3A8},
             {"Rho", 0x3A1},     {"Scaron", 0x160},   {"Sigma", 0x3A3},   {"THORN", 0xDE},
             {"Tau", 0x3A4},     {"Theta", 0x398},    {"Uacute", 0xDA},   {"Ucirc", 0xDB},
             {"Ugrave", 0xD9},   {"Upsilon", 0x3A5},  {"Uuml", 0xDC},     {"Xi", 0x39E},
             {"Yacute", 0xDD},   {"Yuml", 0x178},     {"Zeta", 0x396},    {"aacute", 0xE1},
             {"acirc", 0xE2},    {"acute", 0xB4},     {"aelig", 0xE6},    {"agrave", 0xE0},
             {"alpha", 0x3B1},   {"amp", 0x26},       {"apos", 0x27},     {"aring", 0xE5},
             {"atilde", 0xE3},   {"auml", 0xE4},      {"bdquo", 0x201E},  {"beta", 0x3B2},
             {"brvbar", 0xA6},   {"bull", 0x2022},    {"ccedil", 0xE7},   {"cedil", 0xB8},
             {"cent", 0xA2},     {"chi", 0x3C7},      {"circ", 0x2C6},    {"copy", 0xA9},
             {"curren", 0xA4},   {"dagger", 0x2020},  {"deg", 0xB0},      {"delta", 0x3B4},
             {"divide", 0xF7},   {"eacute", 0xE9},    {"ecirc", 0xEA},    {"egrave", 0xE8},
             {"emsp", 0x2003},   {"ensp", 0x2002},    {"epsilon", 0x3B5}, {"eta", 0x3B7},
             {"eth", 0xF0},      {"euml", 0xEB},      {"euro", 0x20AC},   {"fnof", 0x192},
             {"frac12", 0xBD},   {"frac14", 0xBC},    {"frac34", 0xBE},   {"frasl", 0x2044},
             {"gamma", 0x3B3},   {"gt", 0x3E},        {"hellip", 0x2026}, {"iacute", 0xED},
             {"icirc", 0xEE},    {"iexcl", 0xA1},     {"igrave", 0xEC},   {"iota", 0x3B9},
             {"iquest", 0xBF},   {"iuml", 0xEF},      {"kappa", 0x3BA},   {"lambda", 0x3BB},
             {"laquo", 0xAB},    {"ldquo", 0x201C},   {"lrm", 0x200E},    {"lsaquo", 0x2039},
             {"lsquo", 0x2018},  {"lt", 0x3C},        {"macr", 0xAF},     {"mdash", 0x2014},
             {"micro", 0xB5},    {"middot", 0xB7},    {"mu", 0x3BC},      {"nbsp", 0xA0},
             {"ndash", 0x2013},  {"not", 0xAC},       {"ntilde", 0xF1},   {"nu", 0x3BD},
             {"oacute", 0xF3},   {"ocirc", 0xF4},     {"oelig", 0x153},   {"ograve", 0xF2},
             {"oline", 0x203E},  {"omega", 0x3C9},    {"omicron", 0x3BF}, {"ordf", 0xAA},
             {"ordm", 0xBA},     {"oslash", 0xF8},    {"otilde", 0xF5},   {"ouml", 0xF6},
             {"para", 0xB6},     {"permil", 0x2030},  {"phi", 0x3C6},     {"pi", 0x3C0},
             {"piv", 0x3D6},     {"plusmn", 0xB1},    {"pound", 0xA3},    {"prime", 0x2032},
             {"psi", 0x3C8},     {"quot", 0x22},      {"raquo", 0xBB},    {"rdquo", 0x201D},
             {"reg", 0xAE},      {"rho", 0x3C1},      {"rlm", 0x200F},    {"rsaquo", 0x203A},
             {"rsquo", 0x2019},  {"sbquo", 0x201A},   {"scaron", 0x161},  {"sect", 0xA7},
             {"shy", 0xAD},      {"sigma", 0x3C3},    {"sigmaf", 0x3C2},  {"sup1", 0xB9},
             {"sup2", 0xB2},     {"sup3", 0xB3},      {"szlig", 0xDF},    {"tau", 0x3C4},
             {"theta", 0x3B8},   {"thetasym", 0x3D1}, {"thinsp", 0x2009}, {"thorn", 0xFE},
             {"tilde", 0x2DC},   {"times", 0xD7},     {"uacute", 0xFA},   {"ucirc", 0xFB},
             {"ugrave", 0xF9},   {"uml", 0xA8},       {"upsih", 0x3D2},   {"upsilon", 0x3C5},
             {"uuml", 0xFC},     {"xi", 0x3BE},       {"yacute", 0xFD},   {"yen", 0xA5},
             {"yuml", 0xFF},     {"zeta", 0x3B6},     {"zwj", 0x200D},    {"zwnj", 0x200C}};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* "&#65;" or "&#x41;". */
static size_t numeric(const uint8_t *at, size_t len, uint32_t *value)
{
    const bool is_hex = len > 2 && (at[2] == 'x' || at[2] == 'X');
    size_t n = is_hex ? 3 : 2;
    const size_t begin = n;

    *value = 0;
    for (; n < len && n - begin < 8; n++) {
        const int digit = hex_digit((char)at[n]);

        if (digit < 0 || (!is_hex && digit > 9))
            break;
        *value = *value * (is_hex ? 16 : 10) + (uint32_t)digit;
    }
    return n > begin && n < len && at[n] == ';' ? n + 1 : 0;
}

size_t html_entity(const uint8_t *at, size_t len, uint32_t *value)
{
    struct name name = {"", 0};
    size_t n = 1;

    if (len > 2 && at[1] == '#')
        return numeric(at, len, value);
    while (n < len && n < NAME_MAX_LEN && isalnum(at[n])) {
        name.text[n - 1] = (char)at[n];
        n++;
    }
    if (n >= len || at[n] != ';' || n == 1)
        return 0;
    const struct name *found =
        bsearch(&name, names, sizeof names / sizeof *names, sizeof *names, compare_names);
    if (found == NULL)
        return 0;
    *value = found->value;
    return n + 1;
}
