/* SPDX-License-Identifier: MIT */
/* Any bytes as both sides of a flow of TLS, DNS, SIP, SMTP, FTP or SSH, or of no protocol so far:
 * the reports do not depend on the cuts. The first byte says which. */
#include "app_trial.h"

#define BYTES(text) (text), sizeof(text) - 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *bytes;
        uint32_t len;
    } begins[] = {
        {"\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9},
        {"\x00\x13\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01x\x00\x00\x01\x00\x01", 21},
        {"INVITE sip:", 11},
        {BYTES("EHLO x\r\nDATA\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n")},
        {BYTES("EHLO x\r\nBDAT 999\r\nContent-Type: a; name=b\r\n"
               "Content-Transfer-Encoding: base64\r\n\r\n")},
        {BYTES("EHLO x\r\n")},
        {BYTES("USER x\r\n")},
        {BYTES("SSH-2.0-x\r\n\0\0\0\x40\4\x14")},
        {"\x05\x64", 2},
        {"", 0}};
    enum { N = sizeof begins / sizeof *begins };

    if (size == 0)
        return 0;
    trial_fuzz(begins[data[0] % N].bytes, begins[data[0] % N].len, data + 1, size - 1);
    return 0;
}
