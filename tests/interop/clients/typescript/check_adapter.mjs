// The adapter by which `acp check --role client` judges a client on the official TypeScript
// SDK: `INSTALL=DIR acp check --role client -- node check_adapter.mjs`. `docs/check.md` lists
// the tasks. Files are served and forms are filled in; terminals would be ours alone, so
// they are not offered.

import { Peer, methods, start } from "./peer.mjs";

/** The exit code that says: this client cannot do the task. */
const CANNOT = 75;

const tasks = JSON.parse(process.env.ACP_CHECK_TASK);
const { session: at } = methods.agent;
const child = process.env.ACP_CHECK_AGENT && start(JSON.parse(process.env.ACP_CHECK_AGENT));
const [input, output] = child ? [child.stdout, child.stdin] : [process.stdin, process.stdout];
const peer = new Peer(input, output, process.env.ACP_CHECK_CWD);
let sessionId;

/** What it does; `undefined` where it can do no such thing. */
const deeds = {
  new: async () => (sessionId = await peer.open()),
  load: (id) => peer.again(at.load, (sessionId = id)),
  resume: (id) => peer.again(at.resume, (sessionId = id)),
  list: () => peer.listed(undefined),
  close: () => peer.call(at.close, { sessionId }),
  delete: (id) => peer.call(at.delete, { sessionId: id }),
  prompt: (text) => peer.prompt(sessionId, text),
  "prompt+cancel": async (text) => {
    const update = new Promise((done) => peer.listeners.add(done));
    const turn = peer.prompt(sessionId, text);
    await Promise.race([update, turn]);
    await peer.cancel(sessionId);
    await turn;
  },
  mode: (modeId) => {
    const option = peer.opened?.configOptions?.find(({ category }) => category === "mode");
    return option ? deeds.option(option.id, modeId) : peer.call(at.setMode, { sessionId, modeId });
  },
  option: (configId, value) => {
    const type = typeof value === "boolean" ? { type: "boolean" } : {};
    return peer.call(at.setConfigOption, { sessionId, configId, ...type, value });
  },
  authenticate: (methodId) => peer.call(methods.agent.authenticate, { methodId }),
  logout: () => peer.call(methods.agent.logout, {}),
  permission: (how) => {
    peer.permission = ({ options }) => {
      const option = options.find(({ kind }) => kind === `${how}_once`);
      const outcome = option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" };
      return { outcome };
    };
  },
  form: (action, content) => {
    peer.elicitation = () => (action === "accept" ? { action, content } : { action });
  },
};

const files = { readTextFile: true, writeTextFile: true };
const agent = await peer.initialize({ elicitation: { form: {} }, fs: files, terminal: false });
if (agent.protocolVersion !== 1) process.exit(0);
for (const [name, ...words] of tasks) {
  if (!deeds[name]) process.exit(CANNOT);
  try {
    await deeds[name](...words);
  } catch (error) {
    // What the agent refuses is an answer too.
    console.error(`check_adapter: ${name}: ${error.message}`);
  }
}
// Exiting closes what the agent reads, once it has been written.
output.end(() => process.exit(0));
