/**
 * Set-up, start and a round of an agent on other distributions, from a clone, as a user who has sudo: `npm run test:hosts [-- NAME...]`.
 * As long as images and templates take, for each machine is fresh. `NAME-firewalls` runs Lodge's network beside the firewalls of that distribution instead, which
 * takes a minute. Needs root, and the registries.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { distributions } from './distributions.ts';
import { tryFirewalls } from './firewalls-run.ts';
import { HostMachine } from './host-machine.ts';

const run = promisify(execFile);
const minuteMs = 60_000;
const checkout = join(import.meta.dirname, '../..');
const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
/** Control groups are this machine's: a Lodge that is in use here must not be taken for an earlier one of these. */
const own = 'LODGE_DATA_DIR=/var/lib/lodge-hosts LODGE_INSTANCE=hosts';

const withFirewalls = (name: string): string => `${name}-firewalls`;
const known = Object.keys(distributions).flatMap((name) => [withFirewalls(name), name]);
const names = process.argv.slice(2);
for (const name of names)
  if (!known.includes(name)) throw new Error(`There is no ${name}; there are ${known.join(', ')}`);
const logs = await mkdtemp(join(tmpdir(), 'lodge-hosts-'));
const failed: string[] = [];
for (const name of names.length > 0 ? names : known) {
  const log = join(logs, `${name}.log`);
  try {
    await tryOne(name, log);
  } catch (error) {
    failed.push(name);
    process.stdout.write(`── ${name}: FAILED: ${(error as Error).message}\n   log: ${log}\n`);
  }
}
process.exitCode = failed.length > 0 ? 1 : 0;

async function tryOne(name: string, log: string): Promise<void> {
  const distribution = distributions[name];
  if (distribution !== undefined) return tryHost(name, log);
  const [of] = Object.entries(distributions).find(([plain]) => withFirewalls(plain) === name)!;
  await tryFirewalls(distributions[of]!, { checkout, cacheDir, log });
  process.stdout.write(`── ${name}: passed\n`);
}

async function tryHost(name: string, log: string): Promise<void> {
  const step = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`── ${name}: ${what} ${seconds} s\n`);
    return result;
  };
  const machine = await step('machine', () => HostMachine.make(distributions[name]!, cacheDir, log));
  try {
    await run('git', ['clone', '--quiet', '--bare', checkout, machine.home('lodge.git')]);
    const versions = await machine.shell('. /etc/os-release; echo "$PRETTY_NAME, node $(node --version)"', minuteMs);
    process.stdout.write(`── ${name}: ${versions.trim().split('\n').at(-1)}\n`);
    await step('clone', () =>
      machine.shell('sudo chown -R $USER: lodge.git && git clone --quiet lodge.git lodge', minuteMs),
    );
    // A list of commands in the background would keep the shell's output open.
    const start = `cd lodge; ${own} setsid nohup npm start > ../start.log 2>&1 &`;
    await step('npm start, until the first template is ready', async () => {
      await machine.shell(start, minuteMs);
      await said(machine.home('start.log'), /Template +\S+ ready/, 60 * minuteMs);
    });
    await step('doctor', () => machine.shell(`cd lodge && ${own} npm run doctor`, 5 * minuteMs));
    await step('demo: create, chat, a tool call, delete', () =>
      machine.shell(`cd lodge && ${own} npm run demo`, 20 * minuteMs),
    );
    await step('down', () => machine.shell(`cd lodge && ${own} npm run down`, 5 * minuteMs));
  } finally {
    await machine.remove();
  }
}

/** Resolves when the file says it; rejects when it says that the program has ended, or after the time. */
async function said(file: string, pattern: RegExp, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (pattern.test(text)) return;
    if (/^Node\.js v|did not start|npm ERR!|npm error/m.test(text) || Date.now() > deadline)
      throw new Error(`not ready:\n${text.slice(-2000)}`);
    await sleep(1000);
  }
}
