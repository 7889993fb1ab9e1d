import type { Lodge } from '@lodge/sdk';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Readable, Writable } from 'node:stream';
import { lodgeServer } from './server.ts';
import type { LodgeServerOptions } from './server.ts';

export interface StdioOptions extends LodgeServerOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Ends the server. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Serves one client over stdin and stdout. Resolves when stdin ends, or the client has closed stdout; what is under way is
 * ended then. Nothing but messages may be written to stdout meanwhile.
 */
export async function serveStdio(lodge: Lodge, { stdin, stdout, signal, ...options }: StdioOptions): Promise<void> {
  const mcp = lodgeServer(lodge, options);
  const transport = new StdioServerTransport(stdin, stdout);
  const over = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
    for (const event of ['close', 'error']) stdout.once(event, () => resolve());
    mcp.server.onclose = () => resolve();
    signal?.addEventListener('abort', () => resolve());
    if (signal?.aborted) resolve();
  });
  await mcp.connect(transport);
  await over;
  await mcp.close();
}
