import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { DiscordGateway } from './gateway.ts';
import { answerInteraction, answerRest, attachmentOf } from './rest.ts';
import type { RestRequest } from './rest.ts';
import { DiscordBot, snowflake } from './server.ts';
import type { DiscordChannel, DiscordMessage, DiscordUser } from './server.ts';

/** How requests go wrong whose `<method> <path>` begins so, as `POST /channels/`. */
export interface DiscordFault {
  readonly on: string;
  /** 1 by default. */
  readonly times?: number;
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMs?: number;
  /** Carried out, and the answer is lost. */
  readonly isLost?: boolean;
  readonly isCut?: boolean;
}

export interface DiscordWriting {
  readonly channel: DiscordChannel;
  readonly text: string;
  readonly from?: Partial<DiscordUser>;
  /** The bot is mentioned at the beginning. */
  readonly mention?: boolean;
  readonly repliesTo?: string;
  readonly files?: readonly { readonly name: string; readonly type: string; readonly content: Buffer }[];
  readonly type?: number;
  /** It is in the channel, and no event reports it. */
  readonly isSilent?: boolean;
  readonly agoMs?: number;
}

export interface DiscordPressing {
  readonly messageId: string;
  readonly label: string;
  readonly from?: Partial<DiscordUser>;
  /** Fields that are put over those of the interaction. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export const startDiscordStub = async (): Promise<DiscordStub> => {
  const stub = new DiscordStub();
  await stub.listen();
  return stub;
};

/** The platform's REST API, its gateway and its CDN at one address. */
export class DiscordStub {
  readonly calls: { readonly bot: DiscordBot | null; readonly line: string }[] = [];
  /** Every request and every new socket is cut. */
  isDown = false;
  private readonly bots: { readonly bot: DiscordBot; readonly gateway: DiscordGateway }[] = [];
  private readonly faults: { readonly fault: DiscordFault; left: number }[] = [];
  private readonly server: Server;
  private readonly sockets = new WebSocketServer({ noServer: true });
  private serial = 0;
  private lastMs = 0;

  constructor() {
    this.server = createServer((req, res) => {
      void this.answer(req, res).catch(() => res.destroy());
    });
    this.server.on('upgrade', (req, socket, head) => {
      socket.on('error', () => undefined);
      if (this.isDown) return void socket.destroy();
      this.sockets.handleUpgrade(req, socket, head, (opened) => this.greet(opened));
    });
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get apiUrl(): string {
    return `${this.baseUrl}/api`;
  }

  addBot(): DiscordBot {
    const bot = new DiscordBot(this.bots.length + 1);
    this.bots.push({ bot, gateway: new DiscordGateway(bot, () => this.baseUrl.replace('http', 'ws')) });
    return bot;
  }

  gatewayOf(bot: DiscordBot): DiscordGateway {
    return this.bots.find((each) => each.bot === bot)!.gateway;
  }

  callsOf(bot: DiscordBot): string[] {
    return this.calls.filter((each) => each.bot === bot).map(({ line }) => line);
  }

  fail(fault: DiscordFault): void {
    this.faults.push({ fault, left: fault.times ?? 1 });
  }

  mend(): void {
    this.faults.length = 0;
  }

  /** A person, or another bot, writes. */
  write(bot: DiscordBot, writing: DiscordWriting): DiscordMessage {
    const { channel, mention = false, files = [] } = writing;
    const place = bot.place(channel);
    const answered = place.messages.find(({ id }) => id === writing.repliesTo);
    const message: DiscordMessage = {
      id: this.nextId(writing.agoMs),
      type: writing.type ?? (answered ? 19 : 0),
      channel_id: channel.id,
      author: { id: '600000000000000001', username: 'ann', global_name: 'Ann', discriminator: '0', ...writing.from },
      content: mention ? `<@${bot.user.id}> ${writing.text}` : writing.text,
      timestamp: new Date(Date.now() - (writing.agoMs ?? 0)).toISOString(),
      mentions: [...(mention ? [bot.user] : []), ...(answered ? [answered.author] : [])],
      attachments: files.map((file) => attachmentOf(bot, { channelId: channel.id, ...file }, this)),
      embeds: [],
      ...(answered && { message_reference: { message_id: answered.id }, referenced_message: answered }),
    };
    place.messages.push(message);
    if (!writing.isSilent) this.announce(bot, message, channel.guild_id);
    return message;
  }

  /** A person presses a button of a message. Returns the id of the press. */
  press(bot: DiscordBot, { messageId, label, from, extra }: DiscordPressing): string {
    const places = [...bot.places.values()];
    const place = places.find(({ messages }) => messages.some(({ id }) => id === messageId))!;
    const message = place.messages.find(({ id }) => id === messageId)!;
    const button = (message.components ?? [])
      .flatMap(({ components }) => components)
      .find((each) => each.label === label);
    if (!button) throw new Error(`there is no button ${label}`);
    const id = this.nextId();
    const token = `aW50ZXJhY3Rpb24_${id}.-x`;
    bot.interactions.set(id, token);
    const user = { id: '600000000000000001', username: 'ann', global_name: 'Ann', discriminator: '0', ...from };
    const { channel } = place;
    this.gatewayOf(bot).dispatch('INTERACTION_CREATE', {
      id,
      application_id: bot.applicationId,
      type: 3,
      token,
      version: 1,
      channel_id: channel.id,
      channel: { id: channel.id, type: channel.type, ...(channel.parent_id && { parent_id: channel.parent_id }) },
      ...(channel.guild_id === undefined
        ? { user, context: 1 }
        : { guild_id: channel.guild_id, member: { user, nick: null, permissions: '0' }, context: 0 }),
      message,
      data: { custom_id: button.custom_id, component_type: 2, id: 1 },
      ...extra,
    });
    return id;
  }

  announce(bot: DiscordBot, message: DiscordMessage, guildId: string | undefined): void {
    this.gatewayOf(bot).tell(message, guildId);
  }

  changed(bot: DiscordBot, type: 'MESSAGE_UPDATE' | 'MESSAGE_DELETE', data: object): void {
    this.gatewayOf(bot).dispatch(type, data);
  }

  nextId(agoMs = 0): string {
    this.lastMs = Math.max(this.lastMs, Date.now());
    this.serial += 1;
    return snowflake(this.lastMs - agoMs, this.serial);
  }

  async close(): Promise<void> {
    for (const { gateway } of this.bots) gateway.cut();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** The token comes with the first frame, so the bot is known no sooner. */
  private greet(socket: WebSocket): void {
    let gateway: DiscordGateway | null = null;
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const frame = JSON.parse((data as Buffer).toString()) as { op: number; d: { token?: string } | null };
      if (gateway) return gateway.take(socket, frame);
      if (frame.op === 1) return socket.send(JSON.stringify({ op: 11 }));
      const found = this.bots.find(({ bot }) => bot.token === frame.d?.token);
      if (!found || found.bot.isRevoked) return socket.close(4004, 'Authentication failed.');
      found.gateway.join(socket, (joined) => {
        gateway = joined;
      });
      if (!found.gateway.isMute) found.gateway.begin(socket, frame);
    });
    const interval = Math.min(...this.bots.map((each) => each.gateway.heartbeatMs));
    socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: interval } }));
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', this.baseUrl);
    const body = await buffer(req);
    if (url.pathname.startsWith('/attachments/')) return this.giveFile(url, req, res);
    const token = (req.headers.authorization ?? '').replace('Bot ', '');
    const bot = this.bots.find((each) => each.bot.token === token)?.bot ?? null;
    const path = url.pathname.replace('/api/v10', '');
    const line = `${req.method} ${path}`;
    this.calls.push({ bot, line });
    if (this.isDown) return void res.destroy();
    const fault = this.faultOf(line);
    if (fault?.delayMs) await sleep(fault.delayMs);
    if (fault?.isCut) return void res.destroy();
    if (fault?.status !== undefined)
      return reply(res, fault.status, fault.body ?? { message: 'fault', code: 0 }, fault.headers);
    if (path.startsWith('/interactions/')) {
      const { body: said } = await requestOf(req, path, url.searchParams, body);
      const told = answerInteraction(
        this.bots.map((each) => each.bot),
        path,
        said,
      );
      return reply(res, told.status, told.body);
    }
    if (!bot || bot.isRevoked) return reply(res, 401, { message: '401: Unauthorized', code: 0 });
    const given = await requestOf(req, path, url.searchParams, body);
    const { status, body: answer } = answerRest(bot, given, this);
    if (fault?.isLost) return void res.destroy();
    reply(res, status, answer);
  }

  /** Anybody with the signed address may read it; a token must not come here. */
  private giveFile(url: URL, req: IncomingMessage, res: ServerResponse): void {
    const [, , , id = ''] = url.pathname.split('/');
    const content = this.bots.map(({ bot }) => bot.files.get(id)).find((each) => each !== undefined);
    if (!content || req.headers.authorization !== undefined || !url.searchParams.has('hm'))
      return void res.writeHead(404).end();
    res.writeHead(200, { 'content-length': content.length }).end(content);
  }

  private faultOf(line: string): DiscordFault | null {
    const found = this.faults.find(({ fault, left }) => left > 0 && line.startsWith(fault.on));
    if (!found) return null;
    found.left -= 1;
    return found.fault;
  }
}

function reply(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.writeHead(status, {
    'content-type': 'application/json',
    'x-ratelimit-limit': '50',
    'x-ratelimit-remaining': '49',
    'x-ratelimit-reset-after': '1',
    ...headers,
  });
  res.end(status === 204 ? undefined : JSON.stringify(body));
}

async function requestOf(
  req: IncomingMessage,
  path: string,
  query: URLSearchParams,
  body: Buffer,
): Promise<RestRequest> {
  const method = req.method ?? 'GET';
  const type = req.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/')) {
    return {
      method,
      path,
      query,
      body: body.length > 0 ? (JSON.parse(body.toString()) as Record<string, unknown>) : {},
      files: [],
    };
  }
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const files = [];
  for (const value of form.values()) {
    if (typeof value === 'string') continue;
    files.push({ name: value.name, type: value.type, content: Buffer.from(await value.arrayBuffer()) });
  }
  const payload = form.get('payload_json');
  return {
    method,
    path,
    query,
    body: typeof payload === 'string' ? (JSON.parse(payload) as Record<string, unknown>) : {},
    files,
  };
}
