// An agent on the official TypeScript SDK. It has no model, and does by itself what the
// words of the prompt would make a model do (see `model/src/script.rs`).

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { setTimeout as rest } from "node:timers/promises";
import { pathToFileURL } from "node:url";

// The SDK is where it was installed, not beside this file.
const sdk = createRequire(`${process.env.INSTALL}/`).resolve("@agentclientprotocol/sdk");
const { RequestError, agent, methods, ndJsonStream } = await import(pathToFileURL(sdk));

/** What is remembered of every session, also after a restart. */
const file = `${process.env.HOME}/sessions.json`;
const sessions = new Map();
try {
  for (const [id, session] of JSON.parse(readFileSync(file, "utf8"))) sessions.set(id, session);
} catch {
  rmSync(file, { force: true });
}
const open = new Map();
let can = {};

const keep = () => writeFileSync(file, JSON.stringify([...sessions]));

function settings(session) {
  const choice = (value) => ({ value, name: value });
  const mode = (id) => ({ id, name: id });
  return {
    modes: { currentModeId: session.mode, availableModes: ["ask", "act"].map(mode) },
    configOptions: [
      { id: "voice", name: "Voice", type: "select", currentValue: session.voice, options: ["low", "high"].map(choice) },
    ],
  };
}

function find(sessionId) {
  const session = sessions.get(sessionId);
  if (!session) throw RequestError.sessionNotFound(sessionId);
  return session;
}

function begin(sessionId, cwd) {
  const session = find(sessionId);
  session.cwd = cwd;
  open.set(sessionId, { cancelled: new AbortController() });
  return session;
}

/** A turn, and what it can do. */
class Turn {
  constructor(client, sessionId, prompt) {
    this.client = client;
    this.sessionId = sessionId;
    this.prompt = prompt;
    this.session = find(sessionId);
    this.signal = open.get(sessionId).cancelled.signal;
    this.cwd = /CWD=(\S+)/.exec(prompt)?.[1] ?? this.session.cwd;
  }

  tell(update) {
    return this.client.notify(methods.client.session.update, { sessionId: this.sessionId, update });
  }

  say(text) {
    this.session.told.push({ kind: "agent_message_chunk", text });
    return this.tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  ask(method, params) {
    return this.client.request(method, { sessionId: this.sessionId, ...params });
  }

  /** Does something that needs leave, as a tool. */
  async tool(title, kind, work) {
    const toolCallId = crypto.randomUUID();
    await this.tell({ sessionUpdate: "tool_call", toolCallId, title, kind, status: "pending" });
    const options = [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ];
    const asked = await this.ask(methods.client.session.requestPermission, { toolCall: { toolCallId, title }, options });
    const allowed = asked.outcome.outcome === "selected" && asked.outcome.optionId === "yes";
    if (allowed) await this.tell({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
    const said = allowed ? await work() : "no";
    await this.tell({ sessionUpdate: "tool_call_update", toolCallId, status: allowed ? "completed" : "failed" });
    if (!this.signal.aborted) await this.say(`The tool said: ${said}`);
  }

  async run() {
    const words = this.prompt.split(/\s+/);
    const has = (word) => words.includes(word);
    if (has("LONG")) {
      for (let n = 0; n < 2000; n += 1) await this.say(`w${String(n).padStart(4, "0")} `);
    } else if (has("SLOW")) {
      for (let n = 0; n < 100 && !this.signal.aborted; n += 1) {
        await this.say(`slow${n} `);
        await rest(200, undefined, { signal: this.signal }).catch(() => {});
      }
    } else if (has("USE_TOOL")) {
      await this.tool("Run a command", "execute", () => this.command());
    } else if ((has("USE_READ") && !can.fs?.readTextFile) || (has("USE_WRITE") && !can.fs?.writeTextFile)) {
      await this.say("Your files are not mine.");
    } else if (has("USE_READ")) {
      const { content } = await this.ask(methods.client.fs.readTextFile, { path: `${this.cwd}/mock_read.txt` });
      await this.say(`The tool said: ${content}`);
    } else if (has("USE_WRITE")) {
      const note = { path: `${this.cwd}/mock_write.txt`, content: "written by mock\n" };
      await this.tool("Write a file", "edit", () => this.ask(methods.client.fs.writeTextFile, note).then(() => "done"));
    } else if (has("ASK")) {
      await this.question();
    } else if (has("FAIL")) {
      throw RequestError.internalError(undefined, "the prompt asked for a failure");
    } else {
      await this.say("Hello from mock.");
    }
  }

  async command() {
    if (!can.terminal) {
      writeFileSync(`${this.cwd}/mock_shell.txt`, "mock\n");
      return "mock wrote a file";
    }
    const line = `echo mock > '${this.cwd}/mock_shell.txt' && echo mock wrote a file`;
    const terminal = await this.client.createTerminal({ sessionId: this.sessionId, command: "sh", args: ["-c", line] });
    await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await terminal.release();
    return output;
  }

  async question() {
    if (!can.elicitation?.form) return this.say("I cannot ask.");
    const oneOf = ["Red", "Blue"].map((title) => ({ const: title, title }));
    const requestedSchema = { type: "object", properties: { colour: { type: "string", oneOf } }, required: ["colour"] };
    const answer = await this.ask(methods.client.elicitation.create, { mode: "form", message: "Which colour?", requestedSchema });
    const colour = answer.action === "accept" && answer.content?.colour;
    return this.say(colour ? `The tool said: ${colour}` : "No colour.");
  }
}

const app = agent({ name: "interop" })
  .onRequest(methods.agent.initialize, ({ params }) => {
    can = params.clientCapabilities ?? {};
    return {
      protocolVersion: 1,
      agentInfo: { name: "interop-typescript", version: "0.0.0" },
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: {},
        promptCapabilities: {},
        sessionCapabilities: { close: {}, delete: {}, list: {}, resume: {} },
      },
    };
  })
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = crypto.randomUUID();
    sessions.set(sessionId, { cwd: params.cwd, mode: "ask", voice: "low", told: [] });
    return { sessionId, ...settings(begin(sessionId, params.cwd)) };
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    const session = begin(params.sessionId, params.cwd);
    for (const { kind, text } of session.told) {
      const update = { sessionUpdate: kind, content: { type: "text", text } };
      await client.notify(methods.client.session.update, { sessionId: params.sessionId, update });
    }
    return settings(session);
  })
  .onRequest(methods.agent.session.resume, ({ params }) => settings(begin(params.sessionId, params.cwd)))
  .onRequest(methods.agent.session.list, ({ params }) => {
    // All fit on one page, so there is no cursor to go on from.
    if (params.cursor) throw RequestError.invalidParams(undefined, "no such cursor");
    const all = [...sessions].map(([sessionId, { cwd }]) => ({ sessionId, cwd }));
    return { sessions: all.filter(({ cwd }) => !params.cwd || params.cwd === cwd) };
  })
  .onRequest(methods.agent.session.close, ({ params }) => {
    find(params.sessionId);
    open.get(params.sessionId)?.cancelled.abort();
    open.delete(params.sessionId);
    return {};
  })
  .onRequest(methods.agent.session.delete, ({ params }) => {
    sessions.delete(params.sessionId);
    keep();
    return {};
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    find(params.sessionId).mode = params.modeId;
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    const session = find(params.sessionId);
    const known = params.configId === "voice" && ["low", "high"].includes(params.value);
    if (!known) throw RequestError.invalidParams(undefined, "no such option or value");
    session.voice = params.value;
    return { configOptions: settings(session).configOptions };
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    if (!open.has(params.sessionId)) throw RequestError.sessionNotFound(params.sessionId);
    open.get(params.sessionId).cancelled = new AbortController();
    const prompt = params.prompt.map((block) => block.text ?? "").join("");
    const turn = new Turn(client, params.sessionId, prompt);
    turn.session.told.push({ kind: "user_message_chunk", text: prompt });
    await turn.run();
    keep();
    return { stopReason: turn.signal.aborted ? "cancelled" : "end_turn" };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => open.get(params.sessionId)?.cancelled.abort());

app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
