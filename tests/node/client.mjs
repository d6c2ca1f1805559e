// A client of uopd in plain JavaScript, which knows the service by its .proto files only: `Client.connect(address)`
// says Hello and returns a client; `client.graph()` starts a graph.
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const definition = protoLoader.loadSync(
  ["uopd/v1/service.proto", "grpc/health/v1/health.proto", "grpc/reflection/v1alpha/reflection.proto"],
  {
    includeDirs: [path.join(here, "../../proto"), path.join(here, "proto")],
    keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true,
  });
const services = grpc.loadPackageDefinition(definition);
const kDeadlineMs = 60_000;
const kChunkBytes = 1 << 20;

export const status = grpc.status;

/// A graph under construction. Ops are called by the names in the server's own table; every method returns the
/// position of the new node.
export class Graph {
  constructor(ops) {
    this.ops = ops;
    this.nodes = [];
  }

  /// Any op: `graph.op("ADD", [a, b])`, with the fields that proto/uopd/v1/graph.proto gives for it.
  op(name, src = [], fields = {}) {
    if (!this.ops.has(name)) throw new Error(`the server has no op ${name}`);
    this.nodes.push({ op: this.ops.get(name), src, ...fields });
    return this.nodes.length - 1;
  }

  buffer(slot, elements, dtype = "DTYPE_F32") {
    return this.op("BUFFER", [], { dtype, value: slot, ints: [elements] });
  }
  f32(value) {
    return this.op("CONST", [], { dtype: "DTYPE_F32", bits: new Uint32Array(new Float32Array([value]).buffer)[0] });
  }
  reshape(x, shape) { return this.op("RESHAPE", [x], { ints: shape }); }
  expand(x, shape) { return this.op("EXPAND", [x], { ints: shape }); }
  permute(x, order) { return this.op("PERMUTE", [x], { ints: order }); }
  reduce(name, x, axes) { return this.op("REDUCE", [x], { reduce_op: this.ops.get(name), value: axes }); }

  /// (m, k) @ (k, n), as the product of two expanded views summed over the last axis.
  matmul(a, b, m, k, n) {
    const left = this.expand(this.reshape(a, [m, 1, k]), [m, n, k]);
    const right = this.expand(this.reshape(this.permute(b, [1, 0]), [1, n, k]), [m, n, k]);
    return this.reduce("ADD", this.op("MUL", [left, right]), 1);
  }

  message(...roots) { return { nodes: this.nodes, roots }; }
}

export class Client {
  /// Opens a session. `hello` is the server's reply.
  static async connect(address) {
    const client = new Client(address);
    client.hello = await client.call("Hello", { min_version: 1, max_version: 1, client: "node test" });
    client.metadata.set("uopd-session", client.hello.session);
    client.ops = new Map(client.hello.ops.map((op) => [op.name, op.number]));
    return client;
  }

  constructor(address) {
    const credentials = grpc.credentials.createInsecure();
    this.metadata = new grpc.Metadata();
    this.stub = new services.uopd.v1.Uopd(address, credentials, { "grpc.max_receive_message_length": -1 });
    this.health_stub = new services.grpc.health.v1.Health(address, credentials);
    this.reflection_stub = new services.grpc.reflection.v1alpha.ServerReflection(address, credentials);
  }

  close() {
    for (const stub of [this.stub, this.health_stub, this.reflection_stub]) stub.close();
  }

  graph() { return new Graph(this.ops); }

  /// One unary call of the service.
  call(method, request) {
    return new Promise((resolve, reject) => {
      this.stub[method](request, this.metadata, options(),
        (error, reply) => (error ? reject(error) : resolve(reply)));
    });
  }

  /// Uploads bytes as a stream of chunks; returns the buffer's id.
  put(bytes, dtype, elements) {
    const content = Buffer.from(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
    return new Promise((resolve, reject) => {
      const stream = this.stub.PutBuffer(this.metadata, options(),
        (error, reply) => (error ? reject(error) : resolve(reply.buffer)));
      stream.write({ header: { tensor: { dtype, elements } } });
      for (let at = 0; at < content.length; at += kChunkBytes) {
        stream.write({ chunk: content.subarray(at, at + kChunkBytes) });
      }
      stream.end();
    });
  }
  put_f32(values) { return this.put(Float32Array.from(values), "DTYPE_F32", values.length); }

  /// Downloads a buffer, or a part of it; returns its description, its bytes and the number of replies it came in.
  get(buffer, offset = 0, length = 0) {
    return new Promise((resolve, reject) => {
      const chunks = [];
      let tensor = null;
      const stream = this.stub.GetBuffer({ buffer, offset, length }, this.metadata, options());
      stream.on("data", (reply) => {
        tensor ??= reply.tensor;
        chunks.push(reply.chunk);
      });
      stream.on("error", reject);
      stream.on("end", () => resolve({ tensor, bytes: Buffer.concat(chunks), replies: chunks.length }));
    });
  }

  /// The standard health service's answer for a service name.
  health(service) {
    return new Promise((resolve, reject) => {
      this.health_stub.Check({ service }, new grpc.Metadata(), options(),
        (error, reply) => (error ? reject(error) : resolve(reply.status)));
    });
  }

  /// The names of the services, by reflection.
  reflection() {
    return new Promise((resolve, reject) => {
      const stream = this.reflection_stub.ServerReflectionInfo(new grpc.Metadata(), options());
      stream.on("data", (reply) => resolve(reply.list_services_response.service.map((each) => each.name)));
      stream.on("error", reject);
      stream.write({ list_services: "*" });
      stream.end();
    });
  }
}

/// The float values of downloaded bytes.
export function f32_values(bytes) {
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

function options() { return { deadline: Date.now() + kDeadlineMs }; }
