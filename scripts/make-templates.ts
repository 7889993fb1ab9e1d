/**
 * Makes images and templates that are not in the cache yet, and ends, so that others find them there.
 *   make-templates.ts                    makes the warm template of every runtime
 *   make-templates.ts --early openclaw   makes the early template of this runtime, unless one of both is there
 * The warm one goes on from the early one where that is there (docs/templates.md).
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Service } from '@lodge/testkit/service';
import { allRuntimes } from '@lodge/runtimes';
import { templateOf } from '../packages/runtimes/conformance/templates.ts';
import type { Stage } from '../packages/runtimes/conformance/templates.ts';

/** Without KVM a template takes up to ten minutes, and longer beside other work. */
const maxMs = 40 * 60_000;
/** A nice value that gives about nine times the share of other work. */
const niceness = -10;
/** Characters of the log that are shown. */
const tailLength = 2_000;
const deadline = Date.now() + maxMs;
const entry = new URL('../packages/runtimes/conformance/lodge.ts', import.meta.url);
const { values } = parseArgs({ options: { early: { type: 'string', multiple: true } } });

const known = [...allRuntimes().values()];
const names = values.early ?? known.map(({ name }) => name);
const suffices: readonly Stage[] = values.early ? ['early', 'full'] : ['full'];
const missing: string[] = [];
for (const name of names) {
  const runtime = known.find((one) => one.name === name);
  if (!runtime) throw new Error(`--early is one of ${known.map((one) => one.name).join(', ')}`);
  if (!suffices.includes(await templateOf(runtime))) missing.push(name);
}
if (missing.length > 0) await make(missing);

async function make(runtimes: readonly string[]): Promise<void> {
  const env = { CONFORMANCE_RUNTIMES: runtimes.join(), CONFORMANCE_EARLY: values.early ? 'alone' : 'first' };
  const service = await Service.start({ entry, env });
  try {
    const made = Promise.all([tell(service), ...runtimes.map((name) => service.awaitTemplate(maxMs, name))]);
    const over = new AbortController();
    const first = comesFirst(service.instance, over.signal);
    await made.finally(() => over.abort());
    await first;
  } finally {
    await service.destroy();
  }
}

/** Prints each step until the service has templates for agents. The warm-up of an early one prints nothing. */
async function tell(service: Service): Promise<void> {
  let said = '';
  for (;;) {
    const { body } = await service.call('GET', '/health');
    if (body.status === 'ok') break;
    if (Date.now() > deadline) throw new Error(`not made in ${maxMs / 60_000} minutes:\n${service.output}`);
    // Some steps count their own seconds.
    const step = String(body.step ?? 'starting').replace(/ \(\d+ s\)$/, '');
    if (step !== said) process.stdout.write(`   templates: ${step}\n`);
    // The reply does not say why the last attempt failed; the log does.
    if (step !== said && step.endsWith('try again')) process.stdout.write(`${service.output.slice(-tailLength)}\n`);
    said = step;
    await sleep(1_000);
  }
}

/**
 * Puts the machines that become templates ahead of other work: a boot that others slow down too much runs into its bound.
 * Linux shares processors among sessions first, and an emulator has a session of its own: its nice value alone does nothing
 * (sched(7), autogroups). Without root, or without autogroups, all goes on as it is.
 */
async function comesFirst(instance: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const pid of await readdir('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (!command.includes(`\0lodge-${instance}-template\0`)) continue;
      await writeFile(`/proc/${pid}/autogroup`, String(niceness)).catch(() => undefined);
    }
    await sleep(2_000, undefined, { signal }).catch(() => undefined);
  }
}
