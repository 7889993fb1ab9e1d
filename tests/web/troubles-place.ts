/**
 * A Lodge in a process of its own, to be killed with kill -9, a proxy before it that is slow or in trouble where a test says
 * so, and a browser whose owner is signed in. The database and the daemon in the guest outlive the process.
 */
import { cryptography } from '@lodge/access';
import { createOwnerLink } from '@lodge/engine';
import { Lodge } from '@lodge/sdk';
import { openStore } from '@lodge/store';
import { FaultyProxy } from '@lodge/testkit/faulty-proxy';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { silent } from '../../packages/testkit/src/plane/wired-accounts.ts';
import { KillableServer } from '../hands/killed/place.ts';
import { launch, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

export const ada = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };

export interface Someone {
  readonly page: Page;
  readonly at: (path: string) => string;
}

export interface TroublePlace {
  readonly server: KillableServer;
  readonly proxy: FaultyProxy;
  readonly browser: Browser;
  readonly page: Page;
  /** Speaks for the same account past the proxy, as another program would. */
  readonly lodge: Lodge;
  readonly agentId: string;
  readonly webhookId: string;
  readonly faults: string[];
  at(path: string): string;
  /** Somebody new with a browser and an account of their own, in which there is one of everything. */
  newPerson(name: string, role: 'member' | 'viewer'): Promise<Someone>;
  /** Another browser of the owner, or of nobody. */
  another(who: 'owner' | 'nobody'): Promise<Page>;
  /** A path that an invitation leads to. */
  invite(): Promise<string>;
  /** Signs the owner in, where a test may have left the browser without a session. */
  enter(page: Page): Promise<void>;
  /** Ends the session of the browser, which does not hear of it. */
  endSession(page: Page): Promise<void>;
  close(): Promise<void>;
}

interface Made {
  readonly agentId: string;
  readonly webhookId: string;
}

/** One record of each kind, made by the person's own session. */
async function makeOneOfEach(page: Page, origin: string, name: string): Promise<Made> {
  const session = await (await page.request.get(`${origin}/v1/account/session`)).json();
  const headers = { origin, 'x-csrf-token': (session as { csrf_token: string }).csrf_token };
  const call = async (method: string, path: string, data: object): Promise<string> => {
    const reply = await page.request.fetch(`${origin}/v1${path}`, { method, data, headers });
    if (!reply.ok()) throw new Error(`${method} ${path}: ${await reply.text()}`);
    return ((await reply.json()) as { id: string }).id;
  };
  const agentId = await call('POST', '/agents', { name: 'Moss' });
  const webhookId = await call('POST', '/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['agent.*'] });
  const own = `/agents/${agentId}`;
  await call('POST', '/account/keys', { name: 'a key', scopes: ['agents:read'] });
  await call('POST', `${own}/schedules`, { name: 'Daily', cron: '0 7 * * *', prompt: 'Sum up.' });
  await call('POST', `${own}/hooks`, { name: 'Issues' });
  const allow = [{ methods: ['GET'], paths: ['/notes/*'] }];
  await call('PUT', `${own}/connections/notes`, { kind: 'http', url: 'https://api.example.com/v1', allow });
  await call('PUT', `${own}/channels/telegram`, { botToken: `${name.length + 70}:x` });
  await call('POST', `${own}/members`, { name: 'scribe', instructions: 'You write.' });
  await call('POST', `${own}/ports`, { port: 3000 });
  return { agentId, webhookId };
}

export async function openTroubles(): Promise<TroublePlace> {
  await buildPages();
  const server = await KillableServer.open();
  const store = await openStore({ connectionString: server.connectionString, log: silent });
  const token = await createOwnerLink(store.database, cryptography.tokens);
  await store.close();
  const proxy = await FaultyProxy.start(server.url);
  const origin = proxy.url;
  const browser = await launch(Number(new URL(origin).port));
  const faults: string[] = [];
  const enter = async (path: string, body: object): Promise<Page> => {
    const page = await openBrowser(browser, faults);
    page.setDefaultTimeout(6_000);
    const reply = await page.request.post(`${origin}/v1/account/${path}`, { data: body, headers: { origin } });
    if (!reply.ok()) throw new Error(`${path}: ${await reply.text()}`);
    return page;
  };
  const addressOf = (path: string, ids: Made): string =>
    `${origin}${path.replace('$agent', `/agents/${ids.agentId}`).replace('$webhook', ids.webhookId)}`;
  const page = await enter('setup', { token, ...ada });
  const lodge = new Lodge({ baseUrl: server.url, apiKey: server.key });
  const { id: agentId } = await lodge.agents.create({ name: 'Fern' });
  await lodge.agents.waitUntil(agentId, 'running');
  const allow = [{ methods: ['GET' as const], paths: ['/notes/*'] }];
  await lodge.connections.put(agentId, 'notes', { kind: 'http', url: 'https://api.example.com/v1', allow });
  const { id: webhookId } = await lodge.webhooks.create({ url: 'http://127.0.0.1:9/hook', events: ['agent.*'] });
  return {
    server,
    proxy,
    browser,
    page,
    lodge,
    agentId,
    webhookId,
    faults,
    at: (path) => addressOf(path, { agentId, webhookId }),
    async newPerson(name, role) {
      const own = await enter('register', { name, email: `${name}@example.test`, password: ada.password });
      const made = await makeOneOfEach(own, origin, name);
      const sql = new Client(server);
      await sql.connect();
      await sql.query('update accounts set role = $1 where name = $2', [role, name]);
      await sql.end();
      return { page: own, at: (path) => addressOf(path, made) };
    },
    async another(who) {
      const other = await openBrowser(browser, faults);
      other.setDefaultTimeout(20_000);
      if (who === 'owner') await other.context().addCookies(await page.context().cookies());
      return other;
    },
    async invite() {
      const session = (await (await page.request.get(`${origin}/v1/account/session`)).json()) as { csrf_token: string };
      const headers = { origin, 'x-csrf-token': session.csrf_token };
      const reply = await page.request.post(`${origin}/v1/account/invitations`, { data: {}, headers });
      const { url } = (await reply.json()) as { url: string };
      const { pathname, hash } = new URL(url);
      return pathname + hash;
    },
    async enter(of) {
      const { email, password } = ada;
      const session = await of.request.get(`${origin}/v1/account/session`);
      if (session.ok()) return;
      await of.request.post(`${origin}/v1/account/sign-in`, { data: { email, password }, headers: { origin } });
    },
    async endSession(of) {
      const cookies = await of.context().cookies();
      const headers = { origin, cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') };
      const session = await fetch(`${origin}/v1/account/session`, { headers });
      const { csrf_token: csrf } = (await session.json()) as { csrf_token: string };
      const ended = await fetch(`${origin}/v1/account/sign-out`, {
        method: 'POST',
        headers: { ...headers, 'x-csrf-token': csrf, 'content-type': 'application/json' },
        body: '{}',
      });
      if (!ended.ok) throw new Error(await ended.text());
    },
    async close() {
      await browser.close();
      await proxy.close();
      await server.close();
    },
  };
}
