import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { restOf, VmError } from '@lodge/ports';
import {
  createFakeDriver,
  failAt,
  fakeMemorySteps,
  fakeRestSteps,
  fakeSaveSteps,
  fakeSteps,
  FakeHost,
} from '../src/fake/index.ts';
import type { FakeDriver, FakeStep } from '../src/fake/index.ts';
import { browserText, make } from './harness.ts';
import type { Call, DriverHarness, GuestProbe, Moment } from './harness.ts';
import { remoteHarness } from './remote.ts';
import { describeVmDriver } from './suite.ts';

const steps: Readonly<Record<Call['do'], readonly FakeStep[]>> = {
  create: fakeSteps,
  start: fakeMemorySteps,
  rest: fakeRestSteps,
  save: fakeSaveSteps,
};
const moments = (call: Call['do']): Moment[] => steps[call].map((name, at) => ({ name: `before ${name}`, at }));

function openFake(): DriverHarness {
  const host = new FakeHost();
  // Guests are reached on loopback.
  let machines = 0;
  host.newAddress = () => `127.9.5.${((machines += 1) % 250) + 1}`;
  const web = createServer((_, response) => response.end()).listen(0, '0.0.0.0');
  // Long enough for another call to arrive during this one.
  host.behaviour = () => sleep(60);
  return {
    template: { image: { id: 'image', rootDisk: '/disk', kernel: '/kernel', initrd: '/initrd' }, variant: 'suite' },
    driver: () => createFakeDriver(host),
    guest: (at) => probe(host, at.address, web),
    killVm: async (agentId) => host.kill(agentId),
    silence: async (agentId, is) => host.silence(agentId, is ? 'told to be silent' : null),
    home: '',
    moments: {
      create: moments('create'),
      start: moments('start'),
      rest: moments('rest'),
      save: moments('save'),
    },
    killDuring: (call, moment) => killDuring(host, call, moment),
    async damageSaved(id, part) {
      const saved = host.savedOf(id);
      saved.damaged = saved.damaged === null ? `its ${part}` : null;
    },
    async whileDiskIsFull(work) {
      const usual = host.behaviour;
      const [suspends, saves] = [failAt('save', 'disk_full'), failAt('keep', 'disk_full')];
      host.behaviour = async (...at) => {
        await suspends(...at);
        await saves(...at);
      };
      await work();
      host.behaviour = usual;
    },
    holdings: async () => [...host.vms.values()].filter((vm) => vm.alive).map((vm) => `VM of ${vm.agentId}`),
    files: async (agentId) => (host.saved.has(restOf(agentId)) ? ['at rest'] : []),
    async close() {
      web.close();
    },
  };
}

async function killDuring(host: FakeHost, call: Call, moment: Moment): Promise<void> {
  const driver: FakeDriver = createFakeDriver(host);
  const reached = Promise.withResolvers<void>();
  const usual = host.behaviour;
  host.behaviour = async (step) => {
    if (steps[call.do].indexOf(step) !== moment.at) return;
    driver.crash();
    reached.resolve();
  };
  void make(driver, call);
  await reached.promise;
  host.behaviour = usual;
}

function probe(host: FakeHost, address: string, web: Server): GuestProbe {
  const vm = () => {
    const found = host.guestAt(address);
    if (!found) throw new VmError('failed', `no guest at ${address}`);
    return found;
  };
  return {
    admits: async (credential) => vm().credential === credential,
    answers: async () => host.guestAt(address) !== null,
    machine: async () => vm().machine,
    writeFile: async (name, text) => void vm().guest.files.set(name, text),
    readFile: async (name) => vm().guest.files.get(name) ?? null,
    pack: async () => [...vm().guest.files.values()].join('\n'),
    remember: async (name, text) => void vm().guest.memory.set(name, text),
    recall: async (name) => vm().guest.memory.get(name) ?? null,
    identity: async () => [vm().agentId, vm().credential ?? ''],
    acts: async () => !vm().still,
    print: async (text) => host.print(vm().agentId, text),
    browserDisk: async () => (vm().seesBrowser ? browserText : ''),
    port: async () => (web.address() as AddressInfo).port,
    clock: async () => Date.now(),
  };
}

describeVmDriver('fake', async () => openFake());
describeVmDriver('fake, over the channel of the machine host', () => remoteHarness(openFake()));
