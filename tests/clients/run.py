#!/usr/bin/env python3
"""Runs a scenario through boto3 or through the AWS CLI: run.py boto3|aws ENDPOINT SCENARIO."""
import datetime
import json
import re
import subprocess
import sys
import time


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class Boto3:
    def __init__(self, endpoint):
        import boto3

        self.client = boto3.client("sagemaker", endpoint_url=endpoint)

    def call(self, operation, given, pages):
        import botocore.exceptions

        method = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
        try:
            if not pages:
                return getattr(self.client, method)(**given)
            found = self.client.get_paginator(method).paginate(**given, PaginationConfig={"PageSize": pages["size"]})
            return {pages["key"]: [item for page in found for item in page[pages["key"]]]}
        except botocore.exceptions.ClientError as error:
            raise Refused(error.response["Error"]["Code"], error.response["Error"]["Message"]) from error

    @staticmethod
    def is_time(value):
        return isinstance(value, datetime.datetime)


class AwsCli:
    def __init__(self, endpoint):
        self.words = ["aws", "sagemaker", "--endpoint-url", endpoint, "--output", "json"]

    def call(self, operation, given, pages):
        command = re.sub(r"(?<!^)(?=[A-Z])", "-", operation).lower()
        options = ["--page-size", str(pages["size"])] if pages else ["--no-paginate"]
        run = subprocess.run([*self.words, command, *options, "--cli-input-json", json.dumps(given)],
                             capture_output=True, text=True, check=False)
        if run.returncode == 0:
            return json.loads(run.stdout or "{}")
        refusal = re.search(r"An error occurred \((\w+)\) when calling the \w+ operation(?: \(.*?\))?: (.*)", run.stderr, re.S)
        if not refusal:
            raise SystemExit(f"aws {command}: {run.stderr}")
        raise Refused(*refusal.groups())

    @staticmethod
    def is_time(value):
        return isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value) is not None


def fill(value, names):
    """"$name" stands for what was saved under that name, {"$like": name, …} for a copy of it with other members."""
    if isinstance(value, str) and value[:1] == "$" and value[1:] in names:
        return fill(names[value[1:]], names)
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    if "$at" in value:
        return datetime.datetime.fromtimestamp(value["$at"], datetime.timezone.utc).isoformat()
    whole = dict(names[value["$like"]]) if "$like" in value else {}
    whole.update((key, item) for key, item in value.items() if key != "$like")
    return {key: fill(item, names) for key, item in whole.items()}


def fits(expected, found, is_time):
    """Objects may have more members, lists more items; null is absent, "~…" a regular expression, "$time" any time."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(fits(item, found.get(key), is_time) for key, item in expected.items())
    if isinstance(expected, list):
        return isinstance(found, list) and all(any(fits(item, other, is_time) for other in found) for item in expected)
    if expected == "$time":
        return is_time(found)
    if isinstance(expected, str) and expected[:1] == "~":
        return isinstance(found, str) and re.search(expected[1:], found) is not None
    return expected == found


def at(path, found):
    for part in path.split("."):
        found = found[int(part)] if part.isdigit() else found[part]
    return found


def holds(step, names, client):
    """Whether the answer is the expected one, and the answer as text."""
    try:
        found = client.call(step["call"], fill(step["with"], names), step.get("pages"))
    except Refused as refusal:
        good = step.get("error") == refusal.code and re.search(step["message"], refusal.message, re.S)
        return bool(good), str(refusal)
    text = json.dumps(found, default=str)
    if "error" in step or any(len(found[key]) != count for key, count in step.get("count", {}).items()):
        return False, text
    if not fits(fill(step.get("expect", {}), names), found, client.is_time):
        return False, text
    names.update((name, at(path, found)) for name, path in step.get("save", {}).items())
    return True, text


def main(kind, endpoint, path):
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    client = {"boto3": Boto3, "aws": AwsCli}[kind](endpoint)
    names, calls = dict(scenario["let"]), 0
    for step in scenario["steps"]:
        if "call" not in step:
            print(f"-- {step['say']}", flush=True)
            continue
        end = time.monotonic() + step.get("within", 0)
        good, answer = holds(step, names, client)
        while not good and time.monotonic() < end:
            time.sleep(0.2)
            good, answer = holds(step, names, client)
        if not good:
            raise SystemExit(f"{kind}: not as expected: {json.dumps(step)}\nanswer: {answer}")
        calls += 1
    print(f"{kind} is content with {calls} steps")


if __name__ == "__main__":
    main(*sys.argv[1:])
