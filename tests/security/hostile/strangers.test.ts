/**
 * The effects on a bystander with a key of strangers without one, who ask for the largest page and leave, read nothing of
 * it, or keep connections open: each of its requests is answered, and the strangers' resources are freed while they are
 * still there.
 */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { formOf } from '@lodge/testkit/forms';
import { spawnServer } from '../../e2e/api/server-child.ts';
import type { ServerChild } from '../../e2e/api/server-child.ts';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { startStrangers } from './strangers.ts';

const connections = formOf({ short: 1_500, long: 10_000 });
/** Below what the strangers try, so that they meet it. */
const maxConnections = formOf({ short: 1_000, long: 10_000 });
const attackMs = formOf({ short: 2_000, long: 20_000 });
const from = '127.66.6.6';
const databaseMost = 30;

let world: World;
let server: ServerChild;
before(async () => {
  world = await openWorld({ loops: false });
  const { connectionString } = world;
  server = await spawnServer({ connectionString, loops: false, maxConnections, rates: { address: 60 } });
});
after(async () => {
  await server?.kill();
  await world?.close();
});

/** One read, on a connection of its own or on one that is kept; rejects when it is not answered with 200. */
function read(agent: Agent): Promise<void> {
  const headers = { 'x-api-key': world.key };
  return new Promise((resolve, reject) => {
    get(`${server.url}/v1/agents?limit=20`, { agent, headers, timeout: 30_000 }, (reply) => {
      reply
        .resume()
        .once('end', () => (reply.statusCode === 200 ? resolve() : reject(new Error(`${reply.statusCode}`))));
    }).on('error', reject);
  });
}

interface Felt {
  readonly count: number;
  readonly p99: number;
  readonly failures: readonly string[];
}

/** Reads one after another, until `over`. */
async function bystander(over: AbortSignal): Promise<Felt> {
  const agents = [new Agent(), new Agent({ keepAlive: true })];
  const times: number[] = [];
  const failures: string[] = [];
  while (!over.aborted) {
    const began = performance.now();
    await read(agents[times.length % 2]!).catch((error: unknown) => failures.push(String(error)));
    times.push(performance.now() - began);
    await sleep(10);
  }
  for (const agent of agents) agent.destroy();
  const sorted = times.toSorted((a, b) => a - b);
  return { count: times.length, p99: sorted[Math.floor(sorted.length * 0.99)] ?? NaN, failures };
}

const quiet = (): Promise<Felt> => bystander(AbortSignal.timeout(attackMs));
const figures = ({ count, p99 }: Felt): string => `${count} reads, p99 ${p99.toFixed(1)} ms`;

async function rssMib(): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}

/** The server's CPU time, in milliseconds. */
async function cpuMs(): Promise<number> {
  const stat = await readFile(`/proc/${server.pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

/** Files and connections that the server has open. Connections to its database come and go. */
const openFiles = async (): Promise<number> => (await readdir(`/proc/${server.pid}/fd`)).length;

test('the script of the reference, asked for and left at its first byte', async (t: TestContext) => {
  await (await fetch(`${server.url}/docs/js/scalar.js`)).arrayBuffer();
  const before = await quiet();
  const spentBefore = await cpuMs();
  const strangers = await startStrangers('resets', server.url, 8, from);
  const felt = await bystander(AbortSignal.timeout(attackMs));
  const asked = await strangers.end();
  const each = ((await cpuMs()) - spentBefore) / (asked + felt.count);
  t.diagnostic(`quiet ${figures(before)}; felt ${figures(felt)}; ${asked} requests, ${each.toFixed(2)} ms of CPU each`);
  assert.deepEqual(felt.failures, []);
  assert.ok(asked > 0);
  // With the text encoded for each reply it was 12 on an idle machine.
  assert.ok(each < 8, `${each} ms`);
});

test('60 readers that take nothing hold little memory, and not for long', async (t: TestContext) => {
  const [memory, files] = [await rssMib(), await openFiles()];
  const strangers = await startStrangers('stalled', server.url, 60, from);
  while ((await openFiles()) < files + 60) await sleep(20);
  const felt = await bystander(AbortSignal.timeout(attackMs));
  const held = (await rssMib()) - memory;
  t.diagnostic(`${figures(felt)}; ${held.toFixed(0)} MiB held`);
  assert.deepEqual(felt.failures, []);
  assert.ok(held < 100, `${held} MiB`);
  // They are still there and read nothing.
  while ((await openFiles()) > files + databaseMost) await sleep(200);
  await strangers.end();
});

test('dead and half-open connections of one network', async (t: TestContext) => {
  const files = await openFiles();
  const before = await quiet();
  const memory = await rssMib();
  const began = performance.now();
  const attack = startStrangers('dead', server.url, connections, from);
  const felt = await bystander(AbortSignal.timeout(attackMs));
  const strangers = await attack;
  const most = await openFiles();
  const held = (await rssMib()) - memory;
  // Connections that were answered once may be silent for as long as any client.
  const silent = Math.ceil(maxConnections / 4 / 5);
  const later = bystander(AbortSignal.timeout(attackMs));
  while ((await openFiles()) > files + silent + databaseMost) await sleep(200);
  const ms = performance.now() - began;
  assert.deepEqual([...felt.failures, ...(await later).failures], []);
  assert.ok(most <= files + maxConnections / 4 + databaseMost, `${most} open`);
  t.diagnostic(
    `quiet ${figures(before)}; felt ${figures(felt)}; ${most - files} of ${connections} open, ${held.toFixed(0)} MiB; gone after ${(ms / 1000).toFixed(0)} s; ${((await rssMib()) - memory).toFixed(0)} MiB left`,
  );
  await strangers.end();
});
