import { createSlack } from '../src/slack/slack.ts';
import { startSlackStub } from '@lodge/testkit/slack';
import type { SlackApp, SlackStub } from '@lodge/testkit/slack';
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
  'Slack',
  {
    acknowledges: true,
    groups: true,
    threads: true,
    bots: true,
    files: true,
    limitsSends: true,
    progress: true,
    buttons: true,
    deafWithinMs: 3_000,
    revokes: true,
  },
  async (): Promise<PlatformUnderTest> => {
    const stub = await startSlackStub({ retriesMs: [300, 600, 2_000, 4_000] });
    const backoff = { firstMs: 20, maxMs: 200, stableMs: 1_000 };
    const timings = {
      backoff,
      helloTimeoutMs: 2_000,
      pingEveryMs: 200,
      deadAfterMs: 800,
      compareAfterMs: 400,
      lateMs: 100,
      lookAgainMs: 20,
    };
    const platform = createSlack({ apiUrl: stub.apiUrl, callTimeoutMs: 2_000, timings });
    return { platform, account: async () => new SlackAccount(stub), stop: () => stub.close() };
  },
);

/** People and places of one app. The group is one of direct messages: in a channel each message begins a thread. */
class SlackAccount implements AccountUnderTest {
  readonly credentials;
  readonly secrets;
  readonly wrong;
  private readonly app: SlackApp;
  private readonly stub: SlackStub;
  private readonly threads = new Map<string, string>();
  private readonly presses: string[] = [];

  constructor(stub: SlackStub) {
    this.stub = stub;
    this.app = stub.addApp();
    const { appToken, botToken } = this.app;
    this.credentials = { appToken, botToken };
    this.secrets = [appToken, botToken];
    this.wrong = [
      { appToken, botToken: 'xoxb-0000-unknown' },
      { appToken: 'xapp-1-A9-1-unknown', botToken },
      { appToken, botToken: 'xoxp-1-of-a-person' },
      { appToken: botToken, botToken: appToken },
    ];
  }

  async userWrites(message: UserMessage): Promise<Written> {
    const isGroup = message.in === 'group';
    const channel = isGroup ? 'G0000001' : 'D0000001';
    const kind = isGroup ? 'mpim' : 'im';
    const threadTs =
      message.thread === undefined ? this.repliedTs(message, channel) : this.threadOf(message.thread, channel);
    const ts = this.stub.write(this.app, {
      channel,
      kind,
      ...(message.groupName !== undefined && { title: message.groupName }),
      ...(message.from?.name !== undefined && { userName: message.from.name }),
      ...(message.from?.isBot && { isBot: true }),
      text: message.mention ? `<@${this.app.botUserId}> ${message.text}` : message.text,
      ...(threadTs !== null && { threadTs }),
      ...(message.file && {
        files: [
          { name: message.file.name, mimetype: message.file.mediaType, content: Buffer.from(message.file.bytes) },
        ],
      }),
    });
    return { id: ts, place: placeOf(channel, threadTs) };
  }

  sent(): readonly SentByAgent[] {
    const texts = this.app.sent.map(({ channel, thread_ts: thread, text, at }) => ({
      place: placeOf(channel, thread),
      text,
      file: null,
      at,
    }));
    const files = this.app.sentFiles.map(({ channel, threadTs, name, content, at }) => ({
      place: placeOf(channel, threadTs),
      text: '',
      file: { name, bytes: content },
      at,
    }));
    return [...texts, ...files].toSorted((one, other) => one.at - other.at);
  }

  shown(): readonly string[] {
    const all = [...this.app.channels.values()].flatMap(({ messages }) => messages);
    return all.filter(({ bot_id: by }) => by === this.app.botId).map(({ text }) => text);
  }

  rang(): number {
    return this.app.broadcasts + this.shown().filter((text) => text.includes('<!')).length;
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
    const { channel, ts } = this.withButtons().at(-1)!;
    if (isLate) this.stub.fail({ method: 'chat.postEphemeral', error: 'user_not_in_channel' });
    const press = this.stub.press(this.app, {
      channel,
      ts,
      label,
      ...(by && { user: 'U0777', userName: 'Bob' }),
    });
    this.presses.push(press);
    return press;
  }

  /** Each press is answered once, in order. Slack shows a failure to the person when it was not acknowledged. */
  told(press: string): string | null {
    const call = this.stub.callsOf(this.app, 'chat.postEphemeral')[this.presses.indexOf(press)];
    const isAcknowledged = this.stub.events(this.app).acknowledged.includes(press);
    const found = this.app.ephemerals.find(({ args }) => args === call?.args);
    return isAcknowledged && found ? found.text : null;
  }

  private withButtons() {
    return [...this.app.channels.values()].flatMap(({ id: channel, messages }) =>
      messages.flatMap(({ ts, text, blocks = [] }) => {
        const labels = blocks.flatMap(({ elements = [] }) => elements.map((each) => each.text.text));
        return labels.length === 0 ? [] : [{ channel, ts, text, labels }];
      }),
    );
  }

  typings(): number {
    return this.app.statuses.length + this.app.reactions.length;
  }

  acknowledged({ id, place }: Written): boolean {
    return this.stub.events(this.app).isAcknowledged(place.split('/')[0]!, id);
  }

  calls(): number {
    return this.stub.callsOf(this.app).length + this.stub.events(this.app).opened;
  }

  async misbehave(how: Misbehaviour): Promise<void> {
    const events = this.stub.events(this.app);
    switch (how.do) {
      case 'unreachable':
        this.app.isUnreachable = true;
        return events.cut();
      case 'mend':
        this.app.isUnreachable = false;
        return this.stub.mend();
      case 'deaf':
        return events.deafen();
      case 'redeliver':
        return events.tellAgain();
      case 'revoke':
        this.app.refusal = 'token_revoked';
        return events.cut();
      case 'unclear_next_send':
        // Nor can the history be asked, which would make it clear.
        this.stub.fail({ method: 'chat.postMessage', isLost: true });
        return this.stub.fail({ method: 'conversations.history', isCut: true, times: 100 });
      case 'limit_next_send':
      case 'limit_next_edit': {
        const method = how.do === 'limit_next_send' ? 'chat.postMessage' : 'chat.update';
        return this.stub.fail({ method, status: 429, retryAfterSeconds: how.retryAfterMs / 1_000 });
      }
    }
  }

  private repliedTs({ repliesToAgent }: UserMessage, channel: string): string | null {
    if (!repliesToAgent) return null;
    const last = this.app.sent.findLast((each) => each.channel === channel)!;
    return last.thread_ts ?? last.ts;
  }

  /** A thread begins with a message of some time ago. */
  private threadOf(name: string, channel: string): string {
    const known = this.threads.get(name);
    if (known !== undefined) return known;
    const ts = this.stub.write(this.app, { channel, kind: 'mpim', text: 'long ago', isSilent: true, agoMs: 3_600_000 });
    this.threads.set(name, ts);
    return ts;
  }
}

const placeOf = (channel: string, threadTs: string | null | undefined): string =>
  threadTs ? `${channel}/${threadTs}` : channel;
