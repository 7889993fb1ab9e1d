/** Cases: further agents in the same machine, where the runtime can hold them. */
import assert from 'node:assert/strict';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';

export function members(results: Results, subject: Subject, agent: () => Tested): void {
  const check = (name: string, run: (agent: Tested) => Promise<void>): void =>
    results.case(subject, name, () => run(agent()));
  const call = ({ world, id }: Tested, method: string, path: string, body?: object) =>
    world.service.call(method, `/agents/${id}/members${path}`, body);

  if (!subject.hasMembers) {
    check('it holds one agent alone, and says so', async (agent) => {
      const { status, body } = await call(agent, 'POST', '', { name: 'scout' });
      assert.deepEqual([status, body.error.code], [400, 'invalid_request']);
      assert.match(body.error.message, /single agent/);
    });
    return;
  }

  check('members have instructions, model, workspace and conversations of their own, and go whole', async (agent) => {
    const { llm } = agent.world;
    const made = await call(agent, 'POST', '', { name: 'scout', instructions: 'You are a scout.' });
    assert.deepEqual([made.status, made.body.pending], [201, false], JSON.stringify(made.body));
    const model = subject.model('another-model');
    const other = await call(agent, 'POST', '', { name: 'writer', model });
    assert.deepEqual([other.status, other.body.pending], [201, false], JSON.stringify(other.body));

    await agent.answer('Remember plum.', { user: 'ada' });
    llm.script([{ toolCalls: [subject.shell('pwd > where')] }, { text: 'Done.' }]);
    await agent.answer('Remember fig.', { user: 'ada', member: 'scout' });
    assert.match(agent.lastSeen, /You are a scout\./);
    assert.doesNotMatch(agent.lastSeen, /plum/);
    assert.equal(await agent.file('/workspace/members/scout/where'), '/workspace/members/scout\n');
    await agent.answer('Write.', { member: 'writer' });
    assert.equal(llm.requests.at(-1)!.model, 'another-model');

    assert.equal((await call(agent, 'PATCH', '/scout', { instructions: 'You are a ranger.' })).status, 200);
    await agent.answer('Which?', { user: 'ada', member: 'scout' });
    assert.match(agent.lastSeen, /You are a ranger\..*fig/);

    for (const name of ['scout', 'writer']) assert.equal((await call(agent, 'DELETE', `/${name}`)).status, 200);
    await assert.rejects(agent.answer('Still there?', { member: 'scout' }), { status: 404, code: 'member_not_found' });
    assert.equal(await agent.shell('grep -rl fig /home/agent/.openclaw/agents /workspace/members || true'), '');
  });
}
