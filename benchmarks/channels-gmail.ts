/**
 * What an idle mailbox costs a relay: memory and processor of a process that holds many of them at a stub of Google.
 *
 *   node benchmarks/channels-gmail.ts [mailboxes=1000] [poll-ms=15000]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGmail } from '@lodge/channels';
import { startGoogleStub } from '@lodge/testkit/google';

const [mailboxes = 1_000, pollMs = 15_000] = process.argv.slice(2).map(Number);
const minutes = 1;
const mib = 1_024 * 1_024;

interface Order {
  readonly url: string;
  readonly client: { readonly clientId: string; readonly clientSecret: string };
  readonly tokens: readonly string[];
}

async function measure(): Promise<void> {
  const google = await startGoogleStub();
  const tokens = Array.from({ length: mailboxes }, (_, at) => google.consent(`agent-${at}@example.com`));
  const child = fork(import.meta.filename, process.argv.slice(2), {
    env: { ...process.env, GMAIL_BENCH_CHILD: '1' },
    execArgv: ['--expose-gc'],
  });
  child.send({ url: google.url, client: google.client, tokens } satisfies Order);
  const [figures] = (await once(child, 'message')) as [Record<string, number>];
  console.table(figures);
  child.kill();
  await google.close();
}

async function hold({ url, client, tokens }: Order): Promise<void> {
  const quiet = (): void => {};
  let isUp = 0;
  const host = {
    received: async () => {},
    at: async () => {},
    changed: ({ status }: { readonly status: string }) => void (isUp += status === 'connected' ? 1 : 0),
    keep: async () => {},
    vault: { get: async () => ({}), set: async () => {}, clear: async () => {} },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  };
  const endpoints = { api: `${url}/`, token: `${url}/token` };
  const gmail = createGmail({ ...client, endpoints, timings: { pollMs } });
  const empty = await held();
  for (const refreshToken of tokens) {
    gmail.connect({ agentId: 'a', credentials: { refreshToken }, wantsUnaddressed: false, cursor: null }, host);
    await sleep(pollMs / tokens.length);
  }
  while (isUp < tokens.length) await sleep(100);
  const cpu = process.cpuUsage();
  await sleep(minutes * 60_000);
  const { user, system } = process.cpuUsage(cpu);
  const full = await held();
  process.send!({
    mailboxes: tokens.length,
    emptyMib: Math.round(empty.rss / mib),
    heldMib: Math.round(full.rss / mib),
    kibEach: Math.round((full.rss - empty.rss) / 1_024 / tokens.length),
    heapKibEach: Math.round(((full.heapUsed - empty.heapUsed) / 1_024 / tokens.length) * 10) / 10,
    cpuPercent: Math.round(((user + system) / (minutes * 60_000_000)) * 1_000) / 10,
  });
}

async function held(): Promise<NodeJS.MemoryUsage> {
  await sleep(500);
  globalThis.gc?.();
  return process.memoryUsage();
}

if (process.env['GMAIL_BENCH_CHILD'] === '1') process.once('message', (order: Order) => void hold(order));
else await measure();
