/** A driver's promises about saved machines: each is whole by itself, whatever becomes of the VM that it was saved of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizes } from '@lodge/domain';
import type { RuntimeFacts, Saving, Vm, VmRequest } from '@lodge/ports';
import { savedParts } from './harness.ts';
import { savedFailureTests } from './suite-saved-failures.ts';
import { clockErrorMs, fromRest, never, observed, rejectsWith } from './world.ts';
import type { World } from './world.ts';

/** The deepest chain of layers that a disk has. */
const deepest = 16;

export function savedTests(world: World): void {
  const { request, create, state, guest, credentialOf, removeAll } = world;
  const save = (vm: Vm, id: string, { memory = true, facts = {} }: { memory?: boolean; facts?: RuntimeFacts } = {}) =>
    world.driver.save(vm.agentId, vm.executionId, { id, memory, facts }, never);
  const from = (saved: string, more: Partial<VmRequest> = {}): Partial<VmRequest> => ({
    from: { saved, memory: true },
    ...more,
  });
  /** Writes the word on the guest's disk and into its memory. */
  const mark = async (vm: Vm, word: string): Promise<void> => {
    await guest(vm).writeFile(word, 'on disk');
    await guest(vm).remember(word, 'in memory');
  };
  const has = async (vm: Vm, ...words: readonly string[]): Promise<void> => {
    for (const word of words) {
      assert.equal(await guest(vm).readFile(word), 'on disk', word);
      assert.equal(await guest(vm).recall(word), 'in memory', word);
    }
  };
  const lacks = async (vm: Vm, ...words: readonly string[]): Promise<void> => {
    for (const word of words)
      assert.deepEqual([await guest(vm).readFile(word), await guest(vm).recall(word)], [null, null], word);
  };
  const dropAll = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) await world.driver.dropSaved(id);
  };

  test('a saved VM goes on as it was, and starts from its saved machines have the files, the memory and the facts of their moment', async () => {
    const wanted = request('saves');
    const vm = await create(wanted);
    await mark(vm, 'one');
    const home = world.harness.home;
    const listed = { id: 'first', memory: true, facts: { at: 1 }, listed: home || '/' };
    const first = await world.driver.save('saves', vm.executionId, listed, never);
    assert.ok(first.bytes > 0 && first.diskBytes > 0 && first.ms > 0);
    assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
    await mark(vm, 'two');
    await world.driver.pause('saves', vm.executionId);
    await save(vm, 'second', { facts: { at: 2 } });
    assert.equal(await state('saves'), 'paused', 'a paused one stays paused');
    await world.driver.resume('saves', vm.executionId);
    const disk = await save(vm, 'disk', { memory: false });
    assert.equal(disk.bytes, 0);
    await mark(vm, 'three');
    await has(vm, 'one', 'two', 'three');
    assert.equal((await save(vm, 'first')).bytes, first.bytes, 'the same id twice is the same saved machine');

    const { savedAt, diskBytes, heldBytes, ...found } = (await world.driver.findSaved('first'))!;
    assert.ok(Math.abs(Date.now() - savedAt.getTime()) < 10 * 60_000 && diskBytes > 0 && heldBytes > 0);
    const about = { id: 'first', agentId: 'saves', executionId: vm.executionId, templateId: world.template.id };
    const kept = { memory: true, loads: 'memory', facts: { at: 1 }, bytes: first.bytes };
    assert.deepEqual(found, { ...about, ...kept, machine: wanted.machine });
    assert.equal((await world.driver.findSaved('disk'))?.loads, 'disk');
    const listing = (await world.driver.readListing('first'))!.split('\0');
    assert.equal(listing.at(-1), '', 'each record has its end');
    assert.ok(
      listing.some((record) => /^f 7 \d+(\.\d+)? one$/.test(record)),
      listing.join('\n'),
    );
    assert.equal(await world.driver.readListing('second'), null);
    for (const id of ['first', 'second', 'disk']) assert.equal(await world.driver.checkSaved(id, never), null, id);

    const own = await credentialOf(vm, []);
    const early = await create(request('early', from('first', { machine: sizes.medium })));
    assert.deepEqual([early.facts, early.machine], [{ at: 1 }, sizes.medium]);
    assert.ok((await clockErrorMs(guest(early))) < 1000);
    await has(early, 'from-template', 'one');
    await lacks(early, 'two', 'three');
    await credentialOf(early, [own]);
    await world.driver.remove('early', { keepDisk: false });
    const still = await create(request('late', from('second', { still: true })));
    assert.ok(await guest(still).answers());
    assert.equal(await guest(still).acts(), false, 'none of its processes runs');
    assert.equal(await guest(still).readFile('two'), 'on disk');
    assert.match(await guest(still).pack(), /on disk/);
    const late = await create(request('late', from('second')));
    assert.deepEqual(late.facts, { at: 2 });
    assert.equal(await guest(late).acts(), true);
    await has(late, 'one', 'two');
    await lacks(late, 'three');
    await world.driver.remove('late', { keepDisk: false });
    await rejectsWith(create(request('booted', from('disk'))), 'snapshot_missing');
    const booted = await create(request('booted', { from: { saved: 'disk', memory: false } }));
    assert.equal(booted.facts, null);
    assert.equal(await guest(booted).readFile('two'), 'on disk');
    assert.deepEqual([await guest(booted).recall('two'), await guest(booted).readFile('three')], [null, null]);
    await has(vm, 'one', 'two', 'three');
    await dropAll('first', 'second', 'disk');
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a saved machine outlives its agent, takes its place again, and is freed under VMs that go on', async () => {
    const vm = await create(request('returns'));
    await mark(vm, 'one');
    await save(vm, 'past', { facts: { at: 1 } });
    await mark(vm, 'two');
    const back = await create(request('returns', from('past')));
    assert.deepEqual(await world.driver.list(), [observed(back, 'running')]);
    await has(back, 'one');
    await lacks(back, 'two');
    await mark(back, 'three');
    await removeAll();
    const again = await create(request('another', from('past')));
    await has(again, 'one');
    await lacks(again, 'three');
    await mark(again, 'four');
    await dropAll('past', 'past');
    assert.equal(await world.driver.findSaved('past'), null);
    await rejectsWith(create(request('returns', from('past'))), 'saved_missing');
    await has(again, 'one', 'four');
    await world.driver.rest('another', again.executionId, { facts: {} }, never);
    await has(await create(request('another', { from: fromRest('another') })), 'one', 'four');
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('five starts from one saved machine stand side by side, each with an identity of its own, before its memory is shared and after', async () => {
    const vm = await create(request('parent'));
    await mark(vm, 'one');
    await save(vm, 'common');
    const start = (agentId: string): Promise<Vm> => create(request(agentId, from('common')));
    const forks = await Promise.all(['fork1', 'fork2'].map(start));
    await world.driver.shareSaved('common', never);
    await world.driver.shareSaved('common', never);
    assert.equal(await world.driver.checkSaved('common', never), null);
    forks.push(...(await Promise.all(['fork3', 'fork4', 'fork5'].map(start))));
    const all = [vm, ...forks];
    assert.equal(new Set(all.map(({ address }) => address)).size, all.length);
    const identities = (await Promise.all(all.map((each) => guest(each).identity()))).flat();
    assert.equal(new Set(identities).size, identities.length, identities.join('\n'));
    for (const each of all) await mark(each, `of-${each.agentId}`);
    for (const each of all) {
      await has(each, 'one', `of-${each.agentId}`);
      await lacks(each, ...all.filter((other) => other !== each).map(({ agentId }) => `of-${agentId}`));
    }
    const [, , third] = forks as [Vm, Vm, Vm];
    await save(third, 'of-fork');
    await dropAll('common');
    await removeAll();
    assert.equal(await world.driver.checkSaved('of-fork', never), null);
    const next = await create(request('fork1', from('of-fork')));
    await has(next, 'one', 'of-fork3');
    // It maps memory of a machine that nobody names any more.
    await world.driver.rest('fork1', next.executionId, { facts: {} }, never);
    await dropAll('of-fork');
    await has(await create(request('fork1', { from: fromRest('fork1') })), 'one', 'of-fork3');
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a VM at rest is saved as it lies, and its own start changes nothing of that', async () => {
    const vm = await create(request('rests'));
    await mark(vm, 'one');
    await world.driver.rest('rests', vm.executionId, { facts: { stop: 1 } }, never);
    assert.ok((await save(vm, 'rested')).bytes > 0);
    assert.equal((await save(vm, 'rested-disk', { memory: false })).bytes, 0);
    assert.equal(await state('rests'), 'suspended');
    const again = await create(request('rests', { from: fromRest('rests') }));
    assert.deepEqual(again.facts, { stop: 1 });
    await has(again, 'one');
    await mark(again, 'two');
    await world.driver.rest('rests', again.executionId, { facts: { stop: 2 } }, never);
    assert.equal(await world.driver.checkSaved('rested', never), null);
    const other = await create(request('other', from('rested')));
    assert.deepEqual(other.facts, { stop: 1 });
    await has(other, 'one');
    await lacks(other, 'two');
    await world.driver.remove('other', { keepDisk: false });
    await has(await create(request('rests', { from: fromRest('rests') })), 'one', 'two');
    await world.driver.remove('rests', { keepDisk: true });
    const { executionId } = (await world.driver.inspect('rests'))!;
    const request3 = { id: 'disk-alone', memory: true, facts: {} };
    assert.equal((await world.driver.save('rests', executionId!, request3, never)).bytes, 0);
    assert.equal(await state('rests'), 'disk-only');
    const { memory, loads } = (await world.driver.findSaved('disk-alone'))!;
    assert.deepEqual([memory, loads], [false, 'disk']);
    assert.equal(await world.driver.checkSaved('disk-alone', never), null);
    await dropAll('rested', 'rested-disk', 'disk-alone');
    await removeAll();
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a copy is the same saved machine, and those that nobody keeps are collected', async () => {
    const vm = await create(request('copied'));
    await mark(vm, 'one');
    await save(vm, 'original', { facts: { at: 1 } });
    await save(vm, 'spare', { memory: false });
    await sleep(20);
    const before = new Date();
    await sleep(20);
    await world.driver.copySaved('original', 'copy');
    await world.driver.copySaved('original', 'copy');
    await rejectsWith(world.driver.copySaved('nobody', 'other'), 'saved_missing');
    assert.equal(await world.driver.findSaved('other'), null);
    assert.deepEqual(await world.driver.collectSaved(new Set(['original']), before), ['spare']);
    await dropAll('original');
    await removeAll();
    assert.equal(await world.driver.checkSaved('copy', never), null);
    const found = (await world.driver.findSaved('copy'))!;
    assert.deepEqual([found.id, found.agentId, found.facts], ['copy', 'copied', { at: 1 }]);
    await has(await create(request('copied', from('copy'))), 'one');
    await removeAll();
    assert.deepEqual(await world.driver.collectSaved(new Set(['copy']), new Date()), []);
    await sleep(20);
    assert.deepEqual(await world.driver.collectSaved(new Set(), new Date()), ['copy']);
    assert.equal(await world.driver.findSaved('copy'), null);
  });

  test('a VM that is saved over and over keeps a short chain of layers, and each saved machine its own files', async () => {
    const vm = await create(request('often'));
    const savings: Saving[] = [];
    for (let round = 1; round <= 20; round += 1) {
      await guest(vm).writeFile('round', String(round));
      savings.push(await save(vm, `round-${round}`, { memory: round % 10 === 0 }));
      const layers = (await world.harness.files('often')).filter((name) => name.startsWith('disk'));
      assert.ok(layers.length <= deepest + 1, `${layers.join(', ')} after ${round}`);
    }
    assert.ok(savings.every(({ ms }) => ms > 0));
    assert.equal(await guest(vm).readFile('round'), '20');
    await removeAll();
    for (let round = 1; round < 20; round += 1) if (round !== 10) await world.driver.dropSaved(`round-${round}`);
    for (const round of ['10', '20']) {
      assert.equal(await world.driver.checkSaved(`round-${round}`, never), null);
      assert.equal(await guest(await create(request('often', from(`round-${round}`)))).readFile('round'), round);
    }
    await removeAll();
    await dropAll('round-10', 'round-20');
    assert.deepEqual(await world.harness.holdings(), []);
  });

  test('a saved machine with a damaged part is found so and not loaded; undamaged it is, and others always', async () => {
    const vm = await create(request('rots'));
    await mark(vm, 'one');
    await save(vm, 'sound');
    await mark(vm, 'two');
    const listed = { id: 'rotten', memory: true, facts: {}, listed: world.harness.home || '/' };
    await world.driver.save('rots', vm.executionId, listed, never);
    await removeAll();
    for (const part of savedParts) {
      await world.harness.damageSaved('rotten', part);
      assert.match((await world.driver.checkSaved('rotten', never)) ?? '', /\w/, part);
      // A start does not need the listing, and the bottom layer is the other one's too.
      if (part !== 'listing') await rejectsWith(create(request('rots', from('rotten'))), 'saved_damaged');
      if (part !== 'bottom layer') assert.equal(await world.driver.checkSaved('sound', never), null, part);
      assert.equal(await state('rots'), null, part);
      assert.deepEqual(await world.harness.holdings(), [], part);
      if (part === 'pages') await has(await create(request('sound', from('sound'))), 'one');
      await removeAll();
      await world.harness.damageSaved('rotten', part);
    }
    assert.equal(await world.driver.checkSaved('rotten', never), null);
    await has(await create(request('rots', from('rotten'))), 'one', 'two');
    await removeAll();
    await dropAll('sound', 'rotten');
  });

  savedFailureTests(world);
}
