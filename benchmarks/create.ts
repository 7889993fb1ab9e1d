/**
 * What a create costs, held against its floor, in one run:
 *   (a) floor: namespace + overlay + QEMU clone + gateway resumed, and nothing else
 *   (b) POST /v1/agents until 201
 *   (c) create until the first chat is answered
 *   (d) cold boot of an agent's disk until the first chat is answered
 * and the memory of an idle clone and of the template. (a), (b) and (c) take turns, so that a machine whose speed drifts
 * slows all of them. The model is a stand-in that answers at once.
 *
 *   node_modules/.bin/node benchmarks/create.ts [--rounds 5] [--cold-rounds 5]
 */
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { createImageBuilder } from '@lodge/images';
import type { Template } from '@lodge/engine/ports';
import { createOpenclawRuntime } from '@lodge/runtimes';
import { Service } from '@lodge/testkit/service';
import { startStandinLlm } from '@lodge/testkit/standin-llm';
import { bareCloner, createHostNetwork, createQemuDriver } from '@lodge/vm';
import { qemuPid } from '../tests/e2e/guest-memory.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, 'cold-rounds': { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const coldRounds = Number(values['cold-rounds']);
const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface Rounds {
  readonly floor: number[];
  readonly created: number[];
  readonly firstChat: number[];
  readonly secondChat: number[];
  readonly cold: number[];
  /** MiB. */
  readonly idlePss: number[];
}

const llm = await startStandinLlm({ host: '127.0.0.1', port: 0 });
const provider = { id: 'standin', base_url: `http://127.0.0.1:${llm.port}/v1` };
const service = await Service.start({ env: { LODGE_PROVIDERS: JSON.stringify([provider]) } });
const dataDir = await mkdtemp(join(tmpdir(), 'lodge-floor-'));
// VMs run as users of their own, who must get through.
await chmod(dataDir, 0o711);
const instance = 'floor';
const network = createHostNetwork({
  instance,
  range: '10.254.0.0/20',
  brokerPort: 4000,
  resolver: null,
  log: () => undefined,
});
try {
  await service.awaitTemplate(40 * 60_000);
  await network.start();
  const driverOptions = {
    dataDir,
    cacheDir,
    instance,
    network,
    brokerPort: 4000,
    accelerator: 'auto',
    uidBase: 2_050_000_000,
    log: silent,
  } as const;
  const template = await currentTemplate(createQemuDriver(driverOptions));
  const bare = bareCloner(driverOptions);
  const results: Rounds = { floor: [], created: [], firstChat: [], secondChat: [], cold: [], idlePss: [] };
  let last = '';
  for (let round = 0; round < rounds; round += 1) {
    results.floor.push(await floorRound(bare, template));
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
  await print(results, template, last);
} finally {
  await network.teardown();
  await rm(dataDir, { recursive: true, force: true });
  await service.destroy();
  await llm.close();
}

async function currentTemplate(driver: ReturnType<typeof createQemuDriver>): Promise<Template> {
  const image = await createImageBuilder({ cacheDir, log: silent }).find('openclaw');
  const template = image && (await driver.findTemplate({ image, variant: createOpenclawRuntime().templateVariant }));
  if (!template) throw new Error('the service says its template is ready, but it is not found');
  return template;
}

async function floorRound(bare: ReturnType<typeof bareCloner>, template: Template): Promise<number> {
  const { token, suspensionId } = template.facts as { token: string; suspensionId: string };
  const started = performance.now();
  const clone = await bare(template);
  try {
    const body = JSON.stringify({ method: 'gateway.suspend.resume', params: { suspensionId } });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const reply = await fetch(`http://${clone.address}:18789/api/v1/admin/rpc`, { method: 'POST', headers, body });
    if (!reply.ok) throw new Error(`the bare clone's gateway answered ${reply.status}`);
    return performance.now() - started;
  } finally {
    await clone.remove();
  }
}

async function create(): Promise<string> {
  const reply = await service.call('POST', '/agents', { name: 'Benchmark', model: 'standin/m' });
  if (reply.status !== 201) throw new Error(`create answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply.body.id as string;
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
  await chat(id);
  const first = performance.now();
  await chat(id);
  results.created.push(created - started);
  results.firstChat.push(first - started);
  results.secondChat.push(performance.now() - first);
  await sleep(5_000);
  results.idlePss.push(await pssMib(await qemuPid(service.dataDir, id)));
  return id;
}

/** The VM is killed; Lodge boots the agent's disk by itself. */
async function coldRound(id: string): Promise<number> {
  const started = performance.now();
  process.kill(await qemuPid(service.dataDir, id), 'SIGKILL');
  const status = async (): Promise<string> => (await service.call('GET', `/agents/${id}`)).body.status as string;
  while ((await status()) === 'running') await sleep(50);
  while ((await status()) === 'provisioning') await sleep(250);
  await chat(id);
  return performance.now() - started;
}

async function pssMib(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)![1]) / 1024;
}

async function print(results: Rounds, template: Template, agentId: string): Promise<void> {
  const command = await readFile(`/proc/${await qemuPid(service.dataDir, agentId)}/cmdline`, 'utf8');
  const accelerator = /-accel\0(\w+)/.exec(command)?.[1];
  const row = (name: string, times: readonly number[]): string =>
    `| ${name} | ${seconds(median(times))} | ${seconds(Math.min(...times))} | ${seconds(Math.max(...times))} |`;
  const memory = await stat(join(cacheDir, 'templates', template.id, 'memory'));
  console.log(`# create, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(
    `${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, ${rounds} rounds, ${coldRounds} cold.\n`,
  );
  console.log('| seconds | median | min | max |\n|---|---|---|---|');
  console.log(row('(a) floor: namespace, overlay, clone, gateway resumed', results.floor));
  console.log(row('(b) POST /v1/agents until 201', results.created));
  console.log(row('(c) create until the first chat is answered', results.firstChat));
  console.log(row('a second chat', results.secondChat));
  if (coldRounds > 0) console.log(row('(d) cold boot until the first chat is answered', results.cold));
  console.log(`\n(b)/(a) = ${(median(results.created) / median(results.floor)).toFixed(2)}`);
  if (coldRounds > 0) console.log(`(d)/(c) = ${(median(results.cold) / median(results.firstChat)).toFixed(1)}`);
  console.log(
    `\nPSS of an idle clone after two chats: ${Math.round(median(results.idlePss))} MiB. Template memory file: ${Math.round((memory.blocks * 512) / 2 ** 20)} MiB.`,
  );
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
