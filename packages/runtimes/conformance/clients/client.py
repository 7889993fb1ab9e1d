"""The official client of the Model Context Protocol for Python, as a program in an agent's machine uses it.

Takes calls as JSON, [[tool, arguments], ...]; prints {names, answers: [{isError, text}]}.
"""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main(calls):
    async with streamable_http_client("http://10.0.2.2:4000/mcp") as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            answers = []
            for name, arguments in calls:
                result = await session.call_tool(name, arguments)
                text = "\n".join(block.text for block in result.content)
                answers.append({"isError": bool(result.isError), "text": text})
            print(json.dumps({"names": names, "answers": answers}))


asyncio.run(main(json.loads(sys.argv[1])))
