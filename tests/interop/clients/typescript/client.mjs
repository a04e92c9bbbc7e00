// A client on the official TypeScript SDK: `node client.mjs AGENT [ARGUMENT…]`.
//
// Holds every conversation of `xtask/src/interop/check.rs` with the demo agent and tells
// how each went, one JSON object a line.

import { readFile, writeFile } from "node:fs/promises";

import { Peer, methods, start } from "./peer.mjs";

const PATIENCE = 30_000;
const command = process.argv.slice(2);
const cwd = process.cwd();

/** What the agent does not offer cannot be tried. */
class Absent extends Error {}

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function within(time, work, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${time} ms`)), time);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function check(name, work) {
  const started = performance.now();
  try {
    await within(PATIENCE, work(), name);
    tell({ check: name, ms: Math.round(performance.now() - started) });
  } catch (error) {
    const why = error instanceof Error ? error.message : JSON.stringify(error);
    tell({ check: name, [error instanceof Absent ? "absent" : "failed"]: why });
  }
}

function expect(truth, what) {
  if (!truth) throw new Error(what);
}

function offered(truth, capability) {
  if (!truth) throw new Absent(`${capability} is not advertised`);
}

async function refused(work, what) {
  try {
    await work;
  } catch (error) {
    expect(Number.isInteger(error.code), `${what} failed without an error of the agent: ${error}`);
    return;
  }
  throw new Error(`${what} was accepted`);
}

/** A peer that runs the agent of the command line. */
class Child extends Peer {
  constructor() {
    const child = start(command);
    super(child.stdout, child.stdin, cwd);
    this.child = child;
    this.exited = new Promise((done) => child.once("exit", (code, signal) => done(code ?? signal)));
  }

  initialize() {
    const files = { readTextFile: true, writeTextFile: true };
    return super.initialize({ elicitation: { form: {} }, fs: files, terminal: true });
  }

  /** Hangs up, and returns how the agent ended. */
  async end() {
    this.child.stdin.end();
    return within(5_000, this.exited, "the end of the agent");
  }
}

let peer = new Child();
let agent;
let session;

await check("initialize", async () => {
  agent = await peer.initialize();
  expect(agent.protocolVersion === 1, `version ${agent.protocolVersion}`);
  expect(agent.agentInfo?.name === "acp-demo-agent", `agent ${agent.agentInfo?.name}`);
});
const can = agent?.agentCapabilities ?? {};
const sessions = can.sessionCapabilities ?? {};

await check("new", async () => {
  session = await peer.open();
  expect(session !== "" && session !== (await peer.open()), "two sessions have one id");
});

await check("prompt", async () => {
  peer.choose("allow_once");
  const { stopReason } = await peer.prompt(session, "hello");
  expect(stopReason === "end_turn", `stop reason ${stopReason}`);
  expect(peer.text(session).includes("demo agent"), "the agent did not say who it is");
  expect(peer.of(session, "plan").length > 0, "no plan was made");
  expect(peer.of(session, "agent_thought_chunk").length > 0, "no thought was thought");
});

await check("allow", async () => {
  const session = await peer.open();
  peer.choose("allow_once");
  const { stopReason } = await peer.prompt(session, "ask");
  expect(stopReason === "end_turn", `stop reason ${stopReason}`);
  expect(peer.asked === 1, `asked ${peer.asked} times`);
  expect(peer.of(session, "tool_call").length === 1, "no tool was called");
  const last = peer.of(session, "tool_call_update").at(-1);
  expect(last?.status === "completed", `the tool ended as ${last?.status}`);
});

await check("reject", async () => {
  const session = await peer.open();
  peer.choose("reject_once");
  const { stopReason } = await peer.prompt(session, "ask");
  expect(stopReason === "end_turn", `stop reason ${stopReason}`);
  expect(peer.asked === 1, `asked ${peer.asked} times`);
  const last = peer.of(session, "tool_call_update").at(-1);
  expect(last?.status === "failed", `the tool ended as ${last?.status}`);
});

await check("cancel", async () => {
  const session = await peer.open();
  const started = peer.heard(session, "agent_message_chunk");
  const turn = peer.prompt(session, "slow");
  await started;
  await peer.cancel(session);
  const { stopReason } = await turn;
  expect(stopReason === "cancelled", `stop reason ${stopReason}`);
});

await check("cancel-at-once", async () => {
  const session = await peer.open();
  const turn = peer.prompt(session, "slow");
  await peer.cancel(session);
  const { stopReason } = await turn;
  expect(stopReason === "cancelled", `stop reason ${stopReason}`);
});

await check("cancel-asking", async () => {
  const session = await peer.open();
  peer.permission = async () => {
    await peer.cancel(session);
    return { outcome: { outcome: "cancelled" } };
  };
  const { stopReason } = await peer.prompt(session, "ask");
  expect(stopReason === "cancelled", `stop reason ${stopReason}`);
});

await check("two-sessions", async () => {
  const [one, other] = [await peer.open(), await peer.open()];
  const started = peer.heard(one, "agent_message_chunk");
  const slow = peer.prompt(one, "slow");
  await started;
  const { stopReason } = await peer.prompt(other, "plan");
  expect(stopReason === "end_turn", `stop reason ${stopReason}`);
  expect(peer.of(one, "plan").length === 0, "the plan went to the other session");
  await peer.cancel(one);
  expect((await slow).stopReason === "cancelled", "the other turn was not cancelled");
});

await check("unknown-session", async () => {
  await refused(peer.prompt("no-such-session", "hello"), "a prompt to no session");
});

await check("question", async () => {
  const session = await peer.open();
  let form;
  peer.elicitation = (params) => {
    form = params;
    return { action: "accept", content: { answer: "ivy" } };
  };
  await peer.prompt(session, "question");
  expect(form?.mode === "form", `asked in the mode ${form?.mode}`);
  const choices = form.requestedSchema.properties.answer.oneOf.map((choice) => choice.const);
  expect(choices.join() === "fern,ivy,cactus", `the choices are ${choices}`);
  expect(peer.text(session).includes("Watering the Ivy"), `it said ${peer.text(session)}`);
  peer.elicitation = () => ({ action: "decline" });
  await peer.prompt(session, "question");
  expect(peer.text(session).includes("You declined to answer"), `it said ${peer.text(session)}`);
});

await check("form", async () => {
  const session = await peer.open();
  const content = { name: "Ada", plant: "fern", gifts: ["ivy", "cactus"], pots: 3, litres: 1.5, express: true };
  peer.elicitation = () => ({ action: "accept", content });
  await peer.prompt(session, "form");
  const said = "For Ada (no e-mail): Fern, 2 gifts, 3 pots, 1.5 litres, express true.";
  expect(peer.text(session).includes(said), `it said ${peer.text(session)}`);
});

await check("files", async () => {
  const session = await peer.open();
  peer.choose("allow_once");
  await peer.prompt(session, "write interop.md");
  const written = await readFile(`${cwd}/interop.md`, "utf8");
  expect(written.startsWith("# Notes"), `it wrote ${written}`);
  await writeFile(`${cwd}/interop.md`, "one\ntwo\nthree\n");
  await peer.prompt(session, "read interop.md");
  expect(peer.text(session).includes("The file has 3 lines"), `it said ${peer.text(session)}`);
});

await check("terminal", async () => {
  const session = await peer.open();
  peer.choose("allow_once");
  await peer.prompt(session, "terminal echo interop");
  expect(peer.text(session).includes("exited with status 0 and wrote 8 bytes"), `it said ${peer.text(session)}`);
  expect(peer.terminals.released === 1, `${peer.terminals.released} terminals were released`);
});

await check("mode", async () => {
  const session = await peer.open();
  await peer.call(methods.agent.session.setMode, { sessionId: session, modeId: "act" });
  peer.choose("reject_once");
  await peer.prompt(session, "ask");
  expect(peer.asked === 0, "it asked, though it need not");
  const bad = peer.call(methods.agent.session.setMode, { sessionId: session, modeId: "no-such-mode" });
  await refused(bad, "a mode that is not there");
});

await check("option", async () => {
  const sessionId = await peer.open();
  const set = (configId, value) => peer.call(methods.agent.session.setConfigOption, { sessionId, configId, value });
  const { configOptions } = await set("model", "large");
  const now = configOptions.find((option) => option.id === "model")?.currentValue;
  expect(now === "large", `its value is ${now} now`);
  await refused(set("model", "no-such-model"), "a value that is not there");
  await refused(set("no-such-option", "large"), "an option that is not there");
});

await check("list", async () => {
  offered(sessions.list, "session/list");
  const found = await peer.listed(session);
  expect(found, "the session is not in the list");
  expect(found.cwd === cwd, `its folder is ${found.cwd}`);
});

/** Loads the session, and compares what is replayed with what was told first. */
async function load(peer, prompts, told) {
  peer.updates = [];
  await peer.again(methods.agent.session.load, session);
  // The SDK resolves a request before it has handed on all that came in front of its answer.
  await within(5_000, peer.until(() => peer.text(session) === told), "the replay of the answer");
  expect(peer.text(session, "user_message_chunk") === prompts, "the prompts are not replayed");
}

const told = peer.text(session);

await check("load", async () => {
  offered(can.loadSession, "session/load");
  await peer.call(methods.agent.session.close, { sessionId: session });
  await load(peer, "hello", told);
  await refused(peer.again(methods.agent.session.load, "no-such-session"), "a load of no session");
});

await check("resume", async () => {
  offered(sessions.resume, "session/resume");
  await peer.call(methods.agent.session.close, { sessionId: session });
  const before = peer.updates.length;
  await peer.again(methods.agent.session.resume, session);
  const replayed = peer.updates.slice(before).filter(({ update }) => update.sessionUpdate === "agent_message_chunk");
  expect(replayed.length === 0, "a resumed session was replayed");
  const { stopReason } = await peer.prompt(session, "plan");
  expect(stopReason === "end_turn", `stop reason ${stopReason}`);
});

await check("close", async () => {
  offered(sessions.close, "session/close");
  const session = await peer.open();
  await peer.call(methods.agent.session.close, { sessionId: session });
  await refused(peer.prompt(session, "hello"), "a prompt to a closed session");
});

await check("delete", async () => {
  offered(sessions.delete, "session/delete");
  const session = await peer.open();
  await peer.prompt(session, "plan");
  await peer.call(methods.agent.session.close, { sessionId: session });
  await peer.call(methods.agent.session.delete, { sessionId: session });
  expect(!(await peer.listed(session)), "the session is still in the list");
});

await check("eof", async () => {
  const code = await peer.end();
  expect(code === 0, `it ended with ${code}`);
});

await check("reload", async () => {
  offered(can.loadSession, "session/load");
  const told = peer.text(session);
  const prompts = sessions.resume ? "helloplan" : "hello";
  peer = new Child();
  await peer.initialize();
  if (sessions.list) expect(await peer.listed(session), "the session is not in the list");
  await load(peer, prompts, told);
  await peer.end();
});

tell({ end: true });
process.exit(0);
