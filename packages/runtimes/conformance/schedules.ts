/** Cases: an agent acts at its times, in every state of its machine, and reports to the place that its owner chose. */
import assert from 'node:assert/strict';
import { telegramConversation } from './conversation.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';
import { until } from './until.ts';

const answerTimeoutMs = 5 * 60_000;

interface Run {
  readonly status: string | null;
  readonly answer_preview: string | null;
  readonly error: string | null;
}

export function schedules(results: Results, _subject: Subject, agent: () => Tested): void {
  const { further } = results.of(agent);

  further('a stopped agent wakes at its time, tells a chat on Telegram, and sleeps again', async (agent) => {
    const person = await agent.onTelegram();
    const conversation = await telegramConversation(agent);
    await lifecycle(agent, { idle_timeout_seconds: 15 });
    assert.equal(await agent.act('stop'), 'stopped');
    agent.world.llm.script([{ text: 'Good morning, all is well.' }]);
    const made = await agent.world.service.call('POST', `/agents/${agent.id}/schedules`, {
      name: 'Morning',
      at: new Date(Date.now() + 5_000).toISOString(),
      prompt: 'Say good morning.',
      deliver: { to: 'channel', channel: 'telegram', conversation },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id } = made.body as { id: string };
    await until('the answer on Telegram', answerTimeoutMs, () =>
      person.answers().some((text) => text.includes('Good morning')),
    ).catch((error: Error) => assert.fail(`${error.message}\n${agent.world.service.output.slice(-4000)}`));
    assert.match(agent.lastSeen, /Say good morning/);
    const runs = await agent.world.service.call('GET', `/agents/${agent.id}/schedules/${id}/runs`);
    const [run] = (runs.body as { data: Run[] }).data;
    assert.partialDeepStrictEqual(run, { status: 'ok', answer_preview: 'Good morning, all is well.', error: null });
    await until('it sleeps again', answerTimeoutMs, async () => (await agent.record()).status !== 'running');
    await lifecycle(agent, { idle_timeout_seconds: 0 });
    assert.equal(await agent.act('start'), 'running');
  });
}

async function lifecycle(agent: Tested, change: object): Promise<void> {
  const { status, body } = await agent.world.service.call('PATCH', `/agents/${agent.id}`, { lifecycle: change });
  assert.equal(status, 200, JSON.stringify(body));
}
