// The command-line client acpx: `node client.mjs AGENT [ARGUMENT…]`.
//
// Holds the conversations of `xtask/src/interop/check.rs` that acpx can hold with the demo
// agent and tells how each went, one JSON object a line.

import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";

const PATIENCE = 30_000;
const acpx = `${process.env.INSTALL}/node_modules/acpx/dist/cli.js`;
const agent = process.argv.slice(2).map((word) => `'${word}'`).join(" ");
const cwd = process.cwd();

/** What acpx or the agent does not offer cannot be tried. */
class Absent extends Error {}

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function check(name, work) {
  const started = performance.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took more than ${PATIENCE} ms`)), PATIENCE);
  });
  try {
    await Promise.race([work(), late]);
    tell({ check: name, ms: Math.round(performance.now() - started) });
  } catch (error) {
    tell({ check: name, [error instanceof Absent ? "absent" : "failed"]: error.message });
  } finally {
    clearTimeout(timer);
  }
}

function expect(truth, what) {
  if (!truth) throw new Error(what);
}

/** Starts acpx; its session owners are to end soon after they have nothing to do. */
function start(...words) {
  const child = spawn(process.execPath, [acpx, "--agent", agent, "--ttl", "1", ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const run = { out: "", err: "", heard: new Set() };
  child.stdout.on("data", (data) => {
    run.out += data;
    for (const listener of run.heard) listener();
  });
  child.stderr.on("data", (data) => (run.err += data));
  run.ended = new Promise((done) => child.once("close", done));
  run.says = (text) =>
    new Promise((done) => {
      const listener = () => run.out.includes(text) && (run.heard.delete(listener), done());
      run.heard.add(listener);
      listener();
    });
  return run;
}

/** Runs acpx to its end. */
async function run(...words) {
  const started = start(...words);
  const code = await started.ended;
  return { code, out: started.out, err: started.err };
}

/** Runs one prompt in a session of its own, and returns the messages that acpx saw. */
async function exec(prompt, ...options) {
  const { code, out, err } = await run("--format", "json", ...options, "exec", prompt);
  const messages = out.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const updates = messages.map((message) => message.params?.update).filter(Boolean);
  const request = (method) => messages.find((message) => message.method === method);
  const answer = (method) => {
    const id = request(method)?.id;
    return messages.find((message) => message.id === id && message.result)?.result;
  };
  const of = (kind) => updates.filter((update) => update.sessionUpdate === kind);
  const text = of("agent_message_chunk").map((update) => update.content.text).join("");
  return { code, err, of, answer, request, text };
}

/** The session that lasts. */
let session;

const hello = await exec("hello", "--approve-all");

await check("initialize", async () => {
  const agent = hello.answer("initialize");
  expect(agent?.protocolVersion === 1, `version ${agent?.protocolVersion}: ${hello.err}`);
  expect(agent.agentInfo?.name === "acp-demo-agent", `agent ${agent.agentInfo?.name}`);
});

await check("new", async () => {
  const other = await run("sessions", "new", "--name", "other");
  expect(other.code === 0, `it ended with ${other.code}: ${other.err}`);
  const session = hello.answer("session/new")?.sessionId;
  expect(session && !other.out.includes(session), "two sessions have one id");
});

await check("prompt", async () => {
  expect(hello.code === 0, `it ended with ${hello.code}: ${hello.err}`);
  const { stopReason } = hello.answer("session/prompt");
  expect(stopReason === "end_turn", `stop reason ${stopReason}`);
  expect(hello.text.includes("demo agent"), "the agent did not say who it is");
  expect(hello.of("plan").length > 0, "no plan was made");
  expect(hello.of("agent_thought_chunk").length > 0, "no thought was thought");
});

async function ask(option, code, status) {
  const turn = await exec("ask", option);
  expect(turn.code === code, `it ended with ${turn.code}: ${turn.err}`);
  expect(turn.request("session/request_permission"), "no permission was asked for");
  const last = turn.of("tool_call_update").at(-1);
  expect(last?.status === status, `the tool ended as ${last?.status}`);
}

// acpx has an exit code of its own for turns in which everything was refused.
await check("allow", () => ask("--approve-all", 0, "completed"));
await check("reject", () => ask("--deny-all", 5, "failed"));

await check("cancel", async () => {
  const made = await run("sessions", "new");
  expect(made.code === 0, `it ended with ${made.code}: ${made.err}`);
  session = made.out.trim();
  const turn = start("slow");
  await turn.says("1 ");
  const cancel = await run("cancel");
  expect(cancel.code === 0, `the cancel ended with ${cancel.code}: ${cancel.err}`);
  await turn.ended;
  expect(turn.out.includes("[done] cancelled"), `the turn ended otherwise: ${turn.out}`);
});

for (const name of ["cancel-at-once", "cancel-asking"]) {
  await check(name, async () => {
    throw new Absent("acpx cancels a turn that runs, and no other");
  });
}

await check("two-sessions", async () => {
  throw new Absent("acpx starts an agent for each session");
});

await check("unknown-session", async () => {
  throw new Absent("acpx knows its sessions");
});

for (const name of ["question", "form"]) {
  await check(name, async () => {
    throw new Absent("acpx shows no forms");
  });
}

await check("files", async () => {
  const written = await exec("write interop.md", "--approve-all");
  expect(written.code === 0, `it ended with ${written.code}: ${written.err}`);
  const text = await readFile(`${cwd}/interop.md`, "utf8");
  expect(text.startsWith("# Notes"), `it wrote ${text}`);
  await writeFile(`${cwd}/interop.md`, "one\ntwo\nthree\n");
  const read = await exec("read interop.md", "--approve-all");
  expect(read.text.includes("The file has 3 lines"), `it said ${read.text}`);
});

await check("terminal", async () => {
  const { text, request } = await exec("terminal echo interop", "--approve-all");
  expect(text.includes("exited with status 0 and wrote 8 bytes"), `it said ${text}`);
  expect(request("terminal/release"), "the terminal was not released");
});

await check("mode", async () => {
  const set = await run("set-mode", "act");
  expect(set.code === 0, `it ended with ${set.code}: ${set.err}`);
  const turn = await run("--deny-all", "ask");
  expect(turn.out.includes("The note has its line"), `it asked, though it need not: ${turn.out}`);
  const bad = await run("set-mode", "no-such-mode");
  expect(bad.code !== 0, "a mode that is not there was accepted");
});

await check("option", async () => {
  const set = await run("set", "model", "large");
  expect(set.code === 0, `it ended with ${set.code}: ${set.err}`);
  const bad = await run("set", "model", "no-such-model");
  expect(bad.code !== 0, "a value that is not there was accepted");
});

await check("list", async () => {
  const { code, out, err } = await run("sessions", "list");
  expect(code === 0, `it ended with ${code}: ${err}`);
  const row = out.split("\n").find((line) => line.startsWith(session));
  expect(row, `the session is not in the list: ${out}`);
  expect(row.includes(cwd), `its row is ${row}`);
});

await check("resume", async () => {
  // The agent ends with the owner of the session; the next prompt starts another one.
  while (!(await run("--format", "json", "status")).out.includes('"status":"idle"'));
  const later = await run("--format", "json", "earlier");
  expect(later.out.includes('"session/resume"'), "the session was not resumed");
  expect(later.out.includes('"slow'), `the agent does not know what was asked: ${later.out}`);
});

for (const [name, why] of [
  ["load", "acpx resumes, and does not load, where an agent offers both"],
  ["reload", "acpx resumes, and does not load, where an agent offers both"],
  ["delete", "acpx does not delete sessions at the agent"],
]) {
  await check(name, async () => {
    throw new Absent(why);
  });
}

await check("close", async () => {
  const closed = await run("sessions", "close");
  expect(closed.code === 0, `it ended with ${closed.code}: ${closed.err}`);
  const later = await run("hello");
  expect(later.code !== 0, "a closed session takes a prompt");
});

await check("eof", async () => {
  throw new Absent("acpx does not tell how its agent ended");
});

await run("sessions", "close", "other");
tell({ end: true });
