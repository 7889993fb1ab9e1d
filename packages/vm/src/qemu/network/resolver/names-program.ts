/**
 * The process that reads guests' questions and name servers' answers, for all guests with an allow list. It has a separate
 * user, no privileges and no secrets. Root tells it each guest's names, and it asks root to pin the addresses that it found:
 *
 *   serve -> serving, or failed (why)         guest, forget -> the names that a guest may look up, until it is gone
 *   pin <- pinned (whether they are)          refuse <- a guest asked for a name that it may not look up
 *   ping -> pong (this process does not hang)
 */
import { Socket } from 'node:net';
import { Channel } from '../../../remote/channel.ts';
import type { AllowedName } from '../egress-rules.ts';
import { blockTest } from '../plan.ts';
import { Lookups } from './lookups.ts';
import type { GuestNames } from './lookups.ts';
import { NameServers } from './name-servers.ts';
import { namesFd } from './names-protocol.ts';
import type { Serve, WantedPin } from './names-protocol.ts';
import { NameResolver } from './resolver.ts';

/** Pins that root was asked for. Root answers each, or this process ends with root. */
class Pins {
  private readonly channel: Channel;
  private readonly waiting = new Map<number, (isPinned: boolean) => void>();
  private nextId = 1;

  constructor(channel: Channel) {
    this.channel = channel;
    channel.receive('pinned', ({ id, is }) => this.waiting.get(id as number)?.(is === true));
  }

  /** Rejects when root does not pin them. */
  async ask(pin: WantedPin): Promise<void> {
    const id = this.nextId++;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.waiting.set(id, resolve);
    this.channel.send({ kind: 'pin', id, ...pin });
    const isPinned = await promise;
    this.waiting.delete(id);
    if (!isPinned) throw new Error('the addresses were not pinned');
  }
}

interface Guest {
  readonly names: { -readonly [K in keyof GuestNames]: GuestNames[K] };
  readonly lookups: Lookups;
}

function run(channel: Channel): void {
  const pins = new Pins(channel);
  const guests = new Map<string, Guest>();
  const resolver = new NameResolver((address) => guests.get(address)?.lookups ?? null);
  channel.receive('serve', (message) => {
    const { address, port, nameServers, pinBounds, closedBlocks } = message as unknown as Serve;
    const upstream = { nameServers: new NameServers(nameServers), pinBounds, isClosed: blockTest(closedBlocks) };
    const begin = (guest: string): Guest => {
      const names: Guest['names'] = {
        allowance: null,
        refuse: (name) => channel.send({ kind: 'refuse', guest, name }),
        pin: (addresses, mark, seconds) => pins.ask({ guest, addresses, mark, seconds }),
      };
      const made = { names, lookups: new Lookups(names, upstream) };
      guests.set(guest, made);
      return made;
    };
    channel.receive('guest', (received) => {
      const guest = guests.get(received['guest'] as string) ?? begin(received['guest'] as string);
      const names = received['names'] as readonly AllowedName[] | null;
      guest.names.allowance = names && { names };
    });
    channel.receive('forget', ({ guest }) => void guests.delete(guest as string));
    resolver.start(address, port).then(
      () => channel.send({ kind: 'serving' }),
      (error: unknown) => channel.send({ kind: 'failed', why: (error as Error).message }),
    );
  });
  channel.receive('ping', () => channel.send({ kind: 'pong' }));
  void channel.ended.then(() => process.exit(0));
  channel.open();
}

run(new Channel(new Socket({ fd: namesFd, readable: true, writable: true }), { peer: 'machineHost' }));
