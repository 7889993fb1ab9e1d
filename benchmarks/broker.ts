/**
 * The cost of the broker: time to the first byte and CPU of streamed calls. They go straight to the stub provider, through a
 * bare pass-through with undici, and through the broker on a real Postgres (the agent's look-up, its key, the call opened
 * and closed). One run asks all three in each round. Then come 200 streams at once, and memory over many calls.
 *
 *   node_modules/.bin/node benchmarks/broker.ts [--calls 400] [--many 10000]
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { createSecretBox } from '@lodge/access';
import { llmKeyContext } from '@lodge/ports';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { Agent, request } from 'undici';
import type { Figures, ServerOptions } from './broker-server.ts';
import { median, table } from './figures.ts';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '400' }, many: { type: 'string', default: '10000' } },
});
const calls = Number(values.calls);
const many = Number(values.many);
const agents = Array.from({ length: 20 }, (_, n) => ({
  id: `aaaaaaaaaa${String(n).padStart(2, '0')}`,
  address: `127.0.0.${n + 2}`,
}));
const masterKey = randomBytes(32);
/** A prompt of the size that agents send, about 37 KB. */
const messages = [{ role: 'user', content: 'a word or two of a long prompt '.repeat(1200) }];

const names = ['straight', 'bare', 'broker'] as const;
const dispatchers = agents.map(({ address }) => new Agent({ localAddress: address }));
const children: ChildProcess[] = [];
const database = await testDatabase();
try {
  await addAgents();
  const stub = await start({ role: 'stub' });
  const provider = `http://127.0.0.1:${stub.port}/v1`;
  const bare = await start({ role: 'bare', provider });
  const key = masterKey.toString('base64');
  const broker = await start({ role: 'broker', provider, database: database.connectionString, key });
  await report({ straight: stub, bare, broker });
} finally {
  for (const child of children) child.disconnect();
  await database.drop();
}

interface Server {
  readonly port: number;
  readonly path: string;
  figures(): Promise<Figures>;
}
type Servers = Readonly<Record<'straight' | 'bare' | 'broker', Server>>;

async function addAgents(): Promise<void> {
  const run = (sql: string) => execute(database.connectionString, sql);
  await run(`insert into accounts (id, name, role) values ('a', 'a', 'owner')`);
  const secrets = createSecretBox(masterKey);
  for (const { id, address } of agents) {
    await run(`insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds,
      keep_awake, auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, vm_address, host)
      values ('${id}', 'a', 'a', 'runtime_a', 'acme/m', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now(), '${address}', 'bench')`);
    const sealed = secrets.seal('sk-0123456789abcdef', llmKeyContext(id, 'acme'));
    await run(
      `insert into llm_keys (agent_id, provider, sealed, last4, created_at) values ('${id}', 'acme', '${sealed}', '', now())`,
    );
  }
}

async function start(options: ServerOptions): Promise<Server> {
  const child = fork(new URL('broker-server.ts', import.meta.url), [JSON.stringify(options)], {
    execArgv: ['--expose-gc'],
  });
  children.push(child);
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    path: options.role === 'broker' ? '/openai/v1/chat/completions' : '/v1/chat/completions',
    async figures() {
      child.send('figures');
      return ((await once(child, 'message')) as [Figures])[0];
    },
  };
}

/** Returns the milliseconds to the first byte of the body, at the end of the stream. */
async function call({ port, path }: Server, chunks: number, pauseMs: number, agent = 0): Promise<number> {
  const body = JSON.stringify({
    model: 'm',
    messages,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: chunks,
    seed: pauseMs,
  });
  const begun = performance.now();
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    dispatcher: dispatchers[agent]!,
  } as const;
  const response = await request(`http://127.0.0.1:${port}${path}`, options);
  let first = Number.NaN;
  let last = '';
  for await (const part of response.body) {
    if (Number.isNaN(first)) first = performance.now() - begun;
    last = String(part);
  }
  if (response.statusCode !== 200 || !last.includes('[DONE]')) throw new Error(`${response.statusCode} ${last}`);
  return first;
}

async function report(servers: Servers): Promise<void> {
  console.log(
    `\nBroker, ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}\n`,
  );
  console.log(await firstBytes(servers));
  console.log(`\n${await cpuOf(servers)}`);
  console.log(`\n${await manyAtOnce(servers)}`);
  console.log(`\n${await memoryOver(servers.broker)}`);
  console.log(`\nLoad at the end ${loadavg()[0]!.toFixed(1)}.`);
}

async function firstBytes(servers: Servers): Promise<string> {
  const times = { straight: [] as number[], bare: [] as number[], broker: [] as number[] };
  for (let n = 0; n < calls + 50; n += 1) {
    for (const name of names) {
      const first = await call(servers[name], 5, 1);
      if (n >= 50) times[name].push(first);
    }
  }
  const at = (name: (typeof names)[number], part: number): number =>
    times[name].toSorted((one, other) => one - other)[Math.floor(calls * part)]!;
  const rows = names.map((name) => [
    name,
    median(times[name]).toFixed(2),
    (median(times[name]) - median(times.straight)).toFixed(2),
    at(name, 0.95).toFixed(2),
  ]);
  return table(['first byte of a stream', 'median, ms', 'added, ms', '95 %, ms'], rows);
}

/** Computes the cost of a call and of 100 events from calls of 20 and of 120 events. */
async function cpuOf(servers: Servers): Promise<string> {
  const cost = { bare: [0, 0], broker: [0, 0] };
  const rounds = 5;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['bare', 'broker'] as const) {
      for (const [index, chunks] of [20, 120].entries()) {
        const before = await servers[name].figures();
        const each = Math.ceil(calls / rounds / 4);
        await Promise.all(
          [0, 1, 2, 3].map(async (agent) => {
            for (let n = 0; n < each; n += 1) await call(servers[name], chunks, 1, agent);
          }),
        );
        cost[name][index]! += ((await servers[name].figures()).cpu - before.cpu) / (each * 4) / rounds;
      }
    }
  }
  const rows = (['bare', 'broker'] as const).map((name) => {
    const [short, long] = cost[name] as [number, number];
    return [name, (long - short).toFixed(0), (short - (long - short) / 5).toFixed(0), long.toFixed(0)];
  });
  const ratio = (index: number): string => (Number(rows[1]![index]) / Number(rows[0]![index])).toFixed(2);
  return table(
    ['server CPU, µs', '100 events', 'a call beside its events', 'a call of 120 events'],
    [...rows, ['ratio', ratio(1), ratio(2), ratio(3)]],
  );
}

async function manyAtOnce(servers: Servers): Promise<string> {
  const rows: string[][] = [];
  for (const name of names) {
    const before = await servers[name].figures();
    const begun = performance.now();
    const first = await Promise.all(
      Array.from({ length: 200 }, (_, n) => call(servers[name], 100, 50, n % agents.length)),
    );
    const after = await servers[name].figures();
    const cpu = name === 'straight' ? '' : ((after.cpu - before.cpu) / 1000).toFixed(0);
    rows.push([
      name,
      ((performance.now() - begun) / 1000).toFixed(2),
      median(first).toFixed(0),
      Math.max(...first).toFixed(0),
      cpu,
    ]);
  }
  return table(
    [
      '200 streams at once, 5 s of events each',
      'all ended, s',
      'first byte, median ms',
      'slowest, ms',
      'server CPU, ms',
    ],
    rows,
  );
}

async function memoryOver(broker: Server): Promise<string> {
  const rows: string[][] = [];
  for (let done = 0; done < many;) {
    const next = done === 0 ? Math.floor(many / 10) : Math.min(many, done + Math.floor((many * 3) / 10));
    await Promise.all(
      agents.map(async (_agent, index) => {
        for (let n = done + index; n < next; n += agents.length) await call(broker, 3, 0, index);
      }),
    );
    done = next;
    const { heapMib, rssMib } = await broker.figures();
    rows.push([String(done), heapMib.toFixed(1), rssMib.toFixed(0)]);
  }
  return table(['calls', 'heap after a collection, MiB', 'resident, MiB'], rows);
}
