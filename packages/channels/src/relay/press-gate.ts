/** Bounds the presses of a channel before the database is asked. */
import { TokenBucket, TokenBuckets } from '@lodge/domain';
import type { Pressed } from '@lodge/ports';

/** A person who presses more often is told to wait. Presses that the platform repeats are far fewer. */
const ofSender = { perSecond: 0.5, burst: 10 };
/** People of one channel together. */
const ofChannel = { perSecond: 5, burst: 50 };
const maxSenders = 1_000;

const tooMany: Pressed = { say: 'Too many presses. Wait a minute, and press again.', close: false };

export class PressGate {
  private readonly senders = new TokenBuckets(ofSender, maxSenders);
  private readonly all = new TokenBucket(ofChannel);

  /** Null: the press goes on. */
  refuses(senderId: string, nowMs = performance.now()): Pressed | null {
    return this.senders.allows(senderId, nowMs) && this.all.allows(1, nowMs) ? null : tooMany;
  }
}
