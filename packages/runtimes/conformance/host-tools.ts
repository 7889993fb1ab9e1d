/** Cases: the agent acts beyond its answers, with the tools that the host offers. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { ownTools, scheduleToolWords } from '@lodge/domain';
import type { ToolCall } from '@lodge/testkit/llm';
import { telegramConversation } from './conversation.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';
import { until } from './until.ts';

const answerTimeoutMs = 5 * 60_000;

type Call = readonly [tool: string, args: ToolCall['arguments']];

interface Called {
  readonly names: readonly string[];
  readonly answers: readonly { readonly isError: boolean; readonly text: string }[];
}

export function hostTools(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  const everyTool = [...Object.keys(ownTools), ...Object.keys(scheduleToolWords)].sort();
  let conversation: string;

  check('“remind me in 10 minutes” on Telegram: it makes a schedule, and the reminder arrives', async (agent) => {
    const { llm, service } = agent.world;
    const person = await agent.onTelegram();
    conversation = await telegramConversation(agent);
    const asked = { name: 'Tea', prompt: 'Remind them of the tea.', in_minutes: 10, channel: 'telegram', conversation };
    llm.script([
      { toolCalls: [subject.hostTool('channels_list', {})] },
      { toolCalls: [subject.hostTool('schedule_create', asked)] },
      { text: 'I will remind you.' },
    ]);
    await person.write('Remind me of the tea in 10 minutes');
    await until('the answer', answerTimeoutMs, () => person.answers().some((text) => text.includes('I will remind')));
    isOfferedEach(llm.requests.at(-1)!.tools);
    const schedules = `/agents/${agent.id}/schedules`;
    const { body } = await service.call('GET', schedules);
    const [made] = (body as { data: { id: string; name: string; next_run_at: string }[] }).data;
    assert.equal(made!.name, 'Tea', agent.lastSeen);
    const inMs = Date.parse(made!.next_run_at) - Date.now();
    assert.ok(inMs > 5 * 60_000 && inMs <= 10 * 60_000, `in ${inMs} ms`);
    // Its owner brings it forward, because nobody waits ten minutes here.
    llm.script([{ text: 'The tea is ready.' }]);
    const sooner = { at: new Date(Date.now() + 3_000).toISOString() };
    assert.equal((await service.call('PATCH', `${schedules}/${made!.id}`, sooner)).status, 200);
    await until('the reminder', answerTimeoutMs, () => person.answers().some((text) => text.includes('tea is ready')));
  });

  /** Each of the host's tools by itself, and none of the runtime's own for times. */
  function isOfferedEach(tools: readonly string[]): void {
    for (const tool of everyTool)
      assert.ok(tools.includes(subject.hostTool(tool, {}).name), `${tool} in ${tools.join()}`);
    assert.deepEqual(
      tools.filter((tool) => /cron/.test(tool)),
      [],
    );
  }

  /** Calls tools with the official client, which runs in the machine beside the runtime. */
  async function client(agent: Tested, calls: readonly Call[]): Promise<Called> {
    return read(await agent.shell(command(calls)));
  }
  const command = (calls: readonly Call[]): string =>
    `${subject.client.interpreter} /workspace/${subject.client.file} '${JSON.stringify(calls)}'`;
  const read = (text: string): Called => JSON.parse(text) as Called;

  further('the official client lists every tool and calls it from within the machine', async (agent) => {
    const program = await readFile(new URL(`clients/${subject.client.file}`, import.meta.url));
    await (
      await agent.guest()
    ).writeFile(`/workspace/${subject.client.file}`, program, { mode: 0o644, owner: 'agent' });
    await (
      await agent.guest()
    ).writeFile('/workspace/report.txt', Buffer.from('All is well.'), { mode: 0o644, owner: 'agent' });
    const to = { channel: 'telegram', conversation };
    const made = await client(agent, [
      ['channels_list', {}],
      ['send_message', { ...to, text: 'By a program.' }],
      ['send_file', { ...to, path: '/workspace/report.txt' }],
      ['schedule_create', { name: 'Later', prompt: 'Say so.', in_minutes: 60 }],
      ['schedule_list', {}],
      ['agents_list', {}],
      ['usage_now', {}],
      ['ask_owner', { question: 'Which day?', options: ['Monday'], wait_seconds: 0 }],
      ['ask_agent', { agent: agent.id, message: 'Who?' }],
      ['send_message', { ...to, conversation: 'of-nobody', text: 'Hello?' }],
    ]);
    assert.deepEqual([...made.names].sort(), everyTool);
    const wrong = made.answers.map(({ isError }) => isError);
    assert.deepEqual(wrong, [...Array<boolean>(8).fill(false), true, true], JSON.stringify(made.answers));
    assert.match(made.answers.at(-1)!.text, /conversation/);
    const id = /"id":\s*"([^"]+)"/.exec(made.answers[3]!.text)![1]!;
    const deleted = await client(agent, [
      ['schedule_delete', { id }],
      ['schedule_delete', { id }],
    ]);
    assert.deepEqual(
      deleted.answers.map(({ isError }) => isError),
      [false, true],
    );
  });
}
