"""A small agent on pydantic-acp: a model, and a shell that asks before each command."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

from pydantic_acp import AdapterConfig, FileSessionStore, NativeApprovalBridge, run_acp
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent_of(session):
    provider = OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key="none")
    agent = Agent(OpenAIChatModel("mock-model", provider=provider))

    @agent.tool_plain(requires_approval=True)
    async def bash(command: str) -> str:
        """Runs a shell command in the folder of the session."""
        shell = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=session.cwd, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        output, _ = await shell.communicate()
        return output.decode()

    return agent


run_acp(
    agent_factory=agent_of,
    config=AdapterConfig(
        approval_bridge=NativeApprovalBridge(),
        session_store=FileSessionStore(Path(os.environ["HOME"]) / "sessions"),
    ),
)
