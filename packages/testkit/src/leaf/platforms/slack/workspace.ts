/** The contents of a workspace of the stub. Shapes are the platform's own, so that they can be sent as they are. */

export interface SlackMessage {
  readonly type: 'message';
  readonly ts: string;
  readonly user?: string;
  readonly bot_id?: string;
  readonly app_id?: string;
  readonly subtype?: string;
  readonly text: string;
  readonly thread_ts?: string;
  readonly parent_user_id?: string;
  readonly files?: readonly SlackFile[];
  readonly metadata?: unknown;
  /** The app's Markdown. */
  readonly markdown?: string;
  readonly blocks?: readonly SlackBlock[];
}

export interface SlackBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly elements?: readonly SlackButton[];
}

export interface SlackButton {
  readonly type: string;
  readonly action_id: string;
  readonly value: string;
  readonly text: { readonly type: string; readonly text: string };
}

export interface SlackFile {
  readonly id: string;
  readonly name: string;
  readonly mimetype: string;
  readonly size: number;
  readonly mode: 'hosted';
  readonly url_private: string;
  readonly url_private_download: string;
}

export interface SlackChannel {
  readonly id: string;
  readonly kind: 'im' | 'mpim' | 'channel';
  readonly name: string | null;
  readonly messages: SlackMessage[];
}

/** One app, installed in one workspace. */
export class SlackApp {
  readonly appId: string;
  readonly teamId: string;
  readonly appToken: string;
  readonly botToken: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly scopes: Set<string>;
  readonly channels = new Map<string, SlackChannel>();
  readonly users = new Map<string, string>();
  readonly files = new Map<string, { readonly file: SlackFile; readonly content: Buffer }>();
  /** The app's sent messages, in order. */
  readonly sent: (SlackMessage & { readonly channel: string; readonly at: number })[] = [];
  readonly sentFiles: { channel: string; threadTs?: string | undefined; name: string; content: Buffer; at: number }[] =
    [];
  readonly statuses: { channel: string; threadTs: string; status: string }[] = [];
  readonly reactions: { channel: string; ts: string; name: string; isAdded: boolean }[] = [];
  /** Messages that one person alone sees, with the arguments that they came with. */
  readonly ephemerals: { readonly text: string; readonly user: string; readonly args: object }[] = [];
  /** Updates that rang everybody. */
  broadcasts = 0;
  /** An error that every call of the app's tokens has, as `token_revoked`. */
  refusal: string | null = null;
  /** Every call and every socket of the app is cut. */
  isUnreachable = false;
  /** Sockets stay open, and not even a ping is answered. */
  isHalfOpen = false;
  /** Each event is delivered twice. */
  isDoubled = false;

  constructor(number: number, scopes: readonly string[]) {
    const serial = String(number).padStart(4, '0');
    this.appId = `A${serial}`;
    this.teamId = `T${serial}`;
    this.botUserId = `UBOT${serial}`;
    this.botId = `B${serial}`;
    this.appToken = `xapp-1-${this.appId}-1-${'f'.repeat(16)}`;
    this.botToken = `xoxb-${serial}-${'e'.repeat(16)}`;
    this.scopes = new Set(scopes);
  }

  user(id: string, name: string): string {
    this.users.set(id, name);
    return id;
  }

  channel(id: string, kind: SlackChannel['kind'], name: string | null = null): SlackChannel {
    const known = this.channels.get(id);
    if (known) return known;
    const channel = { id, kind, name, messages: [] };
    this.channels.set(id, channel);
    return channel;
  }
}

/** The scopes that the guide's manifest asks for. */
export const manifestScopes = [
  'app_mentions:read',
  'channels:history',
  'channels:read',
  'chat:write',
  'files:read',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:read',
  'im:write',
  'mpim:history',
  'mpim:read',
  'reactions:write',
  'users:read',
] as const;
