/**
 * Push: Gmail publishes to a topic that a mailbox has changed, and one loop in each process pulls these notices from a subscription.
 *
 *     Gmail ──▶ topic ──▶ subscription ──pull──▶ this relay ──notices.tell──▶ every relay ──▶ the mailbox looks now
 *
 * Relays that pull from one subscription share its notices out, so each notice is told to all of them, and acknowledged then. A
 * notice says "look now" to a mailbox that is held here, and nothing else: what has come is asked of Gmail.
 */
import type { Log, MailboxNotices } from '@lodge/ports';
import { Backoff, pause } from '../../shared/backoff.ts';
import { GoogleFailure } from '../api/google-failure.ts';
import type { GmailTimings } from '../options.ts';
import type { PubsubApi } from './pubsub-api.ts';

export interface PushParts {
  readonly api: PubsubApi;
  readonly notices: MailboxNotices;
  readonly log: Log;
  readonly timings: Pick<GmailTimings, 'pullGapMs' | 'backoff'>;
}

/** A mailbox that is held here. */
export interface PushedTo {
  /** It has changed. */
  noticed(): void;
  /** It may have changed, as any other. */
  perhaps(): void;
  /** Whether push works has changed. */
  turned(): void;
}

export class Push {
  readonly #parts: PushParts;
  readonly #mailboxes = new Map<string, Set<PushedTo>>();
  #running: AbortController | null = null;
  #trouble: string | null = null;
  #hasPulled = false;
  #hasDelivered = false;

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  /** Pulls succeed, and a notice has come this way: it is no guess that the next one will. */
  get works(): boolean {
    return this.#trouble === null && this.#hasPulled && this.#hasDelivered;
  }

  /** Why no notices come; null: none is known. A sentence. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Returns a function that removes the mailbox again. Notices are pulled while there is one. */
  join(address: string, mailbox: PushedTo): () => void {
    const same = this.#mailboxes.get(address) ?? new Set();
    this.#mailboxes.set(address, same.add(mailbox));
    this.#begin();
    return () => {
      same.delete(mailbox);
      if (same.size === 0 && this.#mailboxes.get(address) === same) this.#mailboxes.delete(address);
      if (this.#mailboxes.size > 0) return;
      this.#running?.abort();
      this.#running = null;
    };
  }

  #begin(): void {
    if (this.#running !== null) return;
    const running = new AbortController();
    this.#running = running;
    const forget = this.#parts.notices.on((address) => this.#heard(address));
    running.signal.addEventListener('abort', forget, { once: true });
    void this.#run(running.signal);
  }

  #heard(address: string | null): void {
    if (address === null) return this.#all((each) => each.perhaps());
    this.#hasDelivered = true;
    for (const each of this.#mailboxes.get(address) ?? []) each.noticed();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { api, notices, timings } = this.#parts;
    const backoff = new Backoff(timings.backoff);
    let failures = 0;
    while (!signal.aborted) {
      try {
        const { ackIds, addresses } = await api.pull(signal);
        if (addresses.length > 0) await notices.tell(addresses);
        if (ackIds.length > 0) await api.acknowledge(ackIds, signal);
        failures = 0;
        backoff.succeeded();
        this.#hasPulled = true;
        this.#turn(null, null);
        await pause(timings.pullGapMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        const verdict = verdictOf(error);
        // One that fails says little.
        if (verdict !== null || failures > 1) this.#turn(verdict ?? 'Pub/Sub does not answer as it should.', error);
        await backoff.wait(signal, error instanceof GoogleFailure ? error.retryAfterMs : 0);
      }
    }
  }

  #turn(trouble: string | null, error: unknown): void {
    if (trouble === this.#trouble) return;
    const { log } = this.#parts;
    this.#trouble = trouble;
    if (trouble === null) log.info({}, 'notices of mail come by Pub/Sub again');
    else
      log.warn(
        { reason: trouble, failure: failureName(error) },
        'no notices of mail: mailboxes are looked at more often',
      );
    this.#all((each) => each.turned());
  }

  #all(tell: (mailbox: PushedTo) => void): void {
    for (const same of this.#mailboxes.values()) for (const each of same) tell(each);
  }
}

/** The problem that a person must repair; null: it may pass by itself. */
function verdictOf(error: unknown): string | null {
  if (!(error instanceof GoogleFailure)) return null;
  switch (error.kind) {
    case 'fatal':
      return error.reason.code === 'invalid_credentials' ? error.reason.message : 'The Pub/Sub API is not enabled.';
    case 'not_found':
      return 'The Pub/Sub subscription does not exist.';
    case 'refused':
      return 'The service account may not read the Pub/Sub subscription.';
    case 'limited':
    case 'unauthorized':
    case 'too_large':
    case 'unavailable':
    case 'unreachable':
      return null;
  }
}

/** Never what a library wrote into its error. */
const failureName = (error: unknown): string =>
  error instanceof GoogleFailure ? error.kind : error instanceof Error ? error.name.slice(0, 80) : 'unknown';
