"""A client on the official Python SDK: one connection to an agent, and what it told and asked."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

from acp import text_block
from acp.schema import (
    AllowedOutcome,
    CancelElicitationResponse,
    CreateTerminalResponse,
    Implementation,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)


class Heard:
    """The client side: what the agent told, and what it is answered."""

    def __init__(self):
        self.updates = []
        self.news = asyncio.Condition()
        self.answer = None
        self.elicit = None
        self.asked = 0
        self.terminals = []
        self.released = 0

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

    async def read_text_file(self, session_id, path, line=None, limit=None, **_):
        lines = Path(path).read_text().splitlines(keepends=True)
        first = max((line or 1) - 1, 0)
        last = None if limit is None else first + limit
        return ReadTextFileResponse(content="".join(lines[first:last]))

    async def write_text_file(self, session_id, path, content, **_):
        Path(path).write_text(content)

    async def create_terminal(self, session_id, command, args=None, cwd=None, **_):
        child = await asyncio.create_subprocess_exec(
            command, *(args or []), cwd=cwd, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        self.terminals.append((child, asyncio.create_task(child.stdout.read())))
        return CreateTerminalResponse(terminal_id=str(len(self.terminals) - 1))

    async def wait_for_terminal_exit(self, session_id, terminal_id, **_):
        child, _ = self.terminals[int(terminal_id)]
        return WaitForTerminalExitResponse(exit_code=await child.wait())

    async def terminal_output(self, session_id, terminal_id, **_):
        _, output = self.terminals[int(terminal_id)]
        return TerminalOutputResponse(output=(await output).decode(), truncated=False)

    async def release_terminal(self, session_id, terminal_id, **_):
        self.released += 1

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
    """One agent that is talked to, in a folder."""

    def __init__(self, cwd):
        self.cwd = cwd
        self.heard = Heard()
        self.agent = None
        self.opened = None

    async def initialize(self, can):
        info = Implementation(name="interop-python", version="0.0.0")
        return await self.agent.initialize(
            protocol_version=1, client_capabilities=can, client_info=info
        )

    async def open(self):
        self.opened = await self.agent.new_session(cwd=self.cwd)
        return self.opened.session_id

    async def prompt(self, session_id, text):
        return (await self.agent.prompt(session_id=session_id, prompt=[text_block(text)])).stop_reason

    async def listed(self, session_id):
        cursor = None
        while True:
            page = await self.agent.list_sessions(cwd=self.cwd, cursor=cursor)
            for session in page.sessions:
                if session.session_id == session_id:
                    return session
            cursor = page.next_cursor
            if cursor is None:
                return None
