/* oxlint-disable no-restricted-imports -- only tests import this file */
/** An agent with everything that an agent can have, on a real database, and a snapshot to make forks from. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { createSecretBox } from '@lodge/access';
import { makeAgentId } from '@lodge/domain';
import type { ReadSkill } from '@lodge/ports';
import { upsertPort } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { insertGrant } from '@lodge/store/connections';
import { insertSnapshot } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { execute } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane, PlaneOptions } from '../../../testkit/src/plane/plane.ts';
import { makeSchedule } from '../../../store/src/testing/schedule-fixture.ts';
import { createAgentSkills } from '../agent-skills/agent-skills.ts';
import type { ForkInput } from '../agents/agents.ts';
import { createConnections } from '../connections/connections.ts';
import { createSkills } from '../skills/skills.ts';
import { newSnapshotRow } from './begin.ts';

const secrets = createSecretBox(randomBytes(32));
const limits = { maxAgentsPerAccount: 1_000, maxRunningPerAccount: 1_000 };
const members = [{ name: 'scout', model: null, instructions: 'Look.', createdAt: new Date('2026-01-31T12:00:00Z') }];
export const confirmations = {
  rules: [{ on: 'connection:mcp', match: '*', policy: 'ask' }],
  default: 'allow',
  deliver: [],
  deciders: ['telegram:7'],
  expires: '24h',
} as const;

export async function openParent() {
  const world = await World.open();
  /** Another control plane of the same account. */
  const another = (options: PlaneOptions = {}) => startPlane(world, new FakeHost(), { secrets, ...limits, ...options });
  const plane = await another({ memory: { reservedMib: 0, overcommit: 1_000 } });
  const parent = await wholeParent(world, plane);
  /** A snapshot of another host, so nobody starts what begins from it. */
  const readySnapshot = (of: AgentRow, more: object = {}): Promise<SnapshotRow> =>
    world.store.database.transaction((trx) =>
      insertSnapshot(trx, {
        ...newSnapshotRow(of, makeAgentId(randomInt), { kind: 'named', memory: true }),
        host: 'elsewhere',
        status: 'ready',
        loads: 'memory',
        ...more,
      }),
    );
  const snapshot = await readySnapshot(parent);
  return {
    world,
    plane,
    parent,
    snapshot,
    another,
    readySnapshot,
    opened: (sealed: string, context: string): string => secrets.open(sealed, context),
    sql: <Row extends object>(text: string) => execute<Row>(world.database.connectionString, text),
    fork: (given: Partial<ForkInput> = {}, from = plane, of = parent): Promise<readonly AgentRow[]> => {
      const asked = { count: 1, include: [], llmKeys: 'copy', change: {}, snapshot: snapshot.id, ...given } as const;
      return from.agents.fork(world.accountId, of.id, asked, {
        ids: Array.from({ length: asked.count }, () => makeAgentId(randomInt)),
        save: () => Promise.reject(new Error('a snapshot is named')),
      });
    },
    close: async (): Promise<void> => {
      plane.kill();
      await world.close();
    },
  };
}

/** An agent with everything that an agent can have. */
async function wholeParent(world: World, plane: Plane): Promise<AgentRow> {
  const { accountId, store } = world;
  const { id } = await running(world, plane, {
    name: 'Ada',
    instructions: 'Be kind.',
    env: { TZ: 'UTC' },
    labels: { team: 'a', old: 'b' },
    llmKeys: [{ provider: 'p', apiKey: 'sk-of-ada-0123456789' }],
    spendLimit: { dailyUsd: '10', monthlyUsd: null, action: 'block' },
    packages: { apt: ['jq'], pip: [], npm: [] },
    egress: { mode: 'none', allow: [] },
  });
  await plane.agents.changeMembers(accountId, id, () => members);
  await addConnections(world, plane, id);
  await plane.agents.update(accountId, id, { confirmations });
  await execute(
    world.database.connectionString,
    `update agents set confirmations = jsonb_set(confirmations, '{deliver}',
    '[{"channel": "telegram", "conversation": "1"}]') where id = '${id}'`,
  );
  await makeSchedule(store, { accountId, agentId: id });
  const channel = { deliverTo: 'channel', deliverChannel: 'telegram', deliverConversation: '1' } as const;
  await makeSchedule(store, { accountId, agentId: id }, { name: 'T', ...channel });
  await store.database.transaction((trx) => upsertPort(trx, { agentId: id, port: 3000, public: true }));
  const library = createSkills({
    database: store.database,
    makeId: randomUUID,
    reader: { read: () => Promise.resolve(skill), close: () => Promise.resolve() },
  });
  const by = { by: { actor: { kind: 'operator', id: null }, address: null, requestId: null } } as const;
  await library.add(
    accountId,
    { origin: { kind: 'git', url: 'x', ref: null, path: '' }, acceptFindings: true },
    by,
    never,
  );
  const given = { name: 'notes', skill: 'notes', version: null, enabled: true, members: ['scout', null] };
  await createAgentSkills({ agents: plane.agents, database: store.database }).put(accountId, id, given);
  return (await store.agents.find(id))!;
}

/** One of each kind, with a grant of OAuth. */
async function addConnections({ accountId, store }: World, plane: Plane, id: string): Promise<void> {
  const connections = createConnections({
    database: store.database,
    agents: plane.agents,
    secrets,
    consent: { begin: () => Promise.reject(new Error('no')), exchange: () => Promise.reject(new Error('no')) },
    anyAddress: false,
    isOwnHost: () => false,
    authority: async () => ({ certificate: 'the certificate', key: 'the key' }),
  });
  const usual = { url: undefined, headers: undefined, allow: undefined, tools: null, enabled: true, auth: undefined };
  const url = 'https://mcp.example.com/mcp';
  const auth = { clientId: 'c', clientSecret: 'a client secret', scope: null };
  const noEndpoints = { authorizationUrl: null, tokenUrl: null, clientAuth: null };
  await connections.put(accountId, id, { ...usual, name: 'mcp', kind: 'mcp', url, auth: { ...auth, ...noEndpoints } });
  const to = { agentId: id, connection: 'mcp', url, hosts: [], clientId: 'c', issuer: url, endpoints: null };
  const grant = { sealed: 'a grant', scope: null, expiresInMs: null, renewInMs: null };
  await store.database.transaction((trx) => insertGrant(trx, to, grant));
  const allow = [{ methods: ['GET'], paths: ['/*'] }] as const;
  const headers = { 'X-Key': 'a header of some length' };
  await connections.put(accountId, id, {
    ...usual,
    name: 'web',
    kind: 'http',
    url: 'https://a.example.com',
    allow,
    headers,
  });
  const hosts = {
    hosts: ['api.example.com'],
    secrets: { TOKEN: { value: 'a secret of some length', in: ['authorization'] } },
  };
  await connections.put(accountId, id, { ...usual, name: 'host', kind: 'host', allow, ...hosts });
}

const skill: ReadSkill = {
  name: 'notes',
  description: 'x',
  requires: { programs: [], variables: [] },
  digest: 'digest',
  source: { kind: 'upload' },
  findings: [],
  files: [{ path: 'SKILL.md', bytes: 7, sha256: 'x', executable: false, content: Buffer.from('a skill') }],
};
