/**
 * Measures pause, suspend and start, step by step, beside the bare calls and beside writing as many bytes:
 *
 *   node packages/vm/conformance/measure-snapshots.ts [--dirty-mib 150] [--rounds 3]
 *
 * It runs as root, on a host with QEMU; the base image is built when it is not in the cache yet.
 */
import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sizes } from '@lodge/domain';
import { bareCloner, createQemuDriver } from '../src/index.ts';
import { baseImage } from './base-image.ts';
import { destroyHost, newHostSettings, optionsOf, probeGuest } from './qemu-host.ts';
import { fromRest } from './world.ts';

const { values } = parseArgs({
  options: { 'dirty-mib': { type: 'string', default: '150' }, rounds: { type: 'string', default: '3' } },
});
const dirtyMib = Number(values['dirty-mib']);
const never = new AbortController().signal;
const settings = await newHostSettings();
const logged: { readonly message: string; readonly ms: unknown }[] = [];
const quiet = (): void => undefined;
const info = (fields: object, message: string): void =>
  void logged.push({ message, ms: (fields as { ms?: unknown }).ms });
const options = { ...optionsOf(settings), log: { debug: quiet, info, warn: quiet, error: quiet } };
const driver = createQemuDriver(options);

async function timed(what: string, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  const ms = performance.now() - started;
  console.log(`${what.padEnd(34)} ${ms.toFixed(1).padStart(8)} ms`);
  return ms;
}

async function writeAndSync(bytes: number): Promise<void> {
  const path = join(settings.dataDir, 'as-many-bytes');
  const piece = randomBytes(1 << 20);
  const file = await open(path, 'w');
  for (let left = bytes; left > 0; left -= piece.length) await file.write(piece, 0, Math.min(left, piece.length));
  await file.sync();
  await file.close();
  await rm(path);
}

async function measureRound(round: number): Promise<void> {
  const agentId = `m${round}`;
  const template = (await driver.findTemplate(request))!;
  const clone = { agentId, executionId: 'e1', machine: sizes.medium, template, from: 'clone' } as const;
  await timed('create (clone)', () => driver.create(clone, never));
  const address = (await driver.inspect(agentId))!.address!;
  await probeGuest(settings, { address }).fill(dirtyMib);
  for (let turn = 0; turn < 3; turn += 1) {
    await timed('pause', () => driver.pause(agentId, 'e1'));
    await timed('resume', () => driver.resume(agentId, 'e1'));
  }
  let bytes = 0;
  await timed('suspend', async () => {
    ({ bytes } = await driver.rest(agentId, 'e1', { facts: {} }, never));
  });
  console.log(JSON.stringify(logged.at(-1)), `${(bytes / 2 ** 20).toFixed(1)} MiB`);
  await timed('write and fsync as many bytes', () => writeAndSync(bytes));
  const start = { ...clone, executionId: 'e2', from: fromRest(agentId) } as const;
  await timed('create (from snapshot)', () => driver.create(start, never));
  console.log(JSON.stringify(logged.at(-1)));
  console.log('usage', JSON.stringify(await driver.usage(agentId)));
  await timed('usage', () => driver.usage(agentId));
  await timed('inspect', () => driver.inspect(agentId));
  await timed('network check', () => options.network.heal());
  await driver.remove(agentId, { keepDisk: false });
}

const request = { image: await baseImage(), variant: 'measure' };
await driver.start();
try {
  const prepare = (): Promise<Record<string, never>> => Promise.resolve({});
  const template = await driver.buildTemplate({ ...request, brokerPort: 4001, progress: quiet, prepare }, never);
  const bare = await bareCloner({
    ...options,
    dataDir: join(settings.dataDir, 'floor'),
  })(template);
  for (let turn = 0; turn < 3; turn += 1) {
    await timed('bare stop', () => bare.freeze());
    await timed('bare cont', () => bare.thaw());
  }
  await bare.remove();
  for (let round = 0; round < Number(values.rounds); round += 1) await measureRound(round);
} finally {
  await driver.stop();
  await destroyHost(settings);
}
