import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Shares, TokenBuckets } from '@lodge/domain';
import type { BrokerAgent } from '@lodge/ports';
import { tooMany } from './call/call-error.ts';

/** The caller, identified by its address. */
export type DoorGuest = Pick<BrokerAgent, 'agentId' | 'accountId' | 'runtimeKind' | 'confirmations'>;

/**
 * A service for guests at the broker's address beside models: everything below one first segment of the path. Its requests
 * are bounded in number by the broker and have an agent; their bodies are not read yet, and everything in them is hostile.
 */
export interface Door {
  /**
   * Answers. A thrown error becomes a 500 that reveals nothing. `signal` aborts when the guest has left, and at the broker's
   * end.
   */
  handle(guest: DoorGuest, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void>;
}

/** An HTTP proxy for guests at the broker's address. Its requests are hostile. */
export interface GuestProxy {
  /** Answers a request in absolute form (RFC 9112, 3.2.2). Never rejects. */
  request(guest: DoorGuest, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void>;
  /** Makes a tunnel to `target`, as CONNECT names it, and resolves at its end. Never rejects. */
  tunnel(guest: DoorGuest, target: string, client: Duplex, head: Buffer, signal: AbortSignal): Promise<void>;
}

/** By the first segment of their paths, such as `mcp`: small letters. */
export type Doors = Readonly<Record<string, Door>>;

/** Concurrent requests. */
const places = { perAgent: 8, perAccount: 64, inAll: 512, few: 2 };
const busy = ['rate_limit_exceeded', 'Too many requests. Try again shortly.', 1] as const;
const rate = { perSecond: 10, burst: 100 };

export class DoorKeeper {
  readonly #doors: Doors;
  readonly #keepAwake: (agentId: string) => () => void;
  readonly #ending = new AbortController();
  readonly #places: Shares;
  readonly #rate: TokenBuckets;
  readonly #inside = new Set<Promise<void>>();

  constructor(doors: Doors, keepAwake: (agentId: string) => () => void, bounds = { places, rate }) {
    this.#places = new Shares(bounds.places);
    this.#rate = new TokenBuckets(bounds.rate);
    this.#doors = doors;
    this.#keepAwake = keepAwake;
  }

  /** The door of a path, of which nothing is decoded. */
  doorOf(url: string): Door | null {
    const segment = /^\/([a-z]{1,20})(?:[/?]|$)/.exec(url)?.[1] ?? '';
    return Object.hasOwn(this.#doors, segment) ? this.#doors[segment]! : null;
  }

  /**
   * A request is the agent's work: it does not fall asleep meanwhile. Rejects with what the door throws. The request holds its
   * place until the guest has taken the reply: an unread one is still memory of the host.
   */
  async enter(door: Door, guest: BrokerAgent, req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!this.#rate.allows(guest.agentId, performance.now())) throw tooMany(...busy);
    if (!this.#places.take(guest, 1)) throw tooMany(...busy);
    const letGo = this.#keepAwake(guest.agentId);
    const left = new AbortController();
    const closed = new Promise<void>((resolve) => {
      if (res.closed) resolve();
      else res.once('close', resolve);
    });
    void closed.then(() => left.abort());
    const handled = door.handle(guest, req, res, AbortSignal.any([left.signal, this.#ending.signal]));
    this.#inside.add(handled);
    void Promise.allSettled([handled, closed]).then(() => {
      this.#places.giveBack(guest, 1);
      letGo();
    });
    try {
      await handled;
    } finally {
      this.#inside.delete(handled);
    }
  }

  /** Gives up all requests; resolves when they are over. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#inside);
  }
}
