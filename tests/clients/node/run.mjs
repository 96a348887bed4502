// Runs a scenario through @aws-sdk/client-sagemaker: node run.mjs ENDPOINT SCENARIO. ../run.py does the same with the
// other clients; README.md explains the words of a scenario.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import * as sdk from "@aws-sdk/client-sagemaker";

const [endpoint, path] = process.argv.slice(2);
const client = new sdk.SageMakerClient({ endpoint });
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);

async function call(operation, given, pages) {
  if (!pages) return client.send(new sdk[`${operation}Command`](given));
  const all = [];
  for await (const page of sdk[`paginate${operation}`]({ client, pageSize: pages.size }, given)) all.push(...page[pages.key]);
  return { [pages.key]: all };
}

function fill(value, names) {
  if (typeof value === "string" && value[0] === "$" && value.slice(1) in names) return fill(names[value.slice(1)], names);
  if (Array.isArray(value)) return value.map((item) => fill(item, names));
  if (!isObject(value)) return value;
  if ("$at" in value) return new Date(value.$at * 1000);
  const { $like, ...members } = value;
  const whole = { ...($like ? names[$like] : {}), ...members };
  return Object.fromEntries(Object.entries(whole).map(([key, item]) => [key, fill(item, names)]));
}

function fits(expected, found) {
  if (isObject(expected)) return isObject(found) && Object.entries(expected).every(([key, item]) => fits(item, found[key]));
  if (Array.isArray(expected))
    return Array.isArray(found) && expected.every((item) => found.some((other) => fits(item, other)));
  if (expected === "$time") return found instanceof Date;
  if (typeof expected === "string" && expected[0] === "~")
    return typeof found === "string" && new RegExp(expected.slice(1), "s").test(found);
  return expected === (found ?? null);
}

const at = (path, found) => path.split(".").reduce((value, part) => value[part], found);

// Whether the answer is the expected one, and the answer as text.
async function holds(step, names) {
  let found;
  try {
    found = await call(step.call, fill(step.with, names), step.pages);
  } catch (error) {
    if (!(error instanceof sdk.SageMakerServiceException)) throw error;
    return [step.error === error.name && new RegExp(step.message, "s").test(error.message), `${error}`];
  }
  const counts = Object.entries(step.count ?? {}).every(([key, count]) => found[key].length === count);
  const good = !step.error && counts && fits(fill(step.expect ?? {}, names), found);
  if (good) for (const [name, place] of Object.entries(step.save ?? {})) names[name] = at(place, found);
  return [good, JSON.stringify(found)];
}

const scenario = JSON.parse(readFileSync(path, "utf8"));
const names = { ...scenario.let };
let calls = 0;
for (const step of scenario.steps) {
  if (!step.call) {
    console.log(`-- ${step.say}`);
    continue;
  }
  const end = Date.now() + 1000 * (step.within ?? 0);
  let [good, answer] = await holds(step, names);
  while (!good && Date.now() < end) {
    await pause(200);
    [good, answer] = await holds(step, names);
  }
  if (!good) throw new Error(`not as expected: ${JSON.stringify(step)}\nanswer: ${answer}`);
  calls += 1;
}
console.log(`javascript is content with ${calls} steps`);
