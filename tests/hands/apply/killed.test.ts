/** An apply that is killed at any moment of any change can be run again, and ends in the same state: nothing is there twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { send } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newKeeper, openApplyWorld } from './world.ts';
import type { Keeper } from './world.ts';

const file = `
version: 1
agents:
  - name: ada
    runtime: openclaw
    llm_keys: {anthropic: {env: KEY}}
    peers: [grace]
    members: [{name: bob, instructions: Be kind.}]
    connections: {tools: {kind: mcp, url: https://mcp.example.com, headers: {Authorization: {env: KEY, prefix: 'Bearer '}}}}
    schedules: [{name: daily, cron: 0 9 * * *, prompt: Say hello.}]
    hooks: [{name: issues, signature: {type: github, secret: {env: KEY}}}]
    ports: [{port: 3000}]
  - name: grace
    runtime: openclaw
    metadata: {ticket: '4711'}
webhooks: [{url: https://example.com/events, events: [agent.*]}]
`;
/** The changes of the file: a webhook, two agents, five parts of the first, and its peers. */
const changes = 9;
/** In each account an apply is killed again and again, each time at the same moment of what is left to do. */
const sequences = [
  { number: 1, moment: 'after', laterMs: 0, kills: 9 },
  { number: 2, moment: 'before', laterMs: 0, kills: 8 },
  // Some time behind a change: between two of them, or in the next.
  { number: 1, moment: 'after', laterMs: 15, kills: 3 },
] as const;

let world: World;
before(async () => {
  world = await openApplyWorld();
});
after(() => world.close());

const apply = ['apply', '--yes', '--parallel', '1', '--secrets-out', 'shown.json'];

interface Listed {
  readonly id: string;
  readonly name?: string;
  readonly port?: number;
  readonly url?: string;
  readonly peers: readonly string[];
  readonly metadata: unknown;
  readonly llm_keys: readonly { readonly last4: string }[];
}

/** The state of an account in words, without what differs from one to the next. */
async function stateOf({ key }: Keeper): Promise<unknown> {
  const list = async (path: string): Promise<Listed[]> => (await send(world.url, 'GET', path, { key })).body.data;
  const agents = await list('/v1/agents?limit=100&order=asc');
  const nameOf = new Map(agents.map(({ id, name }) => [id, name]));
  const parts = ['members', 'connections', 'schedules', 'hooks', 'ports'];
  return {
    webhooks: (await list('/v1/webhooks')).map(({ url }) => url),
    agents: await Promise.all(
      agents.map(async ({ id, name, peers, metadata, llm_keys: keys }) => ({
        name,
        peers: peers.map((peer) => nameOf.get(peer)),
        metadata,
        keys: keys.map(({ last4 }) => last4),
        parts: await Promise.all(
          parts.map(async (part) => (await list(`/v1/agents/${id}/${part}`)).map((each) => each.name ?? each.port)),
        ),
      })),
    ),
  };
}

async function killed({ number, moment, laterMs, kills }: (typeof sequences)[number]): Promise<unknown> {
  const keeper = await newKeeper(world);
  const { person, proxy, lodge } = keeper;
  try {
    await keeper.write('agents.yaml', file);
    for (let at = 0; at < kills; at += 1) {
      const running = person.begin(apply, { input: '' });
      const before = proxy.changes().length;
      proxy.onChange = (change, when) => {
        if (change - before !== number || when !== moment) return false;
        if (laterMs === 0) running.kill('SIGKILL');
        else setTimeout(() => running.kill('SIGKILL'), laterMs);
        return when === 'before';
      };
      const { code, stderr } = await running.ended();
      assert.equal(code, null, `kill ${at + 1} ${moment} change ${number}: ${stderr}`);
    }
    proxy.onChange = () => false;
    const again = await lodge(...apply);
    assert.equal(again.code, 0, again.stderr);
    return await stateOf(keeper);
  } finally {
    await keeper.close();
  }
}

test('an apply that is killed at 20 moments and run again ends in the same state', async () => {
  assert.equal(
    sequences.reduce((sum, { kills }) => sum + kills, 0),
    20,
  );
  const whole = await newKeeper(world);
  await whole.write('agents.yaml', file);
  const { code, stderr } = await whole.lodge(...apply);
  assert.equal(code, 0, stderr);
  assert.equal(whole.proxy.changes().length, changes);
  const wanted = await stateOf(whole);
  await whole.close();
  for (const state of await Promise.all(sequences.map(killed))) assert.deepEqual(state, wanted);
});
