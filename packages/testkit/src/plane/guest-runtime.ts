import { RuntimeBusy } from '@lodge/ports';
import type { AgentRuntime, RuntimeHealth } from '@lodge/ports';
import { createOpenclawRuntime } from '@lodge/runtimes';
import type { FakeHost } from '@lodge/vm/fake';

/** What goes wrong in guests, while it is set. */
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

/** A runtime over the guests of a fake host: what it was told is in memory, and on disk once it is flushed. */
export function guestRuntime(
  host: FakeHost,
  troubles: GuestTroubles,
  calls: string[] = [],
  release = '1',
): AgentRuntime {
  const at = (address: string) => {
    const vm = host.guestAt(address);
    if (!vm) throw new Error(`no guest answers at ${address}`);
    return vm;
  };
  const flush = (address: string): void => {
    const { guest } = at(address);
    for (const [key, value] of guest.memory) if (key !== 'suspended') guest.files.set(key, value);
  };
  return {
    name: 'fake',
    version: release,
    templateVariant: release,
    gatewayPort: 80,
    data: { folders: ['/'], except: [] },
    startWarmupLlm: () => Promise.resolve({ port: 1, close: () => Promise.resolve() }),
    prepareTemplate: () => Promise.resolve({ token: 'of-the-template' }),
    async resume({ address }) {
      calls.push('resume');
      const { guest } = at(address);
      if (troubles.failsToStart) {
        troubles.failsToStart = false;
        throw new Error('told not to start');
      }
      guest.memory.delete('suspended');
    },
    async suspend({ address }, facts, signal) {
      calls.push('suspend');
      if (troubles.endless)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      const { guest } = at(address);
      if (troubles.busy) {
        troubles.busy = false;
        throw new RuntimeBusy('told to be busy');
      }
      guest.memory.set('suspended', 'yes');
      flush(address);
      return { ...facts, suspended: true };
    },
    async flush({ address }) {
      calls.push('flush');
      flush(address);
    },
    async shutdown({ address }) {
      calls.push('shutdown');
      if (host.guestAt(address)) flush(address);
    },
    async health({ address }) {
      at(address);
      return { gateway: troubles.sick ? 'told to be sick' : null, oomKills: 0, diskFreeMib: 1_000, ...troubles.health };
    },
    readLog: (_guest, offset) => Promise.resolve({ lines: [], nextOffset: offset }),
    async awaitBoot({ address }) {
      calls.push('awaitBoot');
      const { guest } = at(address);
      if (troubles.failsToStart) {
        troubles.failsToStart = false;
        throw new Error('told not to start');
      }
      troubles.sick = false;
      for (const [key, value] of guest.files) guest.memory.set(key, value);
    },
    inGuest: ({ instructions, members }) =>
      instructions === null && members.length === 0 ? null : { instructions, members },
    async apply({ address }, _facts, { instructions }) {
      calls.push('apply');
      if (troubles.settings === 'refused') throw new Error('told not to take settings');
      at(address).guest.memory.set('instructions', instructions ?? '');
      flush(address);
      if (troubles.settings === 'unheard') await new Promise(() => undefined);
    },
    chatEndpoint: ({ address }) => ({ baseUrl: `http://${address}`, headers: {}, model: 'x' }),
    turnFailure: createOpenclawRuntime().turnFailure,
    web: ({ address }, _facts, _settings, page) =>
      page === 'gateway' ? { origin: `http://${address}`, headers: {} } : null,
  };
}
