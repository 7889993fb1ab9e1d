/**
 * One mailbox: looked at every some seconds, for ever. There is no connection to lose; a look that fails is a state, and what came
 * meanwhile is found by the next one.
 *
 *     connecting ──▶ connected ◀──▶ disconnected (two looks failed, or the first one)
 *          └────────────┴────────────────┴──▶ error (consent, client or API must be mended) or pending_pairing (no consent)
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LeaseLost } from '@lodge/ports';
import type { ChannelAccount, ChannelConnection, ConnectionHost, OutboundPart, SendTarget } from '@lodge/ports';
import { Backoff, pause } from '../shared/backoff.ts';
import { GmailApi } from './api/gmail-api.ts';
import type { GmailClient } from './api/gmail-api.ts';
import { GoogleFailure, unavailable } from './api/google-failure.ts';
import { Tokens } from './api/tokens.ts';
import type { OauthSettings } from './api/tokens.ts';
import { cursorJson, cursorOf } from './cursor.ts';
import { fileOf } from './ids.ts';
import { Inbox } from './inbox.ts';
import type { MailThread } from './mail/mail-thread.ts';
import type { GmailTimings } from './options.ts';
import { Outbox } from './outbox.ts';
import type { Push } from './push/push.ts';
import { PushedMailbox, spread } from './push/pushed-mailbox.ts';

export interface ConnectionParts {
  readonly client: GmailClient;
  readonly oauth: OauthSettings;
  readonly thread: MailThread;
  readonly timings: GmailTimings;
  /** Null: by time alone. */
  readonly push: { readonly topic: string; readonly hub: Push } | null;
}

const closeMs = 4_000;

export class GmailConnection implements ChannelConnection {
  readonly #parts: ConnectionParts;
  readonly #account: ChannelAccount;
  readonly #host: ConnectionHost;
  readonly #end = new AbortController();
  readonly #backoff: Backoff;
  readonly #api: GmailApi;
  readonly #outbox: Outbox;
  readonly #pushed: PushedMailbox | null;
  readonly #running: Promise<void>;
  #inbox: Inbox | null = null;
  #address = '';
  #isConnected = false;
  #reportedNote: string | null = null;
  #failures = 0;
  #probeAtMs = 0;

  constructor(parts: ConnectionParts, account: ChannelAccount, host: ConnectionHost) {
    this.#parts = parts;
    this.#account = account;
    this.#host = host;
    this.#backoff = new Backoff(parts.timings.backoff);
    const keep = (refreshToken: string): Promise<void> => host.keep({ refreshToken });
    const refreshToken = account.credentials['refreshToken'] ?? '';
    const tokens = new Tokens(parts.oauth, refreshToken, keep, this.#end.signal);
    this.#api = new GmailApi(parts.client, tokens, parts.timings);
    this.#outbox = new Outbox({ api: this.#api, thread: parts.thread, host, signal: this.#end.signal });
    this.#pushed = this.#pushTo(parts.push);
    this.#running = refreshToken === '' ? this.#askForConsent() : this.#run();
  }

  send(to: SendTarget, part: OutboundPart, key: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    return this.#outbox.send(to, part, key, signal);
  }

  /** Mail has no such sign. */
  async typing(): Promise<void> {}

  async open(ref: string, maxBytes: number, given: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const file = fileOf(ref);
    if (!file) throw new Error('no file of this mailbox');
    const signal = AbortSignal.any([given, this.#end.signal]);
    const { thread } = this.#parts;
    // By the name that its inbox has there.
    const mailbox = this.#address === '' ? this.#account.agentId : this.#address;
    const bytes = await thread.withMail(
      mailbox,
      () => this.#api.raw(file.mail, signal),
      (answer) => (answer === null ? null : thread.run<'file'>(mailbox, { kind: 'file', answer, index: file.index })),
    );
    if (bytes === null) throw new Error('the mail of this file is gone');
    if (bytes.byteLength > maxBytes) throw new Error(`the file has more than ${maxBytes} bytes`);
    return chunksOf(bytes);
  }

  async close(): Promise<void> {
    this.#end.abort();
    await Promise.race([this.#running, sleep(closeMs, undefined, { ref: false })]);
  }

  async #askForConsent(): Promise<void> {
    this.#host.changed({
      status: 'pending_pairing',
      reason: { code: 'consent_needed', message: 'Somebody must sign in with Google to connect the mailbox.' },
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    this.#host.changed({ status: 'connecting' });
    while (!signal.aborted) {
      try {
        await this.#round();
        await (this.#pushed?.wait() ?? pause(spread(this.#parts.timings.pollMs), signal));
      } catch (error) {
        if (signal.aborted || error instanceof LeaseLost) break;
        if (this.#failed(error)) break;
        await this.#backoff.wait(signal, error instanceof GoogleFailure ? error.retryAfterMs : 0);
      }
    }
    this.#end.abort();
  }

  async #round(): Promise<void> {
    const { timings } = this.#parts;
    const { signal } = this.#end;
    this.#inbox ??= await this.#begin();
    const { taken } = this.#inbox;
    await this.#pushed?.begin(this.#address);
    if (Date.now() >= this.#probeAtMs) {
      const { historyId } = await this.#api.profile(signal);
      await this.#inbox.look();
      if (BigInt(this.#inbox.historyId) < BigInt(historyId))
        await this.#inbox.listAgain('its history does not show what the mailbox has');
      this.#probeAtMs = Date.now() + timings.probeMs;
    } else await this.#inbox.look();
    if (signal.aborted) return;
    this.#failures = 0;
    this.#backoff.succeeded();
    this.#pushed?.looked(this.#inbox.taken > taken);
    if (this.#isConnected) return;
    this.#isConnected = true;
    this.#tellConnected();
  }

  /** At the very first the mail that is there is left alone. */
  async #begin(): Promise<Inbox> {
    const { signal } = this.#end;
    const { address, historyId } = await this.#api.profile(signal);
    const kept = cursorOf(this.#account.cursor);
    const isGoingOn = kept?.address === address;
    const cursor = isGoingOn ? kept : { address, historyId, seenAtMs: Date.now() };
    if (!isGoingOn) await this.#host.at(cursorJson(cursor));
    this.#address = address;
    this.#outbox.address = address;
    this.#probeAtMs = Date.now() + this.#parts.timings.probeMs;
    const { thread, timings } = this.#parts;
    const parts = { api: this.#api, thread, host: this.#host, backoff: this.#backoff, signal, keepMs: timings.keepMs };
    return new Inbox(parts, cursor);
  }

  /** True: only a person can mend it. */
  #failed(error: unknown): boolean {
    const reason = error instanceof GoogleFailure ? error.reason : unavailable;
    if (error instanceof GoogleFailure && error.kind === 'fatal') {
      this.#host.changed({ status: 'error', reason });
      return true;
    }
    this.#failures += 1;
    if (!(error instanceof GoogleFailure))
      this.#host.log.warn({ failures: this.#failures, error: nameOf(error) }, 'the mailbox was not looked at');
    // One look that fails says little.
    if (this.#failures === 2 || (this.#failures === 1 && !this.#isConnected)) {
      this.#isConnected = false;
      this.#host.changed({ status: 'disconnected', reason });
    }
    return false;
  }

  #pushTo(push: ConnectionParts['push']): PushedMailbox | null {
    if (push === null) return null;
    return new PushedMailbox({
      push: push.hub,
      topic: push.topic,
      api: this.#api,
      host: this.#host,
      timings: this.#parts.timings,
      signal: this.#end.signal,
      onNote: () => {
        const isAnother = this.#pushed !== null && this.#pushed.note !== this.#reportedNote;
        if (this.#isConnected && isAnother && !this.#end.signal.aborted) this.#tellConnected();
      },
    });
  }

  #tellConnected(): void {
    const note = this.#pushed?.note ?? null;
    this.#reportedNote = note;
    const identity = { id: this.#address, name: this.#address };
    this.#host.changed({ status: 'connected', identity, ...(note !== null && { note }) });
  }
}

/** The name of an error that is not Google's, without the library's text. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name.slice(0, 80) : 'unknown');

const chunkBytes = 256 * 1024;

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
