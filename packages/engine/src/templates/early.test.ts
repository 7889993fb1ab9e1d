/** An early template serves agents until the fully warm one is made from it, whatever dies in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime, EarlyTemplate } from '@lodge/ports';
import { FakeHost, createFakeDriver } from '@lodge/vm/fake';
import { guestRuntime, noTroubles } from '../../../testkit/src/plane/guest-runtime.ts';
import { silent, until } from '../../../testkit/src/plane/plane.ts';
import { createTemplates } from './templates.ts';
import type { Templates } from './templates.ts';

const patience = new AbortController().signal;

/** A host with runtimes whose preparations wait until the test lets them go on. */
class Kitchen {
  readonly host = new FakeHost();
  readonly done: string[] = [];
  readonly inUse = new Set<string>();
  /** Names of preparations that fail. */
  readonly failing = new Set<string>();
  private readonly held = new Map<string, PromiseWithResolvers<void>>();

  hold(what: string): void {
    this.held.set(what, Promise.withResolvers());
  }

  release(what: string): void {
    this.held.get(what)?.resolve();
    this.held.delete(what);
  }

  keeper(kinds: readonly RuntimeKind[] = ['runtime_a']): Templates {
    const imageOf = (id: string) => ({ id, rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' });
    return createTemplates({
      driver: createFakeDriver(this.host),
      images: {
        idOf: (name) => Promise.resolve(name),
        find: (name) => Promise.resolve(imageOf(name)),
        ensure: (name) => Promise.resolve(imageOf(name)),
      },
      runtimes: new Map(kinds.map((kind) => [kind, this.runtime(kind)])),
      log: silent,
      buildTimeoutMs: 60_000,
      inUse: () => Promise.resolve(this.inUse),
      collectEveryMs: 20,
    });
  }

  private runtime(name: string): AgentRuntime {
    const step = async (what: string, signal: AbortSignal): Promise<{ readonly made: string }> => {
      const own = `${name} ${what}`;
      this.done.push(own);
      const cut = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => cut.reject(new Error('given up')));
      await Promise.race([this.held.get(own)?.promise, cut.promise]);
      if (this.failing.has(own)) throw new Error('told to fail');
      return { made: own };
    };
    const early: EarlyTemplate = {
      variant: '1',
      prepare: (_guest, _progress, signal) => step('early', signal),
      goOn: (_guest, { made }, _progress, signal) => step(`on from ${String(made)}`, signal),
    };
    return { ...guestRuntime(this.host, noTroubles()), name, early };
  }
}

const goesOn = 'runtime_a on from runtime_a early';

test('agents are made from the early template until the one that goes on from it is there, and are not told to upgrade', async () => {
  const kitchen = new Kitchen();
  kitchen.hold(goesOn);
  const templates = kitchen.keeper();
  templates.start();
  const early = await templates.whenReady('runtime_a', patience);
  kitchen.inUse.add(early.id);
  assert.deepEqual(early.facts, { made: 'runtime_a early' });
  assert.equal(templates.progress('runtime_a').state, 'early');
  assert.ok(templates.isNewest('runtime_a', early.id));
  kitchen.release(goesOn);
  await until('the full one is there', () => templates.progress('runtime_a').state === 'ready');
  const full = templates.current('runtime_a')!;
  assert.deepEqual(full.facts, { made: goesOn });
  assert.deepEqual(
    [full.id, early.id, 'another'].map((id) => templates.isNewest('runtime_a', id)),
    [true, true, false],
  );
  await templates.stop();
  // The next process sees the template, too, for as long as an agent lies over it.
  const next = kitchen.keeper();
  next.start();
  assert.equal((await next.whenReady('runtime_a', patience)).id, full.id);
  await until('it is known again', () => next.isNewest('runtime_a', early.id));
  assert.ok(kitchen.host.templates.has(early.id));
  kitchen.inUse.clear();
  await until('nobody needs it', () => !kitchen.host.templates.has(early.id));
  await next.stop();
  assert.deepEqual(kitchen.done, ['runtime_a early', goesOn]);
});

test('who is killed between two steps goes on with the one that is missing', async () => {
  const kitchen = new Kitchen();
  kitchen.hold('runtime_a early');
  const first = kitchen.keeper();
  first.start();
  await until('the early one is begun', () => kitchen.done.length === 1);
  await first.stop();
  kitchen.release('runtime_a early');
  kitchen.hold(goesOn);
  const second = kitchen.keeper();
  second.start();
  await until('the full one is begun', () => kitchen.done.length === 3);
  const early = second.current('runtime_a');
  await second.stop();
  const third = kitchen.keeper();
  third.start();
  assert.equal((await third.whenReady('runtime_a', patience)).id, early?.id);
  await until('the full one is begun again', () => kitchen.done.length === 4);
  kitchen.release(goesOn);
  await until('the full one is there', () => third.progress('runtime_a').state === 'ready');
  await third.stop();
  assert.deepEqual(kitchen.done, ['runtime_a early', 'runtime_a early', goesOn, goesOn]);
});

test('an early template serves on while the full one cannot be made, and is made again when it is lost', async () => {
  const kitchen = new Kitchen();
  kitchen.failing.add(goesOn);
  const templates = kitchen.keeper();
  templates.start();
  const early = await templates.whenReady('runtime_a', patience);
  await until('the full one was tried', () => kitchen.done.includes(goesOn));
  assert.equal(templates.progress('runtime_a').state, 'early');
  kitchen.failing.clear();
  kitchen.host.templates.clear();
  templates.lost('runtime_a', early.id);
  assert.equal(templates.current('runtime_a'), null);
  await templates.whenReady('runtime_a', patience);
  await until('both are there', () => templates.progress('runtime_a').state === 'ready');
  assert.equal(kitchen.done.filter((what) => what === 'runtime_a early').length, 2);
  await templates.stop();
});

test('a host that has no memory for it warms nothing up further, and a template that is lost is made again all the same', async () => {
  const kitchen = new Kitchen();
  kitchen.host.memory.availableMib = 2_000;
  const templates = kitchen.keeper();
  templates.start();
  const early = await templates.whenReady('runtime_a', patience);
  kitchen.host.templates.clear();
  templates.lost('runtime_a', early.id);
  await templates.whenReady('runtime_a', patience);
  assert.equal(templates.progress('runtime_a').state, 'early');
  const of = { imageId: 'older', facts: {}, guest: { files: new Map(), memory: new Map() } };
  kitchen.host.templates.set('older', { id: 'older', ...of });
  await until('what nobody needs is collected', () => !kitchen.host.templates.has('older'));
  await templates.stop();
  assert.deepEqual(kitchen.done, ['runtime_a early', 'runtime_a early']);
});

test('a runtime that somebody waits for goes first, and a template that goes on holds up none', async () => {
  const kitchen = new Kitchen();
  const kinds: readonly RuntimeKind[] = ['runtime_a', 'runtime_b', 'runtime_c' as RuntimeKind];
  kitchen.hold('runtime_a early');
  kitchen.hold(goesOn);
  const templates = kitchen.keeper(kinds);
  templates.start();
  await until('the first is begun', () => kitchen.done.length === 1);
  const wanted = templates.whenReady('runtime_c' as RuntimeKind, patience);
  kitchen.release('runtime_a early');
  await wanted;
  assert.ok(!kitchen.done.includes('runtime_b early'), 'the one that nobody waits for comes last');
  await templates.whenReady('runtime_b', patience);
  assert.equal(templates.progress('runtime_a').state, 'early');
  kitchen.release(goesOn);
  await until('all are there', () => kinds.every((kind) => templates.progress(kind).state === 'ready'));
  await templates.stop();
});
