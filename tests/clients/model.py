#!/usr/bin/env python3
"""Compares src/api/shapes.json with the model that the AWS CLI is made from: model.py SHAPES SERVICE_MODEL.

Both are facts about one service, gathered in different ways. A difference is a mistake in shapes.json, or news.
"""
import json
import sys

# What the service has and its published model of that time has not: documented elsewhere, or newer.
NEWER = {
    "AttachClusterNodeNetworkInterface",
    "ClusterOrchestratorSlurmConfig.AccountingDatabase",
}
# Ours beside the model's: see src/api/shapes.h.
OURS = {"ClusterOrchestrator.oneOf"}


def members(ours, theirs, name):
    for member in sorted(set(ours) | set(theirs)):
        if f"{name}.{member}" not in NEWER:
            yield f"{name}.{member}", ours.get(member, {}).get("shape"), theirs.get(member, {}).get("shape")


def facts(ours, theirs, name):
    """(what, ours, theirs) for everything that a shape says."""
    number = {"long": "integer", "float": "number", "double": "number"}
    yield f"{name}.type", ours["type"], number.get(theirs["type"], theirs["type"])
    for fact in ("min", "max", "pattern"):
        yield f"{name}.{fact}", ours.get(fact), theirs.get(fact)
    if name != "ClusterInstanceType":  # its values are those of src/model/instance_types.json
        yield f"{name}.enum", ours.get("values"), theirs.get("enum")
    yield f"{name}.oneOf", ours.get("oneOf", False), theirs.get("union", False)
    for kind in ("member", "key", "value"):
        yield f"{name}.{kind}", ours.get(kind), theirs.get(kind, {}).get("shape")
    yield from members(ours.get("members", {}), theirs.get("members", {}), name)
    required = [member for member, of in ours.get("members", {}).items() if of.get("required")]
    yield f"{name}.required", sorted(required), sorted(theirs.get("required", []))


def reach(name, shapes, seen):
    if not name or name in seen or name not in shapes:
        return
    seen.add(name)
    shape = shapes[name]
    for other in [shape.get("member"), shape.get("key"), shape.get("value")]:
        reach(other, shapes, seen)
    for member in shape.get("members", {}).values():
        reach(member["shape"], shapes, seen)


def compared(ours, theirs):
    seen = set()
    for target, operation in ours["operations"].items():
        service, name = target.split(".")
        if service != "SageMaker" or name in NEWER:
            continue
        model = theirs["operations"][name]
        if "input" not in operation:
            continue  # known by name only
        yield f"{name}.input", operation["input"], model["input"]["shape"]
        yield f"{name}.output", operation.get("output"), model.get("output", {}).get("shape")
        yield f"{name}.errors", sorted(operation.get("errors", [])), sorted(e["shape"] for e in model.get("errors", []))
        reach(operation["input"], ours["shapes"], seen)
        reach(operation.get("output"), ours["shapes"], seen)
    for name in sorted(seen & set(theirs["shapes"])):
        yield from facts(ours["shapes"][name], theirs["shapes"][name], name)


def main(ours_path, theirs_path):
    with open(ours_path, encoding="utf-8") as ours, open(theirs_path, encoding="utf-8") as theirs:
        found = [fact for fact in compared(json.load(ours), json.load(theirs)) if fact[0] not in OURS]
    for what, ours, theirs in found:
        if ours != theirs:
            print(f"{what}: {json.dumps(ours)} here, {json.dumps(theirs)} in the model")
    different = sum(ours != theirs for _, ours, theirs in found)
    print(f"{len(found)} facts compared, {different} differ")
    return 1 if different or len(found) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
