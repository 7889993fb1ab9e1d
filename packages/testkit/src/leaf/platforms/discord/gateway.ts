import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { DiscordBot, DiscordMessage } from './server.ts';

export const intents = { guilds: 1, guildMessages: 1 << 9, directMessages: 1 << 12, messageContent: 1 << 15 } as const;

interface Session {
  readonly id: string;
  readonly intents: number;
  seq: number;
  /** Events that can be replayed, oldest first. */
  readonly events: { readonly seq: number; readonly frame: string; readonly messageId: string | null }[];
  socket: WebSocket | null;
}

interface Frame {
  readonly op: number;
  readonly d: any;
}

/** The gateway of one bot: its sessions, and the events that they may resume from. */
export class DiscordGateway {
  opened = 0;
  readonly identified: number[] = [];
  resumed = 0;
  heartbeatMs = 41_250;
  /** A beat is not acknowledged. */
  ignoresBeats = false;
  /** Nothing at all is said to new sockets. */
  isMute = false;
  startsLeft = 1_000;
  private readonly bot: DiscordBot;
  private readonly urlOf: () => string;
  private readonly sockets = new Set<WebSocket>();
  private readonly deaf = new WeakSet<WebSocket>();
  private sessions: Session[] = [];
  private last: { readonly message: DiscordMessage; readonly guildId: string | undefined } | null = null;

  constructor(bot: DiscordBot, urlOf: () => string) {
    this.bot = bot;
    this.urlOf = urlOf;
  }

  get open(): number {
    return this.sockets.size;
  }

  join(socket: WebSocket, intended: (gateway: DiscordGateway) => void): void {
    this.opened += 1;
    this.sockets.add(socket);
    intended(this);
    socket.on('close', () => {
      this.sockets.delete(socket);
      for (const session of this.sessions) if (session.socket === socket) session.socket = null;
    });
  }

  /** The first frame of a socket that this bot's token came with. */
  begin(socket: WebSocket, { op, d }: Frame): void {
    if (op === 2) this.identify(socket, d);
    else this.resume(socket, d);
  }

  take(socket: WebSocket, { op }: Frame): void {
    if (op === 1 && !this.ignoresBeats) socket.send(JSON.stringify({ op: 11 }));
  }

  tell(message: DiscordMessage, guildId: string | undefined): void {
    this.last = { message, guildId };
    this.dispatch('MESSAGE_CREATE', { ...message, ...(guildId !== undefined && { guild_id: guildId }) }, message.id);
  }

  tellAgain(): void {
    if (this.last) this.tell(this.last.message, this.last.guildId);
  }

  /** To every session, open or waiting to be resumed. */
  dispatch(type: string, data: unknown, messageId: string | null = null): void {
    for (const session of this.sessions) this.send(session, type, data, messageId);
  }

  say(frame: string | object): void {
    for (const socket of this.sockets) socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  cut(): void {
    for (const socket of this.sockets) socket.terminate();
  }

  close(code: number): void {
    for (const socket of this.sockets) socket.close(code);
  }

  /** Sessions cannot be resumed any more. */
  forgetSessions(): void {
    this.sessions = this.sessions.filter(({ socket }) => socket !== null);
    for (const session of this.sessions) session.events.length = 0;
    this.sessions = [];
  }

  /** The sockets that are open now go on beating, and no event comes by them any more, nor by their sessions. */
  deafen(): void {
    for (const socket of this.sockets) this.deaf.add(socket);
    this.sessions = this.sessions.filter(({ socket }) => socket === null || !this.deaf.has(socket));
  }

  private identify(socket: WebSocket, { intents: wanted }: { intents: number }): void {
    this.identified.push(wanted);
    this.startsLeft -= 1;
    if (wanted & intents.messageContent && !this.bot.mayReadContent) return socket.close(4014, 'Disallowed intent(s).');
    const session: Session = { id: randomUUID(), intents: wanted, seq: 0, events: [], socket };
    this.sessions.push(session);
    const { applicationId, user, guildId } = this.bot;
    this.send(session, 'READY', {
      v: 10,
      user,
      guilds: [{ id: guildId, unavailable: true }],
      session_id: session.id,
      resume_gateway_url: this.urlOf(),
      application: { id: applicationId, flags: 0 },
      shard: [0, 1],
    });
    const channels = [...this.bot.places.values()]
      .filter(({ channel }) => channel.guild_id !== undefined)
      .map(({ channel, messages }) => ({ ...channel, last_message_id: messages.at(-1)?.id ?? null }));
    this.send(session, 'GUILD_CREATE', {
      id: guildId,
      name: 'Stub',
      channels: channels.filter(({ type }) => type !== 11),
      threads: channels.filter(({ type }) => type === 11),
      members: [],
    });
  }

  private resume(socket: WebSocket, { session_id: id, seq }: { session_id: string; seq: number }): void {
    const session = this.sessions.find((each) => each.id === id);
    if (!session || seq > session.seq) return socket.send(JSON.stringify({ op: 9, d: false }));
    this.resumed += 1;
    session.socket = socket;
    for (const event of session.events) if (event.seq > seq) socket.send(event.frame);
    this.send(session, 'RESUMED', {});
  }

  private send(session: Session, type: string, data: unknown, messageId: string | null = null): void {
    session.seq += 1;
    const d = type === 'MESSAGE_CREATE' ? this.visible(session, data as DiscordMessage & { guild_id?: string }) : data;
    const frame = JSON.stringify({ op: 0, s: session.seq, t: type, d });
    session.events.push({ seq: session.seq, frame, messageId });
    if (session.events.length > 1_000) session.events.shift();
    if (session.socket?.readyState === session.socket?.OPEN) session.socket?.send(frame);
  }

  /** Without the intent a message of a server has no content, unless the bot is mentioned. */
  private visible({ intents: held }: Session, message: DiscordMessage & { guild_id?: string }): unknown {
    const isForBot = message.guild_id === undefined || message.mentions.some(({ id }) => id === this.bot.user.id);
    if (isForBot || message.author.id === this.bot.user.id || held & intents.messageContent) return message;
    return { ...message, content: '', attachments: [], embeds: [] };
  }
}
