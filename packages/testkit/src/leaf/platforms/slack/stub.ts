import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { SlackEvents } from './events.ts';
import { fileOf, methods, SlackRefusal } from './methods.ts';
import type { Answer, Arguments } from './methods.ts';
import { manifestScopes, SlackApp } from './workspace.ts';
import type { SlackChannel, SlackMessage } from './workspace.ts';

/** How calls of one method go wrong. */
export interface SlackFault {
  readonly method: string;
  /** The number of calls; each goes wrong once. 1 by default. */
  readonly times?: number;
  readonly error?: string;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly delayMs?: number;
  /** The call is carried out, and its answer is lost. */
  readonly isLost?: boolean;
  /** The connection is cut before the call is carried out. */
  readonly isCut?: boolean;
  readonly body?: string;
}

export interface SlackWriting {
  readonly channel: string;
  readonly kind?: SlackChannel['kind'];
  readonly title?: string;
  readonly user?: string;
  readonly userName?: string;
  readonly text: string;
  readonly threadTs?: string;
  readonly files?: readonly { readonly name: string; readonly mimetype: string; readonly content: Buffer }[];
  readonly isBot?: boolean;
  /** It is in the history, and no event reports it. */
  readonly isSilent?: boolean;
  /** Before now. */
  readonly agoMs?: number;
}

export interface SlackPressing {
  readonly channel: string;
  readonly ts: string;
  readonly label: string;
  readonly user?: string;
  readonly userName?: string;
  /** Fields that are put over those of the payload. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface SlackCall {
  readonly method: string;
  readonly args: Arguments;
  readonly token: string;
}

export const startSlackStub = async (options: { readonly retriesMs?: readonly number[] } = {}): Promise<SlackStub> => {
  const stub = new SlackStub(options.retriesMs ?? [3_000, 60_000, 300_000]);
  await stub.listen();
  return stub;
};

export class SlackStub {
  readonly calls: SlackCall[] = [];
  private readonly retriesMs: readonly number[];
  private readonly apps: { readonly app: SlackApp; readonly events: SlackEvents }[] = [];
  private readonly faults: { fault: SlackFault; left: number }[] = [];
  private readonly tickets = new Map<string, SlackEvents>();
  private readonly server: Server;
  private readonly sockets = new WebSocketServer({ noServer: true });
  private serial = 0;
  private lastTs = 0;

  constructor(retriesMs: readonly number[]) {
    this.retriesMs = retriesMs;
    this.server = createServer((req, res) => {
      void this.answer(req, res).catch(() => res.destroy());
    });
    this.server.on('upgrade', (req, socket, head) => {
      const ticket = new URL(req.url ?? '/', 'http://stub').searchParams.get('ticket') ?? '';
      const events = this.tickets.get(ticket);
      this.tickets.delete(ticket);
      if (!events || events.isCut) return void socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
      this.sockets.handleUpgrade(req, socket, head, (opened) => events.join(opened));
    });
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** As a client of the Web API is given it. */
  get apiUrl(): string {
    return `${this.baseUrl}/api/`;
  }

  addApp(scopes: readonly string[] = manifestScopes): SlackApp {
    const app = new SlackApp(this.apps.length + 1, scopes);
    this.apps.push({ app, events: new SlackEvents(app, this.retriesMs) });
    return app;
  }

  events(app: SlackApp): SlackEvents {
    return this.apps.find((each) => each.app === app)!.events;
  }

  fail(fault: SlackFault): void {
    this.faults.push({ fault, left: fault.times ?? 1 });
  }

  mend(): void {
    this.faults.length = 0;
  }

  /** The calls of one method, or of all. */
  callsOf(app: SlackApp, method?: string): SlackCall[] {
    const isOf = ({ token }: SlackCall): boolean => token === app.botToken || token === app.appToken;
    return this.calls.filter((call) => isOf(call) && (method === undefined || call.method === method));
  }

  /** A person, or another bot, writes. Answers with the message's `ts`. */
  write(app: SlackApp, writing: SlackWriting): string {
    const { user = 'U0001', text, threadTs, isBot = false } = writing;
    app.user(user, writing.userName ?? app.users.get(user) ?? 'Ann');
    const channel = app.channel(
      writing.channel,
      writing.kind ?? (writing.channel.startsWith('D') ? 'im' : 'channel'),
      writing.title,
    );
    const files = (writing.files ?? []).map(({ name, mimetype, content }) => {
      const id = `F${this.nextId()}`;
      const file = fileOf(id, name, mimetype, content.length, this);
      app.files.set(id, { file, content });
      return file;
    });
    const parent = channel.messages.find(({ ts }) => ts === threadTs);
    const message: SlackMessage = {
      type: 'message',
      ts: this.nextTs(writing.agoMs),
      text,
      ...(isBot ? { subtype: 'bot_message', bot_id: 'B9999' } : { user }),
      ...(files.length > 0 && { subtype: 'file_share', files }),
      ...(threadTs !== undefined && {
        thread_ts: threadTs,
        ...(parent?.user !== undefined && { parent_user_id: parent.user }),
      }),
    };
    channel.messages.push(message);
    if (!writing.isSilent) this.events(app).tell(channel, message);
    return message.ts;
  }

  /** A person presses a button of a message. Answers with the id of the press. */
  press(app: SlackApp, pressing: SlackPressing): string {
    const { channel, ts, label, user = 'U0001', userName = 'Ann', extra } = pressing;
    app.user(user, userName);
    const message = app.channels.get(channel)!.messages.find((each) => each.ts === ts)!;
    const button = (message.blocks ?? [])
      .flatMap(({ elements = [] }) => elements)
      .find(({ text }) => text.text === label);
    if (!button) throw new Error(`there is no button ${label}`);
    const { markdown: _markdown, metadata: _metadata, ...shown } = message;
    return this.events(app).interact({
      type: 'block_actions',
      user: { id: user, username: userName.toLowerCase(), name: userName, team_id: app.teamId },
      api_app_id: app.appId,
      token: 'verification',
      container: { type: 'message', message_ts: ts, channel_id: channel, is_ephemeral: false },
      trigger_id: `1.2.${this.nextId()}`,
      team: { id: app.teamId, domain: 'stub' },
      enterprise: null,
      is_enterprise_install: false,
      channel: { id: channel, name: channel.startsWith('D') ? 'directmessage' : 'general' },
      message: shown,
      state: { values: {} },
      response_url: `${this.baseUrl}/actions/${app.teamId}/1/2`,
      actions: [{ ...button, block_id: 'b1', action_ts: this.nextTs() }],
      ...extra,
    });
  }

  changed(app: SlackApp, channel: SlackChannel, event: object): void {
    this.events(app).tellChange(channel, { ...event, type: 'message', ts: this.nextTs(), hidden: true });
  }

  async close(): Promise<void> {
    for (const { events } of this.apps) events.end();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  nextId(): string {
    this.serial += 1;
    return String(this.serial).padStart(6, '0');
  }

  nextTs(agoMs = 0): string {
    const now = Math.max(Date.now() - agoMs, agoMs > 0 ? 0 : this.lastTs + 1);
    if (agoMs === 0) this.lastTs = now;
    this.serial += 1;
    return `${Math.floor(now / 1000)}.${String(now % 1000).padStart(3, '0')}${String(this.serial % 1000).padStart(3, '0')}`;
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', this.baseUrl);
    const body = await buffer(req);
    const token = (req.headers.authorization ?? '').replace('Bearer ', '');
    if (url.pathname.startsWith('/api/')) return this.answerCall(url.pathname.slice(5), body, token, res);
    if (url.pathname.startsWith('/upload/')) return this.takeUpload(url, body, res);
    if (url.pathname.startsWith('/files/')) return this.giveFile(url.pathname.slice(7), token, res);
    res.writeHead(404).end();
  }

  private async answerCall(method: string, body: Buffer, token: string, res: ServerResponse): Promise<void> {
    const args = Object.fromEntries(new URLSearchParams(body.toString()));
    this.calls.push({ method, args, token });
    if (this.appOf(token)?.app.isUnreachable) return void res.destroy();
    const fault = this.faultOf(method);
    if (fault?.delayMs) await sleep(fault.delayMs);
    if (fault?.isCut) return void res.destroy();
    if (fault?.status !== undefined || fault?.body !== undefined) {
      const retry = fault.retryAfterSeconds;
      res.writeHead(fault.status ?? 200, {
        'content-type': 'application/json; charset=utf-8',
        ...(retry !== undefined && { 'retry-after': String(retry) }),
      });
      return void res.end(
        fault.body ?? JSON.stringify({ ok: false, error: retry === undefined ? 'internal_error' : 'ratelimited' }),
      );
    }
    const { answer, scopes } = fault?.error === undefined ? this.outcomeOf(method, args, token) : refused(fault.error);
    if (fault?.isLost) return void res.destroy();
    res.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      ...(scopes && { 'x-oauth-scopes': [...scopes].join(',') }),
    });
    res.end(JSON.stringify(answer));
  }

  private outcomeOf(name: string, args: Arguments, token: string): { answer: Answer; scopes?: Iterable<string> } {
    if (token === '') return refused(args['token'] === undefined ? 'not_authed' : 'invalid_auth');
    const isAppToken = token.startsWith('xapp-');
    const found = this.appOf(token);
    if (!found) return refused('invalid_auth');
    const { app, events } = found;
    if (app.refusal !== null) return refused(app.refusal);
    if (isAppToken !== (name === 'apps.connections.open')) return refused('not_allowed_token_type');
    if (isAppToken) {
      if (args['token'] !== undefined) return refused('invalid_auth');
      const ticket = this.nextId();
      this.tickets.set(ticket, events);
      return {
        answer: { ok: true, url: `${this.baseUrl.replace('http', 'ws')}/link/?ticket=${ticket}&app_id=${app.appId}` },
      };
    }
    try {
      const method = methods[name];
      if (!method) return refused('unknown_method');
      const scope = typeof method.scope === 'function' ? method.scope(args, app) : method.scope;
      if (scope !== null && !app.scopes.has(scope)) {
        return refused('missing_scope', { needed: scope, provided: [...app.scopes].join(',') });
      }
      return { answer: { ok: true, ...method.answer(app, args, this) }, scopes: app.scopes };
    } catch (error) {
      if (error instanceof SlackRefusal) return { answer: error.answer };
      throw error;
    }
  }

  private appOf(token: string): { readonly app: SlackApp; readonly events: SlackEvents } | undefined {
    return this.apps.find(({ app }) => app.appToken === token || app.botToken === token);
  }

  private takeUpload(url: URL, body: Buffer, res: ServerResponse): void {
    const [, , appId, id = ''] = url.pathname.split('/');
    const app = this.apps.find((each) => each.app.appId === appId)?.app;
    const known = app?.files.get(id);
    if (!app || !known || body.length !== Number(url.searchParams.get('length')))
      return void res.writeHead(400).end('bad upload');
    app.files.set(id, { file: { ...known.file, size: body.length }, content: body });
    res.end(`OK - ${body.length}`);
  }

  /** Without a token that may read it there is a page to sign in, and no error. */
  private giveFile(id: string, token: string, res: ServerResponse): void {
    const fault = this.faultOf('file');
    if (fault?.body !== undefined) return void res.writeHead(302, { location: fault.body }).end();
    const app = this.apps.find((each) => each.app.botToken === token)?.app;
    const found = app?.scopes.has('files:read') ? app.files.get(id) : undefined;
    if (!found)
      return void res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Sign in</html>');
    res
      .writeHead(200, { 'content-type': found.file.mimetype, 'content-length': found.content.length })
      .end(found.content);
  }

  private faultOf(method: string): SlackFault | null {
    const found = this.faults.find(({ fault, left }) => left > 0 && fault.method === method);
    if (!found) return null;
    found.left -= 1;
    return found.fault;
  }
}

const refused = (error: string, more: Answer = {}): { answer: Answer; scopes?: Iterable<string> } => ({
  answer: { ok: false, error, ...more },
});
