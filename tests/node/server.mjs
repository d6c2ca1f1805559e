// The real uopd, started for a test: `Server.start()` returns once it serves. The binary is $UOPD_BINARY_DIR/uopd.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const kStartMs = 60_000;

export class Server {
  /// Starts a server on free ports with a cache directory of its own, or with `cache_dir`. `address` and `metrics`
  /// are HOST:PORT.
  static async start({ cache_dir, flags = [] } = {}) {
    const server = new Server();
    server.directory = fs.mkdtempSync(path.join(os.tmpdir(), "uopd-test-"));
    server.cache_dir = cache_dir ?? path.join(server.directory, "cache");
    const ready = path.join(server.directory, "ready.json");
    server.process = spawn(binary(), ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
      "--cache-dir", server.cache_dir, "--ready-file", ready, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
    server.log = "";
    for (const stream of [server.process.stdout, server.process.stderr]) {
      stream.on("data", (text) => { server.log += text; });
    }
    server.exited = new Promise((resolve) => {
      server.process.on("error", (error) => { server.log += error; resolve(null); });
      server.process.on("exit", (code, signal) => resolve(signal ?? code));
    });
    let ended = false;
    server.exited.then(() => { ended = true; });
    let told = null;
    for (const end = Date.now() + kStartMs; !told && !ended && Date.now() < end; await sleep(20)) told = read_json(ready);
    if (!told) {
      await server.stop();
      throw new Error(`uopd did not start:\n${server.log}`);
    }
    Object.assign(server, { address: told.grpc, metrics: told.metrics });
    return server;
  }

  /// Asks the server to end as an operator would; returns its exit code (or the signal that killed it).
  async stop() {
    this.process.kill("SIGTERM");
    const result = await this.exited;
    fs.rmSync(this.directory, { recursive: true, force: true });
    return result;
  }
}

function binary() {
  const directory = process.env.UOPD_BINARY_DIR;
  if (!directory) throw new Error("set UOPD_BINARY_DIR to the directory that holds uopd: build/release/bin");
  return path.join(directory, "uopd");
}

/// The content of the file, or null where it is not there, or not whole, yet.
function read_json(name) {
  try {
    return JSON.parse(fs.readFileSync(name, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return null;
    throw error;
  }
}
