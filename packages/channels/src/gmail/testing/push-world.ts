/** A stub of Google with Pub/Sub, relays that share a subscription, and a new topic and mailbox for each test. */
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGoogleStub } from '@lodge/testkit/google';
import type { GoogleStub, StubMailbox } from '@lodge/testkit/google';
import type { ChannelConnection, Log, MailboxNotices, Platform } from '@lodge/ports';
import { Kept, TestHost } from '../../../conformance/host.ts';
import { createGmail } from '../gmail.ts';
import type { GmailPush } from '../options.ts';
import type { GmailTimings } from '../options.ts';

/** Replaces Postgres between relays: everybody receives every notice. */
class Notices implements MailboxNotices {
  readonly listeners = new Set<(address: string | null) => void>();
  readonly notified: string[] = [];
  isAway = false;

  async tell(addresses: readonly string[]): Promise<void> {
    if (this.isAway) throw new Error('the database is away');
    this.notified.push(...addresses);
    for (const address of addresses) for (const listener of this.listeners) listener(address);
  }

  on(listener: (address: string | null) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export const never = 3_600_000;
const backoff = { firstMs: 10, maxMs: 50, stableMs: 200 };
const quick: Partial<GmailTimings> = {
  pollMs: 50,
  pushPollMs: never,
  probeMs: never,
  callMs: 2_000,
  mailMs: 5_000,
  keepMs: 0,
  backoff,
  noticeGapMs: 10,
  noticeMs: 150,
  watchBackoff: backoff,
  pullMs: 5_000,
  pullGapMs: 10,
};
export const patienceMs = 20_000;
export const email = 'lodge@stub-project.iam.gserviceaccount.com';

export class PushWorld {
  google!: GoogleStub;
  topic = '';
  subscription = '';
  notices = new Notices();
  address = '';
  mailbox!: StubMailbox;
  /** Push's log lines. */
  lines: string[] = [];
  #privateKey = '';
  #worlds = 0;

  async start(): Promise<void> {
    this.google = await startGoogleStub();
    this.#privateKey = this.google.oauth.serviceAccount(email).private_key;
  }

  next(): void {
    const { google } = this;
    this.#worlds += 1;
    this.topic = google.pubsub.createTopic(`topic-${this.#worlds}`);
    this.subscription = google.pubsub.createSubscription(`subscription-${this.#worlds}`, this.topic, [email]);
    this.notices = new Notices();
    this.address = `pushed-${this.#worlds}@example.com`;
    this.mailbox = google.mailbox(this.address);
    this.lines = [];
    google.clearFaults();
    Object.assign(google.pubsub, { isDeaf: false, duplicates: false, delayMs: 0, ackDeadlineMs: 10_000, holdMs: 500 });
  }

  /** One relay. */
  readonly platform = (timings: Partial<GmailTimings> = {}, push: Partial<GmailPush> = {}): Platform => {
    const { google, topic, subscription, notices } = this;
    const { url, client } = google;
    const { clientId, clientSecret } = client;
    const endpoints = { api: `${url}/`, consent: url, token: `${url}/token`, pubsub: `${url}/` };
    const account = { email, privateKey: this.#privateKey };
    const log = this.#log(this.lines);
    return createGmail({
      clientId,
      clientSecret,
      endpoints,
      timings: { ...quick, ...timings },
      push: { topic, subscription, account, notices, log, ...push },
    });
  };

  readonly connect = (
    t: TestContext,
    to: Platform,
    who = this.address,
  ): { readonly host: TestHost; readonly connection: ChannelConnection } => {
    const kept = new Kept({ refreshToken: this.google.consent(who) });
    const host = new TestHost(kept);
    const account = { agentId: 'a', credentials: kept.credentials, wantsUnaddressed: false, cursor: null };
    const connection = to.connect(account, host);
    t.after(() => connection.close());
    return { host, connection };
  };

  readonly looksAt = (who: string): number => this.google.calls.filter((call) => call === `GET history ${who}`).length;

  /** Until looks by time have become rare: none for three times their usual wait. */
  readonly slowed = async (host: TestHost, who = this.address): Promise<void> => {
    await host.reaches('connected', patienceMs);
    for (const until = Date.now() + patienceMs; Date.now() < until;) {
      const looks = this.looksAt(who);
      await sleep(180);
      if (this.looksAt(who) === looks && looks > 0) return;
    }
    assert.fail('the mailbox is looked at as often as before');
  };

  readonly writeTo = (text: string, to = this.mailbox): void =>
    void to.deliver({ from: 'Ann <ann@example.org>', subject: '', text });

  #log(lines: string[]): Log {
    const note = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    return { debug: note, info: note, warn: note, error: note };
  }
}

export function noteOf(host: TestHost): string | null {
  const state = host.states.at(-1)!;
  return state.status === 'connected' ? (state.note ?? null) : `not connected: ${state.status}`;
}

export function pushWorld(): PushWorld {
  const world = new PushWorld();
  before(() => world.start());
  beforeEach(() => world.next());
  after(() => world.google.close());
  return world;
}
