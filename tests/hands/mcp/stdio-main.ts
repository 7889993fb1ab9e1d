/** The MCP server over stdio as its own process: address and key are in the environment. */
import { serveStdio } from '@lodge/mcp';
import { Lodge } from '@lodge/sdk';

const { stdin, stdout } = process;
await serveStdio(new Lodge({}), { version: '0', stdin, stdout, progressEveryMs: 200 });
