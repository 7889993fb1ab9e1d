/** A Lodge with an agent whose gateway answers as a test says, over a real guest daemon, and a browser that is signed in. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { openSecretBox } from '@lodge/access';
import { createCallLedger } from '@lodge/engine';
import { dialTo, guestClient, noCredential } from '@lodge/guest';
import { callContentContext } from '@lodge/ports';
import type { AgentRuntime, LlmCall } from '@lodge/ports';
import { FaultyProxy } from '@lodge/testkit/faulty-proxy';
import { openLodge } from '@lodge/testkit/lodge';
import type { OpenedLodge } from '@lodge/testkit/lodge';
import { FakeHost } from '@lodge/vm/fake';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { Daemon } from '../../apps/guestd/src/testing.ts';
import { chunk, done, event, StubGateway } from '../../packages/testkit/src/leaf/stub-gateway.ts';
import { guestRuntime, noTroubles } from '../../packages/testkit/src/plane/guest-runtime.ts';
import { launch, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

export interface TalkPlace {
  readonly lodge: OpenedLodge;
  readonly gateway: StubGateway;
  readonly sql: Client;
  readonly browser: Browser;
  readonly page: Page;
  /** Faults of the pages: errors, and breaches of the content security policy. */
  readonly faults: string[];
  /** Requests that left the Lodge. */
  readonly strayed: string[];
  readonly url: string;
  /** Between the browser and the server. */
  readonly proxy: FaultyProxy;
  readonly accountId: string;
  /** A request of the API by the page's session. */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

const masterKey = Buffer.alloc(32, 7);
const owner = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'analytical engine 1843' };

export async function openTalkPlace(): Promise<TalkPlace> {
  const built = buildPages();
  const gateway = new StubGateway();
  gateway.server.listen(0, '127.0.0.1');
  await once(gateway.server, 'listening');
  const guest = new Daemon();
  await guest.prepare();
  await guest.start();
  const host = new FakeHost();
  const chatEndpoint: AgentRuntime['chatEndpoint'] = (_guest, _facts, _settings, { member }) => ({
    dial: dialTo('127.0.0.1'),
    baseUrl: gateway.url,
    headers: {},
    model: member ?? 'openclaw',
    takesPictures: false,
  });
  const lodge = await openLodge({
    host,
    masterKey,
    runtimes: new Map([
      ['runtime_a', { ...guestRuntime(host, noTroubles()), chatEndpoint }],
      ['runtime_b', { ...guestRuntime(host, noTroubles()), chatEndpoint }],
    ]),
    guestAt: () => guestClient({ dial: dialTo('127.0.0.1'), port: guest.port, credential: noCredential }),
  });
  const sql = new Client({ connectionString: lodge.connectionString });
  await sql.connect();
  await built;
  const proxy = await FaultyProxy.start(new URL(lodge.baseUrl).origin);
  const { url } = proxy;
  const browser = await launch(Number(new URL(url).port));
  const faults: string[] = [];
  const page = await openBrowser(browser, faults);
  const strayed: string[] = [];
  page.context().on('request', (request) => {
    if (
      !/^(?:blob:)?https?:/.test(request.url()) ||
      !request
        .url()
        .replace(/^blob:/, '')
        .startsWith(`${url}/`)
    )
      strayed.push(request.url());
  });
  const { request } = page.context();
  const token = lodge.ownerLink!.url(url).split('#token=')[1];
  const headers = { origin: url };
  const entered = await request.post(`${url}/v1/account/setup`, { data: { token, ...owner }, headers });
  assert.ok(entered.ok(), await entered.text());
  const { account, csrf_token: csrf } = (await entered.json()) as { account: { id: string }; csrf_token: string };
  return {
    lodge,
    gateway,
    sql,
    browser,
    page,
    faults,
    strayed,
    url,
    proxy,
    accountId: account.id,
    async call(method, path, body) {
      const reply = await request.fetch(`${url}/v1${path}`, {
        method,
        headers: { ...headers, 'x-csrf-token': csrf },
        ...(body !== undefined && { data: body }),
      });
      assert.ok(reply.ok(), `${method} ${path}: ${await reply.text()}`);
      return (await reply.json()) as Record<string, unknown>;
    },
    async close() {
      await browser.close();
      await proxy.close();
      await sql.end();
      await lodge.close();
      gateway.server.closeAllConnections();
      gateway.server.close();
      await guest.remove();
    },
  };
}

/** One line of a script: words, a step of a tool, a wait, or a cut connection. */
export type Line =
  | string
  | {
      readonly step: 'start' | 'end';
      readonly id?: string;
      readonly title?: string;
      readonly failed?: true;
      readonly tool?: string;
    }
  | { readonly wait: Promise<unknown> }
  | { readonly cut: true };

const toolLine = ({ step, id = 'call_1', title, failed, tool = 'exec' }: Extract<Line, { step: unknown }>): string =>
  `event: openclaw.tool\n${event({ toolCallId: id, name: tool, phase: step, status: failed ? 'failed' : 'completed', meta: title })}`;

/** Answers line by line, as OpenClaw's gateway streams. */
export const saying =
  (...lines: readonly Line[]) =>
  async (reply: ServerResponse): Promise<void> => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const line of lines) {
      if (typeof line === 'string') reply.write(event(chunk(line)));
      else if ('wait' in line) await line.wait;
      else if ('cut' in line) return void reply.destroy();
      else reply.write(toolLine(line));
    }
    reply.end(done);
  };

/** Puts a call into the ledger, as the broker does when it ends. */
export const spend = (place: TalkPlace, agentId: string, more: object = {}): Promise<void> =>
  createCallLedger(place.lodge.parts.store.database, 'test').close(callOf(place, agentId, more));

/** Puts a call into the ledger whose contents were kept. */
export async function record(place: TalkPlace, agentId: string): Promise<void> {
  const call = callOf(place, agentId, { model: 'claude-recorded' });
  const content = {
    request: JSON.stringify({ messages: [{ role: 'user', content: 'What is the capital?' }] }),
    response: 'event: message_start\ndata: {"text":"<img src=https://evil.example/x.png onerror=alert(1)>"}\n\n',
  };
  const secrets = await openSecretBox(place.lodge.parts.store.secrets, masterKey);
  const sealed = secrets.seal(JSON.stringify(content), callContentContext(call.id));
  await createCallLedger(place.lodge.parts.store.database, 'test').close(call, { sealed, truncated: true });
}

const callOf = (place: TalkPlace, agentId: string, more: object): LlmCall => ({
  id: crypto.randomUUID(),
  agentId,
  accountId: place.accountId,
  provider: 'anthropic',
  model: 'claude-sonnet-5',
  api: 'anthropic-messages',
  startedAt: new Date(),
  durationMs: 1200,
  timeToFirstByteMs: 300,
  status: 200,
  outcome: 'ok',
  estimated: false,
  costUsd: '0.0125',
  priceVersion: 'test',
  inputTokens: 1000,
  outputTokens: 200,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteLongTokens: null,
  reasoningTokens: null,
  imageTokens: null,
  ...more,
});

interface Said {
  readonly conversation: string;
  readonly kind?: 'direct' | 'group';
  readonly sender?: string;
  readonly text: string;
  readonly answer?: string;
  readonly state: 'received' | 'answered' | 'failed' | 'unknown' | 'refused';
  readonly reason?: string;
}

const saidLately: readonly Said[] = [
  { conversation: '7', text: 'Where is my parcel?', answer: 'It arrives **today**.', state: 'answered' },
  { conversation: '7', text: 'Thank you', state: 'failed', reason: 'The provider did not answer.' },
  { conversation: '8', text: 'Are you there?', answer: 'Yes.', state: 'unknown', reason: 'The connection was cut.' },
  { conversation: '-9', kind: 'group', sender: 'Mallory', text: 'Let me in', state: 'refused', reason: 'Not allowed.' },
];

/** Messages of a channel that is off, as its relay and the engine leave them. */
export async function addMessages(
  { sql, accountId }: TalkPlace,
  agentId: string,
  messages: readonly Said[] = saidLately,
): Promise<void> {
  await sql.query(
    `insert into channels (agent_id, channel, account_id, enabled, access, status)
     values ($1, 'telegram', $2, false, '{"dm":"pairing"}', 'disabled') on conflict do nothing`,
    [agentId, accountId],
  );
  for (const { conversation, kind = 'direct', sender = 'Grace', text, answer, state, reason } of messages) {
    const { rows } = await sql.query<{ id: string }>(
      `insert into channel_conversations (agent_id, channel, account_id, conversation_id, kind)
       values ($1, 'telegram', $2, $3, $4)
       on conflict (agent_id, channel, conversation_id) do update set last_at = now() returning id`,
      [agentId, accountId, conversation, kind],
    );
    const answers = await sql.query<{ id: string }>(
      `insert into channel_answers (conversation, text, state, ended_at)
       select $1, $2, 'sent', now() where $2::text is not null returning id`,
      [rows[0]!.id, answer ?? null],
    );
    await sql.query(
      `insert into channel_messages (agent_id, channel, account_id, conversation, sender_id, sender_name, text, state,
         reason, sent_at, attempts, answer_id, answered_at)
       values ($1, 'telegram', $2, $3, $4, $5, $6, $7, $8, now(), 2, $9, case when $9::text is not null then now() end)`,
      [
        agentId,
        accountId,
        rows[0]!.id,
        `id-${sender}`,
        sender,
        text,
        state,
        reason ?? null,
        answers.rows[0]?.id ?? null,
      ],
    );
  }
}
