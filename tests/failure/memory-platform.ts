/** A platform in memory: what reaches it stays, whatever becomes of a connection. */
import { SendFailure } from '@lodge/ports';
import type {
  ChannelAccount,
  ChannelConnection,
  ConnectionHost,
  InboundMessage,
  OutboundPart,
  Platform,
  PlatformLimits,
  ProgressMessages,
  RenderedText,
} from '@lodge/ports';

export interface Sent {
  readonly conversationId: string;
  readonly text: string;
  readonly key: string;
  readonly index: number;
}

export class MemoryPlatform implements Platform {
  readonly channel = 'telegram';
  readonly limits: PlatformLimits;
  readonly sendsOnce: boolean;
  readonly sendsOnceForMs: number;
  /** The account that a connection says it is of, once it has said who it is. */
  readonly tellsAccount: boolean;
  accountKey = 'one';
  readonly verify = () => Promise.resolve({ identity: { id: '1', name: 'memory' }, accountKey: '1' });
  readonly sent: Sent[] = [];
  /** Every try, those that were told from an earlier one included. */
  readonly tries: string[] = [];
  readonly accounts: ChannelAccount[] = [];
  readonly typed: string[] = [];
  /** Connections that are open, and when one was closed, by `performance.now()`. */
  open: ConnectionHost[] = [];
  mostOpen = 0;
  closedAt = 0;
  onConnect: () => void = () => undefined;
  /** Before it has said that it is connected. */
  onOpened: (host: ConnectionHost) => void = () => undefined;
  onSend: (conversationId: string, tries: number) => Promise<void> = () => Promise.resolve();
  /** Messages that show progress and stand there, by id; and what was done, answers included. */
  readonly shown = new Map<string, string>();
  readonly done: string[] = [];
  onProgress: (what: 'post' | 'edit' | 'remove') => Promise<void> = () => Promise.resolve();
  onTyping: () => void = () => undefined;
  onClose: () => Promise<void> = () => Promise.resolve();

  constructor(given: {
    readonly sendsOnce: boolean;
    readonly sendsOnceForMs?: number;
    readonly tellsAccount?: boolean;
    readonly progress?: PlatformLimits['progress'];
  }) {
    const { progress } = given;
    this.limits = {
      textChars: 100,
      fileInBytes: 1_000,
      fileOutBytes: 1_000,
      typingEveryMs: 50,
      ...(progress && { progress }),
    };
    this.sendsOnce = given.sendsOnce;
    this.tellsAccount = given.tellsAccount ?? false;
    this.sendsOnceForMs = given.sendsOnceForMs ?? Infinity;
  }

  render(markdown: string): readonly RenderedText[] {
    if (markdown === 'unrenderable') throw new Error('not this');
    return markdown.split('|').map((text) => ({ text, format: null }));
  }

  private readonly progress: ProgressMessages = {
    post: async (_, text) => {
      const id = `p${(this.posted += 1)}`;
      this.done.push(`post ${text}`);
      this.shown.set(id, text);
      await this.onProgress('post');
      return { id };
    },
    edit: async (_, id, text) => {
      await this.onProgress('edit');
      this.done.push(`edit ${text}`);
      if (!this.shown.has(id)) throw new SendFailure('refused', 'There is no such message.');
      this.shown.set(id, text);
    },
    remove: async (_, id) => {
      await this.onProgress('remove');
      this.done.push('remove');
      this.shown.delete(id);
    },
  };
  private posted = 0;

  connect(account: ChannelAccount, host: ConnectionHost): ChannelConnection {
    this.accounts.push(account);
    this.onConnect();
    this.open.push(host);
    this.mostOpen = Math.max(this.mostOpen, this.open.length);
    const whose = this.tellsAccount && { accountKey: this.accountKey };
    const connected = { status: 'connected', identity: { id: '1', name: 'memory' }, ...whose } as const;
    this.onOpened(host);
    host.changed(connected);
    return {
      ...(this.limits.progress && { progress: this.progress }),
      send: async ({ conversationId, index }, part, key) => {
        this.tries.push(key);
        await this.onSend(conversationId, this.tries.filter((each) => each === key).length);
        const text = part.kind === 'text' ? part.text : await textOf(part);
        const isNew = !this.sendsOnce || this.sent.every((each) => each.key !== key);
        this.done.push(`send ${text}`);
        if (isNew) this.sent.push({ conversationId, text, key, index });
        return { id: `${this.sent.length}` };
      },
      typing: async ({ conversationId }) => {
        this.typed.push(conversationId);
        this.onTyping();
      },
      open: async (ref) => {
        if (ref === 'gone') throw new Error('it is gone');
        return bytesOf(ref);
      },
      close: async () => {
        host.changed({ status: 'disconnected', reason: { code: 'platform_unreachable', message: 'It is closed.' } });
        await this.onClose();
        this.open = this.open.filter((each) => each !== host);
        this.closedAt = performance.now();
      },
    };
  }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 100) yield Buffer.from(text.slice(at, at + 100));
}

async function textOf(part: Extract<OutboundPart, { readonly kind: 'file' }>): Promise<string> {
  let text = `${part.name}:`;
  for await (const chunk of part.open()) text += Buffer.from(chunk).toString();
  return text;
}

let made = 0;

export function said(text: string, given: Partial<InboundMessage> = {}): InboundMessage {
  made += 1;
  return {
    id: `m${made}`,
    conversation: { id: 'c1', kind: 'direct', title: null },
    sender: { id: 'u1', name: 'Ann', isBot: false },
    addressed: true,
    text,
    sentAt: new Date(),
    files: [],
    replyTo: null,
    ...given,
  };
}

export const fails = (outcome: SendFailure['outcome'], retryAfterMs = 0): Promise<never> =>
  Promise.reject(new SendFailure(outcome, `The platform said ${outcome}.`, { retryAfterMs }));
