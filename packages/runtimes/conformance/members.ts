/** Cases: further agents in the same machine, for runtimes that can hold them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Results } from './results.ts';
import { TestedSkill } from './skills.ts';
import type { Subject } from './subjects.ts';
import { type Tested } from './world.ts';
import { until } from './until.ts';

const secretWord = (): string => `word-${randomBytes(6).toString('hex')}`;
/** Without KVM, OpenClaw takes most of a minute to add or remove one. */
const inEffectTimeoutMs = 10 * 60_000;
/** Every folder in which a runtime in the guest may keep knowledge. */
const homes = '/home/agent /workspace';

export function members(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
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

  // Each change of members takes an emulated OpenClaw minutes. It changes with OpenClaw's version, whose trial has these cases.
  further('a member has instructions, model, workspace and conversations of its own, and goes whole', async (agent) => {
    const { llm } = agent.world;
    const model = subject.model('another-model');
    const made = await call(agent, 'POST', '', { name: 'scout', model, instructions: 'You are a scout.' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await until('it is there', inEffectTimeoutMs, async () => !(await call(agent, 'GET', '/scout')).body.pending);

    const [own, scouted] = [secretWord(), secretWord()];
    await agent.answer(`Remember ${own}.`, { user: 'ada' });
    assert.notEqual(llm.requests.at(-1)!.model, 'another-model');
    llm.script([{ toolCalls: [subject.shell('pwd > where')] }, { text: 'Done.' }]);
    await agent.answer(`Remember ${scouted}.`, { user: 'ada', member: 'scout' });
    assert.equal(llm.requests.at(-1)!.model, 'another-model');
    assert.match(agent.lastSeen, /You are a scout\./);
    assert.doesNotMatch(agent.lastSeen, new RegExp(own));
    assert.equal(await agent.file('/workspace/members/scout/where'), '/workspace/members/scout\n');

    assert.equal((await call(agent, 'PATCH', '/scout', { instructions: 'You are a ranger.' })).status, 200);
    await until('it is told', inEffectTimeoutMs, async () => !(await call(agent, 'GET', '/scout')).body.pending);
    await agent.answer('Which?', { user: 'ada', member: 'scout' });
    assert.match(agent.lastSeen, new RegExp(`You are a ranger\\..*${scouted}`));

    const skill = new TestedSkill(agent, 'scouting');
    const skilled = await skill.add();
    await skill.give(['scout']);
    await agent.answer('What can you do?', { user: 'ada', member: 'scout' });
    assert.match(agent.lastSeen, new RegExp(`scouting.*${skilled}`));
    await agent.answer('And you?', { user: 'ada' });
    assert.ok(!agent.lastSeen.includes(skilled), 'the skill of a member is not told to the others');
    await skill.take();

    assert.equal((await call(agent, 'DELETE', '/scout')).status, 200);
    await until('it is gone', inEffectTimeoutMs, async () => (await agent.record()).settings_pending === false);
    await assert.rejects(agent.answer('Still there?', { member: 'scout' }), { status: 404, code: 'member_not_found' });
    assert.notEqual(await agent.shell(`grep -rl ${own} ${homes}`), '', 'the search finds what is there');
    assert.equal(await agent.shell(`grep -rl ${scouted} ${homes} || true`), '');
  });

  further('a member under the name of one that went is a new one', async (agent) => {
    for (const round of ['first', 'second']) {
      const said = secretWord();
      assert.equal((await call(agent, 'POST', '', { name: 'again' })).status, 201);
      await until('it is there', inEffectTimeoutMs, async () => !(await call(agent, 'GET', '/again')).body.pending);
      await agent.answer(`Remember ${said}.`, { user: 'ada', member: 'again' });
      assert.equal(agent.lastSeen.match(/word-/g)?.length, 1, `${round}: it knows nothing of the one before`);
      assert.equal((await call(agent, 'DELETE', '/again')).status, 200);
      await until('it is gone', inEffectTimeoutMs, async () => (await agent.record()).settings_pending === false);
    }
    await agent.answer('Are you well?', { user: 'ada' });
  });
}
