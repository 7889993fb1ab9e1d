/** A Lodge with a guest, a gateway that answers as it is asked to, and the official client over HTTP and over stdio. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { dialTo } from '@lodge/guest';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { openGateway } from './gateway.ts';
import type { AskedGateway } from './gateway.ts';

export interface Called {
  readonly texts: readonly string[];
  readonly isError: boolean;
  // eslint-disable-next-line typescript/no-explicit-any -- a test looks into any result
  readonly structured: any;
}

/** The official client. */
export class McpClient {
  readonly client = new Client({ name: 'a test', version: '1' });
  /** Names of the tools that were called. */
  readonly called = new Set<string>();

  async call(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Called> {
    this.called.add(name);
    const result = await this.client.callTool({ name, arguments: args }, undefined, options);
    const content = result.content as readonly { readonly text: string }[];
    return {
      texts: content.map(({ text }) => text),
      isError: result.isError === true,
      structured: result.structuredContent,
    };
  }
}

interface CallOptions {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface Stand {
  readonly world: World;
  readonly gateway: AskedGateway;
  /** Conversations of the turns, in order. */
  readonly conversations: readonly (string | null)[];
  /** Messages of internal errors. */
  readonly faults: string[];
  http(key?: string): Promise<McpClient>;
  stdio(key?: string): Promise<McpClient>;
  close(): Promise<void>;
}

/** The command `lodge`. */
export const program = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));

export async function openStand(): Promise<Stand> {
  const faults: string[] = [];
  const conversations: (string | null)[] = [];
  const gateway = await openGateway();
  const world = await openWorld({
    withGuest: true,
    rates: { writes: 120 },
    runtime: {
      chatEndpoint: (_guest, _facts, _settings, { conversation }) => {
        conversations.push(conversation);
        return {
          dial: dialTo('127.0.0.1'),
          baseUrl: gateway.url,
          headers: {},
          model: 'openclaw',
          takesPictures: false,
        };
      },
    },
    onError: (fields, message) => faults.push(`${message} ${JSON.stringify(fields)}`),
  });
  const clients: McpClient[] = [];
  const connected = async (transport: Transport): Promise<McpClient> => {
    const one = new McpClient();
    await one.client.connect(transport);
    clients.push(one);
    return one;
  };
  return {
    world,
    gateway,
    conversations,
    faults,
    http: (key = world.key) => {
      const requestInit = { headers: { authorization: `Bearer ${key}` } };
      return connected(new StreamableHTTPClientTransport(new URL(`${world.url}/v1/mcp`), { requestInit }));
    },
    stdio: (key = world.key) => {
      const env = { LODGE_URL: world.url, LODGE_API_KEY: key };
      return connected(
        new StdioClientTransport({ command: process.execPath, args: [program, 'mcp'], env, stderr: 'inherit' }),
      );
    },
    async close() {
      await Promise.all(clients.map(({ client }) => client.close()));
      await world.close();
      await gateway.close();
    },
  };
}
