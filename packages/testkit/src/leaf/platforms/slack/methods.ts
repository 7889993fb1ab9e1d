import type { SlackApp, SlackBlock, SlackButton, SlackChannel, SlackMessage } from './workspace.ts';

export type Arguments = Readonly<Record<string, string>>;
export type Answer = Record<string, unknown>;

/** An error in the platform's words. */
export class SlackRefusal extends Error {
  readonly answer: Answer;
  constructor(error: string, more: Answer = {}) {
    super(error);
    this.answer = { ok: false, error, ...more };
  }
}

export interface MethodWorld {
  /** Where the stub serves uploads and files. */
  readonly baseUrl: string;
  nextTs(): string;
  nextId(): string;
  /** Reports to sockets that a message has changed or gone. */
  changed(app: SlackApp, channel: SlackChannel, event: object): void;
}

interface Method {
  /** The bot scope that the platform asks for. */
  readonly scope: string | ((args: Arguments, app: SlackApp) => string) | null;
  answer(app: SlackApp, args: Arguments, world: MethodWorld): Answer;
}

export const maxMarkdownChars = 12_000;
export const maxTextChars = 40_000;

/** Methods of a bot's token, by name. */
export const methods: Readonly<Record<string, Method>> = {
  'auth.test': {
    scope: null,
    answer: (app) => ({
      url: 'https://stub.slack.com/',
      team: 'Stub',
      user: 'agent',
      team_id: app.teamId,
      user_id: app.botUserId,
      bot_id: app.botId,
      is_enterprise_install: false,
    }),
  },
  'bots.info': {
    scope: 'users:read',
    answer: (app) => ({ bot: { id: app.botId, app_id: app.appId, user_id: app.botUserId, name: 'agent' } }),
  },
  'chat.postMessage': { scope: 'chat:write', answer: post },
  'chat.postEphemeral': { scope: 'chat:write', answer: whisper },
  'chat.update': { scope: 'chat:write', answer: update },
  'chat.delete': { scope: 'chat:write', answer: remove },
  'assistant.threads.setStatus': {
    scope: 'chat:write',
    answer: (app, args) => {
      channelOf(app, args['channel_id']);
      if (!args['thread_ts']) throw new SlackRefusal('invalid_thread_ts');
      app.statuses.push({ channel: args['channel_id']!, threadTs: args['thread_ts'], status: args['status'] ?? '' });
      return {};
    },
  },
  'reactions.add': { scope: 'reactions:write', answer: (app, args) => react(app, args, true) },
  'reactions.remove': { scope: 'reactions:write', answer: (app, args) => react(app, args, false) },
  'users.info': {
    scope: 'users:read',
    answer: (app, args) => {
      const name = app.users.get(args['user'] ?? '');
      if (name === undefined) throw new SlackRefusal('user_not_found');
      return {
        user: { id: args['user'], name: 'login', real_name: name, profile: { display_name: name, real_name: name } },
      };
    },
  },
  'conversations.info': {
    scope: (args, app) => scopeOf(app, args, 'read'),
    answer: (app, args) => {
      const { id, name, kind } = channelOf(app, args['channel']);
      return { channel: { id, ...(name !== null && { name }), is_im: kind === 'im', is_mpim: kind === 'mpim' } };
    },
  },
  'users.conversations': {
    scope: 'im:read',
    answer: (app, args) => {
      const types = (args['types'] ?? 'public_channel').split(',');
      const kinds = types.map((type) => (type.endsWith('_channel') ? 'channel' : type));
      const channels = [...app.channels.values()].filter(({ kind }) => kinds.includes(kind));
      return { channels: channels.map(({ id }) => ({ id })), response_metadata: { next_cursor: '' } };
    },
  },
  'conversations.history': {
    scope: (args, app) => scopeOf(app, args, 'history'),
    answer: (app, args) =>
      pageOf(
        channelOf(app, args['channel']).messages.filter(
          ({ thread_ts: thread, ts }) => thread === undefined || thread === ts,
        ),
        args,
      ),
  },
  'conversations.replies': {
    scope: (args, app) => scopeOf(app, args, 'history'),
    answer: (app, args) => {
      const { messages } = channelOf(app, args['channel']);
      const thread = messages.filter(({ ts, thread_ts: of }) => ts === args['ts'] || of === args['ts']);
      if (thread.length === 0) throw new SlackRefusal('thread_not_found');
      return pageOf(thread, args);
    },
  },
  'files.info': {
    scope: 'files:read',
    answer: (app, args) => {
      const found = app.files.get(args['file'] ?? '');
      if (!found) throw new SlackRefusal('file_not_found');
      return { file: found.file };
    },
  },
  'files.getUploadURLExternal': {
    scope: 'files:write',
    answer: (app, args, world) => {
      if (!args['filename'] || !(Number(args['length']) > 0)) throw new SlackRefusal('invalid_arguments');
      const id = `F${world.nextId()}`;
      app.files.set(id, {
        file: fileOf(id, args['filename'], 'application/octet-stream', 0, world),
        content: Buffer.alloc(0),
      });
      return { upload_url: `${world.baseUrl}/upload/${app.appId}/${id}?length=${args['length']}`, file_id: id };
    },
  },
  'files.completeUploadExternal': { scope: 'files:write', answer: completeUpload },
};

export const fileOf = (
  id: string,
  name: string,
  mimetype: string,
  size: number,
  { baseUrl }: Pick<MethodWorld, 'baseUrl'>,
) =>
  ({
    id,
    name,
    mimetype,
    size,
    mode: 'hosted',
    url_private: `${baseUrl}/files/${id}`,
    url_private_download: `${baseUrl}/files/${id}`,
  }) as const;

function post(app: SlackApp, args: Arguments, world: MethodWorld): Answer {
  const channel = channelOf(app, args['channel']);
  const { text = '', markdown_text: markdown, thread_ts: thread } = args;
  if (markdown !== undefined && (text !== '' || args['blocks'])) throw new SlackRefusal('markdown_text_conflict');
  if (markdown !== undefined && markdown.length > maxMarkdownChars) throw new SlackRefusal('msg_too_long');
  if (text.length > maxTextChars) throw new SlackRefusal('msg_too_long');
  const blocks = blocksOf(args);
  const shown = markdown ?? text;
  if (shown.trim() === '') throw new SlackRefusal('no_text');
  const parent = channel.messages.find(({ ts }) => ts === thread);
  if (thread !== undefined && !parent) throw new SlackRefusal('thread_not_found');
  const message: SlackMessage = {
    type: 'message',
    subtype: 'bot_message',
    ts: world.nextTs(),
    user: app.botUserId,
    bot_id: app.botId,
    app_id: app.appId,
    text: shown,
    ...(markdown !== undefined && { markdown }),
    ...(blocks && { blocks }),
    ...(thread !== undefined && { thread_ts: thread }),
    ...(args['metadata'] !== undefined && { metadata: JSON.parse(args['metadata']) as unknown }),
  };
  channel.messages.push(message);
  app.sent.push({ ...message, channel: channel.id, at: performance.now() });
  return { channel: channel.id, ts: message.ts, message };
}

/** Unlike a post, it looks for names in the text unless `parse` says otherwise. */
function update(app: SlackApp, args: Arguments, world: MethodWorld): Answer {
  const { channel, message, at } = ownMessage(app, args, 'cant_update_message');
  const { text = '' } = args;
  if (text.trim() === '') throw new SlackRefusal('no_text');
  if (text.length > maxTextChars) throw new SlackRefusal('msg_too_long');
  const rings = args['parse'] !== 'none' && /@(?:channel|here|everyone)\b/.test(text);
  if (rings) app.broadcasts += 1;
  const { blocks: _before, ...bare } = message;
  const blocks = blocksOf(args);
  const edited = { ...bare, text, ...(blocks && { blocks }), edited: { user: app.botUserId, ts: world.nextTs() } };
  channel.messages[at] = edited;
  world.changed(app, channel, { subtype: 'message_changed', message: edited, previous_message: message });
  return { channel: channel.id, ts: message.ts, text, message: edited };
}

function whisper(app: SlackApp, args: Arguments): Answer {
  channelOf(app, args['channel']);
  const { text = '', user = '' } = args;
  if (!app.users.has(user)) throw new SlackRefusal('user_not_in_channel');
  if (text.trim() === '') throw new SlackRefusal('no_text');
  app.ephemerals.push({ text, user, args });
  return { message_ts: '1.000001' };
}

/** The bounds of docs.slack.dev/reference/block-kit. */
function blocksOf({ blocks }: Arguments): readonly SlackBlock[] | null {
  if (blocks === undefined) return null;
  const all = JSON.parse(blocks) as readonly SlackBlock[];
  const sizes: Readonly<Record<string, (block: any) => boolean>> = {
    markdown: ({ text }) => text.length > 0 && text.length <= maxMarkdownChars,
    section: ({ text }) => text.type === 'mrkdwn' && text.text.length > 0 && text.text.length <= 3_000,
    actions: ({ elements }) => elements.length > 0 && elements.length <= 25 && elements.every(isButton),
  };
  if (all.length > 50 || !all.every((block) => sizes[block.type]?.(block))) throw new SlackRefusal('invalid_blocks');
  const names = all.flatMap(({ elements = [] }) => elements.map((each) => each.action_id));
  if (new Set(names).size < names.length) throw new SlackRefusal('invalid_blocks');
  return all;
}

const isButton = ({ type, action_id: name, value, text }: SlackButton): boolean =>
  type === 'button' &&
  name.length > 0 &&
  name.length <= 255 &&
  value.length <= 2_000 &&
  text.type === 'plain_text' &&
  text.text.length > 0 &&
  text.text.length <= 75;

function remove(app: SlackApp, args: Arguments, world: MethodWorld): Answer {
  const { channel, message, at } = ownMessage(app, args, 'cant_delete_message');
  channel.messages.splice(at, 1);
  world.changed(app, channel, { subtype: 'message_deleted', deleted_ts: message.ts, previous_message: message });
  return { channel: channel.id, ts: message.ts };
}

function ownMessage(
  app: SlackApp,
  args: Arguments,
  otherwise: string,
): { readonly channel: SlackChannel; readonly message: SlackMessage; readonly at: number } {
  const channel = channelOf(app, args['channel']);
  const at = channel.messages.findIndex(({ ts }) => ts === args['ts']);
  const message = channel.messages[at];
  if (!message) throw new SlackRefusal('message_not_found');
  if (message.bot_id !== app.botId) throw new SlackRefusal(otherwise);
  return { channel, message, at };
}

function completeUpload(app: SlackApp, args: Arguments): Answer {
  const files = JSON.parse(args['files'] ?? '[]') as { id: string; title?: string }[];
  const channel = channelOf(app, args['channel_id']);
  for (const { id, title } of files) {
    const known = app.files.get(id);
    if (!known || known.content.length === 0) throw new SlackRefusal('file_not_found');
    const name = title ?? known.file.name;
    app.sentFiles.push({
      channel: channel.id,
      threadTs: args['thread_ts'],
      name,
      content: known.content,
      at: performance.now(),
    });
  }
  return { files };
}

function react(app: SlackApp, args: Arguments, isAdded: boolean): Answer {
  const channel = channelOf(app, args['channel']);
  const { timestamp: ts = '', name = '' } = args;
  if (!channel.messages.some((message) => message.ts === ts)) throw new SlackRefusal('message_not_found');
  const last = app.reactions.findLast((each) => each.ts === ts && each.name === name);
  if ((last?.isAdded ?? false) === isAdded) throw new SlackRefusal(isAdded ? 'already_reacted' : 'no_reaction');
  app.reactions.push({ channel: channel.id, ts, name, isAdded });
  return {};
}

function channelOf(app: SlackApp, id: string | undefined): SlackChannel {
  const channel = app.channels.get(id ?? '');
  if (!channel) throw new SlackRefusal('channel_not_found');
  return channel;
}

function scopeOf(app: SlackApp, args: Arguments, what: 'history' | 'read'): string {
  const { id, kind } = channelOf(app, args['channel']);
  if (kind !== 'channel') return `${kind}:${what}`;
  return `${id.startsWith('G') ? 'groups' : 'channels'}:${what}`;
}

/** The newest first for a channel's history, as the platform has it; a page's cursor is the place after it. */
function pageOf(messages: readonly SlackMessage[], args: Arguments): Answer {
  const oldest = Number(args['oldest'] ?? 0);
  const isThread = args['ts'] !== undefined;
  const within = messages.filter(({ ts }) =>
    args['inclusive'] === 'true' ? Number(ts) >= oldest : Number(ts) > oldest,
  );
  const ordered = isThread ? within : within.toReversed();
  const start = Number(args['cursor'] ?? 0);
  const end = start + Math.min(Number(args['limit'] ?? 100), 999);
  const hasMore = end < ordered.length;
  const withMetadata = args['include_all_metadata'] === 'true';
  return {
    messages: ordered.slice(start, end).map(({ markdown: _markdown, metadata, ...message }) => ({
      ...message,
      ...(withMetadata && metadata !== undefined && { metadata }),
    })),
    has_more: hasMore,
    response_metadata: { next_cursor: hasMore ? String(end) : '' },
  };
}
