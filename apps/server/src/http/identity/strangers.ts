/**
 * Turns of callers with a secret (an API key, a session, a visit, a link) that opened nothing here lately. Each look-up of
 * such a secret costs a query, and anybody can make up well-formed ones.
 *
 * - A secret that opened something within the last hour is looked up at once: strangers at its address do not slow it.
 * - Any other takes a turn. A network has two at once, so no burst of look-ups passes before the first failures are counted.
 *   All networks together have four, in turn, so strangers never take all connections to the database.
 * - A network over its limit of requests without a valid key has ten turns a second: a valid key that is new here still
 *   opens. A request without a turn soon is refused without a look-up.
 */
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairGate, Places, networkOf } from '@lodge/domain';
import type { FastifyReply } from 'fastify';
import type { Limits } from '../pipeline/limits/limits.ts';

/** A caller with a secret; a refusal writes the address' standing to `reply`. */
interface Stranger {
  readonly address: string;
  readonly reply?: FastifyReply;
}

const places = { inAll: 4, perName: 2 };
const waiters = { inAll: 4_096, perName: 256 };
/** For a network over its limit: the interval of turns, of which only a near one is granted. */
const overTurnMs = 100;
const maxOverWaitMs = 1_600;
const maxOverTurns = 4_096;
const rememberMs = 3_600_000;
const maxKnown = 10_000;

export class Strangers {
  private readonly limiter: Limits | null;
  /** Time until which a secret, by its SHA-256, is looked up at once. In order of use. */
  private readonly known = new Map<string, number>();
  /** Running look-ups: one that opens something admits every caller with the same secret meanwhile. */
  private readonly underWay = new Map<string, Promise<unknown>>();
  /** Networks take turns at it. */
  private readonly gate = new FairGate(places);
  private readonly waiters = new Places(waiters);
  /** Time of the next turn of each network over its limit. */
  private readonly overTurns = new Map<string, number>();

  constructor(limiter: Limits | null) {
    this.limiter = limiter;
  }

  knows(secret: string): boolean {
    return (this.known.get(digestOf(secret)) ?? 0) > performance.now();
  }

  /**
   * Runs a look-up of the secret in its turn. The look-up rejects if the secret opens nothing, and has counted that. Refuses
   * with 429.
   */
  async run<T>(secret: string, stranger: Stranger, lookUp: () => Promise<T>): Promise<T> {
    const digest = digestOf(secret);
    if (this.limiter === null || this.knows(secret)) return this.remembering(digest, lookUp);
    const before = this.underWay.get(digest);
    if (before !== undefined) {
      await before.catch(() => undefined);
      if (this.knows(secret)) return this.remembering(digest, lookUp);
    }
    const turn = this.inTurn(this.limiter, stranger, () => this.remembering(digest, lookUp));
    if (this.underWay.has(digest)) return turn;
    this.underWay.set(digest, turn);
    return turn.finally(() => this.underWay.delete(digest));
  }

  private async remembering<T>(digest: string, lookUp: () => Promise<T>): Promise<T> {
    let opened: T;
    try {
      opened = await lookUp();
    } catch (error) {
      this.known.delete(digest);
      throw error;
    }
    this.known.delete(digest);
    this.known.set(digest, performance.now() + rememberMs);
    if (this.known.size > maxKnown) this.known.delete(this.known.keys().next().value!);
    return opened;
  }

  private async inTurn<T>(limiter: Limits, stranger: Stranger, work: () => Promise<T>): Promise<T> {
    const name = networkOf(stranger.address);
    const room = this.waiters.roomOf(name, () => limiter.refusal(stranger.address, stranger.reply));
    for (let hasOverTurn = false; ;) {
      if (!hasOverTurn && limiter.isOver(stranger.address)) {
        const waitMs = this.overTurn(name);
        if (waitMs === null) throw limiter.refusal(stranger.address, stranger.reply);
        await sleep(waitMs);
        hasOverTurn = true;
      }
      const leave = await this.gate.enter(name, { room });
      try {
        if (hasOverTurn || !limiter.isOver(stranger.address)) return await work();
      } finally {
        leave();
      }
    }
  }

  /** Milliseconds until the turn of a network that is over its limit; null when none comes soon. */
  private overTurn(name: string): number | null {
    const now = performance.now();
    if (this.overTurns.size > maxOverTurns) {
      for (const [each, at] of this.overTurns) if (at <= now) this.overTurns.delete(each);
    }
    const at = Math.max(now, this.overTurns.get(name) ?? 0);
    if (at - now > maxOverWaitMs) return null;
    this.overTurns.set(name, at + overTurnMs);
    return at - now;
  }
}

const digestOf = (secret: string): string => hash('sha256', secret, 'base64url');
