/**
 * The way from an empty cache to the first answer, step by step: a newcomer's wait after `npm start`. The images are there
 * (linked from this host's cache); every template is made. An agent is requested at once, as a newcomer does, and a second
 * one when the log says that the last template is made.
 *
 *   node_modules/.bin/node benchmarks/first-agent.ts [--runtime openclaw] [--turns 5] [--full-minutes 60]
 */
import { link, mkdir, mkdtemp, readFile, readdir, rm, chmod, copyFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createImageBuilder } from '@lodge/images';
import { cacheDir } from './bare-machine.ts';
import { table } from './figures.ts';
import { measure } from './runtime.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'openclaw' },
    turns: { type: 'string', default: '5' },
    'full-minutes': { type: 'string', default: '60' },
  },
});
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const tickMs = 200;

interface Mark {
  readonly what: string;
  readonly atS: number;
  /** CPU seconds of all emulators of this Lodge so far, its first agent's and those of templates. */
  readonly templateCpuS: number;
  readonly load: number;
}

const cache = await mkdtemp(join(tmpdir(), 'lodge-empty-cache-'));
await chmod(cache, 0o755);
await linkImage(values.runtime);
process.env['LODGE_CACHE_DIR'] = cache;
const began = performance.now();
const marks: Mark[] = [];
const cpu = { ended: 0, now: new Map<number, number>() };
const measured = await measure(values.runtime, { CONFORMANCE_EARLY: 'first' });
const { service } = measured;
void measured.ready.catch(() => undefined);
let last = '';
try {
  await mark('the API answers');
  const ticker = watch();
  const first = await create('First');
  await mark('first agent runs');
  await chats(first, 'first agent');
  if (!(await logged(/the template is fully warm/, Number(values['full-minutes'])))) {
    await mark('no second template was made');
  } else await mark('the full template is made');
  await chats(first, 'first agent, later');
  const second = await create('Second');
  await mark('second agent runs');
  await chats(second, 'second agent');
  clearInterval(ticker);
  print();
} finally {
  await measured.close();
  await rm(cache, { recursive: true, force: true });
}

async function linkImage(runtime: string): Promise<void> {
  const id = await createImageBuilder({ cacheDir, log: silent }).idOf(runtime);
  const [from, to] = [join(cacheDir, 'images', id), join(cache, 'images', id)];
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    await link(join(from, name), join(to, name)).catch(() => copyFile(join(from, name), join(to, name)));
  }
}

/** Creates an agent like a client whose wait is longer than a call may last. */
async function create(name: string): Promise<string> {
  const body = { name, runtime_kind: measured.kind };
  const { status, body: made } = await service.call('POST', '/agents?wait=false', body);
  if (status >= 300) throw new Error(`create answered ${status}: ${JSON.stringify(made)}`);
  const id = made.id as string;
  for (;;) {
    const { body: agent } = await service.call('GET', `/agents/${id}`);
    if (agent.status === 'running') return id;
    if (agent.status === 'error') throw new Error(JSON.stringify(agent));
    await sleep(tickMs);
  }
}

async function chats(id: string, who: string): Promise<void> {
  for (let turn = 1; turn <= Number(values.turns); turn += 1) {
    const started = performance.now();
    const reply = await service.call('POST', '/chat/completions', {
      model: id,
      messages: [{ role: 'user', content: 'ping' }],
    });
    if (reply.status !== 200) throw new Error(`chat answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    await mark(`${who}: turn ${turn} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  }
}

function watch(): NodeJS.Timeout {
  return setInterval(() => {
    void service.call('GET', '/health').then(
      async ({ body }) => {
        const step = String(body.step ?? body.status).replace(/\(\d+ s\)/, '');
        if (step === last) return;
        last = step;
        await mark(step);
      },
      () => undefined,
    );
  }, tickMs);
}

async function logged(what: RegExp, minutes: number): Promise<boolean> {
  for (const deadline = Date.now() + minutes * 60_000; Date.now() < deadline; await sleep(tickMs)) {
    if (what.test(service.output)) return true;
  }
  return false;
}

async function mark(what: string): Promise<void> {
  const atS = (performance.now() - began) / 1000;
  const made: Mark = { what, atS, templateCpuS: await templateCpuS(), load: loadavg()[0]! };
  marks.push(made);
  process.stderr.write(
    `${atS.toFixed(1)} s, ${made.templateCpuS.toFixed(1)} CPU s, load ${made.load.toFixed(1)}: ${what}\n`,
  );
}

/** Returns the CPU seconds of the VMs that become templates. */
async function templateCpuS(): Promise<number> {
  const now = new Map<number, number>();
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!command.startsWith('qemu-system') || !command.includes(`lodge-${service.instance}-template`)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields) now.set(Number(pid), (Number(fields[11]) + Number(fields[12])) / 100);
  }
  for (const [pid, seconds] of cpu.now) if (!now.has(pid)) cpu.ended += seconds;
  cpu.now = now;
  return cpu.ended + [...now.values()].reduce((sum, each) => sum + each, 0);
}

function print(): void {
  const rows = marks.map(({ what, atS, templateCpuS: cpuS, load }) => [
    what,
    atS.toFixed(1),
    cpuS.toFixed(1),
    load.toFixed(1),
  ]);
  console.log(table(['step', 'at, s', 'CPU s of templates', 'load'], rows));
}
