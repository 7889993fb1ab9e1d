/**
 * A Lodge in a process of its own, to be killed with kill -9, a proxy before it that is slow or in trouble where a test says
 * so, and a browser whose owner is signed in. The database and the daemon in the guest outlive the process.
 */
import { cryptography } from '@lodge/access';
import { createOwnerLink } from '@lodge/engine';
import { Lodge } from '@lodge/sdk';
import { openStore } from '@lodge/store';
import { FaultyProxy } from '@lodge/testkit/faulty-proxy';
import type { Browser, Page } from 'playwright-core';
import { silent } from '../../packages/testkit/src/plane/wired-accounts.ts';
import { KillableServer } from '../hands/killed/place.ts';
import { launch, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

export const ada = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };

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
  /** Somebody new with a browser of their own. */
  newPerson(name: string): Promise<Page>;
  /** Signs the owner in, where a test may have left the browser without a session. */
  enter(page: Page): Promise<void>;
  /** Ends the session of the browser, which does not hear of it. */
  endSession(page: Page): Promise<void>;
  close(): Promise<void>;
}

export async function openTroubles(): Promise<TroublePlace> {
  await buildPages();
  const server = await KillableServer.open();
  const store = await openStore({ connectionString: server.connectionString, log: silent });
  const token = await createOwnerLink(store.accounts, cryptography.tokens);
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
  const page = await enter('setup', { token, ...ada });
  const lodge = new Lodge({ baseUrl: server.url, apiKey: server.key });
  const { id: agentId } = await lodge.agents.create({ name: 'Fern' });
  await lodge.agents.waitUntil(agentId, 'running');
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
    at: (path) => `${origin}${path.replace('$agent', `/agents/${agentId}`).replace('$webhook', webhookId)}`,
    newPerson: (name) => enter('register', { name, email: `${name}@example.test`, password: ada.password }),
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
