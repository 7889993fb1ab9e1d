/**
 * The cost of a create against its floor, in one run:
 *   (a) floor: namespace + overlay + QEMU clone + the time + gateway resumed, and nothing else
 *   (b) POST /v1/agents until 201
 *   (c) create until the first chat is answered
 *   (d) cold boot of an agent's disk until the first chat is answered
 * and the memory of an idle clone and of the template. (a), (b) and (c) take turns, so that a machine whose speed drifts
 * slows all of them. The model is a stub that answers at once.
 *
 *   node_modules/.bin/node benchmarks/create.ts [--runtime openclaw] [--rounds 5] [--cold-rounds 5]
 */
import { stat } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { dialTo, noCredential } from '@lodge/guest';
import { qemuPid } from '../tests/e2e/guest-memory.ts';
import { bareMachine, cacheDir } from './bare-machine.ts';
import { acceleratorOf, median, processorMs, pssMib, seconds } from './figures.ts';
import { measure, plainSettings } from './runtime.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'openclaw' },
    rounds: { type: 'string', default: '5' },
    'cold-rounds': { type: 'string', default: '5' },
  },
});
const rounds = Number(values.rounds);
const coldRounds = Number(values['cold-rounds']);

interface Rounds {
  readonly floor: number[];
  readonly created: number[];
  readonly firstChat: number[];
  /** The emulator's processor time until 201 and until the first chat is answered. */
  readonly createdProcessor: number[];
  readonly firstChatProcessor: number[];
  readonly secondChat: number[];
  readonly cold: number[];
  /** MiB. */
  readonly idlePss: number[];
}

const measured = await measure(values.runtime);
const { service, runtime } = measured;
const create = (): Promise<string> => measured.create();
const bare = await bareMachine(runtime, measured.ready);
try {
  const results: Rounds = {
    floor: [],
    created: [],
    firstChat: [],
    createdProcessor: [],
    firstChatProcessor: [],
    secondChat: [],
    cold: [],
    idlePss: [],
  };
  let last = '';
  for (let round = 0; round < rounds; round += 1) {
    results.floor.push(await floorRound());
    if (last) await remove(last);
    last = await createRound(results);
  }
  for (let round = 0; round < coldRounds; round += 1) {
    if (round > 0) {
      await remove(last);
      last = await create();
    }
    results.cold.push(await coldRound(last));
  }
  await print(results, last);
} finally {
  await bare.close();
  await measured.close();
}

async function floorRound(): Promise<number> {
  const started = performance.now();
  const clone = await bare.clone();
  try {
    await runtime.resume(
      { ...clone, dial: dialTo(clone.address), credential: noCredential },
      bare.template.facts,
      plainSettings,
      AbortSignal.timeout(60_000),
    );
    return performance.now() - started;
  } finally {
    await clone.remove();
  }
}

async function chat(id: string): Promise<void> {
  const reply = await service.call('POST', '/chat/completions', {
    model: id,
    messages: [{ role: 'user', content: 'ping' }],
  });
  if (reply.status !== 200) throw new Error(`chat answered ${reply.status}: ${JSON.stringify(reply.body)}`);
}

async function remove(id: string): Promise<void> {
  await service.call('DELETE', `/agents/${id}`);
}

async function createRound(results: Rounds): Promise<string> {
  const started = performance.now();
  const id = await create();
  const created = performance.now();
  const pid = await qemuPid(service.dataDir, id);
  results.createdProcessor.push(await processorMs(pid));
  const asked = performance.now();
  await chat(id);
  const first = performance.now() - (asked - created);
  results.firstChatProcessor.push(await processorMs(pid));
  const second = performance.now();
  await chat(id);
  results.created.push(created - started);
  results.firstChat.push(first - started);
  results.secondChat.push(performance.now() - second);
  await sleep(5_000);
  results.idlePss.push(await pssMib(pid));
  return id;
}

/** Kills the VM and waits until Lodge has booted the agent's disk by itself. */
async function coldRound(id: string): Promise<number> {
  const started = performance.now();
  process.kill(await qemuPid(service.dataDir, id), 'SIGKILL');
  const status = async (): Promise<string> => (await service.call('GET', `/agents/${id}`)).body.status as string;
  while ((await status()) === 'running') await sleep(50);
  while ((await status()) === 'provisioning') await sleep(250);
  await chat(id);
  return performance.now() - started;
}

async function print(results: Rounds, agentId: string): Promise<void> {
  const accelerator = await acceleratorOf(await qemuPid(service.dataDir, agentId));
  const row = (name: string, times: readonly number[]): string =>
    `| ${name} | ${seconds(median(times))} | ${seconds(Math.min(...times))} | ${seconds(Math.max(...times))} |`;
  const memory = await stat(join(cacheDir, 'templates', bare.template.id, 'memory'));
  console.log(`# create, ${runtime.name} ${runtime.version}, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(
    `${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, ${rounds} rounds, ${coldRounds} cold.\n`,
  );
  console.log('| seconds | median | min | max |\n|---|---|---|---|');
  console.log(row('(a) floor: namespace, overlay, clone, gateway resumed', results.floor));
  console.log(row('(b) POST /v1/agents until 201', results.created));
  console.log(row('(c) create until the first chat is answered', results.firstChat));
  console.log(row('a second chat', results.secondChat));
  console.log(row('processor time of the emulator until 201', results.createdProcessor));
  console.log(row('processor time of the emulator until the first chat is answered', results.firstChatProcessor));
  if (coldRounds > 0) console.log(row('(d) cold boot until the first chat is answered', results.cold));
  console.log(`\n(b)/(a) = ${(median(results.created) / median(results.floor)).toFixed(2)}`);
  if (coldRounds > 0) console.log(`(d)/(c) = ${(median(results.cold) / median(results.firstChat)).toFixed(1)}`);
  console.log(
    `\nPSS of an idle clone after two chats: ${Math.round(median(results.idlePss))} MiB. Template memory file: ${Math.round((memory.blocks * 512) / 2 ** 20)} MiB.`,
  );
}
