// What deploy/ ships, against the real thing: a live uopd under load, scraped by a real Prometheus; every query of the
// dashboard must return data.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Client } from "../node/client.mjs";
import { Server } from "../node/server.mjs";
import { Prometheus } from "./prometheus.mjs";

const kDeploy = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../deploy");
const kWaitMs = 90_000;
const read = (name) => fs.readFileSync(path.join(kDeploy, name), "utf8");
const dashboard = JSON.parse(read("grafana/dashboards/uopd.json"));
const panels = dashboard.panels.filter((panel) => panel.type !== "row");

let server;
let prometheus;
let load;

before(async () => {
  server = await Server.start();
  prometheus = await Prometheus.start(kDeploy, server.metrics);
  load = new Load(await Client.connect(server.address));
});
after(async () => {
  await load?.stop();
  await prometheus?.stop();
  await server?.stop();
});

/// Calls of every kind that the panels show, until it is stopped: new structures, old ones, failures.
class Load {
  constructor(client) {
    this.client = client;
    this.going = true;
    this.done = this.run();
  }
  async run() {
    for (let size = 2; this.going; ++size) {
      const values = Array.from({ length: size * size }, (_, i) => i);
      const buffer = await this.client.put_f32(values);
      for (let i = 0; i < 3; ++i) {
        const run = await this.client.call("Execute",
          { graph: this.product(size), inputs: [{ buffer }, { buffer }] });
        await this.client.get(run.outputs[0].buffer);
        await this.client.call("FreeBuffers", { buffers: [run.outputs[0].buffer] });
      }
      await this.client.call("Compile", { graph: { nodes: [{ op: 9999 }], roots: [0] } }).catch(() => {});
      await this.client.call("Status", {});
      await sleep(50);
    }
  }
  product(size) {
    const graph = this.client.graph();
    const [a, b] = [0, 1].map((slot) => graph.reshape(graph.buffer(slot, size * size), [size, size]));
    return graph.message(graph.matmul(a, b, size, size, size));
  }
  async stop() {
    this.going = false;
    await this.done;
    this.client.close();
  }
}

function run_promtool(args, input = "") {
  const { status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8" });
  return { status, output: `${stdout ?? ""}${stderr ?? ""}` };
}

/// Fills in what Grafana would.
function expanded(expression) {
  const text = expression.replaceAll("$__rate_interval", "30s").replaceAll("$__range", "30s")
    .replaceAll("$instance", ".*");
  assert.ok(!text.includes("$"), `an unknown variable in ${expression}`);
  return text;
}

/// Why the query shows nothing, or null.
async function problem(expression) {
  const series = await prometheus.query(expression);
  if (series.length === 0) return "no data";
  if (series.every(({ value }) => Number.isNaN(Number(value[1])))) return "only NaN";
  return null;
}

test("promtool accepts the configuration and its rules", () => {
  const { status, output } = run_promtool(["check", "config", path.join(kDeploy, "prometheus/prometheus.yml")]);
  assert.equal(status, 0, output);
});

test("the dashboard is well formed and reads the provisioned data source", () => {
  const uid = read("grafana/provisioning/datasources/prometheus.yaml").match(/uid: (\S+)/)[1];
  const ids = dashboard.panels.map((panel) => panel.id);
  assert.equal(new Set(ids).size, ids.length, "panel ids repeat");
  const taken = new Map();
  for (const panel of dashboard.panels) {
    if (panel.type !== "row") assert.deepEqual(panel.datasource, { type: "prometheus", uid }, panel.title);
    const { x, y, w, h } = panel.gridPos;
    assert.ok(x + w <= 24, panel.title);
    for (let i = x; i < x + w; ++i) {
      for (let j = y; j < y + h; ++j) {
        assert.ok(!taken.has(`${i},${j}`), `${panel.title} covers ${taken.get(`${i},${j}`)}`);
        taken.set(`${i},${j}`, panel.title);
      }
    }
  }
});

test("every query of the dashboard returns data", async (t) => {
  const end = Date.now() + kWaitMs;
  for (const panel of panels) {
    for (const { expr } of panel.targets) {
      await t.test(`${panel.title}: ${expr}`, async () => {
        let wrong;
        while ((wrong = await problem(expanded(expr))) && Date.now() < end) await sleep(500);
        assert.equal(wrong, null);
      });
    }
  }
});

test("the metrics are clean, and hold all that the rules and the dashboard name", async () => {
  const scraped = await (await fetch(`http://${server.metrics}/metrics`)).text();
  const { status, output } = run_promtool(["check", "metrics"], scraped);
  assert.equal(output, "");
  assert.equal(status, 0);
  const exported = new Set(scraped.match(/^uopd_\w+/gm));
  for (const name of `${read("prometheus/rules.yml")}${JSON.stringify(panels)}`.match(/\buopd_[a-z_]+/g)) {
    assert.ok(exported.has(name), `${name} is not exported`);
  }
});
