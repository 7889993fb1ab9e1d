/**
 * A relay's store at the other end of a channel. Leases are named by the numbers that the control plane gave them, and its
 * statements about a channel belong to the lease that it knows.
 */
import { LeaseLost } from '@lodge/ports';
import type { InboundMessage, LeaseRef, MailboxNotices, OpenedRelayStore } from '@lodge/ports';
import type { Channel } from '@lodge/vm/channel';
import type { Calls } from './calls.ts';

/** Messages of one call, as JSON; a single one may have more. */
const maxBytesTogether = 2 ** 20;

type WorkListener = Parameters<OpenedRelayStore['onWork']>[0];

export function remoteStore(channel: Channel, calls: Calls): OpenedRelayStore {
  const numbers = new Numbers();
  const listeners = listening<Parameters<WorkListener>[0]>();
  const call = calls.call.bind(calls);
  const of = (lease: LeaseRef): number => numbers.of(lease);
  channel.receive('work', ({ of: what }) =>
    listeners.tell({ agentId: null, of: what === 'work' ? 'work' : 'channel' }),
  );
  return {
    async acquire({ limit }) {
      const leases = await call('acquire', { limit });
      for (const { lease, ...ref } of leases) numbers.set(ref, lease);
      return leases;
    },
    renew: (leases) => call('renew', { leases: numbers.all(leases) }),
    release: (lease) => call('release', { lease: of(lease) }),
    async receive(lease, messages, cursor) {
      const together = inParts(messages);
      const last = together.pop() ?? [];
      // If a batch is delivered again, its already received messages are recognised by their ids.
      for (const part of together) await call('receive', { lease: of(lease), messages: part, cursor: null });
      await call('receive', { lease: of(lease), messages: last, cursor: cursor ?? null });
    },
    admits: (lease, { conversation, sender, addressed }) =>
      call('admits', { lease: of(lease), message: { conversation, sender, addressed } }),
    press: (lease, press) => call('press', { lease: of(lease), press }),
    moveTo: (lease, cursor) => call('moveTo', { lease: of(lease), cursor }),
    changed: (lease, state, code, accountKey) =>
      call('changed', { lease: of(lease), state, code, accountKey: accountKey ?? null }),
    faulted: (lease) => call('faulted', { lease: of(lease) }),
    keep: (lease, credentials) => call('keep', { lease: of(lease), credentials }),
    vaultGet: (lease, type, ids) => call('vaultGet', { lease: of(lease), type, ids }),
    vaultSet: (lease, values, messages = []) => call('vaultSet', { lease: of(lease), values, messages }),
    vaultClear: (lease) => call('vaultClear', { lease: of(lease) }),
    filesToFetch: (leases, limit, share = { perAgent: limit, underWay: [] }) =>
      call('filesToFetch', { leases: numbers.all(leases), limit, ...share }),
    fetched: (lease, file, result) =>
      'key' in result
        ? call('fetched', { lease: of(lease), file, ...result })
        : call('notFetched', { lease: of(lease), file, reason: result.reason }),
    partsToSend: (leases, limit) => call('partsToSend', { leases: numbers.all(leases), limit }),
    split: (lease, part, parts) => call('split', { lease: of(lease), part, parts }),
    sending: (lease, part) => call('sending', { lease: of(lease), part }),
    async sent(lease, part, platformId) {
      await call('sent', { lease: of(lease), part, platformId });
      // The other end removes the file.
      return null;
    },
    sendLater: (lease, part, at, reason, isUnclear = false) =>
      call('sendLater', { lease: of(lease), part, at, reason, isUnclear }),
    sendFailed: (lease, part, outcome, reason) => call('sendFailed', { lease: of(lease), part, outcome, reason }),
    working: (leases) => call('working', { leases: numbers.all(leases) }),
    progress: (leases) => call('progress', { leases: numbers.all(leases) }),
    posted: (lease, conversation, { id, claim }) => call('posted', { lease: of(lease), conversation, id, claim }),
    unposted: (lease, conversation, id) => call('unposted', { lease: of(lease), conversation, id }),
    onWork: (listener) => listeners.on(listener),
  };
}

export function remoteNotices(channel: Channel, calls: Calls): MailboxNotices {
  const listeners = listening<string | null>();
  channel.receive('noticed', ({ address }) => listeners.tell(address as string | null));
  return {
    tell: (addresses) => calls.call('tellNotices', { addresses }),
    on: (listener) => listeners.on(listener),
  };
}

/** The control plane's numbers of leases. */
class Numbers {
  private readonly byLease = new Map<string, { readonly number: number; readonly handle: number }[]>();

  /** Like the other end, it knows the last two of each channel. */
  set({ agentId, channel, number }: LeaseRef, handle: number): void {
    const key = `${agentId}/${channel}`;
    this.byLease.set(key, [...(this.byLease.get(key) ?? []).slice(-1), { number, handle }]);
  }

  of({ agentId, channel, number }: LeaseRef): number {
    const found = this.byLease.get(`${agentId}/${channel}`)?.find((each) => each.number === number);
    if (found === undefined) throw new LeaseLost();
    return found.handle;
  }

  all(leases: readonly LeaseRef[]): readonly number[] {
    return leases.map((lease) => this.of(lease));
  }
}

function listening<T>() {
  const listeners = new Set<(what: T) => void>();
  return {
    tell(what: T): void {
      for (const listener of listeners) listener(what);
    },
    on(listener: (what: T) => void): () => void {
      const own = (what: T): void => listener(what);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
}

function inParts(messages: readonly InboundMessage[]): InboundMessage[][] {
  const parts: InboundMessage[][] = [];
  let bytes = Infinity;
  for (const message of messages) {
    const own = JSON.stringify(message).length;
    if (bytes + own > maxBytesTogether) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(message);
    bytes += own;
  }
  return parts;
}
