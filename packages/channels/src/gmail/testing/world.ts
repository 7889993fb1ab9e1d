/** A stub of Google, the adapter at it, and a new mailbox for each test. */
import { after, before, beforeEach } from 'node:test';
import type { TestContext } from 'node:test';
import { startGoogleStub } from '@lodge/testkit/google';
import type { GoogleStub, Mail, StubMailbox } from '@lodge/testkit/google';
import type { ChannelConnection, InboundMessage, OutboundPart, Platform } from '@lodge/ports';
import { Kept, TestHost } from '../../../conformance/host.ts';
import { targetOf } from '../../../conformance/world.ts';
import { createGmail } from '../gmail.ts';

const timings = {
  pollMs: 30,
  probeMs: 60_000,
  callMs: 2_000,
  mailMs: 5_000,
  keepMs: 0,
  backoff: { firstMs: 20, maxMs: 100, stableMs: 200 },
};

/** For what takes some 100 ms on a quiet machine. */
export const patienceMs = 60_000;

export interface Connected {
  readonly host: TestHost;
  readonly connection: ChannelConnection;
}

export const say = (text: string): OutboundPart => ({ kind: 'text', text, format: null });

export class GmailWorld {
  google!: GoogleStub;
  platform!: Platform;
  address = '';
  mailbox!: StubMailbox;
  #mailboxes = 0;

  async start(): Promise<void> {
    this.google = await startGoogleStub();
    const { url, client } = this.google;
    const endpoints = { api: `${url}/`, consent: `${url}/o/oauth2/v2/auth`, token: `${url}/token` };
    const { clientId, clientSecret } = client;
    this.platform = createGmail({ clientId, clientSecret, endpoints, timings });
  }

  next(): void {
    this.#mailboxes += 1;
    this.address = `agent-${this.#mailboxes}@example.com`;
    this.mailbox = this.google.mailbox(this.address);
    this.google.clearFaults();
  }

  /** `kept`: what an earlier connection left. */
  readonly begin = (
    t: TestContext,
    kept = new Kept({ refreshToken: this.google.consent(this.address) }),
  ): Connected => {
    const host = new TestHost(kept);
    const account = { agentId: 'a', credentials: kept.credentials, wantsUnaddressed: false, cursor: kept.cursor };
    const connection = this.platform.connect(account, host);
    t.after(() => connection.close());
    return { host, connection };
  };

  readonly connected = async (t: TestContext, kept?: Kept): Promise<Connected> => {
    const connected = this.begin(t, kept);
    await connected.host.reaches('connected', patienceMs);
    return connected;
  };

  readonly writeTo = (mail: Partial<Mail>): ReturnType<StubMailbox['deliver']> =>
    this.mailbox.deliver({ from: 'Ann <ann@example.org>', subject: '', ...mail });

  readonly answer = (
    connection: ChannelConnection,
    to: InboundMessage,
    text: string,
    key = 'key-1',
  ): ReturnType<ChannelConnection['send']> => connection.send(targetOf(to), say(text), key, AbortSignal.timeout(5_000));
}

export function gmailWorld(): GmailWorld {
  const world = new GmailWorld();
  before(() => world.start());
  beforeEach(() => world.next());
  after(() => world.google.close());
  return world;
}
