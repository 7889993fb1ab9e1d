/** One account, its connection, and what is checked of every case at its end. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ChannelConnection, InboundMessage, OutboundPart, SendTarget } from '@lodge/ports';
import { Kept, TestHost } from './host.ts';
import type { Abilities, AccountUnderTest, PlatformUnderTest } from './under-test.ts';

export interface SuiteContext {
  readonly abilities: Abilities;
  readonly subject: PlatformUnderTest;
}

/** The reason to leave a case out, as node:test takes it. */
export const unless = (able: boolean, why: string): { skip?: string } => (able ? {} : { skip: why });

export class World {
  readonly subject: PlatformUnderTest;
  readonly account: AccountUnderTest;
  readonly kept: Kept;
  host: TestHost;
  connection: ChannelConnection | null = null;
  private readonly hosts: TestHost[] = [];

  private constructor(subject: PlatformUnderTest, account: AccountUnderTest) {
    this.subject = subject;
    this.account = account;
    this.kept = new Kept(account.credentials);
    this.host = this.newHost();
  }

  /** An account that is not connected. The case's end closes what is open and looks for secrets in all that was said. */
  static async open(test: TestContext, { subject }: SuiteContext): Promise<World> {
    const world = new World(subject, await subject.account());
    test.after(() => world.end());
    return world;
  }

  static async connected(test: TestContext, context: SuiteContext): Promise<World> {
    const world = await World.open(test, context);
    await world.connect();
    return world;
  }

  /** A connection of a relay that knows what was kept. Resolves when it is connected. */
  async connect(): Promise<TestHost> {
    this.begin();
    await this.host.reaches('connected', 15_000);
    return this.host;
  }

  begin(credentials = this.kept.credentials): void {
    if (this.connection) this.host = this.newHost();
    const { cursor } = this.kept;
    const account = { agentId: 'agent-of-the-suite', credentials, wantsUnaddressed: true, cursor };
    this.connection = this.subject.platform.connect(account, this.host);
  }

  async close(): Promise<void> {
    const before = Date.now();
    await this.connection?.close();
    assert.ok(Date.now() - before < 5_000, `closing took ${Date.now() - before} ms`);
  }

  /** Sends as the relay does: each part with a key of its own, in the conversation of the message that is answered. */
  async send(part: OutboundPart, answered: InboundMessage, key = crypto.randomUUID()): Promise<string> {
    try {
      const { id } = await this.connection!.send(targetOf(answered), part, key, AbortSignal.timeout(10_000));
      assert.ok(id.length > 0 && id.length <= 200, 'id of what was sent');
      return id;
    } catch (error) {
      this.host.note('send failed', error);
      throw error;
    }
  }

  private newHost(): TestHost {
    const host = new TestHost(this.kept, (state) => this.account.admit?.(state));
    this.hosts.push(host);
    return host;
  }

  private async end(): Promise<void> {
    await this.account.misbehave({ do: 'mend' });
    await this.close();
    for (const line of this.hosts.flatMap(({ lines }) => lines)) {
      for (const secret of this.account.secrets) assert.ok(!line.includes(secret), `a secret was told: ${line}`);
    }
  }
}

export const targetOf = (answered: InboundMessage): SendTarget => ({
  conversationId: answered.conversation.id,
  conversationKind: answered.conversation.kind,
  replyTo: answered.replyTo,
  index: 0,
  count: 1,
  sentIds: [],
});

export async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}
