/* oxlint-disable no-restricted-imports -- only tests import this file */
/**
 * A call of an agent that waits for somebody's yes, from end to end: asked about at the stand-in of the platform, decided there by
 * what a person does, made, and closed. The engine and its database are real.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { defaultAccess } from '@lodge/domain';
import { createConfirmationAnswers, createRelayStore } from '@lodge/engine';
import type { InboundMessage, LeaseRef, PartToSend, RelayStore } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { openTestCalls } from '../../engine/src/confirmations/testing/calls.ts';
import { channelsFixture } from '../../store/src/testing/channels-fixture.ts';
import { targetOf, World } from './world.ts';
import type { SuiteContext } from './world.ts';

export function describeConfirmations(context: SuiteContext): void {
  describe('confirmations', () => {
    test('a person who is named allows and denies at the platform, and nobody else does', async (t) => {
      const asking = await Asking.open(t, context);
      const { calls } = asking;
      await asking.ask(1);
      assert.match(await asking.answers('yes', 'another'), /Only the people whom the owner named/);
      assert.equal(calls.calls.length, 0);
      assert.match(await asking.answers('yes'), /^Allowed once/);
      await asking.ended('done');
      assert.deepEqual(
        calls.calls.map(({ body }) => body),
        ['{"n":1}'],
      );
      assert.match(await asking.answers('no'), /nothing was changed/);
      await asking.sendAll();
      assert.deepEqual(asking.world.account.buttons?.() ?? [], []);
      await asking.ask(2);
      assert.match(await asking.answers('no'), /^Denied/);
      await asking.ended('denied');
      assert.equal(calls.calls.length, 1);
    });
  });
}

class Asking {
  readonly world: World;
  readonly calls: Awaited<ReturnType<typeof openTestCalls>>;
  readonly relay: RelayStore;
  readonly lease: LeaseRef;
  readonly message: InboundMessage;
  private id = '';
  private code = '';

  private constructor({
    world,
    calls,
    relay,
    lease,
    message,
  }: Pick<Asking, 'world' | 'calls' | 'relay' | 'lease' | 'message'>) {
    this.world = world;
    this.calls = calls;
    this.relay = relay;
    this.lease = lease;
    this.message = message;
  }

  static async open(t: TestContext, context: SuiteContext): Promise<Asking> {
    const world = await World.connected(t, context);
    const calls = await openTestCalls({ waitMs: 1 });
    t.after(() => calls.close());
    const { accountId, agentId, secrets } = calls;
    const { store } = calls.world;
    const { channel } = world.subject.platform;
    const access = { ...defaultAccess, mode: 'open' } as const;
    await channelsFixture(store).put({ accountId, agentId, channel, enabled: true, access, credentials: [] });
    const relay = createRelayStore(store, createConfirmationAnswers({ secrets }));
    const [lease] = await relay.acquire({ relay: 'hand', channels: [channel], limit: 1, leaseMs: 600_000 });
    await world.account.userWrites({ text: 'hello' });
    const message = await world.host.message('hello');
    await relay.receive(lease!, [message]);
    await execute(
      calls.world.database.connectionString,
      `update channel_messages set state = 'answered'; update channel_conversations set waiting_since = null`,
    );
    await calls.rule({
      rules: [{ on: 'connection:stripe', match: '*', policy: 'ask' }],
      deliver: [{ channel, conversation: message.conversation.id }],
      deciders: [message.sender.id],
    });
    world.host.onPress = (press) => relay.press(lease!, press);
    return new Asking({ world, calls, relay, lease: lease!, message });
  }

  private get hasButtons(): boolean {
    return this.world.account.buttons !== undefined;
  }

  /** The agent makes a call, and the person sees the question. */
  async ask(n: number): Promise<void> {
    const { calls, world } = this;
    assert.equal((await calls.send('/refunds', { body: `{"n":${n}}` })).status, 403);
    this.id = (await calls.asked()).id;
    await this.sendAll();
    if (this.hasButtons) {
      const { text, labels } = world.account.buttons!().at(-1)!;
      assert.deepEqual(labels, ['Allow', 'Deny']);
      assert.match(text, /waits for a yes: Send POST/);
      return;
    }
    this.code = /yes (\d{6})/.exec(readable(world.account.sent().at(-1)!.text))![1]!;
  }

  /** Returns the sentence that the person is shown. */
  async answers(answer: 'yes' | 'no', by?: 'another'): Promise<string> {
    const { account, host } = this.world;
    if (this.hasButtons) {
      const press = await account.userPresses!({ label: answer === 'yes' ? 'Allow' : 'Deny', ...(by && { by }) });
      await host.until(() => account.told!(press) !== null, 'the answer');
      return account.told!(press)!;
    }
    const text = by === undefined ? `${answer === 'yes' ? 'Yes' : 'No'}, ${this.code}!` : `${answer} ${this.code}`;
    await account.userWrites({ text });
    const message = await host.message(text);
    const sender = by === undefined ? message.sender : { ...message.sender, id: `${message.sender.id}-another` };
    await this.relay.receive(this.lease, [{ ...message, id: crypto.randomUUID(), sender }]);
    const said = await this.sendAll();
    return said.at(-1)!;
  }

  ended(status: 'done' | 'denied'): Promise<void> {
    return this.calls.ended(this.id, status);
  }

  /** Sends what waits, and returns its texts. */
  async sendAll(): Promise<readonly string[]> {
    const { relay, lease, world, message } = this;
    const said: string[] = [];
    for (;;) {
      const [part] = await relay.partsToSend([lease], 1);
      if (part === undefined) return said;
      const { content } = part;
      if (content.kind === 'markdown') {
        await relay.split(lease, part.id, [...world.subject.platform.render(content.markdown)]);
        continue;
      }
      assert.equal(await relay.sending(lease, part.id), true);
      await relay.sent(lease, part.id, await this.send(content, message));
      if (content.kind === 'text') said.push(content.text);
    }
  }

  private async send(content: PartToSend['content'], message: InboundMessage): Promise<string> {
    const { world } = this;
    if (content.kind === 'text') {
      const { text, format, choices } = content;
      return world.send({ kind: 'text', text, format, ...(choices && { choices }) }, message);
    }
    assert.ok(content.kind === 'edit');
    const [rendered] = world.subject.platform.render(content.markdown);
    const signal = AbortSignal.timeout(10_000);
    await world.connection!.closeChoices!(targetOf(message), content.messageId!, rendered!, signal);
    return content.messageId!;
  }
}

/** A mail's body, whichever way its parts are encoded. */
function readable(text: string): string {
  const blocks = text.split(/\r?\n\r?\n/).map((block) => Buffer.from(block, 'base64').toString());
  return [text, ...blocks].join('\n');
}
