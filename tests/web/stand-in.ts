/**
 * A stand-in for the server's account API, in memory, so that the pages can be built and tested without the service: the
 * routes, codes and checks the pages depend on, and none of the rest (no hashing, no limits, no persistence).
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { totp } from './totp.ts';

const dayMs = 86_400_000;
const dist = join(import.meta.dirname, '../../apps/web/dist');

interface Account {
  id: string;
  name: string;
  email: string;
  password: string;
  role: 'owner' | 'member';
  created_at: string;
  totp: { secret: string; on: boolean; recovery: string[] } | undefined;
}
interface Session {
  id: string;
  cookie: string;
  csrf: string;
  account: Account;
  userAgent: string;
  created_at: string;
}
interface Key {
  account: Account;
  key: string;
  record: Record<string, unknown> & { id: string; revoked_at: string | null; last_used_at: string | null };
}
interface Invitation {
  id: string;
  token: string;
  email: string | null;
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
}
interface Call {
  readonly body: Record<string, string>;
  readonly session: Session;
  readonly id: string;
  readonly request: IncomingMessage;
}
interface Reply {
  readonly status?: number;
  readonly body: unknown;
  readonly cookie?: string;
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(`The request was refused: ${code}.`);
    this.status = status;
    this.code = code;
  }
}

const now = (): string => new Date().toISOString();
const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

export interface StandIn {
  readonly url: string;
  readonly ownerLink: string;
  resetLink(email: string): Promise<string>;
  close(): Promise<void>;
}

export async function startStandIn(): Promise<StandIn> {
  const owner = account('Owner', '', '', 'owner');
  const accounts = [owner];
  const sessions: Session[] = [];
  const keys: Key[] = [];
  const invitations: Invitation[] = [];
  const links = new Map<string, { kind: 'owner' | 'invite' | 'reset'; email: string | null; expires_at: string }>();
  const ownerToken = randomBytes(32).toString('base64url');
  links.set(ownerToken, { kind: 'owner', email: null, expires_at: inDays(1) });

  const bodyOf = (session: Session): unknown => ({
    session: { id: session.id, created_at: session.created_at, expires_at: inDays(14) },
    account: { ...plain(session.account), totp_enabled: session.account.totp?.on === true },
    csrf_token: session.csrf,
  });
  const enter = (who: Account, request: IncomingMessage): Reply => {
    const session: Session = {
      id: randomUUID(),
      cookie: randomBytes(32).toString('base64url'),
      csrf: randomBytes(16).toString('base64url'),
      account: who,
      userAgent: request.headers['user-agent'] ?? '',
      created_at: now(),
    };
    sessions.push(session);
    return { body: bodyOf(session), cookie: session.cookie };
  };
  const drop = (gone: (session: Session) => boolean): void => {
    for (const session of sessions.filter(gone)) sessions.splice(sessions.indexOf(session), 1);
  };
  const useLink = (token: string | undefined, kind: string): void => {
    if (links.get(token ?? '')?.kind !== kind) throw new Refusal(404, 'link_not_valid');
    links.delete(token ?? '');
  };
  const join_ = (body: Record<string, string>): Account => {
    if (accounts.some(({ email }) => email === body['email'])) throw new Refusal(409, 'email_taken');
    const made = account(body['name'] ?? '', body['email'] ?? '', body['password'] ?? '', 'member');
    accounts.push(made);
    return made;
  };
  const secondFactor = (who: Account, code: string | undefined): void => {
    if (who.totp?.on !== true) return;
    if (code === undefined) throw new Refusal(401, 'second_factor_required');
    const recovery = who.totp.recovery.indexOf(code);
    if (recovery >= 0) who.totp.recovery.splice(recovery, 1);
    else if (code !== totp(who.totp.secret)) throw new Refusal(401, 'invalid_code');
  };
  const passwordIs = (who: Account, password: string | undefined): void => {
    if (who.password !== password) throw new Refusal(401, 'invalid_credentials');
  };
  const ownerOnly = ({ account: who }: Session): void => {
    if (who.role !== 'owner') throw new Refusal(403, 'owner_only');
  };

  /** Routes anyone may call; `:id` is the rest of the path. */
  const open: Readonly<Record<string, (call: Omit<Call, 'session'>) => Reply>> = {
    'GET /options': () => ({ body: { registration_open: true, api_base_url: `${url}/v1` } }),
    'GET /links/:id': ({ id }) => {
      const link = links.get(id);
      if (link === undefined) throw new Refusal(404, 'link_not_valid');
      return { body: link };
    },
    'POST /setup': ({ body, request }) => {
      useLink(body['token'], 'owner');
      Object.assign(owner, { name: body['name'], email: body['email'], password: body['password'] });
      return enter(owner, request);
    },
    'POST /invitations/accept': ({ body, request }) => {
      useLink(body['token'], 'invite');
      const invitation = invitations.find(({ token }) => token === body['token']);
      if (invitation !== undefined) invitation.accepted_at = now();
      return enter(join_(body), request);
    },
    'POST /register': ({ body, request }) => enter(join_(body), request),
    'POST /sign-in': ({ body, request }) => {
      const who = accounts.find(({ email }) => email === body['email']);
      if (who === undefined) throw new Refusal(401, 'invalid_credentials');
      passwordIs(who, body['password']);
      secondFactor(who, body['code']);
      return enter(who, request);
    },
    'POST /password-reset': ({ body, request }) => {
      const email = links.get(body['token'] ?? '')?.email;
      const who = accounts.find((each) => each.email === email) ?? owner;
      secondFactor(who, body['code']);
      useLink(body['token'], 'reset');
      who.password = body['password'] ?? '';
      drop((session) => session.account === who);
      return enter(who, request);
    },
  };

  const signedIn: Readonly<Record<string, (call: Call) => Reply>> = {
    'GET /session': ({ session }) => ({ body: bodyOf(session) }),
    'POST /sign-out': ({ session }) => {
      drop((each) => each === session);
      return { body: {} };
    },
    'GET /sessions': ({ session }) => ({
      body: {
        data: sessions
          .filter((each) => each.account === session.account)
          .map((each) => ({
            id: each.id,
            created_at: each.created_at,
            last_seen_at: now(),
            expires_at: inDays(14),
            address: '127.0.0.1',
            user_agent: each.userAgent,
            current: each === session,
          })),
      },
    }),
    'DELETE /sessions': ({ session }) => {
      drop((each) => each.account === session.account && each !== session);
      return { body: {} };
    },
    'DELETE /sessions/:id': ({ session, id }) => {
      drop((each) => each.account === session.account && each.id === id);
      return { body: {} };
    },
    'POST /password': ({ session, body, request }) => {
      passwordIs(session.account, body['current_password']);
      session.account.password = body['new_password'] ?? '';
      drop((each) => each.account === session.account);
      return enter(session.account, request);
    },
    'POST /totp': ({ session, body }) => {
      passwordIs(session.account, body['password']);
      const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
      session.account.totp = { secret, on: false, recovery: [] };
      return {
        body: { secret, otpauth_url: `otpauth://totp/Lodge:${session.account.email}?secret=${secret}&issuer=Lodge` },
      };
    },
    'POST /totp/confirm': ({ session, body }) => {
      const factor = session.account.totp;
      if (factor === undefined || body['code'] !== totp(factor.secret)) throw new Refusal(401, 'invalid_code');
      factor.on = true;
      factor.recovery = Array.from({ length: 10 }, () => randomBytes(8).toString('hex').toUpperCase());
      return { body: { recovery_codes: factor.recovery } };
    },
    'DELETE /totp': ({ session, body }) => {
      passwordIs(session.account, body['password']);
      secondFactor(session.account, body['code']);
      session.account.totp = undefined;
      return { body: {} };
    },
    'GET /keys': ({ session }) => ({
      body: { data: keys.filter((key) => key.account === session.account).map(({ record }) => record) },
    }),
    'POST /keys': ({ session, body }) => {
      const key = `lodge_live_${randomBytes(40).toString('base64').replace(/\W/g, 'x').slice(0, 43)}`;
      const record = {
        id: randomUUID(),
        name: body['name'],
        last4: key.slice(-4),
        scopes: body['scopes'],
        created_at: now(),
        expires_at: body['expires_at'] ?? null,
        revoked_at: null,
        last_used_at: null,
      };
      keys.push({ account: session.account, key, record });
      return { status: 201, body: { ...record, key } };
    },
    'DELETE /keys/:id': ({ session, id }) => {
      const key = keys.find(({ account: who, record }) => who === session.account && record.id === id);
      if (key === undefined) throw new Refusal(404, 'key_not_found');
      key.record.revoked_at ??= now();
      return { body: key.record };
    },
    'GET /invitations': ({ session }) => {
      ownerOnly(session);
      return { body: { data: invitations.map((each) => ({ ...each, token: undefined })) } };
    },
    'POST /invitations': ({ session, body }) => {
      ownerOnly(session);
      const token = randomBytes(32).toString('base64url');
      const record = {
        id: randomUUID(),
        email: body['email'] ?? null,
        created_at: now(),
        expires_at: inDays(7),
        accepted_at: null,
      };
      invitations.unshift({ ...record, token });
      links.set(token, { kind: 'invite', email: record.email, expires_at: record.expires_at });
      return { status: 201, body: { ...record, url: `${url}/account/join#token=${token}` } };
    },
    'DELETE /invitations/:id': ({ session, id }) => {
      ownerOnly(session);
      const at = invitations.findIndex((invitation) => invitation.id === id);
      const [gone] = at < 0 ? [] : invitations.splice(at, 1);
      links.delete(gone?.token ?? '');
      return { body: {} };
    },
    'GET /members': ({ session }) => {
      ownerOnly(session);
      return { body: { data: accounts.map((each) => ({ ...plain(each), agents: 0 })) } };
    },
  };

  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const path = new URL(request.url ?? '/', url).pathname.slice('/account/api'.length);
    const [, id = ''] = /^\/(?:sessions|keys|invitations|links)\/([^/]+)$/.exec(path) ?? [];
    const plainId = id === 'accept' ? '' : id;
    const route = `${request.method} ${plainId === '' ? path : path.replace(plainId, ':id')}`;
    const body = await json(request);
    if (request.method !== 'GET' && request.headers.origin !== url) throw new Refusal(403, 'csrf_refused');
    const anyone = open[route];
    if (anyone !== undefined) return anyone({ body, id: plainId, request });
    const cookie = /lodge_session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const session = sessions.find((each) => each.cookie === cookie);
    if (session === undefined) throw new Refusal(401, 'not_signed_in');
    if (request.method !== 'GET' && request.headers['x-csrf-token'] !== session.csrf) {
      throw new Refusal(403, 'csrf_refused');
    }
    const handler = signedIn[route];
    if (handler === undefined) throw new Refusal(404, 'route_not_found');
    return handler({ body, session, id: plainId, request });
  };

  const v1 = (request: IncomingMessage): Reply => {
    const key = keys.find((each) => `Bearer ${each.key}` === request.headers.authorization);
    if (key === undefined) throw new Refusal(401, 'invalid_api_key');
    if (key.record.revoked_at !== null) throw new Refusal(401, 'revoked_api_key');
    key.record.last_used_at = now();
    return { body: { object: 'list', data: [], has_more: false, next_cursor: null } };
  };

  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (!path.startsWith('/account/api/') && !path.startsWith('/v1/')) return void page(path, response);
    const replied = path.startsWith('/v1/') ? (async () => v1(request))() : answer(request);
    replied.then(
      (reply) => send(response, reply),
      (error: unknown) => {
        const { status, code } = error instanceof Refusal ? error : new Refusal(500, 'internal_error');
        send(response, { status, body: { error: { type: 'error', code, message: String(error) } } });
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    ownerLink: `${url}/account/setup#token=${ownerToken}`,
    async resetLink(email) {
      const token = randomBytes(32).toString('base64url');
      links.set(token, { kind: 'reset', email, expires_at: inDays(1 / 24) });
      return `${url}/account/reset#token=${token}`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function account(name: string, email: string, password: string, role: Account['role']): Account {
  return { id: randomUUID(), name, email, password, role, created_at: now(), totp: undefined };
}

const plain = ({ id, name, email, role, created_at: created }: Account): Record<string, unknown> => ({
  id,
  name,
  email,
  role,
  created_at: created,
});

async function json(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
}

function send(response: ServerResponse, { status = 200, body, cookie }: Reply): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  if (cookie !== undefined) response.setHeader('set-cookie', `lodge_session=${cookie}; HttpOnly; SameSite=Lax; Path=/`);
  response.end(JSON.stringify(body));
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
};
const policy =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

async function page(path: string, response: ServerResponse): Promise<void> {
  const asked = normalize(new URL(path, 'http://stand-in').pathname.replace(/^\/account/, ''));
  const file = extname(asked) === '' ? '/index.html' : asked;
  response.setHeader('content-security-policy', policy);
  try {
    const content = await readFile(join(dist, file));
    response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
    response.end(content);
  } catch {
    response.statusCode = 404;
    response.end();
  }
}
