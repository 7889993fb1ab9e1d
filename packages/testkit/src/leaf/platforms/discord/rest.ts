import type { DiscordBot, DiscordMessage, DiscordRow, Place } from './server.ts';

export interface RestRequest {
  readonly method: string;
  /** Behind the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  readonly files: readonly { readonly name: string; readonly type: string; readonly content: Buffer }[];
}

export interface RestAnswer {
  readonly status: number;
  readonly body?: unknown;
}

export interface RestWorld {
  readonly baseUrl: string;
  nextId(): string;
  gatewayOf(bot: DiscordBot): { readonly startsLeft: number };
  announce(bot: DiscordBot, message: DiscordMessage, guildId: string | undefined): void;
  /** Reports to sessions that a message has changed or gone. */
  changed(bot: DiscordBot, type: 'MESSAGE_UPDATE' | 'MESSAGE_DELETE', data: object): void;
}

export const maxContentChars = 2_000;
export const maxFileBytes = 10 * 1024 * 1024;

const error = (status: number, code: number, message: string): RestAnswer => ({ status, body: { code, message } });

/** The platform's answer to a bot's request. */
export function answerRest(bot: DiscordBot, request: RestRequest, world: RestWorld): RestAnswer {
  const { method, path } = request;
  switch (`${method} ${path}`) {
    case 'GET /users/@me':
      return { status: 200, body: bot.user };
    case 'GET /applications/@me':
      return { status: 200, body: { id: bot.applicationId, name: 'agent', flags: bot.mayReadContent ? 1 << 19 : 0 } };
    case 'GET /gateway/bot':
      return {
        status: 200,
        body: {
          url: world.baseUrl.replace('http', 'ws'),
          shards: 1,
          session_start_limit: {
            total: 1_000,
            remaining: world.gatewayOf(bot).startsLeft,
            reset_after: 500,
            max_concurrency: 1,
          },
        },
      };
    default: {
      const [, channelId = '', rest = ''] = /^\/channels\/(\d+)(.*)$/.exec(path) ?? [];
      const place = bot.places.get(channelId);
      if (channelId === '' || !place) return error(404, 10_003, 'Unknown Channel');
      if (!place.isAllowed) return error(403, 50_001, 'Missing Access');
      return ofChannel(bot, place, { ...request, path: rest }, world);
    }
  }
}

function ofChannel(bot: DiscordBot, place: Place, request: RestRequest, world: RestWorld): RestAnswer {
  const { method, path } = request;
  if (method === 'GET' && path === '') return { status: 200, body: place.channel };
  if (method === 'POST' && path === '/typing') {
    bot.typings.push(place.channel.id);
    return { status: 204 };
  }
  if (method === 'POST' && path === '/messages') return create(bot, place, request, world);
  if (method === 'GET' && path === '/messages') return { status: 200, body: pageOf(place, request.query) };
  const [, id] = /^\/messages\/(\d+)$/.exec(path) ?? [];
  const message = place.messages.find((each) => each.id === id);
  if (method === 'PATCH' && message) return edit(bot, place, { ...request, message }, world);
  if (method === 'DELETE' && message) {
    if (message.author.id !== bot.user.id) return error(403, 50_013, 'Missing Permissions');
    place.messages.splice(place.messages.indexOf(message), 1);
    world.changed(bot, 'MESSAGE_DELETE', { id: message.id, channel_id: place.channel.id });
    return { status: 204 };
  }
  if ((method === 'GET' || method === 'PATCH' || method === 'DELETE') && id !== undefined)
    return message ? { status: 200, body: message } : error(404, 10_008, 'Unknown Message');
  return error(404, 0, '404: Not Found');
}

function edit(
  bot: DiscordBot,
  place: Place,
  { message, body }: RestRequest & { readonly message: DiscordMessage },
  world: RestWorld,
): RestAnswer {
  if (message.author.id !== bot.user.id) return error(403, 50_005, 'Cannot edit a message authored by another user');
  const content = typeof body['content'] === 'string' ? body['content'] : message.content;
  const components = body['components'] === undefined ? message.components : rowsOf(body);
  if (Array.from(content).length > maxContentChars || components === null) return invalidForm();
  if (content.trim() === '') return error(400, 50_006, 'Cannot send an empty message');
  const edited = { ...message, content, ...(components && { components }), edited_timestamp: new Date().toISOString() };
  place.messages[place.messages.indexOf(message)] = edited;
  bot.bodies.push(body);
  world.changed(bot, 'MESSAGE_UPDATE', edited);
  return { status: 200, body: edited };
}

const invalidForm = (): RestAnswer => error(400, 50_035, 'Invalid Form Body');

/** Rows of buttons; null: Discord takes none of this form. */
function rowsOf({ components }: Readonly<Record<string, unknown>>): readonly DiscordRow[] | null {
  const rows = (components ?? []) as readonly DiscordRow[];
  const buttons = rows.flatMap((row) => row.components);
  const isRow = (row: DiscordRow): boolean =>
    row.type === 1 && row.components.length >= 1 && row.components.length <= 5;
  const areButtons = buttons.every(
    ({ type, style, label, custom_id: id }) =>
      type === 2 && style >= 1 && style <= 4 && label.length <= 80 && id.length >= 1 && id.length <= 100,
  );
  const areUnique = new Set(buttons.map((each) => each.custom_id)).size === buttons.length;
  return rows.length <= 5 && rows.every(isRow) && areButtons && areUnique ? rows : null;
}

/** The answer to a press: once, in time, with the token that came with it. No bot's token is needed. */
export function answerInteraction(
  bots: readonly DiscordBot[],
  path: string,
  body: Readonly<Record<string, unknown>>,
): RestAnswer {
  const [, id = '', token = ''] = /^\/interactions\/(\d+)\/([^/]+)\/callback$/.exec(path) ?? [];
  const bot = bots.find((each) => each.interactions.get(id) === decodeURIComponent(token));
  if (!bot) return error(404, 10_062, 'Unknown interaction');
  if (bot.told.has(id)) return error(400, 40_060, 'Interaction has already been acknowledged.');
  const { content, flags } = (body['data'] ?? {}) as { readonly content?: string; readonly flags?: number };
  if (body['type'] !== 4 || content === undefined || content.length > maxContentChars || flags !== 64)
    return invalidForm();
  bot.told.set(id, content);
  return { status: 204 };
}

/** The newest first, as the platform has it, also of those after a message. */
function pageOf({ messages }: Place, query: URLSearchParams): readonly DiscordMessage[] {
  const limit = Number(query.get('limit') ?? 50);
  const after = query.get('after');
  const later =
    after === null ? messages.slice(-limit) : messages.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, limit);
  return later.toReversed();
}

function create(bot: DiscordBot, place: Place, { body, files }: RestRequest, world: RestWorld): RestAnswer {
  const content = typeof body['content'] === 'string' ? body['content'] : '';
  const nonce = typeof body['nonce'] === 'string' ? body['nonce'] : undefined;
  if (Array.from(content).length > maxContentChars) return error(400, 50_035, 'Invalid Form Body');
  if (nonce !== undefined && nonce.length > 25) return error(400, 50_035, 'Invalid Form Body');
  if (content.trim() === '' && files.length === 0) return error(400, 50_006, 'Cannot send an empty message');
  const components = rowsOf(body);
  if (components === null) return invalidForm();
  if (files.some((file) => file.content.length > maxFileBytes)) return error(413, 40_005, 'Request entity too large');
  const earlier =
    nonce === undefined || body['enforce_nonce'] !== true ? null : place.messages.find((each) => each.nonce === nonce);
  if (earlier) return { status: 200, body: earlier };
  const reference = body['message_reference'] as { message_id: string; fail_if_not_exists?: boolean } | undefined;
  const answered = place.messages.find(({ id }) => id === reference?.message_id);
  if (reference && !answered && reference.fail_if_not_exists !== false) return error(400, 50_035, 'Invalid Form Body');
  const id = world.nextId();
  const attachments = files.map((file) => attachmentOf(bot, { channelId: place.channel.id, ...file }, world));
  const message: DiscordMessage = {
    id,
    type: answered ? 19 : 0,
    channel_id: place.channel.id,
    author: bot.user,
    content,
    timestamp: new Date().toISOString(),
    mentions: [],
    attachments,
    embeds: [],
    components,
    ...(nonce !== undefined && { nonce }),
    ...(answered && { message_reference: { message_id: answered.id }, referenced_message: answered }),
  };
  place.messages.push(message);
  bot.bodies.push(body);
  bot.sent.push({
    channelId: place.channel.id,
    message,
    file: files[0] ? { name: files[0].name, content: files[0].content } : null,
  });
  world.announce(bot, message, place.channel.guild_id);
  return { status: 200, body: message };
}

export function attachmentOf(
  bot: DiscordBot,
  file: { readonly channelId: string; readonly name: string; readonly type: string; readonly content: Buffer },
  world: Pick<RestWorld, 'baseUrl' | 'nextId'>,
) {
  const id = world.nextId();
  bot.files.set(id, file.content);
  return {
    id,
    filename: file.name,
    size: file.content.length,
    content_type: file.type,
    url: `${world.baseUrl}/attachments/${file.channelId}/${id}/${encodeURIComponent(file.name)}?ex=1&is=1&hm=stub`,
  };
}
