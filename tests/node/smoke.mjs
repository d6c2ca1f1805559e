// Sends one graph to a running server and checks the result: node smoke.mjs ADDRESS ORIGIN
// ORIGIN is where the plan must come from: COMPILED, STORE or MEMORY.
import assert from "node:assert/strict";

import { Client, f32_values } from "./client.mjs";

const [address, origin] = process.argv.slice(2);
const client = await Client.connect(address);
const graph = client.graph();
const [m, k, n] = [2, 3, 2];
const product = graph.matmul(graph.reshape(graph.buffer(0, m * k), [m, k]),
  graph.reshape(graph.buffer(1, k * n), [k, n]), m, k, n);
const run = await client.call("Execute", {
  graph: graph.message(product), inline_outputs: true, verbosity: 1,
  inputs: [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]].map((values) => (
    { inline_bytes: Buffer.from(Float32Array.from(values).buffer) })),
});
client.close();
assert.deepEqual(f32_values(run.outputs[0].inline_bytes), [58, 64, 139, 154]);
assert.equal(run.report.origin, origin);
assert.equal(run.report.kernels_compiled > 0, origin === "COMPILED");
console.log(`${client.hello.target.cpu}, ${client.hello.target.compiler}: ${run.report.kernels} kernel, `
  + `${run.report.kernels_compiled} compiled, ${(run.report.schedule_ns / 1e6).toFixed(1)} ms to a plan`);
