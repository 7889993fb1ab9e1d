/** Cases: the runtime asks before commands for which the owner has rules. */
import assert from 'node:assert/strict';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { until } from './until.ts';
import type { Tested } from './world.ts';

const settledMs = 2 * 60_000;
const askedMs = 5 * 60_000;

export function commands(results: Results, subject: Subject, agent: () => Tested): void {
  const { check } = results.of(agent);

  check('a command that a rule denies is not run, and one that it asks about runs after a yes', async (agent) => {
    const { llm, service } = agent.world;
    const rules = [
      { on: 'command', match: 'touch denied*', policy: 'deny' },
      { on: 'command', match: 'touch asked*', policy: 'ask' },
    ];
    await ruled(agent, { rules });
    const uses = ['touch free.txt', 'cd /workspace && touch denied.txt', 'touch asked.txt'];
    llm.script([...uses.map((use) => ({ toolCalls: [subject.shell(use)] })), { text: 'So be it.' }]);
    const before = llm.requests.length;
    const answer = agent.answer('Touch them');
    let asked: { readonly id: string; readonly on: string; readonly action: string; readonly quoted: string }[] = [];
    await until('it asks', askedMs, async () => {
      const { body } = await service.call('GET', `/confirmations?status=pending&agent_id=${agent.id}`);
      asked = (body as { data: typeof asked }).data;
      return asked.length > 0;
    });
    assert.equal(asked.length, 1);
    const [{ id, on, quoted }] = asked as [(typeof asked)[0]];
    assert.equal(on, 'command');
    assert.match(quoted, /touch asked\.txt/);
    assert.equal((await files(agent)).join(' '), 'free.txt');
    assert.equal((await service.call('POST', `/confirmations/${id}`, { decision: 'allow' })).status, 200);
    assert.match(await answer, /So be it/);
    const bodies = llm.requests.slice(before).map(({ body }) => JSON.stringify(body));
    assert.ok(
      bodies.some((body) => body.includes('A rule of the owner denies this')),
      bodies.at(-1)!.slice(-3_000),
    );
    assert.equal((await files(agent)).join(' '), 'asked.txt free.txt');
    await ruled(agent, null);
    llm.script([{ toolCalls: [subject.shell('touch denied.txt')] }, { text: 'Free again.' }]);
    assert.match(await agent.answer('Touch it'), /Free again/);
    assert.equal((await files(agent)).join(' '), 'asked.txt denied.txt free.txt');
  });
}

async function ruled(agent: Tested, confirmations: object | null): Promise<void> {
  await agent.patch({ confirmations });
  await until('the rules are in its machine', settledMs, async () => (await agent.record()).settings_pending === false);
}

const files = async (agent: Tested): Promise<readonly string[]> =>
  (await agent.shell('cd /workspace && ls *.txt | grep -E "^(asked|denied|free)" || true'))
    .split('\n')
    .filter((line) => line !== '');
