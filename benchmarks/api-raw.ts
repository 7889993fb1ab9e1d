/**
 * Raw node:http that answers with RAW_ONE: what a request costs at the very least. With RAW_DATABASE each request also reads
 * the agent RAW_AGENT from there, by the store's own query: what it costs with one indexed query.
 */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openStore } from '@lodge/store';

const value: unknown = JSON.parse(process.env['RAW_ONE']!);
const connectionString = process.env['RAW_DATABASE'];
const log = { debug() {}, info() {}, warn() {}, error() {} };
const store = connectionString === undefined ? null : await openStore({ connectionString, log });
const server = createServer((_request, response) => void answer(response));

async function answer(response: ServerResponse): Promise<void> {
  if (store && !(await store.agents.find(process.env['RAW_AGENT']!))) throw new Error('there is no such agent');
  const body = JSON.stringify(value);
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
