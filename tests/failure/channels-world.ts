/**
 * Agents with Telegram channels at a stub, relay processes to be killed, and who answers: everything of a deployment's channels
 * but its machines.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { createRelay, openedStore, usualRelayTimings } from '@lodge/channels/relay';
import type { Relay, RelayTimings } from '@lodge/channels/relay';
import { defaultAccess, defaultLifecycle, makeAgentId } from '@lodge/domain';
import { channelCredentialContext } from '@lodge/ports';
import type { ChannelFiles, Platform, RelayStore, SecretBox, WaitingConversation } from '@lodge/ports';
import type { ChannelMessage } from '@lodge/store/channels';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { startTelegramStub } from '@lodge/testkit/telegram';
import type { StubBot, TelegramStub } from '@lodge/testkit/telegram';
import { readConfig } from '../../apps/server/src/config/config.ts';
import { setUpsOf } from '../../apps/server/src/relay/platforms.ts';
import type { PlatformSetUps } from '../../apps/server/src/relay/platforms.ts';
import { relaysHere } from '../../apps/server/src/relay/testing/relays-here.ts';
import type { RelaysHere } from '../../apps/server/src/relay/testing/relays-here.ts';
import type { ServerJob } from './storm/server.ts';
import { firstAccount } from '../../packages/store/src/testing/fixture.ts';
import type { TurnResult } from '../../packages/engine/src/channels/answering/ending.ts';
import { openTestStore } from '../../packages/store/src/testing/agents-fixture.ts';
import type { TestStore } from '../../packages/store/src/testing/agents-fixture.ts';

const timings: RelayTimings = {
  ...usualRelayTimings,
  leaseMs: 6_000,
  renewEveryMs: 1_000,
  marginMs: 1_500,
  closeMs: 1_000,
  lookEveryMs: 500,
  openEveryMs: 5,
  retryFirstMs: 100,
};
const silent = {
  debug() {},
  info() {},
  warn() {},
  error: (fields: object, message: string) => console.error(message, fields),
};
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const access = { ...defaultAccess, mode: 'open', perSenderHourly: 100_000 } as const;

export interface Talker {
  readonly agentId: string;
  readonly bot: StubBot;
}

export class ChannelsWorld {
  readonly store: TestStore;
  readonly telegram: TelegramStub;
  readonly talkers: Talker[] = [];
  readonly files: ChannelFiles;
  accountId = '';
  private readonly database: TestDatabase;
  private readonly secrets: SecretBox;
  private readonly masterKey: Buffer;
  private readonly filesDir: string;
  private readonly relays = new Map<number, Promise<RelaysHere>>();

  private constructor(made: {
    database: TestDatabase;
    store: TestStore;
    telegram: TelegramStub;
    secrets: SecretBox;
    masterKey: Buffer;
    filesDir: string;
  }) {
    this.database = made.database;
    this.store = made.store;
    this.telegram = made.telegram;
    this.secrets = made.secrets;
    this.masterKey = made.masterKey;
    this.filesDir = made.filesDir;
    this.files = createChannelFiles(made.filesDir);
  }

  static async start(agents: number): Promise<ChannelsWorld> {
    const database = await testDatabase();
    const store = await openTestStore({ ...database, log: silent });
    const masterKey = randomBytes(32);
    const secrets = await openSecretBox(store.secrets, masterKey);
    const filesDir = await mkdtemp(join(tmpdir(), 'channel-files-'));
    const world = new ChannelsWorld({
      database,
      store,
      telegram: await startTelegramStub(),
      secrets,
      masterKey,
      filesDir,
    });
    world.accountId = await firstAccount(store.database);
    for (let n = 0; n < agents; n += 1) world.talkers.push(await world.addAgent());
    return world;
  }

  async addAgent(given: { readonly accountKey?: string } = {}): Promise<Talker> {
    const id = makeAgentId(randomInt);
    await this.store.agents.create(
      {
        id,
        accountId: this.accountId,
        name: 'bot',
        description: null,
        runtimeKind: 'runtime_a',
        model: 'p/m',
        size: 'small',
        lifecycle: { ...defaultLifecycle, idleTimeoutSeconds: 3_600 },
        metadata: {},
        llmKeys: [],
      },
      () => undefined,
    );
    const bot = this.telegram.bot();
    const sealed = this.secrets.seal(bot.token, channelCredentialContext(id, 'telegram', 'botToken'));
    await this.store.channels.put({
      accountId: this.accountId,
      agentId: id,
      channel: 'telegram',
      enabled: true,
      access,
      credentials: [{ name: 'botToken', sealed, last4: bot.token.slice(-4) }],
      accountKey: given.accountKey ?? String(bot.id),
    });
    return { agentId: id, bot };
  }

  /** Ends them all, and starts none. */
  async endRelays(): Promise<void> {
    for (const relays of this.relays.values()) await (await relays).close();
    this.relays.clear();
  }

  /** A killed relay is followed by another, until the world ends. */
  startRelay(place: number, given: Partial<RelayTimings> = {}): void {
    this.relays.set(place, this.relaysOf(`relay-${place}`, { ...timings, ...given }));
  }

  /** As a server starts them: with the usual timings, and over Telegram wherever it is reached. */
  relaysOfServer(telegramApi?: string): Promise<RelaysHere> {
    return this.relaysOf('world', undefined, telegramApi);
  }

  private relaysOf(instance: string, given?: RelayTimings, telegramApi?: string): Promise<RelaysHere> {
    return relaysHere({
      store: this.store.relay,
      notices: this.store.mailboxNotices,
      secrets: this.secrets,
      files: this.files,
      platforms: this.platforms(telegramApi),
      instance,
      logLevel: 'error',
      // A relay that is killed is what many tests are about.
      log: given === undefined ? silent : quiet,
      ...(given && { timings: given }),
    });
  }

  /** Returns the job of a server of its own that answers here, with its relays. */
  serverJob(given: Pick<ServerJob, 'turnMs' | 'putOffEvery'>): ServerJob {
    const { connectionString, accountId, filesDir } = this;
    const masterKey = this.masterKey.toString('base64');
    return {
      of: 'channels',
      ...given,
      connectionString,
      accountId,
      filesDir,
      masterKey,
      timings,
      platforms: this.platforms(),
    };
  }

  /** In this process, over any platform and store. */
  relayHere(platform: Platform, given: Partial<RelayTimings> = {}, store: RelayStore = this.store.relay): Relay {
    const { secrets, files } = this;
    const platforms = [platform];
    return createRelay({
      store: openedStore(store, secrets),
      platforms,
      files,
      name: 'here',
      log: quiet,
      timings: { ...timings, ...given },
    });
  }

  async killRelay(place: number): Promise<void> {
    const relays = await this.relays.get(place)!;
    const [pid] = relays.pids;
    process.kill(pid!, 'SIGKILL');
    while (relays.pids.includes(pid!)) await sleep(5);
  }

  async messagesOf(agentId: string): Promise<readonly ChannelMessage[]> {
    const all: ChannelMessage[] = [];
    for (;;) {
      const last = all.at(-1)?.id;
      const page = await this.store.channels.messages({
        accountId: this.accountId,
        agentId,
        limit: 500,
        ...(last !== undefined && { before: last }),
      });
      if (page.length === 0) return all.toReversed();
      all.push(...page);
    }
  }

  query<Row extends Record<string, unknown>>(statement: string): Promise<Row[]> {
    return execute<Row>(this.database.connectionString, statement);
  }

  get connectionString(): string {
    return this.database.connectionString;
  }

  private platforms(telegramApi = this.telegram.apiRoot): PlatformSetUps {
    return setUpsOf(readConfig({ LODGE_TELEGRAM_API: telegramApi }));
  }

  async close(): Promise<void> {
    await this.endRelays();
    await this.telegram.close();
    await this.store.close();
    await this.database.drop();
    await rm(this.filesDir, { recursive: true });
  }
}

/**
 * Makes turns as an engine does, in this process. Some of them "die": their claim is left to end by its time, and what they say
 * late has no effect once another has taken the conversation. An answer repeats the words that it answers.
 */
export class ToyAnswerer {
  private readonly store: TestStore;
  private readonly running: Promise<void>;
  private isEnding = false;
  private wake: (() => void) | null = null;
  private readonly forget: () => void;

  constructor(store: TestStore, deathsInHundred: number) {
    this.store = store;
    this.forget = store.channelTurns.onWork(() => this.wake?.());
    this.running = this.run(deathsInHundred);
  }

  async end(): Promise<void> {
    this.isEnding = true;
    this.wake?.();
    this.forget();
    await this.running;
  }

  private async run(deathsInHundred: number): Promise<void> {
    const { channelTurns: turns } = this.store;
    const dead: { readonly claim: WaitingConversation; readonly result: TurnResult }[] = [];
    while (!this.isEnding) {
      const claims = await turns.claim({ holder: 'toy', limit: 20, perAgent: 4, leaseMs: 2_000 });
      for (const claim of claims) {
        const result: TurnResult = {
          outcome: 'answered',
          reason: null,
          answer: { text: claim.messages.map(({ text }) => text).join(' '), files: [] },
        };
        if (randomInt(100) < deathsInHundred) dead.push({ claim, result });
        else await turns.answer(claim, result);
        if (dead.length > 3) {
          const late = dead.shift()!;
          await turns.answer(late.claim, late.result);
        }
      }
      if (claims.length === 0) await Promise.race([sleep(200), new Promise<void>((resolve) => (this.wake = resolve))]);
    }
  }
}
