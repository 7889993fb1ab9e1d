import { RuntimeBusy } from '@lodge/ports';
import type { AgentRuntime, GuestAddress, RuntimeHealth } from '@lodge/ports';
import { createOpenclawRuntime } from '@lodge/runtimes';
import type { FakeHost } from '@lodge/vm/fake';

/** Troubles in guests, while they are set. */
export interface GuestTroubles {
  /** The gateway does not come up; once. */
  failsToStart: boolean;
  /** Work that does not end before a stop; once. */
  busy: boolean;
  /** Work that does not end at all. */
  endless: boolean;
  /** The gateway does not answer, until it is booted again. */
  sick: boolean;
  /** Settings are not taken, or are and nobody hears of it, while it is set. */
  settings: 'refused' | 'unheard' | null;
  health: Partial<RuntimeHealth>;
}

export const noTroubles = (): GuestTroubles => ({
  failsToStart: false,
  busy: false,
  endless: false,
  sick: false,
  settings: null,
  health: {},
});

/** A runtime over the guests of a fake host, which know the host: what it was told is in memory, and on disk once it is flushed. */
export function guestRuntime(
  host: FakeHost,
  troubles: GuestTroubles,
  calls: string[] = [],
  release = '1',
): AgentRuntime {
  const at = async ({ address, credential }: GuestAddress) => {
    const presented = await credential();
    const vm = host.guestAt(address);
    if (!vm) throw new Error(`no guest answers at ${address}`);
    if (vm.credential !== presented) throw new Error(`the guest at ${address} does not know this caller`);
    return vm;
  };
  const flush = async (of: GuestAddress): Promise<void> => {
    const { guest } = await at(of);
    for (const [key, value] of guest.memory) if (key !== 'suspended') guest.files.set(key, value);
  };
  return {
    name: 'fake',
    version: release,
    source: { registry: 'npm', package: 'guest' },
    templateVariant: release,
    gatewayPort: 80,
    data: { folders: ['/'], except: [] },
    startWarmupLlm: () => Promise.resolve({ port: 1, close: () => Promise.resolve() }),
    prepareTemplate: () => Promise.resolve({ token: 'of-the-template' }),
    async resume(of) {
      calls.push('resume');
      const { guest } = await at(of);
      if (troubles.failsToStart) {
        troubles.failsToStart = false;
        throw new Error('told not to start');
      }
      guest.memory.delete('suspended');
    },
    async quiesce(of, facts, signal) {
      calls.push('suspend');
      if (troubles.endless)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      const { guest } = await at(of);
      if (troubles.busy) {
        troubles.busy = false;
        throw new RuntimeBusy('told to be busy');
      }
      guest.memory.set('suspended', 'yes');
      await flush(of);
      return { ...facts, suspended: true };
    },
    async flush(of) {
      calls.push('flush');
      await flush(of);
    },
    async forget(of) {
      const { guest } = await at(of);
      calls.push('forget');
      for (const kept of [guest.memory, guest.files]) kept.delete('browser');
    },
    async shutdown(of) {
      calls.push('shutdown');
      if (host.guestAt(of.address)) await flush(of);
    },
    async health(of) {
      await at(of);
      return { gateway: troubles.sick ? 'told to be sick' : null, oomKills: 0, diskFreeMib: 1_000, ...troubles.health };
    },
    readLog: (_guest, offset) => Promise.resolve({ lines: [], nextOffset: offset }),
    async awaitBoot(of) {
      calls.push('awaitBoot');
      const { guest } = await at(of);
      if (troubles.failsToStart) {
        troubles.failsToStart = false;
        throw new Error('told not to start');
      }
      troubles.sick = false;
      for (const [key, value] of guest.files) guest.memory.set(key, value);
    },
    inGuest: ({ instructions, members }) =>
      instructions === null && members.length === 0 ? null : { instructions, members },
    async apply(of, _facts, { instructions }) {
      calls.push('apply');
      if (troubles.settings === 'refused') throw new Error('told not to take settings');
      (await at(of)).guest.memory.set('instructions', instructions ?? '');
      await flush(of);
      if (troubles.settings === 'unheard') await new Promise(() => undefined);
    },
    skills: { place: async () => undefined, look: async () => [] },
    chatEndpoint: ({ dial }) => ({ dial, baseUrl: 'http://guest', headers: {}, model: 'x', takesPictures: false }),
    turnFailure: createOpenclawRuntime().turnFailure,
    toolStep: createOpenclawRuntime().toolStep!,
    web: (_guest, _facts, _settings, page) => (page === 'gateway' ? { port: 80, headers: {} } : null),
  };
}
