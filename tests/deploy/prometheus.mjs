// A real Prometheus for a test: `Prometheus.start(metrics_address)` scrapes that address once a second, by the
// configuration that deploy/ ships.
import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const kStartMs = 60_000;

export class Prometheus {
  static async start(deploy, target) {
    const server = new Prometheus();
    server.directory = fs.mkdtempSync(path.join(os.tmpdir(), "uopd-prometheus-"));
    const shipped = fs.readFileSync(path.join(deploy, "prometheus/prometheus.yml"), "utf8");
    const config = shipped.replace("uopd:9471", target).replace(/scrape_interval: \w+/, "scrape_interval: 1s");
    fs.writeFileSync(path.join(server.directory, "prometheus.yml"), config);
    fs.copyFileSync(path.join(deploy, "prometheus/rules.yml"), path.join(server.directory, "rules.yml"));
    server.address = `127.0.0.1:${await free_port()}`;
    server.process = spawn("prometheus", [`--config.file=${server.directory}/prometheus.yml`,
      `--storage.tsdb.path=${server.directory}/data`, `--web.listen-address=${server.address}`],
    { stdio: ["ignore", "ignore", "pipe"] });
    server.log = "";
    server.process.stderr.on("data", (text) => { server.log += text; });
    server.exited = new Promise((resolve) => {
      server.process.on("error", (error) => { server.log += error; resolve(); });
      server.process.on("exit", resolve);
    });
    for (const end = Date.now() + kStartMs; Date.now() < end && server.process.exitCode === null; await sleep(100)) {
      const ready = await fetch(`http://${server.address}/-/ready`).catch(() => null);
      if (ready?.ok) return server;
    }
    await server.stop();
    throw new Error(`prometheus did not start:\n${server.log}`);
  }

  /// The result of an instant query: a list of series. Throws what Prometheus says of an expression that is wrong.
  async query(expression) {
    const reply = await fetch(`http://${this.address}/api/v1/query`,
      { method: "POST", body: new URLSearchParams({ query: expression }) });
    const { status, error, data } = await reply.json();
    if (status !== "success") throw new Error(`${expression}: ${error}`);
    return data.result;
  }

  async stop() {
    this.process.kill("SIGTERM");
    await this.exited;
    fs.rmSync(this.directory, { recursive: true, force: true });
  }
}

/// A port that is free now; Prometheus does not tell which one it took for port 0.
function free_port() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
