/**
 * A stand for OAuth of connections: the API on a real database, a real MCP server with its authorization server, and an
 * agent with one connection, `work`. The shown texts are kept, to look for secrets in them.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach } from 'node:test';
import { ConsentBrowser } from '@lodge/testkit/consent-browser';
import { startOAuthServer } from '../../../packages/connections/src/testing/oauth-server.ts';
import type { OAuthServer, OAuthServerOptions } from '../../../packages/connections/src/testing/oauth-server.ts';
import { Client } from '../contract/states.ts';
import { openWorld } from './world.ts';
import type { ApiServer, World } from './world.ts';

export const clientSecret = 'very-secret-of-the-client-9f2c';
export const anyAddress = { LODGE_CONNECTION_ADDRESSES: 'any' } as const;
export const connections = {
  settings: anyAddress,
  bounds: { oauth: { leastAgeMs: 0, retryMs: 60_000, claimMs: 20_000, waitMs: 15_000 } },
} as const;
/** The tool's answer to a good call. */
export const fine = [false, 'hello'] as const;
export const text = (said: string) => ({ content: [{ type: 'text', text: said }] });

/** Opens it before the tests of a file, with an agent of its own for each. */
export function openStand() {
  const logged: string[] = [];
  const texts: string[] = [];
  const everIssued: string[] = [clientSecret];
  const here = {} as { world: World; client: Client; agentId: string; oauth: OAuthServer };

  before(async () => {
    const onError = (fields: object, message: string) => void logged.push(JSON.stringify([fields, message]));
    here.world = await openWorld({ ...connections, onError });
    here.client = new Client(here.world);
  });
  after(() => here.world?.close());
  beforeEach(async () => {
    here.agentId = await here.client.agent('running');
  });
  afterEach(async () => {
    everIssued.push(...(here.oauth?.seen.issued ?? []));
    await here.oauth?.close();
  });

  const tools = () => [{ name: 'hello', answer: () => text('hello') }];
  const callback = () => `${here.world.origin}/oauth/connections/callback`;
  const path = () => `/agents/${here.agentId}/connections/work`;
  const sql = (query: string) => here.world.sql.query(query.replaceAll('$agent', `'${here.agentId}'`));
  const begin = (body: object = {}) => here.client.call('POST', `${path()}/oauth/start`, body);
  const browser = new ConsentBrowser();
  /** The visitor of a page consents, here and there. Returns the address that it leads back to. */
  async function visit(url: string): Promise<string> {
    const page = await fetch(await browser.agree(url), { redirect: 'manual' });
    assert.equal(page.status, 302, await page.text());
    return page.headers.get('location')!;
  }
  async function back(url: string) {
    const page = await browser.ask(url);
    texts.push(page.text);
    return page;
  }

  return {
    here,
    callback,
    path,
    sql,
    begin,
    browser,
    visit,
    back,
    start: async (options: OAuthServerOptions = {}) => {
      here.oauth = await startOAuthServer({ tools, ...options });
    },
    put: async (given: object = {}) => {
      const body = { kind: 'mcp', url: here.oauth.url, auth: { kind: 'oauth' }, ...given };
      const answer = await here.client.call('PUT', path(), body);
      texts.push(answer.text);
      return answer;
    },
    record: async () => {
      const { body, text: all } = await here.client.call('GET', path());
      texts.push(all);
      return body as { auth: any; oauth: any; enabled: boolean; status_reason: string | null };
    },
    consent: async (body: object = {}) => {
      const begun = await begin(body);
      assert.equal(begun.status, 200, begun.text);
      const page = await back(await visit(begun.body.authorization_url as string));
      assert.equal(page.status, 200, page.text);
      return { begun: begun.body, page };
    },
    call: async (tool = 'work__hello', of: Pick<ApiServer, 'tools'> = here.world) => {
      const answer = await of.tools.call(
        { agentId: here.agentId, accountId: '', confirmations: null },
        tool,
        {},
        AbortSignal.timeout(20_000),
      );
      const said = String(answer?.content[0]?.text);
      texts.push(said);
      return [answer?.isError, said] as const;
    },
    /** Keeps a text, to look for secrets in it. */
    shown: (said: string) => void texts.push(said),
    /** As if access had been given an hour ago, for an hour. */
    due: () =>
      sql(`update connection_oauth set granted_at = now() - interval '1 hour', expires_at = now() - interval '1 second',
        renew_at = now() - interval '1 minute' where agent_id = $agent`),
    eventsOf: async (type: string) =>
      (await sql(`select data, level from events where agent_id = $agent and type = '${type}'`)).rows as {
        data: object;
      }[],
    linesOf: async () => {
      const { body } = await here.client.call('GET', `/agents/${here.agentId}/logs?limit=1000`);
      return (body.data as { message: string }[]).map((line) => line.message);
    },
    /** No token, no secret of a client: not in a reply, a page, an answer, a log, an event or the database. */
    checkNothingLeaked: async () => {
      assert.ok(everIssued.length > 15);
      const { rows: tables } = await here.world.sql.query<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
      );
      let dump = '';
      for (const { name } of tables) {
        dump += JSON.stringify((await here.world.sql.query(`select to_jsonb(t) as row from "${name}" t`)).rows);
      }
      assert.match(dump, /connection\.connected/);
      const lists = ['/audit-events?limit=100', '/events?limit=100'].map((each) => here.client.call('GET', each));
      const shown = (await Promise.all(lists)).map((each) => each.text);
      const everything = [dump, ...texts, ...logged, ...shown].join('\n');
      for (const secret of everIssued) assert.ok(!everything.includes(secret), secret.slice(0, 8));
    },
  };
}
