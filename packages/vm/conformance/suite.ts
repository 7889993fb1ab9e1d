/** The promises of every VM driver, as tests. All drivers pass this one suite, so each may replace any other. */
import assert from 'node:assert/strict';
import { patience } from './accelerator.ts';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizes } from '@lodge/domain';
import type { SizeName } from '@lodge/domain';
import type { Template } from '@lodge/ports';
import type { DriverHarness } from './harness.ts';
import { credentialTests } from './suite-credential.ts';
import { dialTests } from './suite-dial.ts';
import { machineTests } from './suite-machine.ts';
import { savedTests } from './suite-saved.ts';
import { restTests } from './suite-rest.ts';
import { upgradeTests } from './suite-upgrade.ts';
import { fromRest, never, observed, rejectsWith, World } from './world.ts';

const minutes = 60_000;

export function describeVmDriver(name: string, open: () => Promise<DriverHarness>): void {
  describe(`VM driver: ${name}`, { timeout: 30 * minutes * patience }, () => {
    const world = new World();
    const { request, create, state, removeAll, eventually } = world;

    before(async () => {
      await world.open(await open());
    });
    after(async () => {
      await world.close();
    });

    test('a template is made once, however many ask for it, and is found afterwards', async () => {
      assert.equal(await world.driver.findTemplate(world.harness.template), null);
      let prepared = 0;
      const build = {
        ...world.harness.template,
        brokerPort: 4001,
        progress: () => undefined,
        prepare: async (guest: { readonly address: string }) => {
          prepared += 1;
          await world.harness.guest(guest).writeFile('from-template', 'on disk');
          await world.harness.guest(guest).remember('from-template', 'in memory');
          return { token: 'opaque' };
        },
      };
      const [one, two] = await Promise.all([
        world.driver.buildTemplate(build, never),
        world.driver.buildTemplate(build, never),
      ]);
      assert.equal(prepared, 1);
      assert.equal(one.id, two.id);
      assert.deepEqual(one.facts, { token: 'opaque' });
      assert.deepEqual(await world.driver.findTemplate(world.harness.template), one);
      assert.deepEqual(await world.driver.getTemplate(one.id), one);
      assert.equal(await world.driver.findTemplate({ ...world.harness.template, variant: 'another' }), null);
      world.template = one;
    });

    test('a template whose preparation fails leaves nothing behind', async () => {
      const variant = 'fails';
      const prepare = (): Promise<never> => Promise.reject(new Error('told to fail'));
      const build = { ...world.harness.template, variant, brokerPort: 4001, progress: () => undefined, prepare };
      // Its guest goes on from a template's, which saves a boot.
      await assert.rejects(world.driver.buildTemplate({ ...build, from: world.template }, never), /told to fail/);
      assert.equal(await world.driver.findTemplate({ ...world.harness.template, variant }), null);
      assert.deepEqual(await world.harness.holdings(), []);
    });

    test('a template goes on from another, which stays as it is', async () => {
      const { template: first } = world;
      const build = { ...world.harness.template, variant: 'further', brokerPort: 4001, progress: () => undefined };
      const prepare = async (guest: { readonly address: string }) => {
        const probe = world.harness.guest(guest);
        assert.equal(await probe.recall('from-template'), 'in memory');
        assert.equal(await probe.readFile('from-template'), 'on disk');
        await probe.writeFile('from-further', 'on disk');
        await probe.remember('from-further', 'in memory');
        return { token: 'another' };
      };
      const further = await world.driver.buildTemplate({ ...build, prepare, from: first }, never);
      assert.notEqual(further.id, first.id);
      assert.deepEqual([further.imageId, further.facts], [first.imageId, { token: 'another' }]);
      assert.deepEqual(await world.driver.findTemplate(build), further);
      assert.deepEqual(await world.harness.holdings(), []);
      for (const [template, expected] of [
        [first, [null, null]],
        [further, ['on disk', 'in memory']],
      ] as const) {
        const guest = world.guest(await create(request('of-it', { template })));
        assert.equal(await guest.readFile('from-template'), 'on disk');
        assert.equal(await guest.recall('from-template'), 'in memory');
        assert.deepEqual([await guest.readFile('from-further'), await guest.recall('from-further')], expected);
        await removeAll();
      }
      const gone = { ...first, id: `${first.id}0` };
      const failing = world.driver.buildTemplate({ ...build, variant: 'furthest', prepare, from: gone }, never);
      await rejectsWith(failing, 'template_missing');
    });

    test('a template that nobody needs is removed, and no other', async () => {
      const { id } = world.template;
      // The template that went on from the first one, which saves another's making.
      const other = await world.driver.findTemplate({ ...world.harness.template, variant: 'further' });
      assert.ok(other);
      const over = await create(request('over-it', { template: other }));
      // A caller that has just received a template is about to use it; the next driver has given nobody any.
      await world.driver.stop();
      await world.begin();
      assert.deepEqual(await world.driver.collectTemplates(new Set([id])), [], 'a VM lies over it');
      const kept = { facts: {}, data: { folders: [world.harness.home || '/'], except: [] } };
      await world.driver.rest('over-it', over.executionId, kept, never);
      assert.deepEqual(await world.driver.collectTemplates(new Set([id])), [], 'a machine at rest lies over it');
      const booted = await create(request('over-it', { template: other, from: fromRest('over-it', false) }));
      await world.driver.remove('over-it', { keepDisk: true });
      assert.deepEqual(await world.driver.collectTemplates(new Set([id])), [], 'a disk lies over it');
      assert.deepEqual(await world.driver.getTemplate(other.id), other);
      await world.driver.save('over-it', booted.executionId, { id: 'over-it', memory: false, facts: {} }, never);
      await removeAll();
      assert.deepEqual(await world.driver.collectTemplates(new Set([id])), [], 'a saved machine lies over it');
      await world.driver.dropSaved('over-it');
      assert.deepEqual(await world.driver.collectTemplates(new Set([id])), [other.id]);
      assert.equal(await world.driver.getTemplate(other.id), null);
      await rejectsWith(create(request('over-it', { template: other })), 'template_missing');
      assert.deepEqual(await world.driver.findTemplate(world.harness.template), world.template);
    });

    test('a clone answers, wakes up with its template’s memory and disk, and is gone when removed', async () => {
      const wanted = request('clone1');
      const vm = await create(wanted);
      assert.equal(vm.agentId, 'clone1');
      assert.equal(vm.executionId, wanted.executionId);
      const guest = world.harness.guest(vm);
      assert.ok(await guest.answers());
      assert.equal(await guest.recall('from-template'), 'in memory');
      assert.equal(await guest.readFile('from-template'), 'on disk');
      assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
      assert.deepEqual(await world.driver.inspect('clone1'), observed(vm, 'running'));
      await world.driver.remove('clone1', { keepDisk: false });
      assert.equal(await world.driver.inspect('clone1'), null);
      assert.equal(await guest.answers(), false);
      assert.deepEqual(await world.harness.holdings(), []);
      await world.driver.remove('clone1', { keepDisk: false });
    });

    for (const size of Object.keys(sizes) as SizeName[]) {
      test(`a guest of size ${size} has its processors and memory`, async () => {
        const vm = await create(request('sized', { machine: sizes[size] }));
        const found = await world.harness.guest(vm).machine();
        assert.equal(found.vcpus, sizes[size].vcpus);
        const kernelShareMib = 200;
        assert.ok(found.memoryMib > sizes[size].memoryMib - kernelShareMib, `${found.memoryMib} MiB`);
        assert.ok(found.memoryMib <= sizes[size].memoryMib, `${found.memoryMib} MiB`);
        await world.driver.remove('sized', { keepDisk: false });
      });
    }

    test('two agents made at once share neither disk nor memory, with each other or the template', async () => {
      const [one, two] = await Promise.all([create(request('twin1')), create(request('twin2'))]);
      assert.notEqual(one.address, two.address);
      const [first, second] = [world.harness.guest(one), world.harness.guest(two)];
      await first.writeFile('mine', 'first');
      await first.remember('mine', 'first');
      await first.writeFile('from-template', 'changed');
      await first.remember('from-template', 'changed');
      assert.equal(await second.readFile('mine'), null);
      assert.equal(await second.recall('mine'), null);
      assert.equal(await second.readFile('from-template'), 'on disk');
      assert.equal(await second.recall('from-template'), 'in memory');
      const third = world.harness.guest(await create(request('twin3')));
      assert.equal(await third.readFile('from-template'), 'on disk');
      assert.equal(await third.recall('from-template'), 'in memory');
      await removeAll();
    });

    test('the same execution asked for twice is one VM', async () => {
      const wanted = request('twice');
      const [one, two] = await Promise.all([create(wanted), create(wanted)]);
      assert.deepEqual(one, two);
      await world.harness.guest(one).remember('mark', 'kept');
      assert.deepEqual(await create(wanted), one);
      assert.equal(await world.harness.guest(one).recall('mark'), 'kept');
      assert.equal((await world.driver.list()).length, 1);
      await removeAll();
    });

    test('a new execution takes the place of an older one, running or under way', async () => {
      const running = request('newer');
      const old = await create(running);
      await world.harness.guest(old).writeFile('mine', 'old');
      const underway = request('newer');
      const cut = create(underway);
      const refused = rejectsWith(cut, 'superseded');
      const last = request('newer');
      const vm = await create(last);
      await refused;
      assert.equal(vm.executionId, last.executionId);
      assert.equal(await world.harness.guest(vm).readFile('mine'), null, 'a clone begins with a fresh disk');
      assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
      await removeAll();
      assert.deepEqual(await world.harness.holdings(), []);
    });

    test('a removal ends a create under way and leaves nothing', async () => {
      for (const afterMs of [0, 30, 150]) {
        const cut = create(request('cut'));
        const refused = rejectsWith(cut, 'aborted');
        await sleep(afterMs);
        if (await isSettled(cut)) continue;
        await world.driver.remove('cut', { keepDisk: false });
        await refused;
        assert.equal(await world.driver.inspect('cut'), null);
        assert.deepEqual(await world.harness.holdings(), []);
      }
    });

    test('a caller that gives up leaves nothing', async () => {
      const giveUp = new AbortController();
      const cut = world.driver.create(request('given-up'), giveUp.signal);
      const refused = rejectsWith(cut, 'aborted');
      await sleep(20);
      giveUp.abort();
      await refused;
      assert.equal(await world.driver.inspect('given-up'), null);
      assert.deepEqual(await world.harness.holdings(), []);
    });

    test('a VM that dies is noticed, and boots from its disk with what was written', async () => {
      const wanted = request('dies');
      const vm = await create(wanted);
      await world.harness.guest(vm).writeFile('kept', 'before the crash');
      await world.harness.guest(vm).remember('lost', 'before the crash');
      await world.harness.killVm('dies');
      await eventually('the exit is told', () => world.exits.some((exit) => exit.executionId === wanted.executionId));
      assert.equal(await state('dies'), 'dead');
      assert.equal((await world.driver.death('dies'))?.code, 'killed');
      const again = await create(request('dies', { from: 'boot', machine: sizes.small }));
      const guest = world.harness.guest(again);
      assert.equal(await guest.readFile('kept'), 'before the crash');
      assert.equal(await guest.recall('lost'), null);
      assert.equal((await guest.machine()).vcpus, 1);
      assert.equal(await world.driver.death('dies'), null, 'a new start is no death');
      assert.deepEqual(await world.driver.list(), [observed(again, 'running')]);
      await removeAll();
      assert.deepEqual(await world.harness.holdings(), []);
    });

    test('what cannot be made is refused by name', async () => {
      await rejectsWith(create(request('nodisk', { from: 'boot' })), 'disk_missing');
      const gone: Template = { ...world.template, id: '0000000000000000-0' };
      await rejectsWith(create(request('notemplate', { template: gone })), 'template_missing');
      assert.deepEqual(await world.driver.list(), []);
    });

    test('VMs outlive their driver and the next one adopts them', async () => {
      const wanted = request('outlives');
      const vm = await create(wanted);
      await world.harness.guest(vm).remember('mark', 'kept');
      await world.driver.stop();
      assert.ok(await world.harness.guest(vm).answers());
      await world.begin();
      assert.deepEqual(await world.driver.list(), [observed(vm, 'running')]);
      assert.deepEqual(await create(wanted), vm);
      assert.equal(await world.harness.guest(vm).recall('mark'), 'kept');
      await world.harness.killVm('outlives');
      await eventually('the exit is told', () => world.exits.some((exit) => exit.executionId === wanted.executionId));
      await removeAll();
    });

    test('a driver that stops ends the creates it has under way, and they leave nothing', async () => {
      const refused = rejectsWith(create(request('unfinished')), 'aborted');
      await sleep(30);
      await world.driver.stop();
      await refused;
      await world.begin();
      assert.equal(await world.driver.inspect('unfinished'), null);
      assert.deepEqual(await world.harness.holdings(), []);
    });

    test('a VM that died while no driver looked is found dead', async () => {
      const vm = await create(request('unseen'));
      await world.driver.stop();
      await world.harness.killVm('unseen');
      await world.begin();
      assert.deepEqual(await world.driver.list(), [observed(vm, 'dead')]);
      assert.equal((await world.driver.death('unseen'))?.code, 'killed', 'whoever was its parent');
      await removeAll();
      assert.deepEqual(await world.harness.holdings(), []);
    });

    test('a control plane killed during a create leaves at most a partial VM, which the next create or removal clears', async () => {
      assert.ok(world.harness.moments.create.length >= 3);
      const bystander = await create(request('bystander'));
      const before = await world.harness.holdings();
      for (const [index, moment] of world.harness.moments.create.entries()) {
        await world.driver.stop();
        await world.harness.killDuring({ do: 'create', request: request('killed') }, moment);
        await world.begin();
        const seen = await world.driver.inspect('killed');
        assert.ok(
          seen === null || seen.state === 'partial' || seen.state === 'running',
          `killed at ${moment.name}: ${JSON.stringify(seen)}`,
        );
        if (index % 2 === 0) assert.ok(await world.harness.guest(await create(request('killed'))).answers());
        await world.driver.remove('killed', { keepDisk: false });
        assert.deepEqual(await world.harness.holdings(), before, `killed at ${moment.name}`);
        assert.ok(await world.harness.guest(bystander).answers(), 'other VMs are left alone');
      }
      await removeAll();
      assert.deepEqual(await world.harness.holdings(), []);
    });

    machineTests(world);
    restTests(world);
    upgradeTests(world);
    savedTests(world);
    credentialTests(world);
    dialTests(world);

    test('the host’s memory is told', async () => {
      const { totalMib, availableMib } = await world.driver.hostMemory();
      assert.ok(totalMib > 0 && availableMib > 0 && availableMib <= totalMib);
    });

    test('the host’s disk is told, and what each agent has of it, for as long as anything of it is there', async () => {
      const { totalMib, freeMib } = await world.driver.hostDisk();
      assert.ok(totalMib > 0 && freeMib > 0 && freeMib <= totalMib);
      const use = async () => (await world.driver.diskUse('all')).find(({ agentId }) => agentId === 'measured');
      const wanted = request('measured');
      await create(wanted);
      const running = await use();
      assert.equal(running?.executionId, wanted.executionId);
      assert.ok(running.diskMib > 0 && running.snapshotMib === 0);
      const alone = await world.driver.diskUse('running');
      assert.ok(alone.some(({ agentId, diskMib }) => agentId === 'measured' && diskMib > 0));
      await world.driver.rest('measured', wanted.executionId, { facts: {} }, never);
      const suspended = await use();
      assert.ok(suspended && suspended.executionId === null && suspended.snapshotMib > 0);
      assert.ok((await world.driver.diskUse('running')).every(({ agentId }) => agentId !== 'measured'));
      await removeAll();
      assert.equal(await use(), undefined);
    });
  });
}

async function isSettled(work: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([work.catch(() => null), Promise.resolve(pending)])) !== pending;
}
