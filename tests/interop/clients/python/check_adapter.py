"""The adapter by which `acp check --role client` judges a client on the official Python SDK.

`acp check --role client -- python check_adapter.py`; `docs/check.md` lists the tasks. Files are
served and forms are filled in; terminals would be ours alone, so they are not offered.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE

from acp import connect_to_agent
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    CancelElicitationResponse,
    ClientCapabilities,
    DeclineElicitationResponse,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    FileSystemCapabilities,
    RequestPermissionResponse,
)
from acp.stdio import stdio_streams
from peer import Peer

# The exit code that says: this client cannot do the task.
CANNOT = 75
LIMIT = 50 * 1024 * 1024


async def connect(peer):
    """Talks over stdio, or starts the agent that is named; returns where the agent reads."""
    command = os.environ.get("ACP_CHECK_AGENT")
    if command is None:
        reader, writer = await stdio_streams(limit=LIMIT)
    else:
        child = await asyncio.create_subprocess_exec(
            *json.loads(command), stdin=PIPE, stdout=PIPE, limit=LIMIT
        )
        reader, writer = child.stdout, child.stdin
    # It counts elicitation and resume among what is not stable.
    peer.agent = connect_to_agent(peer.heard, writer, reader, use_unstable_protocol=True)
    return writer


class Tasks:
    """What the client can be told to do; a task without a method is one it cannot do."""

    def __init__(self, peer):
        self.peer, self.agent, self.session = peer, peer.agent, None

    async def new(self):
        self.session = await self.peer.open()

    async def load(self, session):
        self.session = session
        await self.agent.load_session(cwd=self.peer.cwd, session_id=session)

    async def resume(self, session):
        self.session = session
        await self.agent.resume_session(cwd=self.peer.cwd, session_id=session, mcp_servers=[])

    async def list(self):
        await self.peer.listed(None)

    async def close(self):
        await self.agent.close_session(session_id=self.session)

    async def prompt(self, text):
        await self.peer.prompt(self.session, text)

    async def prompt_cancel(self, text):
        turn = asyncio.create_task(self.peer.prompt(self.session, text))
        heard = self.peer.heard
        async with heard.news:
            await heard.news.wait_for(lambda: heard.updates)
        await self.agent.cancel(session_id=self.session)
        await turn

    async def mode(self, mode):
        for option in (self.peer.opened and self.peer.opened.config_options) or []:
            if option.category == "mode":
                return await self.option(option.id, mode)
        await self.agent.set_session_mode(session_id=self.session, mode_id=mode)

    async def option(self, option, value):
        await self.agent.set_config_option(config_id=option, session_id=self.session, value=value)

    async def authenticate(self, method):
        await self.agent.authenticate(method_id=method)

    async def permission(self, how):
        async def answer(options):
            for option in options:
                if option.kind == f"{how}_once":
                    chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
                    return RequestPermissionResponse(outcome=chosen)
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

        self.peer.heard.answer = answer

    async def form(self, how, content=None):
        async def answer(message, mode):
            if how == "accept":
                return AcceptElicitationResponse(action="accept", content=content)
            if how == "decline":
                return DeclineElicitationResponse(action="decline")
            return CancelElicitationResponse(action="cancel")

        self.peer.heard.elicit = answer


async def main():
    peer = Peer(os.environ["ACP_CHECK_CWD"])
    writer = await connect(peer)
    can = ClientCapabilities(
        elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()),
        fs=FileSystemCapabilities(read_text_file=True, write_text_file=True),
        terminal=False,
    )
    tasks = Tasks(peer)
    await tasks.permission("cancel")
    agent = await peer.initialize(can)
    wanted = json.loads(os.environ["ACP_CHECK_TASK"]) if agent.protocol_version == 1 else []
    for name, *words in wanted:
        task = getattr(tasks, name.replace("+", "_"), None)
        if task is None:
            return CANNOT
        try:
            await task(*words)
        except Exception as error:
            # What the agent refuses is an answer too.
            print(f"check_adapter: {name}: {error}", file=sys.stderr)
    writer.close()
    return 0


sys.exit(asyncio.run(main()))
