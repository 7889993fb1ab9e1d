/** The contract's table of lifecycle verbs, every cell; and what a request does to an agent that sleeps. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { openWorld } from '../api/world.ts';
import type { World } from '../api/world.ts';
import { printCounts, row } from './rows.ts';
import { Client, statuses } from './states.ts';
import type { Status } from './states.ts';

let world: World;
let client: Client;
before(async () => {
  world = await openWorld();
  client = new Client(world);
});
after(() => world?.close());
printCounts('lifecycle');

type Cell = Status | 'agent_transitioning' | 'agent_not_running' | 'agent_not_resumable';
/** Where a verb leads from each status, or the code it is refused with. */
const table: Readonly<Record<string, Readonly<Record<Status, Cell>>>> = {
  start: {
    running: 'running',
    paused: 'running',
    stopped: 'running',
    provisioning: 'agent_transitioning',
    error: 'running',
  },
  resume: {
    running: 'running',
    paused: 'running',
    stopped: 'running',
    provisioning: 'agent_transitioning',
    error: 'agent_not_resumable',
  },
  pause: {
    running: 'paused',
    paused: 'paused',
    stopped: 'agent_not_running',
    provisioning: 'agent_transitioning',
    error: 'agent_not_running',
  },
  stop: {
    running: 'stopped',
    paused: 'stopped',
    stopped: 'stopped',
    provisioning: 'agent_transitioning',
    error: 'stopped',
  },
  restart: {
    running: 'running',
    paused: 'running',
    stopped: 'agent_not_running',
    provisioning: 'agent_transitioning',
    error: 'running',
  },
  // All are on the newest image.
  upgrade: {
    running: 'running',
    paused: 'paused',
    stopped: 'stopped',
    provisioning: 'agent_transitioning',
    error: 'error',
  },
};

for (const [verb, cells] of Object.entries(table)) {
  for (const status of statuses) {
    const wanted = cells[status];
    row('lifecycle verbs', `${verb} of an agent in ${status}: ${wanted}`, async () => {
      const id = await client.agent(status);
      const answer = await client.call('POST', `/agents/${id}/${verb}`);
      if (statuses.some((known) => known === wanted)) {
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.body.status, wanted);
      } else {
        assert.equal(answer.status, 409, answer.text);
        assert.deepEqual([answer.body.error.type, answer.body.error.code], ['invalid_request_error', wanted]);
        if (wanted === 'agent_transitioning') assert.ok(answer.headers.get('retry-after'));
        assert.equal(await client.status(id), status);
      }
      await client.call('DELETE', `/agents/${id}`);
    });
  }
}

for (const status of statuses) {
  row('lifecycle verbs', `delete of an agent in ${status}: yes`, async () => {
    const id = await client.agent(status);
    const answer = await client.call('DELETE', `/agents/${id}`);
    assert.deepEqual([answer.status, answer.body], [200, { object: 'agent.deleted', id, deleted: true }]);
    assert.equal((await client.call('GET', `/agents/${id}`)).status, 404);
    assert.equal(world.host.vms.has(id), false, 'nothing of it is left');
  });
}

row('lifecycle verbs', '`?wait=false` answers 202 with the present record', async () => {
  const id = await client.agent('running');
  const answer = await client.call('POST', `/agents/${id}/stop?wait=false`);
  assert.equal(answer.status, 202);
  assert.equal(answer.body.transition.kind, 'stop');
  await client.call('DELETE', `/agents/${id}`);
});

const chat = { messages: [{ role: 'user', content: 'hello' }] };
const uses: readonly [Status, string, object, number, string?][] = [
  ['running', '', {}, 200],
  ['paused', '', {}, 200],
  ['paused', '', { lifecycle: { auto_resume: false } }, 409, 'agent_not_running'],
  ['stopped', '', {}, 409, 'agent_not_running'],
  ['stopped', '?wake=true', {}, 200],
  ['stopped', '', { lifecycle: { auto_start: true } }, 200],
  ['error', '', {}, 409, 'agent_not_running'],
  ['provisioning', '', {}, 409, 'agent_not_running'],
];
for (const [status, query, fields, wanted, code] of uses) {
  row('waking', `chat with an agent in ${status} ${query} ${JSON.stringify(fields)}: ${wanted}`, async () => {
    const id = await client.agent(status, fields);
    const answer = await client.call('POST', `/agents/${id}/chat/completions${query}`, chat);
    assert.equal(answer.status, wanted, answer.text);
    if (code === undefined) assert.equal(answer.body.choices[0].message.content, 'plum');
    else {
      assert.equal(answer.body.error.code, code);
      assert.equal(answer.body.error.message, 'Agent is not running. Start it first.');
    }
    await client.call('DELETE', `/agents/${id}`);
  });
}
