import { createDiscord } from '../src/discord/discord.ts';
import { startDiscordStub } from '@lodge/testkit/discord';
import type { DiscordBot, DiscordChannel, DiscordStub } from '@lodge/testkit/discord';
import { describePlatform } from './suite.ts';
import type {
  AccountUnderTest,
  Misbehaviour,
  PlatformUnderTest,
  SentByAgent,
  UserMessage,
  Written,
} from './under-test.ts';

describePlatform(
  'Discord',
  {
    acknowledges: false,
    groups: true,
    threads: true,
    bots: true,
    files: true,
    limitsSends: true,
    progress: true,
    buttons: true,
    // A first direct message cannot be found: Discord lists none to bots.
    deafWithinMs: null,
    revokes: true,
  },
  async (): Promise<PlatformUnderTest> => {
    const stub = await startDiscordStub();
    const timings = {
      backoff: { firstMs: 20, maxMs: 200, stableMs: 1_000 },
      helloTimeoutMs: 1_000,
      readyTimeoutMs: 1_000,
      loginWaitMs: 10,
      settleMs: 30,
      compareAfterMs: 400,
      lateMs: 100,
    };
    const platform = createDiscord({ apiUrl: stub.apiUrl, callTimeoutMs: 2_000, timings });
    return { platform, account: async () => new DiscordAccount(stub), stop: () => stub.close() };
  },
);

const directId = '500000000000000001';
const groupId = '500000000000000002';

/** People and places of one bot. */
class DiscordAccount implements AccountUnderTest {
  readonly credentials;
  readonly secrets;
  readonly wrong;
  private readonly bot: DiscordBot;
  private readonly stub: DiscordStub;
  private group: DiscordChannel;

  constructor(stub: DiscordStub) {
    this.stub = stub;
    this.bot = stub.addBot();
    stub.gatewayOf(this.bot).heartbeatMs = 200;
    const { token, guildId, applicationId } = this.bot;
    this.group = { id: groupId, type: 0, name: 'general', guild_id: guildId };
    this.credentials = { botToken: token };
    this.secrets = [token];
    this.wrong = [
      { botToken: `${Buffer.from('800000000000999999').toString('base64url')}.Gstub1.${'q'.repeat(38)}` },
      { botToken: applicationId },
      { botToken: 'f'.repeat(64) },
      { botToken: '' },
    ];
  }

  async userWrites(message: UserMessage): Promise<Written> {
    if (message.groupName !== undefined) this.rename(message.groupName);
    const channel = this.channelOf(message);
    const last = message.repliesToAgent ? this.bot.sent.findLast((each) => each.channelId === channel.id) : undefined;
    const written = this.stub.write(this.bot, {
      channel,
      text: message.text,
      ...(message.mention && { mention: true }),
      ...(last && { repliesTo: last.message.id }),
      from: {
        ...(message.from?.name !== undefined && { global_name: message.from.name }),
        ...(message.from?.isBot && { bot: true }),
      },
      ...(message.file && {
        files: [{ name: message.file.name, type: message.file.mediaType, content: Buffer.from(message.file.bytes) }],
      }),
    });
    return { id: written.id, place: channel.id };
  }

  sent(): readonly SentByAgent[] {
    return this.bot.sent.map(({ channelId, message, file }) => ({
      place: channelId,
      text: message.content,
      file: file && { name: file.name, bytes: file.content },
    }));
  }

  shown(): readonly string[] {
    const all = [...this.bot.places.values()].flatMap(({ messages }) => messages);
    return all.filter(({ author }) => author.id === this.bot.user.id).map(({ content }) => content);
  }

  rang(): number {
    const ofNobody = JSON.stringify({ parse: [] });
    return this.bot.bodies.filter((body) => JSON.stringify(body['allowed_mentions']) !== ofNobody).length;
  }

  buttons(): readonly { readonly text: string; readonly labels: readonly string[] }[] {
    return this.withButtons().map(({ text, labels }) => ({ text, labels }));
  }

  async userPresses({
    label,
    by,
    isLate,
  }: {
    readonly label: string;
    readonly by?: 'another';
    readonly isLate?: true;
  }): Promise<string> {
    const { messageId } = this.withButtons().at(-1)!;
    const press = this.stub.press(this.bot, {
      messageId,
      label,
      ...(by && { from: { id: '600000000000000777', global_name: 'Bob' } }),
    });
    if (isLate) this.bot.interactions.delete(press);
    return press;
  }

  told(press: string): string | null {
    return this.bot.told.get(press) ?? null;
  }

  private withButtons() {
    return [...this.bot.places.values()].flatMap(({ messages }) =>
      messages.flatMap(({ id: messageId, content: text, components = [] }) => {
        const labels = components.flatMap((row) => row.components.map((each) => each.label));
        return labels.length === 0 ? [] : [{ messageId, text, labels }];
      }),
    );
  }

  typings(): number {
    return this.bot.typings.length;
  }

  acknowledged(): boolean {
    return false;
  }

  calls(): number {
    return this.stub.callsOf(this.bot).length + this.stub.gatewayOf(this.bot).opened;
  }

  async misbehave(how: Misbehaviour): Promise<void> {
    const gateway = this.stub.gatewayOf(this.bot);
    const sends = `POST /channels/${directId}/messages`;
    switch (how.do) {
      case 'unreachable':
        this.stub.isDown = true;
        return gateway.cut();
      case 'mend':
        this.stub.isDown = false;
        return this.stub.mend();
      case 'deaf':
        return gateway.deafen();
      case 'redeliver':
        return gateway.tellAgain();
      case 'revoke':
        this.bot.isRevoked = true;
        return gateway.close(4004);
      case 'unclear_next_send':
        return this.stub.fail({ on: sends, isLost: true });
      case 'limit_next_send':
      case 'limit_next_edit': {
        const seconds = how.retryAfterMs / 1_000;
        const body = { message: 'You are being rate limited.', retry_after: seconds, global: false };
        const on = how.do === 'limit_next_send' ? sends : sends.replace('POST', 'PATCH');
        return this.stub.fail({ on, status: 429, body, headers: { 'retry-after': String(seconds) } });
      }
    }
  }

  private channelOf(message: UserMessage): DiscordChannel {
    if (message.in !== 'group') return { id: directId, type: 1 };
    if (message.thread === undefined) return this.group;
    const id = `5000000000000001${message.thread.padStart(2, '0')}`;
    return { id, type: 11, name: 'thread', guild_id: this.bot.guildId, parent_id: groupId };
  }

  private rename(name: string): void {
    this.group = { ...this.group, name };
  }
}
