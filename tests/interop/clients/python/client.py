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
from pathlib import Path

from acp import RequestError, spawn_agent_process
from acp.schema import (
    AcceptElicitationResponse,
    ClientCapabilities,
    DeclineElicitationResponse,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    FileSystemCapabilities,
    RequestPermissionResponse,
)
from peer import Peer

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


class Child(Peer):
    """A peer that runs the agent of the command line."""

    def __init__(self):
        super().__init__(CWD)
        self.stack = AsyncExitStack()

    async def start(self):
        # What it does not use of a client, it need not have.
        spawned = spawn_agent_process(
            lambda _: self.heard,
            *COMMAND,
            transport_kwargs={"stderr": None},
            # It counts elicitation, delete and resume among what is not stable.
            use_unstable_protocol=True,
        )
        self.agent, self.process = await self.stack.enter_async_context(spawned)
        can = ClientCapabilities(
            elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()),
            fs=FileSystemCapabilities(read_text_file=True, write_text_file=True),
            terminal=True,
        )
        return await self.initialize(can)

    async def end(self):
        """Hangs up, and returns how the agent ended."""
        self.process.stdin.close()
        code = await asyncio.wait_for(self.process.wait(), 5)
        await self.stack.aclose()
        return code


async def main():
    peer = Child()
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

    async def question():
        session = await peer.open()
        asked = []

        async def accept(message, mode):
            asked.append(mode)
            return AcceptElicitationResponse(action="accept", content={"answer": "ivy"})

        heard.elicit = accept
        await peer.prompt(session, "question")
        expect(len(asked) == 1, f"asked {len(asked)} times")
        expect("answer" in asked[0].requested_schema.properties, "the form has no field for it")
        expect("Watering the Ivy" in heard.text(session), f"it said {heard.text(session)}")

        async def decline(message, mode):
            return DeclineElicitationResponse(action="decline")

        heard.elicit = decline
        await peer.prompt(session, "question")
        expect("You declined to answer" in heard.text(session), f"it said {heard.text(session)}")

    await check("question", question)

    async def form():
        session = await peer.open()
        content = {
            "name": "Ada",
            "plant": "fern",
            "gifts": ["ivy", "cactus"],
            "pots": 3,
            "litres": 1.5,
            "express": True,
        }

        async def accept(message, mode):
            return AcceptElicitationResponse(action="accept", content=content)

        heard.elicit = accept
        await peer.prompt(session, "form")
        said = "For Ada (no e-mail): Fern, 2 gifts, 3 pots, 1.5 litres, express true."
        expect(said in heard.text(session), f"it said {heard.text(session)}")

    await check("form", form)

    async def files():
        session = await peer.open()
        heard.choose("allow_once")
        note = Path(CWD, "interop.md")
        await peer.prompt(session, "write interop.md")
        expect(note.read_text().startswith("# Notes"), f"it wrote {note.read_text()}")
        note.write_text("one\ntwo\nthree\n")
        await peer.prompt(session, "read interop.md")
        expect("The file has 3 lines" in heard.text(session), f"it said {heard.text(session)}")

    await check("files", files)

    async def terminal():
        session = await peer.open()
        heard.choose("allow_once")
        await peer.prompt(session, "terminal echo interop")
        said = "exited with status 0 and wrote 8 bytes"
        expect(said in heard.text(session), f"it said {heard.text(session)}")
        expect(heard.released == 1, f"{heard.released} terminals were released")

    await check("terminal", terminal)

    async def mode():
        session = await peer.open()
        await peer.agent.set_session_mode(session_id=session, mode_id="act")
        heard.choose("reject_once")
        await peer.prompt(session, "ask")
        expect(heard.asked == 0, "it asked, though it need not")
        bad = peer.agent.set_session_mode(session_id=session, mode_id="no-such-mode")
        await refused(bad, "a mode that is not there")

    await check("mode", mode)

    async def option():
        session = await peer.open()

        def choose(option, value):
            return peer.agent.set_config_option(config_id=option, session_id=session, value=value)

        answer = await choose("model", "large")
        values = {option.id: option.current_value for option in answer.config_options}
        expect(values["model"] == "large", f"its value is {values['model']} now")
        await refused(choose("model", "no-such-model"), "a value that is not there")
        await refused(choose("no-such-option", "large"), "an option that is not there")

    await check("option", option)

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
        peer = Child()
        await peer.start()
        if sessions.list:
            expect(await peer.listed(session), "the session is not in the list")
        await replay(peer, prompts, told)
        await peer.end()

    await check("reload", reload)
    tell(end=True)


asyncio.run(main())
