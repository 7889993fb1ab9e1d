/** What every VM driver promises, as tests. One suite for all of them: what passes here may stand in for any other. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizes } from '@lodge/domain';
import type { SizeName } from '@lodge/domain';
import type { Template, Vm, VmDriver, VmErrorCode, VmRequest } from '@lodge/engine/ports';
import type { DriverHarness } from './harness.ts';

const minutes = 60_000;
const never = new AbortController().signal;

export function describeVmDriver(name: string, open: () => Promise<DriverHarness>): void {
  describe(`VM driver: ${name}`, { timeout: 30 * minutes }, () => {
    let harness: DriverHarness;
    let driver: VmDriver;
    let template: Template;
    let exits: { agentId: string; executionId: string }[] = [];
    let executions = 0;

    const begin = async (): Promise<void> => {
      driver = harness.driver();
      exits = [];
      driver.onExit((exit) => exits.push(exit));
      await driver.start();
    };
    const request = (agentId: string, more: Partial<VmRequest> = {}): VmRequest => {
      executions += 1;
      return { agentId, executionId: `e${executions}`, machine: sizes.medium, template, from: 'clone', ...more };
    };
    const create = (wanted: VmRequest): Promise<Vm> => driver.create(wanted, never);
    const state = async (agentId: string) => (await driver.inspect(agentId))?.state ?? null;
    const removeAll = async (): Promise<void> => {
      for (const { agentId } of await driver.list()) await driver.remove(agentId, { keepDisk: false });
    };
    const eventually = async (what: string, holds: () => Promise<boolean> | boolean): Promise<void> => {
      const deadline = Date.now() + 10_000;
      while (!(await holds())) {
        assert.ok(Date.now() < deadline, `not within 10 s: ${what}`);
        await sleep(5);
      }
    };
    const rejectsWith = (work: Promise<unknown>, code: VmErrorCode) => assert.rejects(work, { name: 'VmError', code });

    before(async () => {
      harness = await open();
      await begin();
    });
    after(async () => {
      await removeAll();
      await driver.stop();
      await harness.close();
    });

    test('a template is made once, however many ask for it, and is found afterwards', async () => {
      assert.equal(await driver.findTemplate(harness.template), null);
      let prepared = 0;
      const build = {
        ...harness.template,
        brokerPort: 4001,
        progress: () => undefined,
        prepare: async (guest: { readonly address: string }) => {
          prepared += 1;
          await harness.guest(guest).writeFile('from-template', 'on disk');
          await harness.guest(guest).remember('from-template', 'in memory');
          return { token: 'opaque' };
        },
      };
      const [one, two] = await Promise.all([driver.buildTemplate(build, never), driver.buildTemplate(build, never)]);
      assert.equal(prepared, 1);
      assert.equal(one.id, two.id);
      assert.deepEqual(one.facts, { token: 'opaque' });
      assert.deepEqual(await driver.findTemplate(harness.template), one);
      assert.deepEqual(await driver.getTemplate(one.id), one);
      assert.equal(await driver.findTemplate({ ...harness.template, variant: 'another' }), null);
      template = one;
    });

    test('a template whose preparation fails leaves nothing behind', async () => {
      const variant = 'fails';
      const prepare = (): Promise<never> => Promise.reject(new Error('told to fail'));
      const build = { ...harness.template, variant, brokerPort: 4001, progress: () => undefined, prepare };
      await assert.rejects(driver.buildTemplate(build, never), /told to fail/);
      assert.equal(await driver.findTemplate({ ...harness.template, variant }), null);
      assert.deepEqual(await harness.holdings(), []);
    });

    test('a clone answers, wakes up with its template’s memory and disk, and is gone when removed', async () => {
      const wanted = request('clone1');
      const vm = await create(wanted);
      assert.equal(vm.agentId, 'clone1');
      assert.equal(vm.executionId, wanted.executionId);
      const guest = harness.guest(vm);
      assert.ok(await guest.answers());
      assert.equal(await guest.recall('from-template'), 'in memory');
      assert.equal(await guest.readFile('from-template'), 'on disk');
      assert.deepEqual(await driver.list(), [{ ...vm, state: 'running' }]);
      assert.deepEqual(await driver.inspect('clone1'), { ...vm, state: 'running' });
      await driver.remove('clone1', { keepDisk: false });
      assert.equal(await driver.inspect('clone1'), null);
      assert.equal(await guest.answers(), false);
      assert.deepEqual(await harness.holdings(), []);
      await driver.remove('clone1', { keepDisk: false });
    });

    for (const size of Object.keys(sizes) as SizeName[]) {
      test(`a guest of size ${size} has its processors and memory`, async () => {
        const vm = await create(request('sized', { machine: sizes[size] }));
        const found = await harness.guest(vm).machine();
        assert.equal(found.vcpus, sizes[size].vcpus);
        const kernelShareMib = 200;
        assert.ok(found.memoryMib > sizes[size].memoryMib - kernelShareMib, `${found.memoryMib} MiB`);
        assert.ok(found.memoryMib <= sizes[size].memoryMib, `${found.memoryMib} MiB`);
        await driver.remove('sized', { keepDisk: false });
      });
    }

    test('two agents made at once share neither disk nor memory, with each other or the template', async () => {
      const [one, two] = await Promise.all([create(request('twin1')), create(request('twin2'))]);
      assert.notEqual(one.address, two.address);
      const [first, second] = [harness.guest(one), harness.guest(two)];
      await first.writeFile('mine', 'first');
      await first.remember('mine', 'first');
      await first.writeFile('from-template', 'changed');
      await first.remember('from-template', 'changed');
      assert.equal(await second.readFile('mine'), null);
      assert.equal(await second.recall('mine'), null);
      assert.equal(await second.readFile('from-template'), 'on disk');
      assert.equal(await second.recall('from-template'), 'in memory');
      const third = harness.guest(await create(request('twin3')));
      assert.equal(await third.readFile('from-template'), 'on disk');
      assert.equal(await third.recall('from-template'), 'in memory');
      await removeAll();
    });

    test('the same execution asked for twice is one VM', async () => {
      const wanted = request('twice');
      const [one, two] = await Promise.all([create(wanted), create(wanted)]);
      assert.deepEqual(one, two);
      await harness.guest(one).remember('mark', 'kept');
      assert.deepEqual(await create(wanted), one);
      assert.equal(await harness.guest(one).recall('mark'), 'kept');
      assert.equal((await driver.list()).length, 1);
      await removeAll();
    });

    test('a new execution takes the place of an older one, running or under way', async () => {
      const running = request('newer');
      const old = await create(running);
      await harness.guest(old).writeFile('mine', 'old');
      const underway = request('newer');
      const cut = create(underway);
      const refused = rejectsWith(cut, 'superseded');
      const last = request('newer');
      const vm = await create(last);
      await refused;
      assert.equal(vm.executionId, last.executionId);
      assert.equal(await harness.guest(vm).readFile('mine'), null, 'a clone begins with a fresh disk');
      assert.deepEqual(await driver.list(), [{ ...vm, state: 'running' }]);
      await removeAll();
      assert.deepEqual(await harness.holdings(), []);
    });

    test('a removal ends a create under way and leaves nothing', async () => {
      for (const afterMs of [0, 30, 150]) {
        const cut = create(request('cut'));
        const refused = rejectsWith(cut, 'aborted');
        await sleep(afterMs);
        if (await isSettled(cut)) continue;
        await driver.remove('cut', { keepDisk: false });
        await refused;
        assert.equal(await driver.inspect('cut'), null);
        assert.deepEqual(await harness.holdings(), []);
      }
    });

    test('a caller that gives up leaves nothing', async () => {
      const giveUp = new AbortController();
      const cut = driver.create(request('given-up'), giveUp.signal);
      const refused = rejectsWith(cut, 'aborted');
      await sleep(20);
      giveUp.abort();
      await refused;
      assert.equal(await driver.inspect('given-up'), null);
      assert.deepEqual(await harness.holdings(), []);
    });

    test('a VM that dies is noticed, and boots from its disk with what was written', async () => {
      const wanted = request('dies');
      const vm = await create(wanted);
      await harness.guest(vm).writeFile('kept', 'before the crash');
      await harness.guest(vm).remember('lost', 'before the crash');
      await harness.killVm('dies');
      await eventually('the exit is told', () => exits.some((exit) => exit.executionId === wanted.executionId));
      assert.equal(await state('dies'), 'dead');
      const again = await create(request('dies', { from: 'boot', machine: sizes.small }));
      const guest = harness.guest(again);
      assert.equal(await guest.readFile('kept'), 'before the crash');
      assert.equal(await guest.recall('lost'), null);
      assert.equal((await guest.machine()).vcpus, 1);
      assert.deepEqual(await driver.list(), [{ ...again, state: 'running' }]);
      await driver.remove('dies', { keepDisk: true });
      assert.equal(await state('dies'), 'disk-only');
      assert.deepEqual(await harness.holdings(), []);
      const third = await create(request('dies', { from: 'boot' }));
      assert.equal(await harness.guest(third).readFile('kept'), 'before the crash');
      await removeAll();
    });

    test('what cannot be made is refused by name', async () => {
      await rejectsWith(create(request('nodisk', { from: 'boot' })), 'disk_missing');
      const gone: Template = { ...template, id: '0000000000000000-0' };
      await rejectsWith(create(request('notemplate', { template: gone })), 'template_missing');
      assert.deepEqual(await driver.list(), []);
    });

    test('VMs outlive their driver and the next one adopts them', async () => {
      const wanted = request('outlives');
      const vm = await create(wanted);
      await harness.guest(vm).remember('mark', 'kept');
      await driver.stop();
      assert.ok(await harness.guest(vm).answers());
      await begin();
      assert.deepEqual(await driver.list(), [{ ...vm, state: 'running' }]);
      assert.deepEqual(await create(wanted), vm);
      assert.equal(await harness.guest(vm).recall('mark'), 'kept');
      await harness.killVm('outlives');
      await eventually('the exit is told', () => exits.some((exit) => exit.executionId === wanted.executionId));
      await removeAll();
    });

    test('a driver that stops ends the creates it has under way, and they leave nothing', async () => {
      const refused = rejectsWith(create(request('unfinished')), 'aborted');
      await sleep(30);
      await driver.stop();
      await refused;
      await begin();
      assert.equal(await driver.inspect('unfinished'), null);
      assert.deepEqual(await harness.holdings(), []);
    });

    test('a VM that died while no driver looked is found dead', async () => {
      const vm = await create(request('unseen'));
      await driver.stop();
      await harness.killVm('unseen');
      await begin();
      assert.deepEqual(await driver.list(), [{ ...vm, state: 'dead' }]);
      await removeAll();
      assert.deepEqual(await harness.holdings(), []);
    });

    test('a control plane killed during a create leaves at most a partial VM, which the next create or removal clears', async () => {
      assert.ok(harness.moments.length >= 3);
      const bystander = await create(request('bystander'));
      const before = await harness.holdings();
      for (const [index, moment] of harness.moments.entries()) {
        await driver.stop();
        await harness.killDuringCreate(request('killed'), moment);
        await begin();
        const seen = await driver.inspect('killed');
        assert.ok(
          seen === null || seen.state === 'partial' || seen.state === 'running',
          `killed at ${moment.name}: ${JSON.stringify(seen)}`,
        );
        if (index % 2 === 0) assert.ok(await harness.guest(await create(request('killed'))).answers());
        await driver.remove('killed', { keepDisk: false });
        assert.deepEqual(await harness.holdings(), before, `killed at ${moment.name}`);
        assert.ok(await harness.guest(bystander).answers(), 'other VMs are left alone');
      }
      await removeAll();
      assert.deepEqual(await harness.holdings(), []);
    });

    test('the host’s memory is told', async () => {
      const { totalMib, availableMib } = await driver.hostMemory();
      assert.ok(totalMib > 0 && availableMib > 0 && availableMib <= totalMib);
    });
  });
}

async function isSettled(work: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([work.catch(() => null), Promise.resolve(pending)])) !== pending;
}
