import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { SlackApp, SlackChannel, SlackMessage } from './workspace.ts';

interface Envelope {
  readonly id: string;
  readonly event: object;
  attempt: number;
  timer: NodeJS.Timeout | null;
}

/** The sockets of one app, and the events that wait for their acknowledgement. */
export class SlackEvents {
  readonly acknowledged: string[] = [];
  /** The number of all sockets so far. */
  opened = 0;
  private readonly app: SlackApp;
  private readonly retriesMs: readonly number[];
  private readonly sockets = new Set<WebSocket>();
  private readonly deaf = new WeakSet<WebSocket>();
  private readonly waiting = new Map<string, Envelope>();
  private readonly taken = new Set<object>();
  private lastSent: { readonly channel: SlackChannel; readonly message: SlackMessage } | null = null;
  private held: Envelope[] | null = null;
  private serial = 0;

  /** `retriesMs`: how long an event waits for its acknowledgement before it is delivered again; it is dropped after the last. */
  constructor(app: SlackApp, retriesMs: readonly number[]) {
    this.app = app;
    this.retriesMs = retriesMs;
  }

  get isCut(): boolean {
    return this.app.isUnreachable;
  }

  get open(): number {
    return this.sockets.size;
  }

  get unacknowledged(): number {
    return this.waiting.size;
  }

  /** Whether every event of a message was acknowledged, and there was one. */
  isAcknowledged(channel: string, ts: string): boolean {
    const isOf = (event: object): boolean => {
      const { channel: at, ts: of } = event as { channel?: string; ts?: string };
      return at === channel && of === ts;
    };
    return [...this.taken].some(isOf) && ![...this.waiting.values()].some(({ event }) => isOf(event));
  }

  join(socket: WebSocket): void {
    this.opened += 1;
    if (this.sockets.size >= 10) {
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets' }));
      socket.close();
      return;
    }
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('message', (data) => this.acknowledge((data as Buffer).toString()));
    // Pongs are the server library's own; a half-open socket has none.
    if (this.app.isHalfOpen) {
      socket.pause();
      return;
    }
    const hello = {
      type: 'hello',
      num_connections: this.sockets.size,
      debug_info: { host: 'applink-1', build_number: 1, approximate_connection_time: 18_060 },
      connection_info: { app_id: this.app.appId },
    };
    socket.send(JSON.stringify(hello));
  }

  /** A message as events: of the channel, and of the mention, which are two for one text. */
  tell(channel: SlackChannel, message: SlackMessage): void {
    this.lastSent = { channel, message };
    const place = { channel: channel.id, event_ts: message.ts };
    const mention = message.text.includes(`<@${this.app.botUserId}>`) && channel.kind !== 'im';
    const { markdown: _markdown, ...sent } = message;
    if (mention && message.bot_id === undefined) {
      const { subtype: _subtype, ...bare } = sent;
      this.deliver({ ...bare, ...place, type: 'app_mention' });
    }
    const channelType = { im: 'im', mpim: 'mpim', channel: channel.id.startsWith('G') ? 'group' : 'channel' }[
      channel.kind
    ];
    this.deliver({ ...sent, ...place, channel_type: channelType });
  }

  /** A message is another now, or gone. */
  tellChange(channel: SlackChannel, event: object): void {
    const channelType = { im: 'im', mpim: 'mpim', channel: 'channel' }[channel.kind];
    this.deliver({ ...event, channel: channel.id, channel_type: channelType });
  }

  deliver(event: object): void {
    this.send({ id: randomUUID(), event, attempt: 0, timer: null });
    if (this.app.isDoubled) this.send({ id: randomUUID(), event, attempt: 0, timer: null });
  }

  /** A press of a button, which is delivered once; answers with the id of its envelope. */
  interact(payload: object): string {
    const id = randomUUID();
    const frame = { type: 'interactive', envelope_id: id, accepts_response_payload: false, payload };
    const open = [...this.sockets].find((socket) => socket.readyState === socket.OPEN && !this.deaf.has(socket));
    open?.send(JSON.stringify(frame));
    return id;
  }

  /** The last message once more. */
  tellAgain(): void {
    if (this.lastSent) this.tell(this.lastSent.channel, this.lastSent.message);
  }

  /** The sockets that are open now answer pings, and no event comes by them any more. */
  deafen(): void {
    for (const socket of this.sockets) this.deaf.add(socket);
  }

  /** Events are kept back until they are released. */
  hold(): void {
    this.held ??= [];
  }

  /** The last one first, as events of a platform may come. */
  releaseReversed(): void {
    const held = this.held ?? [];
    this.held = null;
    for (const envelope of held.toReversed()) this.send(envelope);
  }

  /** Anything, to every socket. */
  say(frame: string | object): void {
    for (const socket of this.sockets) socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  disconnect(reason: 'warning' | 'refresh_requested' | 'link_disabled'): void {
    this.say({ type: 'disconnect', reason, debug_info: { host: 'applink-1' } });
  }

  /** Cut, as a network does. */
  cut(): void {
    for (const socket of this.sockets) socket.terminate();
  }

  /** Nothing goes out or in any more, and the sockets stay. */
  freeze(): void {
    this.app.isHalfOpen = true;
    for (const socket of this.sockets) socket.pause();
  }

  end(): void {
    for (const { timer } of this.waiting.values()) clearTimeout(timer ?? undefined);
    this.waiting.clear();
    this.cut();
  }

  /** To one of the sockets, as the platform shares events among them. */
  private send(envelope: Envelope): void {
    if (this.held) return void this.held.push(envelope);
    const { id, attempt } = envelope;
    const open = [...this.sockets].filter((socket) => socket.readyState === socket.OPEN);
    const sockets = open.filter((socket) => !this.deaf.has(socket));
    if (open.length > 0 && sockets.length === 0) return void this.waiting.delete(id);
    this.waiting.set(id, envelope);
    const socket = sockets[this.serial % Math.max(sockets.length, 1)];
    this.serial += 1;
    if (socket && !this.app.isHalfOpen) socket.send(JSON.stringify(this.frameOf(envelope)));
    const retryMs = this.retriesMs[attempt];
    if (retryMs === undefined) {
      this.waiting.delete(id);
      return;
    }
    envelope.timer = setTimeout(() => {
      envelope.attempt += 1;
      this.send(envelope);
    }, retryMs);
    envelope.timer.unref();
  }

  private frameOf({ id, event, attempt }: Envelope): object {
    return {
      type: 'events_api',
      envelope_id: id,
      accepts_response_payload: false,
      retry_attempt: attempt,
      retry_reason: attempt > 0 ? 'timeout' : '',
      payload: {
        type: 'event_callback',
        event_id: `Ev${id.slice(0, 8)}`,
        event_time: Math.floor(Date.now() / 1000),
        team_id: this.app.teamId,
        api_app_id: this.app.appId,
        authorizations: [{ team_id: this.app.teamId, user_id: this.app.botUserId, is_bot: true }],
        event,
      },
    };
  }

  private acknowledge(text: string): void {
    const { envelope_id: id } = JSON.parse(text) as { envelope_id: string };
    const envelope = this.waiting.get(id);
    clearTimeout(envelope?.timer ?? undefined);
    if (envelope) this.taken.add(envelope.event);
    this.waiting.delete(id);
    this.acknowledged.push(id);
  }
}
