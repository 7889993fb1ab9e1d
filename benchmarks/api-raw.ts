/**
 * Raw node:http that answers with RAW_ONE, the least that a request costs. With RAW_DATABASE each request also reads the
 * agent RAW_AGENT there, which adds one indexed query. RAW_BY selects how: `pg`, a statement that each connection prepares
 * once, as a program without Lodge would; or `store`, which turns the same query into the engine's objects.
 */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openStore } from '@lodge/store';
import { findAgent } from '@lodge/store/agents';
import { Pool } from 'pg';
import { agentById } from '../packages/store/src/agents/agent-row.ts';

const value: unknown = JSON.parse(process.env['RAW_ONE']!);
const connectionString = process.env['RAW_DATABASE'];
const log = { debug() {}, info() {}, warn() {}, error() {} };
const agent = process.env['RAW_AGENT']!;
const read = connectionString === undefined ? null : await reader(connectionString);
const server = createServer((_request, response) => void answer(response));

async function answer(response: ServerResponse): Promise<void> {
  if (read && !(await read())) throw new Error('there is no such agent');
  const body = JSON.stringify(value);
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

async function reader(database: string): Promise<() => Promise<unknown>> {
  if (process.env['RAW_BY'] === 'store') {
    const store = await openStore({ connectionString: database, log });
    return () => findAgent(store.database, agent);
  }
  const pool = new Pool({ connectionString: database, max: 10 });
  // The store reads a row as one JSON value; here it is a row of columns.
  const text = / from \((.*)\) found$/s.exec(agentById.text)![1]!;
  return async () => (await pool.query({ name: 'agent', text, values: [agent] })).rows[0];
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
