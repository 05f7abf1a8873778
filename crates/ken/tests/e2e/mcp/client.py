"""Calls each tool of `ken mcp` with the official SDK."""

import asyncio
import os

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS = {
    "search": {"query": "where is the melon?"},
    "grep": {"pattern": "melon"},
    "read": {"path": "a.txt"},
    "list": {"what": "types"},
    "status": {},
}


async def main():
    server = StdioServerParameters(
        command=os.environ["ken"], args=["mcp", "--in", "docs"], env=dict(os.environ)
    )
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            print(*(tool.name for tool in tools))
            for name, arguments in CALLS.items():
                result = await session.call_tool(name, arguments)
                failed = getattr(result, "isError", None) or getattr(result, "is_error", None)
                assert not failed, result
                assert result.content[0].text, name
                assert name == "status" or "document" in result.content[0].text or "melon" in result.content[0].text
    print("ok")


asyncio.run(main())
