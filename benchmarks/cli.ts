/**
 * The start of the packed command: `lodge --version`, and a listing of 20 agents beside a bare fetch of the same page by a
 * process of the same Node. Runs take turns, so that other work of the host disturbs all alike; processor time says more than
 * the clock on a busy host.
 *
 *   node_modules/.bin/node benchmarks/cli.ts [--runs 20] [--node /usr/bin/node]...
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleCommand } from '../scripts/cli/pack.ts';
import { openWorld, send } from '../tests/e2e/api/world.ts';
import { median, millis, table } from './figures.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    node: { type: 'string', multiple: true, default: [process.execPath] },
  },
});
const agents = 20;

interface Run {
  readonly wallMs: number;
  readonly processorMs: number;
}

const folder = await mkdtemp(join(tmpdir(), 'lodge-cli-benchmark-'));
const program = await bundleCommand(join(folder, 'dist'));
const world = await openWorld({ loops: false });
try {
  const body = { name: 'Support bot', model: 'anthropic/claude-sonnet-5' };
  for (let at = 0; at < agents; at += 1)
    await send(world.url, 'POST', '/v1/agents?wait=false', { key: world.key, body });
  const env = {
    PATH: process.env['PATH']!,
    XDG_CONFIG_HOME: folder,
    NODE_COMPILE_CACHE: join(folder, 'cache'),
    LODGE_URL: world.url,
    LODGE_API_KEY: world.key,
  };
  const fetching = `await (await fetch(${JSON.stringify(`${world.url}/v1/agents?limit=100`)}, { headers: { 'x-api-key': process.env.LODGE_API_KEY } })).json()`;
  const cases: readonly (readonly [name: string, args: readonly string[]])[] = [
    ['node -e 0', ['-e', '0']],
    ['lodge --version', [program, '--version']],
    ['bare fetch', ['--input-type=module', '-e', fetching]],
    ['lodge agents list', [program, 'agents', 'list']],
  ];
  const rows: string[][] = [];
  for (const node of values.node) {
    const figures = new Map<string, Run[]>(cases.map(([name]) => [name, []]));
    for (let round = 0; round <= Number(values.runs); round += 1) {
      for (const [name, args] of cases) {
        const run = await runOf(node, args, env);
        // The first run fills caches.
        if (round > 0) figures.get(name)!.push(run);
      }
    }
    const version = await outputOf(node, ['--version']);
    for (const [name, runs] of figures) {
      const wall = runs.map(({ wallMs }) => wallMs);
      const processor = runs.reduce((sum, { processorMs }) => sum + processorMs, 0) / runs.length;
      rows.push([version.trim(), name, millis(Math.min(...wall)), millis(median(wall)), millis(processor)]);
    }
  }
  console.log(table(['Node', 'command', 'least ms', 'median ms', 'processor ms'], rows));
  console.log(`\n${values.runs} runs each, load average ${loadavg()[0]!.toFixed(1)} at the end.`);
} finally {
  await world.close();
  await rm(folder, { recursive: true, force: true });
}

async function runOf(node: string, args: readonly string[], env: Record<string, string>): Promise<Run> {
  const before = await childrenMs();
  const began = performance.now();
  const child = spawn(node, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const [code] = (await once(child, 'close')) as [number | null];
  const wallMs = performance.now() - began;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return { wallMs, processorMs: (await childrenMs()) - before };
}

/** Processor time of all children that have ended, in ms. The kernel counts it in steps of 10 ms. */
async function childrenMs(): Promise<number> {
  const fields = (await readFile('/proc/self/stat', 'utf8')).replace(/^.*\) /s, '').split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

async function outputOf(node: string, args: readonly string[]): Promise<string> {
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  await once(child, 'close');
  return text;
}
