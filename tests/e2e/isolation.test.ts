/**
 * Two accounts on one service: with the key of one, no route of the document shows or changes anything of the other, whatever
 * id of the other's is put into path, query or body.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { skillText, zipOf } from '../../packages/skills/src/testing/archives.ts';
import { Client } from './contract/states.ts';

let world: World;
let owner: Client;
let stranger: Client;
/** The owner's ids, of every kind that a reply shows. */
let ids: { agent: string; stopped: string; audit: string; key: string; skill: string; cursors: Record<string, string> };
const confirmation = 'q3x8n2v7k1ab';
const skillName = 'owners-secret-skill';
/** Texts that only the owner may see. */
const marks = ['owners-name', 'owners-secret-note', 'owners-team'];

before(async () => {
  world = await openWorld();
  owner = new Client(world);
  stranger = new Client(world, await world.keyOf(await world.newAccount()));
  const fields = { name: marks[0], description: marks[1], metadata: { team: marks[2] }, labels: { team: marks[2] } };
  const agent = await owner.agent('running', fields);
  const stopped = await owner.agent('stopped', fields);
  const cursorOf = async (path: string): Promise<string> => (await owner.call('GET', path)).body.next_cursor as string;
  const skill = await addSkill();
  await owner.call('PUT', `/agents/${agent}/skills/${skillName}`, {});
  await world.sql.query(
    `insert into confirmations (id, account_id, agent_id, kind, subject, target, digest, shown_sealed, expires_at)
     values ($1, $2, $3, 'question', 'question', 'x', 'x', 'x', now() + interval '1 hour')`,
    [confirmation, world.accountId, agent],
  );
  ids = {
    skill,
    agent,
    stopped,
    key: (await owner.call('GET', '/account/keys/current')).body.id as string,
    audit: (await owner.call('GET', '/audit-events')).body.data[0].id as string,
    cursors: {
      '/v1/agents': await cursorOf('/agents?limit=1'),
      '/v1/audit-events': await cursorOf('/audit-events?limit=1'),
      '/v1/events': await cursorOf('/events?limit=1'),
      '/v1/agents/{id}/logs': await cursorOf(`/agents/${agent}/logs?limit=1`),
    },
  };
});
after(() => world?.close());

async function addSkill(): Promise<string> {
  const body = zipOf([{ path: 'SKILL.md', content: skillText(skillName, marks[1]) }]);
  const headers = { 'x-api-key': world.key, 'content-type': 'application/zip' };
  const reply = await fetch(`${world.url}/v1/skills`, { method: 'POST', headers, body });
  return ((await reply.json()) as { id: string }).id;
}

/** Everything of the owner's. */
async function contents(): Promise<string> {
  const ofAccount = [
    'agents',
    'api_keys',
    'events',
    'idempotency_keys',
    'agent_visits',
    'confirmations',
    'skills',
    'snapshots',
  ];
  const tables = [
    ...ofAccount,
    'llm_call_contents',
    'llm_keys',
    'agent_holds',
    'agent_logs',
    'agent_ports',
    'channels',
    'channel_credentials',
    'schedules',
    'schedule_runs',
    'hooks',
    'hook_messages',
    'work',
    'connections',
    'connection_headers',
    'connection_oauth',
    'agent_skills',
  ];
  const rows = [];
  for (const table of tables) {
    const of = ofAccount.includes(table)
      ? `account_id = '${world.accountId}'`
      : `agent_id in (select id from agents where account_id = '${world.accountId}')`;
    const { rows: found } = await world.sql.query(
      `select to_jsonb(t) - '{lease_until,lease_holder,last_used_at}'::text[] as row from ${table} t where ${of} order by 1`,
    );
    rows.push([table, found]);
  }
  rows.push((await world.sql.query('select * from accounts where id = $1', [world.accountId])).rows);
  return JSON.stringify(rows);
}

const messages = [{ role: 'user', content: 'x' }];
const bodies: Readonly<Record<string, object>> = {
  'PATCH /v1/agents/{id}': { name: 'mine' },
  'PATCH /v1/account': { record_llm_calls: true },
  'POST /v1/agents/{id}/chat/completions': { messages },
  'POST /v1/agents/{id}/uploads/{upload}': { path: 'stolen', size: 0 },
  'POST /v1/agents/{id}/exec': { command: 'touch stolen' },
  'POST /v1/chat/completions': { messages },
  'POST /v1/agents/{id}/responses': { input: 'x' },
  'POST /v1/responses': { input: 'x' },
  'POST /v1/agents/{id}/members': { name: 'scout' },
  'PATCH /v1/agents/{id}/members/{name}': { instructions: 'x' },
  'POST /v1/agents/{id}/ports': { port: 3000 },
  'PUT /v1/agents/{id}/channels/{channel}': { botToken: '1:x' },
  'PUT /v1/agents/{id}/connections/{name}': { kind: 'mcp', url: 'https://mcp.example.com' },
  'PUT /v1/agents/{id}/skills/{name}': {},
  'POST /v1/agents/{id}/channels/{channel}/approvals': { code: 'x', action: 'approve' },
  'POST /v1/confirmations/{confirmation}': { decision: 'allow' },
  'POST /v1/agents/{id}/schedules': { name: 'S', every: '1h', prompt: 'x' },
  'PATCH /v1/agents/{id}/schedules/{schedule}': { name: 'mine' },
  'POST /v1/agents/{id}/snapshots': {},
  'POST /v1/agents/{id}/restore': { snapshot: 'before_last_turn' },
  'POST /v1/agents/{id}/fork': {},
  'PATCH /v1/snapshots/{snapshot}': { name: 'mine' },
  'POST /v1/agents/{id}/hooks': { name: 'H' },
  'POST /v1/fingerprints': { values: [{ for: 'llm_key', value: 'x' }] },
  'POST /v1/mcp': { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_agents' } },
  'POST /v1/agents': { name: 'of the stranger' },
};

const headersOf: Readonly<Record<string, Record<string, string>>> = {
  'PATCH /v1/agents/{id}/uploads/{upload}': { 'upload-offset': '0' },
};

test('every route of the document, with every id of the other account: 404, nothing shown, nothing changed', async (t: TestContext) => {
  const document = (await owner.call('GET', '/openapi.json')).body;
  const before = await contents();
  let requests = 0;
  const routes = new Set<string>();
  for (const [path, item] of Object.entries<object>(document.paths)) {
    for (const method of Object.keys(item).map((name) => name.toUpperCase())) {
      routes.add(`${method} ${path}`);
      // Each key may revoke itself, so it is asked with one of its own.
      const signsOut = method === 'DELETE' && path === '/v1/account/keys/current';
      const asking = signsOut ? new Client(world, await world.keyOf(await world.newAccount())) : stranger;
      for (const id of [ids.agent, ids.stopped, ids.audit, world.accountId]) {
        const byModel = path === '/v1/chat/completions' || path === '/v1/responses';
        const isNamed = path.startsWith('/v1/agents/{id}') || byModel;
        const named = path.startsWith('/v1/account/keys/') ? ids.key : id;
        const target = path
          .slice(3)
          .replace('{id}', encodeURIComponent(named))
          .replace('{skill}', ids.skill)
          .replace('{confirmation}', confirmation)
          .replace('/skills/{name}', `/skills/${skillName}`);
        const given = bodies[`${method} ${path}`];
        const body = byModel ? { ...given, model: id } : given;
        const answer = await asking.call(method, target, body, { headers: headersOf[`${method} ${path}`] ?? {} });
        requests += 1;
        if (isNamed)
          assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found'], `${method} ${path}`);
        if (path.startsWith('/v1/skills/{skill}')) assert.equal(answer.body.error.code, 'skill_not_found', path);
        if (path === '/v1/confirmations/{confirmation}') assert.equal(answer.body.error.code, 'confirmation_not_found');
        if (path === '/v1/account/keys/{id}') assert.equal(answer.body.error.code, 'key_not_found');
        if (path !== '/v1/openapi.json') {
          for (const text of [...marks, skillName, ids.skill, ids.agent, ids.stopped, ids.key, world.accountId]) {
            const shown = answer.text.replaceAll(id, '');
            assert.equal(text !== id && shown.includes(text), false, `${method} ${path} shows ${text}`);
          }
        }
        if (!isNamed) break;
      }
    }
  }
  assert.equal(await contents(), before, "nothing of the owner's has changed");
  t.diagnostic(`${requests} requests over ${routes.size} routes`);
  assert.ok(routes.size >= 21);
});

test("another account's skill is none by its name, and is given to no agent of one's own", async () => {
  const agent = await stranger.agent('running', { name: 'of the stranger' });
  const before = await contents();
  for (const [method, path, body] of [
    ['GET', `/skills/${skillName}`],
    ['GET', `/skills/${skillName}/files/SKILL.md`],
    ['DELETE', `/skills/${skillName}`],
    ['PUT', `/agents/${agent}/skills/${skillName}`, {}],
    ['PUT', `/agents/${agent}/skills/${skillName}`, { skill: ids.skill }],
    ['GET', `/agents/${agent}/skills/${skillName}`],
  ] as const) {
    const answer = await stranger.call(method, path, body);
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'skill_not_found'], `${method} ${path}`);
  }
  assert.deepEqual((await stranger.call('GET', '/skills')).body.data, []);
  assert.equal(await contents(), before);
});

test('equal secrets of two accounts have different fingerprints, so none shows what another has', async () => {
  const body = { values: [{ for: 'llm_key', value: 'sk-ant-the-same-for-both' }] };
  const of = async (who: Client) => (await who.call('POST', '/fingerprints', body)).body.data[0].fingerprint as string;
  assert.equal(await of(owner), await of(owner));
  assert.notEqual(await of(owner), await of(stranger));
});

test("another account's cursors lead to nothing of it", async () => {
  for (const path of ['/agents', '/audit-events', '/events']) {
    const cursor = ids.cursors[`/v1${path}`]!;
    assert.equal((await owner.call('GET', `${path}?limit=1&cursor=${cursor}`)).status, 200);
    const answer = await stranger.call('GET', `${path}?limit=1&cursor=${cursor}`);
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_request'], answer.text);
    const broken = `${cursor.slice(0, -2)}${cursor.endsWith('AA') ? 'BB' : 'AA'}`;
    assert.equal(
      (await owner.call('GET', `${path}?limit=1&cursor=${broken}`)).status,
      400,
      'a cursor that was changed',
    );
  }
});

test('lists, usage of quotas and audit show the own account alone', async () => {
  const own = (await stranger.call('POST', '/agents', { name: 'own' })).body as { id: string };
  const { data } = (await stranger.call('GET', '/agents?limit=100')).body;
  assert.ok(data.some(({ id }: { id: string }) => id === own.id));
  assert.ok(data.every(({ name }: { name: string }) => name !== marks[0]));
  for (const query of [`name=${marks[0]}`, `metadata[team]=${marks[2]}`, `label[team]=${marks[2]}`, 'has_label=team']) {
    assert.deepEqual((await stranger.call('GET', `/agents?${query}`)).body.data, []);
  }
  const { quotas } = (await stranger.call('GET', '/limits')).body;
  assert.equal(quotas.agents.used, data.length);
  const events = (await stranger.call('GET', '/audit-events?limit=100')).body.data;
  assert.ok(events.every(({ target }: { target: { id: string } }) => target.id !== ids.agent));
});
