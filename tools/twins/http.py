# SPDX-License-Identifier: MIT
"""A request and a response of HTTP/1: their bytes, and what buffers of rules hold of them."""
import dataclasses
import re

CLIENT, SERVER = True, False
FIELD_OF = {"http.user_agent": b"User-Agent", "http.referer": b"Referer", "http.accept": b"Accept",
            "http.accept_enc": b"Accept-Encoding", "http.accept_lang": b"Accept-Language",
            "http.connection": b"Connection", "http.content_type": b"Content-Type",
            "http.cookie": b"Cookie", "http.server": b"Server", "http.location": b"Location",
            "http.content_len": b"Content-Length", "http.host.raw": b"Host"}
# Of other names for a buffer.
SAME = {"http_method": "http.method", "http_uri": "http.uri", "http_raw_uri": "http.uri.raw",
        "http_host": "http.host", "http_raw_host": "http.host.raw", "http_header": "http.header",
        "http_raw_header": "http.header.raw", "http_cookie": "http.cookie",
        "http_user_agent": "http.user_agent", "http_referer": "http.referer",
        "http_accept": "http.accept", "http_accept_enc": "http.accept_enc",
        "http_accept_lang": "http.accept_lang", "http_connection": "http.connection",
        "http_content_type": "http.content_type", "http_content_len": "http.content_len",
        "http_header_names": "http.header_names", "http_protocol": "http.protocol",
        "http_request_line": "http.request_line", "http_response_line": "http.response_line",
        "http_start": "http.start", "http_stat_code": "http.stat_code",
        "http_stat_msg": "http.stat_msg", "http_client_body": "http.request_body",
        "http_server_body": "http.response_body", "file_data": "file.data"}
OF_CLIENT = {"http.method", "http.uri", "http.uri.raw", "http.host", "http.host.raw",
             "http.request_line", "http.user_agent", "http.referer", "http.accept",
             "http.accept_enc", "http.accept_lang", "http.request_body"}
OF_SERVER = {"http.stat_code", "http.stat_msg", "http.response_line", "http.server",
             "http.location", "http.response_body"}
OF_EITHER = {"http.header", "http.header.raw", "http.header_names", "http.cookie",
             "http.content_type", "http.content_len", "http.connection", "http.protocol",
             "http.start", "file.data"}
BUFFERS = OF_CLIENT | OF_SERVER | OF_EITHER
# Buffers of the flags of pcre.
OF_FLAG = {"U": "http.uri", "I": "http.uri.raw", "P": "http.request_body",
           "Q": "http.response_body", "H": "http.header", "D": "http.header.raw",
           "M": "http.method", "C": "http.cookie", "S": "http.stat_code", "Y": "http.stat_msg",
           "V": "http.user_agent", "W": "http.host", "Z": "http.host.raw"}
LINE = re.compile(rb"([!#-9;-~]+): ?(.*)$", re.S)
FILLERS = {"http.method": (b"GET", b"P"), "http.uri": (b"x", b"a7/-", b"0", b"w."),
           "http.protocol": (b"1.1", b"1.0"),
           "http.host": (b"x", b"w.", b"0"), "http.host.raw": (b"x", b"w.", b"0"),
           "http.stat_code": (b"2", b"4"), "http.content_len": (b"7", b"1")}
USUAL = (b"x", b"-", b"0", b"A", b"w.", b"5g", b"kM", b"x ", b"7")


@dataclasses.dataclass
class Half:
    """A request or a response."""
    start: tuple  # three words
    fields: list
    body: bytes

    @property
    def line(self):
        return b" ".join(self.start)

    def lines(self, cookies):
        return b"".join(name + b": " + value + b"\r\n" for name, value in self.fields
                        if cookies or name.lower() not in (b"cookie", b"set-cookie"))

    def encode(self):
        return self.line + b"\r\n" + self.lines(True) + b"\r\n" + self.body

    def field(self, name):
        found = [v for n, v in self.fields if n.lower() == name.lower()]
        return b", ".join(found) if found else None


def is_token(data):
    return re.fullmatch(rb"[!#-9A-Z^-z|~;=]+", data) is not None


def is_text(data):
    """Whether a field's value is taken as it is."""
    return re.fullmatch(rb"[!-~\x80-\xff](?:[ -~\x80-\xff\t]*[!-~\x80-\xff])?", data) is not None


def cut_uri(data):
    """The path, and the rest with the mark that begins it."""
    path = re.match(rb"[^?#]*", data)[0]
    return path, data[len(path):]


def raw_uri(data):
    """What a request says so that its URI is this; or None."""
    path, rest = cut_uri(data)
    if (path[:1] != b"/" or b"//" in path or re.search(rb"/\.{1,2}(/|$)|[\\\x80-\xff]", path)
            or b"\0" in data):
        return None
    return re.sub(rb"[\x01-\x20%\x7f-\xff]", lambda m: b"%%%02X" % m[0][0], path + rest)


def parse_lines(data):
    """Fields of a text of lines. One without a name gets one."""
    fields = []
    for text in data.split(b"\r\n"):
        if not text:
            continue
        match = LINE.match(text)
        name, value = (match[1], match[2]) if match else (b"X-D", text)
        if not is_text(value):
            return None
        fields.append((name, value))
    return fields


def names_of(data):
    found = [name for name in data.split(b"\r\n") if name]
    return found if all(map(is_token, found)) else None


# By these a flow is known. Another method is one of a flow that is known already.
KNOWN = re.compile(rb"GET|PUT|POST|HEAD|OPTIONS|DELETE|PATCH|TRACE|PROPFIND")
KNOWN_BEFORE = [(True, b"GET / HTTP/1.1\r\nHost: host.example\r\n\r\n"),
                (False, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
REQUEST_LINE = re.compile(rb"([A-Za-z_-]+) ([!-~\x80-\xff]+) (HTTP/1\.[01])")
RESPONSE_LINE = re.compile(rb"(HTTP/1\.[01]) ([2-5]\d\d) ([!-~\x80-\xff](?:[ -~\x80-\xff]*[!-~])?)")


def whole_line(data, client):
    """The words of a first line with these bytes, or None."""
    if client:
        form = REQUEST_LINE
        heads = b"", b"GET ", b"GET /"
        tails = b"", b" HTTP/1.1", b"1", b"TTP/1.1", b"/1.1", b".1"
    else:
        form = RESPONSE_LINE
        heads = b"", b"HTTP/1.1 ", b"HTTP/1.1 200 "
        tails = b"", b"OK", b" OK", b" 200 OK", b"1 200 OK"
    for head in heads:
        for tail in tails:
            match = form.fullmatch(head + data + tail)
            if match:
                return match.groups()
    return None


def protocol_of(said):
    text = said.get("http.protocol", b"HTTP/1.1")
    return text if text[:1] == b"H" else b"HTTP/" + text


def start_of(said, client):
    """The words of the first line, or None."""
    line = said.get("http.request_line" if client else "http.response_line")
    if line is None and "http.start" in said:
        line = said["http.start"].partition(b"\r\n")[0] or None
    if line is not None:
        return whole_line(line, client)
    if client:
        uri = raw_uri(said["http.uri"]) if "http.uri" in said else said.get("http.uri.raw", b"/")
        has_body = "http.request_body" in said or "file.data" in said
        words = (said.get("http.method", b"POST" if has_body else b"GET"), uri,
                 protocol_of(said))
    else:
        words = (protocol_of(said), said.get("http.stat_code", b"200"),
                 said.get("http.stat_msg", b"OK"))
    form = REQUEST_LINE if client else RESPONSE_LINE
    return words if None not in words and form.fullmatch(b" ".join(words)) else None


def build_fields(said, client):
    """The fields of a half in which buffers have these bytes, or None."""
    fields = []
    if "http.header_names" in said:
        listed = names_of(said["http.header_names"])
        if listed is None:
            return None
        fields = [(name, b"x") for name in listed]
    for buffer in ("http.header", "http.header.raw", "http.start"):
        if buffer in said:
            text = said[buffer]
            lines = parse_lines(text.partition(b"\r\n")[2] if buffer == "http.start" else text)
            if lines is None:
                return None
            fields = put_all(fields, lines)
    for buffer, name in FIELD_OF.items():
        if buffer in said:
            if not is_text(said[buffer]):
                return None
            of_server = buffer == "http.cookie" and not client
            fields = put_all(fields, [(b"Set-Cookie" if of_server else name, said[buffer])])
    if "http.host" in said:
        if not re.fullmatch(rb"[A-Za-z0-9._-]+", said["http.host"]):
            return None
        fields = put_all(fields, [(b"Host", said["http.host"])])
    if client and "http.header_names" not in said and not any(n.lower() == b"host"
                                                              for n, _ in fields):
        fields.insert(0, (b"Host", b"host.example"))
    return fields


def put_all(fields, others):
    """Fields with values in the place of what they had, or behind the last."""
    fields = list(fields)
    for name, value in others:
        at = next((i for i, (n, _) in enumerate(fields) if n.lower() == name.lower()), None)
        if at is None:
            fields.append((name, value))
        else:
            fields[at] = (fields[at][0], value)
    return fields


def with_body(fields, body):
    """The fields with the length of a body, and a body where they have a length."""
    at = next((i for i, (n, _) in enumerate(fields) if n.lower() == b"content-length"), None)
    if body is None:
        text = fields[at][1] if at is not None else b"0"
        if text == b"x":
            fields[at] = (fields[at][0], b"0")
        number = re.fullmatch(rb"\d{1,4}", text)
        return fields, b"y" * int(number[0]) if number else b""
    return put_all(fields, [(b"Content-Length", b"%d" % len(body))]), body


def half_of(said, client):
    """The request or the response in which buffers have these bytes, or None."""
    start, fields = start_of(said, client), build_fields(said, client)
    body = said.get("http.request_body" if client else "http.response_body", said.get("file.data"))
    if start is None or fields is None:
        return None
    if body is None and not client and all(n.lower() != b"content-length" for n, _ in fields):
        body = b""
    return Half(start, *with_body(fields, body))


def uri_of(raw):
    """A URI without its escapes."""
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), raw)


def host_of(half):
    host = half.field(b"Host")
    return host.lower().partition(b":")[0] if host is not None else None


def path_of(half):
    """The path of a URI; that of another target is a part of it."""
    return uri_of(half.start[1]) if half.start[1][:1] == b"/" else None


def names_in(half):
    return (b"\r\n" + b"".join(n + b"\r\n" for n, _ in half.fields) + b"\r\n"
            if half.fields else None)


def body_of(half):
    return half.body or None


# What buffers hold of a half.
HOLD = {"http.header": lambda half: half.lines(False),
        "http.header.raw": lambda half: half.lines(True) + b"\r\n",
        "http.start": lambda half: half.line + b"\r\n" + half.lines(True) + b"\r\n",
        "http.header_names": names_in, "file.data": body_of}
HOLD_OF = {CLIENT: {**HOLD, "http.request_line": lambda half: half.line,
                    "http.protocol": lambda half: half.start[2], "http.request_body": body_of,
                    "http.host": host_of, "http.method": lambda half: half.start[0],
                    "http.uri.raw": lambda half: half.start[1], "http.uri": path_of},
           SERVER: {**HOLD, "http.response_line": lambda half: half.line,
                    "http.protocol": lambda half: half.start[0], "http.response_body": body_of,
                    "http.stat_code": lambda half: half.start[1],
                    "http.stat_msg": lambda half: half.start[2]}}


def held(half, client, buffer):
    """What a buffer holds of a half, or None."""
    if buffer not in FIELD_OF:
        of_half = HOLD_OF[client].get(buffer)
        return of_half(half) if of_half else None
    if buffer not in OF_EITHER and (buffer in OF_CLIENT) != client:
        return None
    of_server = buffer == "http.cookie" and not client
    return half.field(b"Set-Cookie" if of_server else FIELD_OF[buffer])


def segments(halves):
    """Pairs: whether the client says it, and the bytes."""
    known = KNOWN.fullmatch(halves[0].start[0])
    return [*(() if known else KNOWN_BEFORE),
            *((i == 0, half.encode()) for i, half in enumerate(halves))]


class Talk:
    """A request, and a response where the rule is about one. `said` are the bytes of buffers.
    "payload" is what a rule looks for in the stream: it stands in a body."""
    protocol = "http"
    escapes = True  # whether a URI may have some

    def __init__(self, to_client, buffers):
        self.to_client = to_client
        self.side_of = {b: b in OF_CLIENT or (b in OF_EITHER and not to_client) for b in buffers}
        self.side_of["payload"] = not to_client

    def with_payload(self, said):
        """The same with what stands anywhere in the stream as a body, or as a head with it."""
        body = "http.response_body" if self.to_client else "http.request_body"
        said, data = dict(said), said["payload"]
        del said["payload"]
        if re.match(rb"[A-Z]{3,8} |HTTP/1", data):
            said["http.start"], mark, data = data.partition(b"\r\n\r\n")
            if not mark:
                return said
        elif body in said or "file.data" in said:
            return None
        said[body] = data
        return said

    def halves(self, said):
        """Both, or None for one that cannot be said."""
        if "payload" in said:
            said = self.with_payload(said)
        if said is None:
            return None
        own = {buffer: self.side_of.get(buffer, not self.to_client) for buffer in said}
        halves = [half_of({b: v for b, v in said.items() if own[b]}, CLIENT)]
        if self.to_client:
            halves.append(half_of({b: v for b, v in said.items() if not own[b]}, SERVER))
        return halves if None not in halves else None

    def spoken(self, said):
        """Both halves where a rule's URI can be said, or None."""
        halves = self.halves(said)
        return halves if halves and (self.escapes or b"%" not in halves[0].start[1]) else None

    def of_halves(self, halves, buffer, client):
        """What a buffer of one side holds, or None."""
        if buffer == "payload":
            return b"".join(raw for side, raw in segments(halves) if side == client)
        if not client and not self.to_client:
            return None
        return held(halves[0 if client else -1], client, buffer)

    def value(self, said, buffer):
        """What a buffer of this talk holds, or None."""
        halves = self.spoken(said)
        return self.of_halves(halves, buffer, self.side_of[buffer]) if halves else None

    def values(self, said, asker=None):
        """What each buffer of another talk holds, or of this one; None: that cannot be said."""
        halves = self.spoken(said)
        if halves is None:
            return None
        out = {buffer: self.of_halves(halves, buffer, client)
               for buffer, client in (asker or self).side_of.items()}
        return {buffer: value for buffer, value in out.items() if value is not None}

    def segments(self, said):
        return segments(self.halves(said))

    def asks(self, said):
        """Whether the request is the rule's own."""
        return any(side and b in said for b, side in self.side_of.items() if b != "payload")
