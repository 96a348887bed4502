// A cluster's life through @aws-sdk/client-sagemaker: create, poll, list with pages, events, scale, delete.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import {
  CreateClusterCommand,
  DeleteClusterCommand,
  DescribeClusterCommand,
  DescribeClusterEventCommand,
  DescribeClusterNodeCommand,
  ListClustersCommand,
  SageMakerClient,
  UpdateClusterCommand,
  paginateListClusterEvents,
  paginateListClusterNodes,
} from "@aws-sdk/client-sagemaker";

const client = new SageMakerClient({ endpoint: process.env.ESPALIER_ENDPOINT, maxAttempts: 1 });
const ClusterName = "sdk";
const send = (Command, input = {}) => client.send(new Command({ ClusterName, ...input }));

const group = (name, type, count, slurm) => ({
  InstanceGroupName: name,
  InstanceType: type,
  InstanceCount: count,
  ExecutionRole: "arn:aws:iam::123456789012:role/espalier-example",
  SlurmConfig: slurm,
});
const controller = group("ctl", "ml.c5.xlarge", 1, { NodeType: "Controller" });
const workers = (count) => group("p5", "ml.p5.48xlarge", count, { NodeType: "Compute", PartitionNames: ["gpu"] });

// Asks until `done` says so, 60 s at most; the last answer stands in the error.
async function until(what, ask, done) {
  const end = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (done(answer)) return answer;
    assert.ok(Date.now() < end, `not within 60 s: ${what}; last answer: ${JSON.stringify(answer)}`);
    await pause(100);
  }
}
async function collect(pages, key) {
  const all = [];
  for await (const page of pages) all.push(...page[key]);
  return all;
}
const describe = () => send(DescribeClusterCommand);
const workersOf = (cluster) => cluster.InstanceGroups.find((g) => g.InstanceGroupName === "p5");
const grownTo = (count) => until(`${count} workers`, describe, (c) => workersOf(c)?.CurrentCount === count);

const { ClusterArn } = await send(CreateClusterCommand, {
  InstanceGroups: [controller, workers(3)],
  Orchestrator: { Slurm: {} },
  NodeProvisioningMode: "Continuous",
});
assert.match(ClusterArn, /^arn:aws:sagemaker:eu-central-1:123456789012:cluster\/[a-z0-9]{12}$/);
await until("InService", describe, (c) => c.ClusterStatus === "InService");
const grown = await grownTo(3);
assert.ok(grown.CreationTime instanceof Date);
assert.equal(grown.NodeProvisioningMode, "Continuous");
assert.deepEqual(workersOf(grown).SlurmConfig, { NodeType: "Compute", PartitionNames: ["gpu"] });

const nodes = await collect(paginateListClusterNodes({ client, pageSize: 2 }, { ClusterName: ClusterArn }), "ClusterNodeSummaries");
assert.equal(new Set(nodes.map((n) => n.InstanceId)).size, 4);
const node = await send(DescribeClusterNodeCommand, { NodeId: nodes[0].InstanceId });
assert.equal(node.NodeDetails.InstanceStatus.Status, "Running");

const events = await collect(paginateListClusterEvents({ client, pageSize: 5 }, { ClusterName }), "Events");
assert.ok(events.length > 5);
assert.ok(events.every((event, i) => i === 0 || event.EventTime <= events[i - 1].EventTime), "newest first");
const event = await send(DescribeClusterEventCommand, { EventId: events[0].EventId });
assert.equal(event.EventDetails.Description, events[0].Description);

await send(UpdateClusterCommand, { InstanceGroups: [workers(5)] });
await grownTo(5);
await send(UpdateClusterCommand, { InstanceGroups: [workers(1)] });
await grownTo(1);

const refused = await send(UpdateClusterCommand, { InstanceGroupsToDelete: ["ctl"] }).catch((error) => error);
assert.equal(refused.name, "ValidationException");

await send(DeleteClusterCommand);
const gone = await until("gone", () => describe().catch((error) => error), (answer) => answer instanceof Error);
assert.equal(gone.name, "ResourceNotFound");
const left = await client.send(new ListClustersCommand({}));
assert.equal(left.ClusterSummaries.length, 0);
console.log("the JavaScript client is content");
