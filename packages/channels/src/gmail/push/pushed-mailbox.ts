/**
 * Push for one mailbox: makes Gmail publish its changes, and says when the mailbox needs its next look.
 *
 * A look that is due by time goes on whatever push does, and rarely only while push is proved: its watch lasts, notices are
 * pulled, and no mail has come without one.
 */
import type { ConnectionHost } from '@lodge/ports';
import { Backoff, pause } from '../../shared/backoff.ts';
import type { GmailApi } from '../api/gmail-api.ts';
import { GoogleFailure } from '../api/google-failure.ts';
import type { GmailTimings } from '../options.ts';
import type { Push, PushedTo } from './push.ts';

export interface PushedMailboxParts {
  readonly push: Push;
  /** `projects/<project>/topics/<id>`. */
  readonly topic: string;
  readonly api: GmailApi;
  readonly host: ConnectionHost;
  readonly timings: GmailTimings;
  readonly signal: AbortSignal;
  /** The note is another one. */
  readonly onNote: () => void;
}

/** Mail is looked for at a time of its own in each mailbox. */
const jitter = 0.2;
/** Gmail ends a watch after 7 days (developers.google.com/workspace/gmail/api/guides/push). */
const maxWatchMs = 7 * 86_400_000;
const silent = 'Gmail tells nothing of new mail by Pub/Sub.';

export const spread = (ms: number): number => ms * (1 - jitter + 2 * jitter * Math.random());

export class PushedMailbox implements PushedTo {
  readonly #parts: PushedMailboxParts;
  readonly #backoff: Backoff;
  #leave: (() => void) | null = null;
  #watch = { renewAtMs: 0, sinceMs: 0, endsAtMs: 0 };
  #watchTrouble: string | null = null;
  /** When the last look, and the one before it, began. */
  #lookedAtMs: number | null = null;
  #previousMs: number | null = null;
  #dueAtMs = 0;
  /** Since the last look began; and before it, by what no look has seen yet. */
  #isNoticed = false;
  #isNoticedBefore = false;
  /** A notice came, and what it was about was not seen yet. */
  #looksAgain = false;
  /** When mail was found of which no notice has come. */
  #unnoticedAtMs: number | null = null;
  #isSilent = false;
  #waiting: AbortController | null = null;

  constructor(parts: PushedMailboxParts) {
    this.#parts = parts;
    this.#backoff = new Backoff(parts.timings.watchBackoff);
    parts.signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** The trouble of push, for the channel's owner; null: there is none. */
  get note(): string | null {
    const { push, timings } = this.#parts;
    const trouble = push.trouble ?? (this.#isWatched ? null : this.#watchTrouble) ?? (this.#isSilent ? silent : null);
    return trouble === null ? null : `${trouble} Mail is looked for every ${Math.ceil(timings.pollMs / 1_000)} s.`;
  }

  /** Before a look. Rejects only with what is no failure of Google's. */
  async begin(address: string): Promise<void> {
    if (this.#parts.signal.aborted) return;
    this.#leave ??= this.#parts.push.join(address, this);
    if (Date.now() >= this.#watch.renewAtMs) await this.#renew();
    // A look that failed has seen nothing: what it was noticed of is still to be seen.
    this.#isNoticedBefore ||= this.#isNoticed;
    this.#isNoticed = false;
    this.#previousMs = this.#lookedAtMs;
    this.#lookedAtMs = Date.now();
  }

  /** After it. */
  looked(hasFound: boolean): void {
    const wasNoticed = this.#isNoticedBefore || this.#isNoticed;
    this.#looksAgain = this.#isNoticedBefore && !hasFound;
    this.#isNoticedBefore = false;
    if (hasFound && !wasNoticed && this.#isNoticeExpected) this.#unnoticedAtMs ??= Date.now();
    const { host, timings, onNote } = this.#parts;
    // A watch may have ended meanwhile.
    onNote();
    if (this.#isSilent || this.#unnoticedAtMs === null || Date.now() - this.#unnoticedAtMs < timings.noticeMs) return;
    this.#isSilent = true;
    host.log.warn({}, 'mail came without a notice by Pub/Sub: the mailbox is looked at more often');
    onNote();
  }

  /** Until the next look. */
  async wait(): Promise<void> {
    const { signal, timings } = this.#parts;
    this.#dueAtMs = Date.now() + spread(this.#isSlow ? Math.max(timings.pollMs, timings.pushPollMs) : timings.pollMs);
    while (!signal.aborted) {
      const dueAtMs = this.#isNoticed
        ? Math.min(this.#dueAtMs, this.#lookedAtMs! + timings.noticeGapMs)
        : this.#dueAtMs;
      if (dueAtMs <= Date.now()) return;
      this.#waiting = new AbortController();
      await pause(dueAtMs - Date.now(), this.#waiting.signal);
    }
  }

  noticed(): void {
    this.#isNoticed = true;
    this.#unnoticedAtMs = null;
    if (this.#isSilent) {
      this.#isSilent = false;
      this.#parts.host.log.info({}, 'notices of mail come by Pub/Sub again');
      this.#parts.onNote();
    }
    this.#waiting?.abort();
  }

  perhaps(): void {
    // Not all at once.
    this.#dueAtMs = Math.min(this.#dueAtMs, Date.now() + this.#parts.timings.pollMs * Math.random());
    this.#waiting?.abort();
  }

  turned(): void {
    // A known failure explains it.
    if (this.#parts.push.trouble !== null) this.#unnoticedAtMs = null;
    if (!this.#isSlow) this.perhaps();
    this.#parts.onNote();
  }

  /** Gmail publishes the changes of this mailbox. */
  get #isWatched(): boolean {
    return this.#watch.endsAtMs > Date.now();
  }

  /**
   * Whether the mail of the last look should have had a notice. Mail from before the watch, or before the look of the
   * mailbox's earlier holder, had no notice for this process.
   */
  get #isNoticeExpected(): boolean {
    const isOurs = this.#previousMs !== null && this.#watch.sinceMs <= this.#previousMs;
    return this.#isWatched && isOurs && this.#parts.push.trouble === null;
  }

  get #isSlow(): boolean {
    const isProved = this.#parts.push.works && this.#isWatched;
    return isProved && !this.#isSilent && this.#unnoticedAtMs === null && !this.#looksAgain;
  }

  /** Fails by itself: mail is looked for all the same. */
  async #renew(): Promise<void> {
    const { api, topic, timings, signal, host } = this.#parts;
    const now = Date.now();
    try {
      const { expiresAtMs } = await api.watch(topic, signal);
      const lastsMs = Math.min(maxWatchMs, expiresAtMs - now);
      if (lastsMs <= 0) throw new GoogleFailure('unavailable', { code: 'platform_unreachable', message: '' });
      const sinceMs = this.#watch.endsAtMs > now ? this.#watch.sinceMs : Date.now();
      this.#watch = {
        sinceMs,
        endsAtMs: now + lastsMs,
        renewAtMs: now + spread(Math.min(timings.watchMs, lastsMs / 2)),
      };
      this.#backoff.succeeded();
      this.#tellWatch(null);
    } catch (error) {
      if (!(error instanceof GoogleFailure) || signal.aborted) throw error;
      this.#watch = { ...this.#watch, renewAtMs: Date.now() + this.#backoff.next(error.retryAfterMs) };
      if (this.#watchTrouble === null)
        host.log.warn({ failure: error.kind }, 'Gmail was not told to publish changes of the mailbox');
      this.#tellWatch(watchTroubleOf(error));
    }
  }

  #tellWatch(trouble: string | null): void {
    if (trouble === this.#watchTrouble) return;
    this.#watchTrouble = trouble;
    this.#parts.onNote();
  }

  #end(): void {
    this.#leave?.();
    this.#leave = null;
    this.#waiting?.abort();
  }
}

function watchTroubleOf({ kind }: GoogleFailure): string {
  switch (kind) {
    case 'refused':
      return 'Gmail may not publish to the Pub/Sub topic, or it is of another project than the OAuth client.';
    case 'not_found':
      return 'The Pub/Sub topic does not exist.';
    case 'fatal':
    case 'limited':
    case 'unauthorized':
    case 'too_large':
    case 'unavailable':
    case 'unreachable':
      return 'Gmail does not take the order to publish changes of this mailbox.';
  }
}
