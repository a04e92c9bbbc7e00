"""A client on the official Python SDK: `python client.py AGENT [ARGUMENT…]`.

Holds every conversation of `xtask/src/interop/check.rs` with the demo agent and tells how
each went, one JSON object a line.
"""

import asyncio
import json
import os
import sys
import time
from contextlib import AsyncExitStack

from acp import RequestError, spawn_agent_process, text_block
from acp.schema import (
    AllowedOutcome,
    CancelElicitationResponse,
    ClientCapabilities,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    RequestPermissionResponse,
)

PATIENCE = 30
COMMAND = sys.argv[1:]
CWD = os.getcwd()


class Absent(Exception):
    """What the agent does not offer, or the SDK cannot say, cannot be tried."""


def tell(**line):
    print(json.dumps(line), flush=True)


async def check(name, work):
    started = time.monotonic()
    try:
        await asyncio.wait_for(work(), PATIENCE)
        tell(check=name, ms=round((time.monotonic() - started) * 1000))
    except Absent as absent:
        tell(check=name, absent=str(absent))
    except Exception as error:
        tell(check=name, failed=f"{type(error).__name__}: {error}")


def expect(truth, what):
    if not truth:
        raise AssertionError(what)


def offered(truth, capability):
    if truth is None or truth is False:
        raise Absent(f"{capability} is not advertised")


async def refused(work, what):
    try:
        await work
    except RequestError:
        return
    raise AssertionError(f"{what} was accepted")


class Heard:
    """The client side: what the agent told, and what it is answered."""

    def __init__(self):
        self.updates = []
        self.news = asyncio.Condition()
        self.answer = None
        self.elicit = None
        self.asked = 0

    async def session_update(self, session_id, update, **_):
        async with self.news:
            self.updates.append((session_id, update))
            self.news.notify_all()

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked += 1
        return await self.answer(options)

    async def create_elicitation(self, message, mode, **_):
        if self.elicit is None:
            return CancelElicitationResponse(action="cancel")
        return await self.elicit(message, mode)

    def choose(self, kind):
        """Chooses the option of a kind from now on."""
        self.asked = 0

        async def answer(options):
            option = next(option for option in options if option.kind == kind)
            chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
            return RequestPermissionResponse(outcome=chosen)

        self.answer = answer

    def of(self, session_id, kind):
        """What a session was told, of one kind."""
        mine = (update for other, update in self.updates if other == session_id)
        return [update for update in mine if update.session_update == kind]

    def text(self, session_id, kind="agent_message_chunk"):
        return "".join(update.content.text for update in self.of(session_id, kind))

    async def waits_for(self, session_id, kind):
        async with self.news:
            await self.news.wait_for(lambda: self.of(session_id, kind))


class Peer:
    """One running agent."""

    async def start(self):
        self.stack = AsyncExitStack()
        self.heard = Heard()
        # What it does not use of a client, it need not have.
        spawned = spawn_agent_process(lambda _: self.heard, *COMMAND, transport_kwargs={"stderr": None})
        self.agent, self.process = await self.stack.enter_async_context(spawned)
        form = ElicitationCapabilities(form=ElicitationFormCapabilities())
        return await self.agent.initialize(
            protocol_version=1, client_capabilities=ClientCapabilities(elicitation=form)
        )

    async def open(self):
        return (await self.agent.new_session(cwd=CWD)).session_id

    async def prompt(self, session_id, text):
        return (await self.agent.prompt(session_id=session_id, prompt=[text_block(text)])).stop_reason

    async def listed(self, session_id):
        cursor = None
        while True:
            page = await self.agent.list_sessions(cwd=CWD, cursor=cursor)
            for session in page.sessions:
                if session.session_id == session_id:
                    return session
            cursor = page.next_cursor
            if cursor is None:
                return None

    async def end(self):
        """Hangs up, and returns how the agent ended."""
        self.process.stdin.close()
        code = await asyncio.wait_for(self.process.wait(), 5)
        await self.stack.aclose()
        return code


async def main():
    peer = Peer()
    agent = session = None

    async def initialize():
        nonlocal agent
        agent = await peer.start()
        expect(agent.protocol_version == 1, f"version {agent.protocol_version}")
        expect(agent.agent_info.name == "acp-demo-agent", f"agent {agent.agent_info.name}")

    await check("initialize", initialize)
    heard, can = peer.heard, agent.agent_capabilities
    sessions = can.session_capabilities

    async def new():
        nonlocal session
        session = await peer.open()
        expect(session != await peer.open(), "two sessions have one id")

    await check("new", new)

    async def prompt():
        heard.choose("allow_once")
        reason = await peer.prompt(session, "hello")
        expect(reason == "end_turn", f"stop reason {reason}")
        expect("demo agent" in heard.text(session), "the agent did not say who it is")
        expect(heard.of(session, "plan"), "no plan was made")
        expect(heard.of(session, "agent_thought_chunk"), "no thought was thought")

    await check("prompt", prompt)

    async def ask(kind, status):
        session = await peer.open()
        heard.choose(kind)
        reason = await peer.prompt(session, "ask")
        expect(reason == "end_turn", f"stop reason {reason}")
        expect(heard.asked == 1, f"asked {heard.asked} times")
        expect(len(heard.of(session, "tool_call")) == 1, "no tool was called")
        last = heard.of(session, "tool_call_update")[-1]
        expect(last.status == status, f"the tool ended as {last.status}")

    await check("allow", lambda: ask("allow_once", "completed"))
    await check("reject", lambda: ask("reject_once", "failed"))

    async def cancel():
        session = await peer.open()
        turn = asyncio.create_task(peer.prompt(session, "slow"))
        await heard.waits_for(session, "agent_message_chunk")
        await peer.agent.cancel(session_id=session)
        reason = await turn
        expect(reason == "cancelled", f"stop reason {reason}")

    await check("cancel", cancel)

    async def cancel_at_once():
        session = await peer.open()
        turn = asyncio.create_task(peer.prompt(session, "slow"))
        # One turn of the loop: the prompt is written, and the cancel right behind it.
        await asyncio.sleep(0)
        await peer.agent.cancel(session_id=session)
        reason = await turn
        expect(reason == "cancelled", f"stop reason {reason}")

    await check("cancel-at-once", cancel_at_once)

    async def cancel_asking():
        session = await peer.open()

        async def answer(_):
            await peer.agent.cancel(session_id=session)
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

        heard.answer = answer
        reason = await peer.prompt(session, "ask")
        expect(reason == "cancelled", f"stop reason {reason}")

    await check("cancel-asking", cancel_asking)

    async def two_sessions():
        one, other = await peer.open(), await peer.open()
        slow = asyncio.create_task(peer.prompt(one, "slow"))
        await heard.waits_for(one, "agent_message_chunk")
        reason = await peer.prompt(other, "plan")
        expect(reason == "end_turn", f"stop reason {reason}")
        expect(not heard.of(one, "plan"), "the plan went to the other session")
        await peer.agent.cancel(session_id=one)
        expect(await slow == "cancelled", "the other turn was not cancelled")

    await check("two-sessions", two_sessions)

    async def unknown_session():
        await refused(peer.prompt("no-such-session", "hello"), "a prompt to no session")

    await check("unknown-session", unknown_session)

    async def list_():
        offered(sessions.list, "session/list")
        found = await peer.listed(session)
        expect(found, "the session is not in the list")
        expect(found.cwd == CWD, f"its folder is {found.cwd}")

    await check("list", list_)
    told = heard.text(session)

    async def replay(peer, prompts, told):
        """Loads the session, and compares what is replayed with what was told first."""
        heard = peer.heard
        heard.updates.clear()
        await peer.agent.load_session(cwd=CWD, session_id=session)
        # The SDK runs handlers of notifications as tasks of their own.
        async with heard.news:
            await asyncio.wait_for(heard.news.wait_for(lambda: heard.text(session) == told), 5)
        expect(heard.text(session, "user_message_chunk") == prompts, "the prompts are not replayed")

    async def load():
        offered(can.load_session, "session/load")
        await peer.agent.close_session(session_id=session)
        await replay(peer, "hello", told)
        await refused(
            peer.agent.load_session(cwd=CWD, session_id="no-such-session"), "a load of no session"
        )

    await check("load", load)

    async def resume():
        offered(sessions.resume, "session/resume")
        await peer.agent.close_session(session_id=session)
        before = heard.text(session)
        await peer.agent.resume_session(cwd=CWD, session_id=session)
        expect(heard.text(session) == before, "a resumed session was replayed")
        reason = await peer.prompt(session, "plan")
        expect(reason == "end_turn", f"stop reason {reason}")

    await check("resume", resume)

    async def close():
        offered(sessions.close, "session/close")
        session = await peer.open()
        await peer.agent.close_session(session_id=session)
        await refused(peer.prompt(session, "hello"), "a prompt to a closed session")

    await check("close", close)

    async def delete():
        offered(sessions.delete, "session/delete")
        raise Absent("the SDK has no session/delete")

    await check("delete", delete)

    async def eof():
        code = await peer.end()
        expect(code == 0, f"it ended with {code}")

    await check("eof", eof)

    async def reload():
        offered(can.load_session, "session/load")
        told = heard.text(session)
        prompts = "helloplan" if sessions.resume else "hello"
        peer = Peer()
        await peer.start()
        if sessions.list:
            expect(await peer.listed(session), "the session is not in the list")
        await replay(peer, prompts, told)
        await peer.end()

    await check("reload", reload)
    tell(end=True)


asyncio.run(main())
