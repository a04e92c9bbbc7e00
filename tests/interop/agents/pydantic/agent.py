"""A small agent on pydantic-acp: a model, a shell and files.

It asks before it runs or writes something, and does it at the client where the client can.
"""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

from pydantic_acp import (
    AdapterConfig,
    ClientHostContext,
    FileSessionStore,
    NativeApprovalBridge,
    run_acp,
)
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent_of(session):
    provider = OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key="none")
    agent = Agent(OpenAIChatModel("mock-model", provider=provider))
    can = session.client_capabilities
    host = None
    if session.client is not None:
        host = ClientHostContext.from_session(client=session.client, session=session)
    files = can.fs if can and host else None
    terminal = host.terminal if can and host and can.terminal else None

    @agent.tool_plain(requires_approval=True)
    async def bash(command: str) -> str:
        """Runs a shell command in the folder of the session."""
        if terminal:
            running = await terminal.create_terminal(
                "bash", args=["-c", command], cwd=str(session.cwd)
            )
            await terminal.wait_for_terminal_exit(running.terminal_id)
            output = await terminal.terminal_output(running.terminal_id)
            await terminal.release_terminal(running.terminal_id)
            return output.output
        shell = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=session.cwd, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        output, _ = await shell.communicate()
        return output.decode()

    @agent.tool_plain(requires_approval=True)
    async def write_file(path: str, content: str) -> str:
        """Writes a file."""
        if files and files.write_text_file:
            await host.filesystem.write_text_file(path, content)
        else:
            Path(path).write_text(content)
        return "wrote it"

    @agent.tool_plain
    async def read_file(path: str) -> str:
        """Reads a file."""
        if files and files.read_text_file:
            return (await host.filesystem.read_text_file(path)).content
        return Path(path).read_text()

    return agent


run_acp(
    agent_factory=agent_of,
    config=AdapterConfig(
        approval_bridge=NativeApprovalBridge(),
        session_store=FileSessionStore(Path(os.environ["HOME"]) / "sessions"),
    ),
)
