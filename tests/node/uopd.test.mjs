// The service as an independent client sees it: session, streams, graph, plan, health, reflection, errors, end.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Client, f32_values, status } from "./client.mjs";
import { Server } from "./server.mjs";

let server;
let client;

before(async () => {
  server = await Server.start();
  client = await Client.connect(server.address);
});
after(async () => {
  client?.close();
  await server?.stop();
});

/// softmax over the last axis of a (rows, columns) input, from ops that every version has.
function softmax(rows, columns) {
  const graph = client.graph();
  const x = graph.reshape(graph.buffer(0, rows * columns), [rows, columns]);
  const spread = (y) => graph.expand(graph.reshape(y, [rows, 1]), [rows, columns]);
  const shifted = graph.op("SUB", [x, spread(graph.reduce("MAX", x, 1))]);
  const log2e = graph.expand(graph.reshape(graph.f32(Math.LOG2E), [1, 1]), [rows, columns]);
  const powers = graph.op("EXP2", [graph.op("MUL", [shifted, log2e])]);
  const root = graph.op("DIV", [powers, spread(graph.reduce("ADD", powers, 1))]);
  return graph.message(root);
}

function expected_softmax(values, columns) {
  const rows = [];
  for (let at = 0; at < values.length; at += columns) {
    const row = values.slice(at, at + columns);
    const powers = row.map((x) => Math.exp(x - Math.max(...row)));
    const sum = powers.reduce((a, b) => a + b);
    rows.push(...powers.map((x) => x / sum));
  }
  return rows;
}

function assert_close(actual, expected, tolerance = 1e-5) {
  assert.equal(actual.length, expected.length);
  actual.forEach((x, i) => {
    assert.ok(Math.abs(x - expected[i]) <= tolerance * Math.max(1, Math.abs(expected[i])),
      `element ${i}: ${x}, expected ${expected[i]}`);
  });
}

async function rejected(promise) {
  return promise.then(() => assert.fail("the call should have failed"), (error) => error);
}

test("Hello describes the server", () => {
  const hello = client.hello;
  assert.equal(hello.version, 1);
  assert.match(hello.server_version, /^\d+\.\d+\.\d+/);
  assert.ok(hello.session.length >= 16);
  assert.ok(hello.lease_seconds > 0);
  assert.ok(hello.limits.chunk_bytes >= 1 << 20);
  assert.ok(hello.target.threads >= 1);
  for (const name of ["BUFFER", "REDUCE", "GATHER", "ADD", "WHERE"]) assert.ok(client.ops.has(name), name);
  assert.ok(hello.dtypes.some((dtype) => dtype.dtype === "DTYPE_F32" && dtype.bytes === 4));
  assert.ok(hello.options.some((option) => option.name === "opt"));
});

test("a graph runs on an uploaded buffer, and its result comes back as a stream", async () => {
  const [rows, columns] = [32, 48];
  const values = Array.from({ length: rows * columns }, (_, i) => Math.fround(Math.sin(i) * 4));
  const input = await client.put_f32(values);
  const run = await client.call("Execute", { graph: softmax(rows, columns), inputs: [{ buffer: input }], verbosity: 2 });
  assert.equal(run.outputs.length, 1);
  assert.deepEqual(run.outputs[0].tensor, { dtype: "DTYPE_F32", elements: rows * columns });
  assert.equal(run.report.origin, "COMPILED");
  assert.ok(run.report.kernels_compiled > 0);
  assert.equal(run.report.kernel_runs.length, run.report.kernels);

  const output = await client.get(run.outputs[0].buffer);
  assert.deepEqual(output.tensor, run.outputs[0].tensor);
  assert_close(f32_values(output.bytes), expected_softmax(values, columns));

  const part = await client.get(run.outputs[0].buffer, 40, 80);
  assert.deepEqual(part.bytes, output.bytes.subarray(40, 120));
  const freed = await client.call("FreeBuffers", { buffers: [input, run.outputs[0].buffer, input] });
  assert.deepEqual(freed, { freed: 2, unknown: 1 });
});

test("a compiled plan runs by its id, without the graph", async () => {
  const [m, k, n] = [3, 4, 2];
  const a = Array.from({ length: m * k }, (_, i) => i - 5);
  const b = Array.from({ length: k * n }, (_, i) => 2 * i + 1);
  const graph = client.graph();
  const product = graph.matmul(graph.reshape(graph.buffer(0, m * k), [m, k]),
    graph.reshape(graph.buffer(1, k * n), [k, n]), m, k, n);
  const compiled = await client.call("Compile", { graph: graph.message(product) });
  assert.match(compiled.plan_id, /^[0-9a-f]{64}$/);
  assert.equal(compiled.plan.inputs.length, 2);

  const slots = [Buffer.from(Float32Array.from(a).buffer), Buffer.from(Float32Array.from(b).buffer)];
  const run = await client.call("Execute", {
    plan_id: compiled.plan_id, inline_outputs: true, verbosity: 1,
    inputs: compiled.input_slots.map((slot) => ({ inline_bytes: slots[slot] })),
  });
  const expected = [];
  for (let i = 0; i < m; ++i) {
    for (let j = 0; j < n; ++j) expected.push(a.slice(i * k, i * k + k).reduce((sum, x, l) => sum + x * b[l * n + j], 0));
  }
  assert.deepEqual(f32_values(run.outputs[compiled.root_outputs[0]].inline_bytes), expected);
  assert.equal(run.report.kernels_compiled, 0);
});

test("an upload of many chunks comes back unchanged", async () => {
  const bytes = Buffer.alloc(5 * (1 << 20) + 4);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = (i * 31 + (i >> 10)) & 255;
  const id = await client.put(bytes, "DTYPE_U8", bytes.length);
  const back = await client.get(id);
  assert.ok(back.replies > 1);
  assert.ok(back.bytes.equals(bytes));
  const list = await client.call("ListBuffers", {});
  assert.ok(list.buffers.some((each) => each.buffer === id && each.bytes === bytes.length));
  await client.call("FreeBuffers", { buffers: [id] });
});

test("health and reflection answer", async () => {
  assert.equal(await client.health(""), "SERVING");
  assert.equal(await client.health("uopd.v1.Uopd"), "SERVING");
  assert.ok((await client.reflection()).includes("uopd.v1.Uopd"));
});

test("what a client does wrong is refused with the place and the remedy, and the server goes on", async (t) => {
  const rows = [
    ["an unknown op", { nodes: [{ op: 9999 }], roots: [0] }, /9999/],
    ["a source that comes later", { nodes: [{ op: client.ops.get("NEG"), src: [1] },
      { op: client.ops.get("BUFFER"), dtype: "DTYPE_F32", ints: [4] }], roots: [0] }, /NEG|node 0/],
    ["an arity that does not fit", { nodes: [{ op: client.ops.get("BUFFER"), dtype: "DTYPE_F32", ints: [4] },
      { op: client.ops.get("ADD"), src: [0] }], roots: [1] }, /ADD/],
    ["shapes that differ", { nodes: [{ op: client.ops.get("BUFFER"), dtype: "DTYPE_F32", ints: [4] },
      { op: client.ops.get("BUFFER"), dtype: "DTYPE_F32", value: 1, ints: [5] },
      { op: client.ops.get("ADD"), src: [0, 1] }], roots: [2] }, /ADD[^]*(4|5)/],
    ["no root", { nodes: [{ op: client.ops.get("BUFFER"), dtype: "DTYPE_F32", ints: [4] }], roots: [] }, /root/],
  ];
  for (const [name, graph, message] of rows) {
    await t.test(name, async () => {
      const error = await rejected(client.call("Compile", { graph }));
      assert.equal(error.code, status.INVALID_ARGUMENT, error.details);
      assert.match(error.details, message);
    });
  }
  const graph = softmax(2, 2);
  await t.test("too few input bytes", async () => {
    const error = await rejected(client.call("Execute", { graph, inputs: [{ inline_bytes: Buffer.alloc(12) }] }));
    assert.equal(error.code, status.INVALID_ARGUMENT, error.details);
    assert.match(error.details, /16[^]*12|12[^]*16/);
  });
  await t.test("a buffer that is not there", async () => {
    const error = await rejected(client.call("Execute", { graph, inputs: [{ buffer: "nothing" }] }));
    assert.equal(error.code, status.NOT_FOUND, error.details);
  });
  await t.test("a plan that is not there", async () => {
    const error = await rejected(client.call("Execute", { plan_id: "0".repeat(64) }));
    assert.equal(error.code, status.NOT_FOUND, error.details);
    assert.match(error.details, /graph/);
  });
  await t.test("an upload that is shorter than its header says", async () => {
    const error = await rejected(client.put(Buffer.alloc(12), "DTYPE_F32", 4));
    assert.equal(error.code, status.INVALID_ARGUMENT, error.details);
  });
  assert.equal(await client.health(""), "SERVING");
});

test("a restarted server answers the same graph from its cache directory; SIGTERM ends it with 0", async () => {
  const inputs = [{ inline_bytes: Buffer.from(Float32Array.from([1, 2, 3, 4]).buffer) }];
  const first = await Server.start();
  const one = await Client.connect(first.address);
  const made = await one.call("Execute", { graph: softmax(2, 2), inputs, inline_outputs: true, verbosity: 1 });
  assert.equal(made.report.origin, "COMPILED");

  const second = await Server.start({ cache_dir: first.cache_dir });
  const two = await Client.connect(second.address);
  const found = await two.call("Execute", { graph: softmax(2, 2), inputs, inline_outputs: true, verbosity: 1 });
  assert.equal(found.report.origin, "STORE");
  assert.equal(found.report.kernels_compiled, 0);
  assert.deepEqual(found.outputs, made.outputs);
  one.close();
  two.close();
  assert.equal(await second.stop(), 0);
  assert.equal(await first.stop(), 0);
});
