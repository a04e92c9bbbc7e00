// A client on the official TypeScript SDK: one connection to an agent, and what it told and asked.

import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

// The SDK is where it was installed, not beside this file.
const sdk = createRequire(`${process.env.INSTALL}/`).resolve("@agentclientprotocol/sdk");
const { client, methods, ndJsonStream } = await import(pathToFileURL(sdk));

export { methods };

const clientInfo = { name: "interop-typescript", version: "0.0.0" };

/** Starts an agent. */
export function start([program, ...args]) {
  return spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
}

/** The part of a file that was asked for; lines count from 1. */
async function read({ path, line, limit }) {
  const text = await readFile(path, "utf8");
  if (line == null && limit == null) return { content: text };
  const lines = text.split(/(?<=\n)/);
  const first = Math.max((line ?? 1) - 1, 0);
  return { content: lines.slice(first, limit == null ? undefined : first + limit).join("") };
}

/** The commands that the agent runs at this client. */
class Terminals {
  constructor() {
    this.running = new Map();
    this.released = 0;
  }

  create({ command, args, cwd }) {
    const child = spawn(command, args ?? [], { cwd: cwd ?? undefined, stdio: ["ignore", "pipe", "pipe"] });
    const terminal = { child, output: "" };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (terminal.output += data));
    terminal.exit = new Promise((done) => {
      child.once("close", (exitCode, signal) => done({ exitCode, signal }));
    });
    const terminalId = `terminal-${this.running.size + 1}`;
    this.running.set(terminalId, terminal);
    return { terminalId };
  }

  output({ terminalId }) {
    return { output: this.running.get(terminalId).output, truncated: false };
  }

  exit({ terminalId }) {
    return this.running.get(terminalId).exit;
  }

  kill({ terminalId }) {
    this.running.get(terminalId).child.kill();
  }

  release({ terminalId }) {
    this.kill({ terminalId });
    this.released += 1;
  }
}

/** One agent that is talked to, and what it told and asked. */
export class Peer {
  /** Talks over two streams of Node, in a folder. */
  constructor(input, output, cwd) {
    this.cwd = cwd;
    this.updates = [];
    this.listeners = new Set();
    this.terminals = new Terminals();
    this.permission = () => ({ outcome: { outcome: "cancelled" } });
    this.elicitation = () => ({ action: "cancel" });
    const app = client({ name: "interop" })
      .onRequest(methods.client.session.requestPermission, ({ params }) => this.permission(params))
      .onRequest(methods.client.elicitation.create, ({ params }) => this.elicitation(params))
      .onRequest(methods.client.fs.readTextFile, ({ params }) => read(params))
      .onRequest(methods.client.fs.writeTextFile, async ({ params }) => void (await writeFile(params.path, params.content)))
      .onRequest(methods.client.terminal.create, ({ params }) => this.terminals.create(params))
      .onRequest(methods.client.terminal.output, ({ params }) => this.terminals.output(params))
      .onRequest(methods.client.terminal.waitForExit, ({ params }) => this.terminals.exit(params))
      .onRequest(methods.client.terminal.kill, ({ params }) => this.terminals.kill(params))
      .onRequest(methods.client.terminal.release, ({ params }) => this.terminals.release(params))
      .onNotification(methods.client.session.update, ({ params }) => this.hear(params));
    const stream = ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
    this.connection = app.connect(stream);
  }

  hear(params) {
    this.updates.push(params);
    for (const listener of this.listeners) listener(params);
  }

  call(method, params) {
    return this.connection.agent.request(method, params);
  }

  initialize(clientCapabilities) {
    return this.call(methods.agent.initialize, { protocolVersion: 1, clientInfo, clientCapabilities });
  }

  async open() {
    this.opened = await this.call(methods.agent.session.new, { cwd: this.cwd, mcpServers: [] });
    return this.opened.sessionId;
  }

  prompt(sessionId, text) {
    return this.call(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Takes up a session of the agent, with its history or without. */
  again(method, sessionId) {
    return this.call(method, { sessionId, cwd: this.cwd, mcpServers: [] });
  }

  async listed(sessionId) {
    let cursor;
    do {
      const page = await this.call(methods.agent.session.list, { cwd: this.cwd, cursor });
      const found = page.sessions.find((session) => session.sessionId === sessionId);
      if (found) return found;
      cursor = page.nextCursor;
    } while (cursor);
    return undefined;
  }

  cancel(sessionId) {
    return this.connection.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** Waits for an update of a session. */
  heard(sessionId, kind) {
    return new Promise((done) => {
      const listener = (params) => {
        if (params.sessionId !== sessionId || params.update.sessionUpdate !== kind) return;
        this.listeners.delete(listener);
        done(params.update);
      };
      this.listeners.add(listener);
    });
  }

  /** Waits until the updates fulfil a condition. */
  async until(condition) {
    while (!condition()) {
      await new Promise((done) => {
        const listener = () => (this.listeners.delete(listener), done());
        this.listeners.add(listener);
      });
    }
  }

  /** What a session was told, of one kind. */
  of(sessionId, kind) {
    const mine = this.updates.filter((params) => params.sessionId === sessionId);
    return mine.map((params) => params.update).filter((update) => update.sessionUpdate === kind);
  }

  text(sessionId, kind = "agent_message_chunk") {
    return this.of(sessionId, kind).map((update) => update.content.text).join("");
  }

  /** Chooses the option of a kind, and remembers that it was asked. */
  choose(kind) {
    this.asked = 0;
    this.permission = ({ options }) => {
      this.asked += 1;
      const option = options.find((option) => option.kind === kind);
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    };
  }
}
