/** One agent with an account at the stub, and Ann, who writes to it. */
import type { TestContext } from 'node:test';
import type { ChannelConnection, ConnectionState, InboundMessage } from '@lodge/ports';
import type { Account, Person, WhatsAppStub } from '@lodge/testkit/whatsapp';
import { Kept, TestHost } from '../../../conformance/host.ts';
import { targetOf } from '../../../conformance/world.ts';
import { createWhatsApp } from '../whatsapp.ts';
import type { WhatsAppOptions } from '../whatsapp.ts';

export const quick = {
  backoff: { firstMs: 50, maxMs: 200, stableMs: 2_000 },
  connectTimeoutMs: 3_000,
  pingEveryMs: 300,
  queryTimeoutMs: 2_000,
  codeShownMs: 3_000,
  fileMs: 3_000,
  stalledMs: 1_000,
};

let numbers = 0;

export class Case {
  readonly account: Account;
  readonly ann: Person;
  readonly kept = new Kept({});
  host: TestHost;
  connection: ChannelConnection | null = null;
  scans = true;
  private readonly stub: WhatsAppStub;
  private readonly options: WhatsAppOptions;

  constructor(t: TestContext, stub: WhatsAppStub, options: WhatsAppOptions = {}) {
    numbers += 1;
    this.stub = stub;
    this.account = stub.account(`155530${String(numbers).padStart(5, '0')}`, 'Agent');
    this.ann = stub.person(`155540${String(numbers).padStart(5, '0')}`, 'Ann');
    this.options = { url: stub.url, mediaUrl: stub.media.url, certificateRoot: stub.root, timings: quick, ...options };
    this.host = this.newHost();
    t.after(() => this.connection?.close());
  }

  static async connected(t: TestContext, stub: WhatsAppStub, options: WhatsAppOptions = {}): Promise<Case> {
    const each = new Case(t, stub, options);
    await each.connect();
    return each;
  }

  begin(): void {
    if (this.connection) this.host = this.newHost();
    const account = { agentId: 'agent', credentials: {}, wantsUnaddressed: true, cursor: null };
    this.connection = createWhatsApp(this.options).connect(account, this.host);
  }

  async connect(): Promise<void> {
    this.begin();
    await this.host.reaches('connected', 15_000);
  }

  write(text: string, options?: Parameters<WhatsAppStub['write']>[3]): Promise<string> {
    return this.stub.write(this.ann, this.account, text, options);
  }

  async hears(text: string): Promise<InboundMessage> {
    await this.write(text);
    return this.host.message(text);
  }

  answer(
    text: string,
    message: InboundMessage,
    key: string = crypto.randomUUID(),
    timeoutMs = 5_000,
  ): Promise<{ id: string }> {
    const part = { kind: 'text', text, format: null } as const;
    return this.connection!.send(targetOf(message), part, key, AbortSignal.timeout(timeoutMs));
  }

  shown(): string[] {
    return this.ann.shown.map(({ text }) => text);
  }

  get last(): ConnectionState {
    return this.host.states.at(-1)!;
  }

  private newHost(): TestHost {
    return new TestHost(this.kept, (state) => {
      if (this.scans && state.status === 'pending_pairing' && state.code?.qr)
        this.stub.scan(this.account, state.code.qr);
    });
  }
}

export const reasonOf = (state: ConnectionState): string => ('reason' in state ? state.reason.code : state.status);
