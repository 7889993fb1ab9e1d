/** A Lodge with both runtimes, a provider of its own that tells good keys from bad ones, and people who are signed in. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openLodge } from '@lodge/testkit/lodge';
import type { OpenedLodge } from '@lodge/testkit/lodge';
import { FakeHost } from '@lodge/vm/fake';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { guestRuntime, noTroubles } from '../../packages/testkit/src/plane/guest-runtime.ts';
import type { GuestTroubles } from '../../packages/testkit/src/plane/guest-runtime.ts';
import { openBrowser } from './browser.ts';
import { buildPages } from './place.ts';
import type { Person } from './actions.ts';

export const goodKey = 'sk-house-good-key-1234';

export interface AgentsPlace {
  readonly lodge: OpenedLodge;
  readonly url: string;
  readonly sql: Client;
  /** The faults of the guests of OpenClaw. */
  readonly troubles: GuestTroubles;
  /** A browser in which this person is signed in, with an account of the role. */
  signedIn(browser: Browser, faults: string[], person: Person, role: 'owner' | 'member' | 'viewer'): Promise<SignedIn>;
  close(): Promise<void>;
}

export interface SignedIn {
  readonly page: Page;
  readonly accountId: string;
  /** A request of the API by the same session. */
  call(method: string, path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }>;
}

export async function openAgentsPlace(): Promise<AgentsPlace> {
  await buildPages();
  const house = createServer((request, response) => {
    response.writeHead(request.headers.authorization === `Bearer ${goodKey}` ? 200 : 401).end('{}');
  }).listen(0, '127.0.0.1');
  await once(house, 'listening');
  const provider = {
    id: 'house',
    name: 'House models',
    base_url: `http://127.0.0.1:${(house.address() as AddressInfo).port}/v1`,
    needs_key: true,
    docs_url: 'https://models.example.com/docs',
    models: [
      { name: 'large', context_window: 200_000, prices: { input: '3', output: '15' } },
      { name: 'small', prices: { input: '0.25', output: '1.25' } },
    ],
  };
  const host = new FakeHost();
  const troubles = noTroubles();
  const lodge = await openLodge({
    host,
    runtimes: new Map([
      ['runtime_a', guestRuntime(host, troubles)],
      ['runtime_b', guestRuntime(host, noTroubles())],
    ]),
    settings: { LODGE_REGISTRATION: 'open', LODGE_PROVIDERS: JSON.stringify([provider]), LODGE_MAX_AGENTS: '2000' },
  });
  const sql = new Client({ connectionString: lodge.connectionString });
  await sql.connect();
  const url = new URL(lodge.baseUrl).origin;
  return {
    lodge,
    url,
    sql,
    troubles,
    signedIn: (browser, faults, person, role) => signedIn({ lodge, url, sql }, [browser, faults], person, role),
    async close() {
      await sql.end();
      await lodge.close();
      house.closeAllConnections();
      house.close();
    },
  };
}

async function signedIn(
  { lodge, url, sql }: Pick<AgentsPlace, 'lodge' | 'url' | 'sql'>,
  [browser, faults]: readonly [Browser, string[]],
  person: Person,
  role: 'owner' | 'member' | 'viewer',
): Promise<SignedIn> {
  const page = await openBrowser(browser, faults);
  const { request } = page.context();
  const token = lodge.ownerLink!.url(url).split('#token=')[1];
  const entered = await request.post(`${url}/v1/account/${role === 'owner' ? 'setup' : 'register'}`, {
    data: role === 'owner' ? { token, ...person } : person,
    headers: { origin: url },
  });
  assert.ok(entered.ok(), await entered.text());
  const { account } = (await entered.json()) as { account: { id: string } };
  if (role === 'viewer') await sql.query(`update accounts set role = 'viewer' where id = $1`, [account.id]);
  return {
    page,
    accountId: account.id,
    async call(method, path, body) {
      const session = await request.get(`${url}/v1/account/session`);
      const { csrf_token: csrf } = (await session.json()) as { csrf_token: string };
      const reply = await request.fetch(`${url}/v1${path}`, {
        method,
        headers: { origin: url, 'x-csrf-token': csrf },
        ...(body !== undefined && { data: body }),
      });
      return { status: reply.status(), body: (await reply.json()) as Record<string, unknown> };
    },
  };
}

/** Rows of stopped agents, with some spend of this month: straight in the database, for that many machines cost minutes. */
export async function addAgents(sql: Client, accountId: string, count: number): Promise<void> {
  await sql.query(
    `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds,
       keep_awake, auto_resume, auto_start, wake_on_message, labels, metadata, created_at, updated_at, status, stopped_at,
       machine_vcpus, machine_memory_mib, machine_disk_gib, last_active_at)
     select 'm' || lpad(n::text, 11, '0'), $1, 'Agent ' || n, case when n % 4 = 0 then 'runtime_b' else 'runtime_a' end,
       case when n % 4 = 0 then 'large' when n % 3 = 0 then 'house/small' else 'anthropic/claude-sonnet-5' end,
       (array['small', 'medium', 'large'])[1 + n % 3], 900, 3600, 'auto', true, true, true,
       case when n % 2 = 0 then jsonb_build_object('team', 'support', 'env', 'prod') else '{}'::jsonb end, '{}',
       now() - n * interval '1 hour', now(), 'stopped', now(), 2, 4096, 10,
       case when n % 5 > 0 then now() - n * interval '7 minutes' end
     from generate_series(1, $2::int) n`,
    [accountId, count],
  );
  await sql.query(
    `insert into llm_calls (id, agent_id, account_id, provider, model, started_at, duration_ms, outcome, cost_usd)
     select gen_random_uuid()::text, id, account_id, 'house', 'small', date_trunc('month', now()) + interval '1 second', 1, 'ok', row_number() over (order by id) * 0.01
     from agents where account_id = $1 and id like 'm00%' order by id limit 400`,
    [accountId],
  );
}
