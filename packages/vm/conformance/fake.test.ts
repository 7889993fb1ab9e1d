import { setTimeout as sleep } from 'node:timers/promises';
import { createFakeDriver, FakeHost, fakeSteps } from '../src/fake/index.ts';
import type { FakeDriver } from '../src/fake/index.ts';
import type { DriverHarness, GuestProbe } from './harness.ts';
import { describeVmDriver } from './suite.ts';

function openFake(): DriverHarness {
  const host = new FakeHost();
  // Long enough that what happens during a create happens during it.
  host.behaviour = () => sleep(60);
  return {
    template: { image: { id: 'image', rootDisk: '/disk', kernel: '/kernel', initrd: '/initrd' }, variant: 'suite' },
    driver: () => createFakeDriver(host),
    guest: (at) => probe(host, at.address),
    killVm: async (agentId) => host.kill(agentId),
    moments: fakeSteps.map((name, at) => ({ name: `before ${name}`, at })),
    async killDuringCreate(request, moment) {
      const driver: FakeDriver = createFakeDriver(host);
      const reached = Promise.withResolvers<void>();
      const usual = host.behaviour;
      host.behaviour = async (step) => {
        if (fakeSteps.indexOf(step) !== moment.at) return;
        driver.crash();
        reached.resolve();
      };
      void driver.create(request, new AbortController().signal);
      await reached.promise;
      host.behaviour = usual;
    },
    holdings: async () => [...host.vms.values()].filter((vm) => vm.alive).map((vm) => `VM of ${vm.agentId}`),
    close: async () => undefined,
  };
}

function probe(host: FakeHost, address: string): GuestProbe {
  const vm = () => {
    const found = host.guestAt(address);
    if (!found) throw new Error(`no guest at ${address}`);
    return found;
  };
  return {
    answers: async () => host.guestAt(address) !== null,
    machine: async () => vm().machine,
    writeFile: async (name, text) => void vm().guest.files.set(name, text),
    readFile: async (name) => vm().guest.files.get(name) ?? null,
    remember: async (name, text) => void vm().guest.memory.set(name, text),
    recall: async (name) => vm().guest.memory.get(name) ?? null,
  };
}

describeVmDriver('fake', async () => openFake());
