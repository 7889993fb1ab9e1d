/** For tests: the account area of a whole Lodge, and browsers that use it. Accounts' clock stands still; each browser has an address of its own. */
import { createHmac, randomBytes } from 'node:crypto';
import { cryptography } from '@lodge/access';
import { createOwnerLink } from '@lodge/engine';
import type { FastifyInstance } from 'fastify';
import { openApp } from './open-app.ts';
import type { Answer, OpenedApp } from './open-app.ts';

export const password = 'correct horse battery staple';

export type Reply = Answer;

export interface World extends Omit<OpenedApp, 'firstKey'> {
  /** The plaintext of the first API key. */
  readonly firstKey: string;
  browser(): Browser;
  /** A browser whose person has set up the first account. */
  readonly owner: Browser;
  /** A browser that is signed in to a separate new account. */
  member(role?: 'member' | 'viewer'): Promise<Browser>;
}

let addresses = 0;
/** The accounts' clock stands still: no code is a step too old by the time that it is looked at. */
const now = Date.now();

/** Keeps its cookie, sends what browsers send, and the session's token once it has one. */
export class Browser {
  readonly app: FastifyInstance;
  readonly origin: string;
  readonly address = `10.9.${(addresses >> 8) & 255}.${addresses++ & 255}`;
  cookie: string | null = null;
  csrf: string | null = null;
  email = '';

  constructor(app: FastifyInstance, origin: string) {
    this.app = app;
    this.origin = origin;
  }

  async call(
    method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'HEAD' | 'OPTIONS',
    /** Below /v1/account, or whole. */
    path: string,
    body?: unknown,
    headers: Record<string, string | undefined> = {},
  ): Promise<Reply> {
    const sent: Record<string, string | undefined> = {
      host: new URL(this.origin).host,
      ...(method !== 'GET' && { origin: this.origin }),
      ...(this.cookie !== null && { cookie: this.cookie }),
      ...(this.csrf !== null && method !== 'GET' && { 'x-csrf-token': this.csrf }),
      'user-agent': 'Browser/1.0',
      ...headers,
    };
    const kept = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
    const reply = await this.app.inject({
      method,
      url: path.startsWith('/v1') ? path : `/v1/account${path}`,
      remoteAddress: this.address,
      headers: kept as Record<string, string>,
      ...(body !== undefined && { payload: body as object | string }),
    });
    this.keep(reply.headers['set-cookie']);
    const json = /json/.test(String(reply.headers['content-type'])) ? JSON.parse(reply.body || 'null') : null;
    if (typeof json?.csrf_token === 'string') this.csrf = json.csrf_token;
    return { status: reply.statusCode, headers: reply.headers, text: reply.body, body: json };
  }

  keep(set: string | string[] | undefined): void {
    if (set === undefined) return;
    const [pair] = String(set).split(';', 1);
    this.cookie = /Max-Age=0/.test(String(set)) ? null : pair!;
  }
}

export async function testWorld(origin = 'http://localhost:8080', registrationOpen = false): Promise<World> {
  const lodge = await openApp({
    settings: { LODGE_PUBLIC_URL: origin, ...(registrationOpen && { LODGE_REGISTRATION: 'open' }) },
    bounds: { accountsClock: () => new Date(now) },
    api: (usual) => ({ ...usual, pages: null }),
  });
  const { app, store } = lodge;
  const owner = new Browser(app, origin);
  owner.email = 'owner@example.com';
  const token = await createOwnerLink(store.database, cryptography.tokens);
  await owner.call('POST', '/setup', { token, email: owner.email, name: 'Ada', password });
  return {
    ...lodge,
    firstKey: lodge.firstKey!.plaintext,
    owner,
    browser: () => new Browser(app, origin),
    async member(role = 'member') {
      const { body } = await owner.call('POST', '/invitations', { role });
      const browser = new Browser(app, origin);
      browser.email = `${randomBytes(6).toString('hex')}@example.com`;
      const person = { token: tokenOf(body.url), email: browser.email, name: 'Bo', password };
      await browser.call('POST', '/invitations/accept', person);
      return browser;
    },
  };
}

export const tokenOf = (url: string): string => /#token=([\w-]+)$/.exec(url)![1]!;

/** An authenticator's code, `steps` of 30 s from now (RFC 6238, from its text and not by Lodge's library). */
export function codeOf(secret: string, steps: number): string {
  const digits = Array.from(secret, (letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter));
  const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000) + steps));
  const mac = createHmac('sha1', key).update(counter).digest();
  const value = mac.readUInt32BE(mac.at(-1)! & 0xf) & 0x7fffffff;
  return String(value % 1_000_000).padStart(6, '0');
}
