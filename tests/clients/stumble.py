#!/usr/bin/env python3
"""A control plane that stumbles: stumble.py LISTEN_PORT ENDPOINT.

Stands before a real one and answers the first two attempts of every call itself, with what Espalier says when it is
overloaded (a 503, then a ThrottlingException), and passes on the third. Clients must come through by their own retries.
It prints a line "OPERATION ATTEMPT STATUS" for each attempt.
"""
import http.server
import json
import sys
import urllib.error
import urllib.request

REFUSALS = [(503, "ServiceUnavailable"), (400, "ThrottlingException")]
attempts = {}


class Stumbling(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        call = self.headers["amz-sdk-invocation-id"]
        attempt = attempts[call] = attempts.get(call, 0) + 1
        if attempt <= len(REFUSALS):
            status, kind = REFUSALS[attempt - 1]
            answer = json.dumps({"__type": kind, "Message": "try again"}).encode()
        else:
            status, answer = self.forward(body)
        print(self.headers["X-Amz-Target"], attempt, status, flush=True)
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def forward(self, body):
        # The signature is for this host: without keys the control plane does not look at it.
        kept = {name: value for name, value in self.headers.items() if name.lower().startswith(("x-amz-", "authorization", "content-type"))}
        try:
            with urllib.request.urlopen(urllib.request.Request(sys.argv[2], body, kept)) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Stumbling).serve_forever()
