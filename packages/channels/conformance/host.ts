/** The relay's side of a connection: records its reports, and misbehaves on command. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { isChoiceToken } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { LeaseLost, maxInboundChars, maxInboundFiles } from '@lodge/ports';
import type {
  ChannelSecrets,
  ConnectionHost,
  ConnectionState,
  InboundMessage,
  Log,
  Press,
  Pressed,
  Vault,
} from '@lodge/ports';

/** The effect of a call of `received` or `at`. `hang`: it never settles. */
export type CommitBehaviour = 'commit' | 'reject' | 'hang' | 'lease_lost';

/** Outlives its connections: what Postgres keeps. */
export class Kept {
  cursor: Json | null = null;
  credentials: ChannelSecrets;
  /** Every message that was committed, once. */
  readonly messages: InboundMessage[] = [];
  readonly values = new Map<string, string>();
  constructor(credentials: ChannelSecrets) {
    this.credentials = credentials;
  }
}

export class TestHost implements ConnectionHost {
  readonly kept: Kept;
  readonly states: ConnectionState[] = [];
  /** Every message of every call, committed or not. */
  readonly deliveries: InboundMessage[] = [];
  /** Everything that was logged or told, with all that hangs on it. */
  readonly lines: string[] = [];
  behaviour: CommitBehaviour = 'commit';
  /** Calls of `received` with messages, and of the vault that a lost lease refused. */
  attempts = 0;
  private readonly onState: ((state: ConnectionState) => void) | undefined;

  constructor(kept: Kept, onState?: (state: ConnectionState) => void) {
    this.kept = kept;
    this.onState = onState;
  }

  async received(messages: readonly InboundMessage[], cursor?: Json): Promise<void> {
    assert.ok(messages.length <= 100, `${messages.length} messages at once`);
    if (messages.length > 0) this.attempts += 1;
    for (const message of messages) {
      assertBounded(message);
      this.deliveries.push(message);
    }
    await this.outcome();
    for (const message of messages) {
      if (!this.kept.messages.some(({ id }) => id === message.id)) this.kept.messages.push(message);
    }
    if (cursor !== undefined) this.kept.cursor = throughJson(cursor);
  }

  /** Presses of every call, committed or not. */
  readonly presses: Press[] = [];
  /** The engine's answer to a press. */
  pressAnswer: Pressed = { say: 'It is allowed.', close: false };
  onPress: (press: Press) => Promise<Pressed> = async () => this.pressAnswer;

  async pressed(press: Press): Promise<Pressed> {
    assertPress(press);
    this.presses.push(press);
    await this.outcome();
    return this.onPress(press);
  }

  /** Everybody may write but these senders. */
  readonly strangers = new Set<string>();

  async admits({ sender }: Pick<InboundMessage, 'sender'>): Promise<boolean> {
    if (this.behaviour === 'lease_lost') {
      this.attempts += 1;
      throw new LeaseLost();
    }
    return !this.strangers.has(sender.id);
  }

  async at(cursor: Json): Promise<void> {
    await this.outcome();
    this.kept.cursor = throughJson(cursor);
  }

  changed(state: ConnectionState): void {
    this.states.push(state);
    const { status } = state;
    if ('reason' in state) {
      assert.ok(state.reason.message.length < 400, 'a reason is a sentence');
      this.note('state', state.reason);
    } else this.note('state', { status, identity: 'identity' in state ? state.identity : null });
    this.onState?.(state);
  }

  async keep(credentials: ChannelSecrets): Promise<void> {
    this.kept.credentials = { ...this.kept.credentials, ...credentials };
  }

  readonly vault: Vault = {
    get: async (type, ids) =>
      Object.fromEntries(
        ids.flatMap((id) => {
          const value = this.kept.values.get(`${type}/${id}`);
          return value === undefined ? [] : [[id, value]];
        }),
      ),
    set: async (values, messages) => {
      if (messages) await this.received(messages);
      else if (this.behaviour === 'lease_lost') {
        this.attempts += 1;
        throw new LeaseLost();
      }
      for (const { type, id, value } of values) {
        if (value === null) this.kept.values.delete(`${type}/${id}`);
        else this.kept.values.set(`${type}/${id}`, value);
      }
    },
    clear: async () => this.kept.values.clear(),
  };

  readonly log: Log = {
    debug: (fields, message) => this.note(message, fields),
    info: (fields, message) => this.note(message, fields),
    warn: (fields, message) => this.note(message, fields),
    error: (fields, message) => this.note(message, fields),
  };

  /** Keeps something that must not hold a secret. */
  note(message: string, value: unknown): void {
    this.lines.push(`${message} ${inspect(value, { depth: 8, maxStringLength: 10_000, breakLength: Infinity })}`);
  }

  get status(): ConnectionState['status'] | null {
    return this.states.at(-1)?.status ?? null;
  }

  /** The message of this text, once it is committed. */
  async message(text: string, timeoutMs = 5_000): Promise<InboundMessage> {
    await this.until(() => this.kept.messages.some((each) => each.text === text), `the message ${text}`, timeoutMs);
    return this.kept.messages.find((each) => each.text === text)!;
  }

  async reaches(status: ConnectionState['status'], timeoutMs = 5_000): Promise<void> {
    await this.until(() => this.status === status, `the state ${status}`, timeoutMs);
  }

  async until(isSo: () => boolean, what: string, timeoutMs = 5_000): Promise<void> {
    const latest = Date.now() + timeoutMs;
    while (!isSo()) {
      if (Date.now() > latest) {
        assert.fail(
          `${what} did not come within ${timeoutMs} ms; states: ${this.states.map(({ status }) => status).join(', ')}; ${this.lines.slice(-5).join(' | ')}`,
        );
      }
      await sleep(10);
    }
  }

  /** Writes to a connection that delivers nothing. A finding during the call proves nothing. */
  async findsDeaf(write: (text: string) => void, isFound: () => boolean): Promise<void> {
    for (let written = 0; !isFound() && written < 20; written += 1) {
      const text = `unheard ${written}`;
      write(text);
      await this.message(text);
    }
    await this.until(isFound, 'another connection');
  }

  private async outcome(): Promise<void> {
    if (this.behaviour === 'reject') throw new Error('the database is away');
    if (this.behaviour === 'lease_lost') throw new LeaseLost();
    if (this.behaviour === 'hang') await new Promise(() => undefined);
  }
}

/** As Postgres gives it back. */
const throughJson = (cursor: Json): Json => JSON.parse(JSON.stringify(cursor)) as Json;

function assertPress({ token, sender, conversation, messageId }: Press): void {
  assert.ok(isChoiceToken(token), 'token of a press');
  assert.ok(messageId.length > 0 && messageId.length <= 200, 'message of a press');
  assert.ok(conversation.id.length > 0 && conversation.id.length <= 200, 'conversation of a press');
  assert.ok(sender.id.length > 0 && sender.id.length <= 200 && sender.name.length <= 200, 'sender of a press');
}

function assertBounded(message: InboundMessage): void {
  const { id, conversation, sender, text, files, replyTo, sentAt } = message;
  assert.ok(id.length > 0 && id.length <= 200, 'id of a message');
  assert.ok(conversation.id.length > 0 && conversation.id.length <= 200, 'id of a conversation');
  assert.ok((conversation.title ?? '').length <= 200, 'title of a conversation');
  assert.ok(sender.id.length > 0 && sender.id.length <= 200, 'id of a sender');
  assert.ok(sender.name.length <= 200, 'name of a sender');
  assert.ok(text.length <= maxInboundChars, 'text of a message');
  assert.ok(files.length <= maxInboundFiles, 'files of a message');
  assert.ok(!Number.isNaN(sentAt.getTime()), 'time of a message');
  if (replyTo !== null) assert.ok(JSON.stringify(replyTo).length <= 4096, 'replyTo of a message');
  for (const file of files) {
    assert.ok(file.ref.length > 0 && file.ref.length <= 2048, 'ref of a file');
    assert.ok(file.name.length > 0 && file.name.length <= 200, 'name of a file');
    assert.ok(file.mediaType.length <= 200, 'media type of a file');
  }
}
