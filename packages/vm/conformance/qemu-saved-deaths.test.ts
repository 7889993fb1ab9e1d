/**
 * Control planes and emulators are killed at random moments of everything that is done with saved machines, and each of it finds
 * no room. The agent answers with its memory, present or saved, and nothing is left that nobody needs.
 * SAVED_SEED makes the same trials again, SAVED_KILLS says how many, and SAVED_KINDS which.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { randomFrom } from '@lodge/domain/testing';
import { VmError } from '@lodge/ports';
import { formOf } from '@lodge/testkit/forms';
import { patience } from './accelerator.ts';
import {
  destroyHost,
  emulatorsOf,
  mountVms,
  newHostSettings,
  takeSharedTemplate,
  whileVmsAreFull,
} from './qemu-host.ts';
import type { QemuHostSettings } from './qemu-host.ts';
import { makeSaved } from './saved-calls.ts';
import type { SavedCall } from './saved-calls.ts';
import { agentId, kinds, SavedTrials } from './saved-trials.ts';
import type { Kind } from './saved-trials.ts';

const seed = Number(process.env['SAVED_SEED'] ?? randomInt(2 ** 31));
const kills = Number(process.env['SAVED_KILLS'] ?? formOf({ short: 4, long: 200 }));
const wanted = process.env['SAVED_KINDS']?.split(',');
const tried = kinds.filter((kind) => wanted === undefined || wanted.includes(kind));
const minute = 60_000 * patience;
/** Every so many rounds the emulator is killed, too. */
const emulatorEvery = formOf({ short: 4, long: 5 });
/** The holdings of an agent at work. */
const ofAgent = [`control group ${agentId}`, `folder ${agentId}`, 'process', 'slot'];
/** KiB that are left for each kind, which is tried with the next until there is enough. One of the first in the short form. */
const rooms = [
  0, 4, 16, 60, 100, 180, 250, 300, 400, 520, 700, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 262_144,
];
const scarce = 8;
/** So many kinds find no room, by chance. */
const scarceKinds = formOf({ short: 4, long: kinds.length });

describe('deaths around saved machines', { timeout: formOf({ short: 15, long: 90 }) * minute }, () => {
  const draw = randomFrom(seed);
  let settings: QemuHostSettings;
  let trials: SavedTrials;
  /** Milliseconds that a call of that kind takes at most, as far as is known. */
  const spans = new Map<Kind, number>();
  const figures: Record<string, number> = {};
  const count = (what: string): void => void (figures[what] = (figures[what] ?? 0) + 1);

  before(async () => {
    settings = await newHostSettings();
    await mountVms(settings);
    trials = new SavedTrials(settings, await takeSharedTemplate(settings), draw);
    await trials.begin();
  });
  after(async () => {
    await trials.driver.stop();
    await destroyHost(settings);
  });

  /** Shuffled, over and over. */
  function* shuffled<T>(of: readonly T[]): Generator<T> {
    for (;;) {
      const left = [...of];
      while (left.length > 0) yield left.splice(draw(left.length), 1)[0]!;
    }
  }

  /** Lets a separate control plane make the call, and kills it after a part of the time that such a call takes. */
  async function killAt(kind: Kind, call: SavedCall, part: number, killsEmulator: boolean): Promise<void> {
    const span = spans.get(kind) ?? 1000;
    const script = fileURLToPath(new URL('call-and-die.ts', import.meta.url));
    const child = spawn(process.execPath, [script, JSON.stringify({ settings, call })], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const gone = once(child, 'exit');
    await Promise.race([once(child.stdout, 'data'), gone]);
    const began = performance.now();
    let took: number | null = null;
    child.stdout.once('data', () => (took = performance.now() - began));
    await sleep(span * part);
    if (killsEmulator) await killEmulator(call);
    child.kill('SIGKILL');
    await gone;
    if (took !== null) spans.set(kind, took);
    else if (part > 1) spans.set(kind, 1.5 * span);
    count(took === null ? 'cut short' : 'after the end');
    // A call whose emulator ends may fail before its control plane does.
    if (!killsEmulator) assert.equal(said, '');
  }

  /** That of the fork, if there is one; of the agent otherwise. */
  async function killEmulator(call: SavedCall): Promise<void> {
    const of = call.do === 'create' ? call.request.agentId : agentId;
    const found = (await emulatorsOf(settings, of)).find(({ argv }) => argv[0]!.includes('qemu-system'));
    if (!found) return;
    process.kill(found.pid, 'SIGKILL');
    count('emulators killed');
  }

  test(`${kills} kills, seed ${seed}`, async () => {
    const kindOf = shuffled(tried);
    const parts = shuffled([0.02, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.1]);
    for (let round = 1; round <= kills; round += 1) {
      const kind = kindOf.next().value;
      const killsEmulator = round % emulatorEvery === 0;
      const about = `round ${round}: ${kind}${killsEmulator ? ' and its emulator' : ''}, seed ${seed}`;
      try {
        await trials.ready();
        assert.deepEqual(await trials.holdings(), ofAgent);
        const trial = await trials.trial(kind);
        await trials.driver.stop();
        await killAt(kind, trial.call, parts.next().value as number, killsEmulator);
        await trials.begin();
        await trials.settleSaved(trial);
        await trials.endFork(trial);
        count(`${kind}: ${await trials.state()}`);
        await trials.answers(trial, killsEmulator);
        await trials.settleSaved(trial);
        const ids = [...trials.saved.keys()];
        await trials.isWhole(trial.makes && ids.includes(trial.makes.id) ? trial.makes.id : ids[draw(ids.length)]!);
      } catch (error) {
        throw new Error(about, { cause: error });
      }
      if (round % 10 === 0) console.log(`${round} of ${kills} kills: ${JSON.stringify(figures)}`);
    }
    assert.ok((figures['cut short'] ?? 0) > 0, 'the kills reach into the calls');
  });

  /** Makes the call with so little room; returns whether that was enough. */
  async function isEnough(kind: Kind, room: number): Promise<boolean> {
    await trials.ready();
    assert.deepEqual(await trials.holdings(), ofAgent);
    const trial = await trials.trial(kind);
    const before = await trials.holdings();
    const call = (): Promise<unknown> => makeSaved(trials.driver, settings, trial.call);
    let isDone = false;
    await whileVmsAreFull(settings, room * 1024, async () => {
      const failure: unknown = await call().then(
        () => null,
        (error: unknown) => error,
      );
      isDone = failure === null;
      if (isDone) return;
      assert.ok(failure instanceof VmError && failure.code === 'disk_full', inspect(failure));
      await trials.settleSaved({ call: trial.call });
      // The present one goes before another takes its place.
      assert.deepEqual(await trials.holdings(), kind === 'restore' ? [] : before);
    });
    if (!isDone) {
      if (trial.starts?.request.agentId === agentId || kind === 'rest') await trials.answers(trial, false);
      else await trials.driver.resume(agentId, trials.vm.executionId);
      await trials.hasNoStrays();
      if (kind !== 'start' && kind !== 'restore') await call();
    }
    await trials.settleSaved(trial);
    await trials.endFork(trial);
    await trials.answers(trial, false);
    if (trial.makes) await trials.isWhole(trial.makes.id);
    return isDone;
  }

  const scarceTried = shuffled(tried).take(wanted ? tried.length : Math.min(scarceKinds, tried.length));
  for (const kind of scarceTried) {
    test(`no room to ${kind}, seed ${seed}`, async () => {
      for (const room of formOf({ short: [rooms[draw(scarce)]!], long: rooms })) {
        try {
          if (await isEnough(kind, room)) break;
        } catch (error) {
          await trials.reset();
          throw new Error(`with ${room} KiB`, { cause: error });
        }
      }
    });
  }

  test('a new control plane and a removal need no room', async () => {
    await trials.ready();
    await whileVmsAreFull(settings, 0, async () => {
      await trials.driver.stop();
      await trials.begin();
      await trials.reset();
    });
    assert.deepEqual(await trials.holdings(), []);
  });
});
