import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { StubRequest } from '@lodge/testkit/llm';
import { callsOf, lastSaid } from './calls.ts';
import { telegramConversation } from './conversation.ts';
import type { Correspondent } from './platforms.ts';
import { until } from './until.ts';
import type { Tested } from './world.ts';

const answerTimeoutMs = 5 * 60_000;
const at = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** A message on Telegram and a schedule of an agent, which has forks when they come: it alone answers them, each once. */
export class Summons {
  private readonly agent: Tested;
  private readonly person: Correspondent;
  /** The schedule's path. */
  private readonly path: string;
  private readonly question: string;
  private readonly task: string;
  private readonly reply: string;

  private constructor(agent: Tested, person: Correspondent, path: string, mark: string) {
    this.agent = agent;
    this.person = person;
    this.path = path;
    this.question = `Is one of you there, ${mark}?`;
    this.task = taskOf(mark);
    this.reply = `One of us is, ${mark}.`;
  }

  /** The agent's channel is connected, and its schedule is far off. */
  static async prepare(agent: Tested): Promise<Summons> {
    const person = await agent.onTelegram();
    await telegramConversation(agent);
    const mark = randomBytes(3).toString('hex');
    const path = `/agents/${agent.id}/schedules`;
    const schedule = { name: 'Later', at: at(86_400_000), prompt: taskOf(mark) };
    const { body } = await callsOf(agent)('POST', path, schedule);
    return new Summons(agent, person, `${path}/${body.id as string}`, mark);
  }

  async come(): Promise<void> {
    const { agent, person, path, question, task, reply } = this;
    const { llm, service } = agent.world;
    const call = callsOf(agent);
    const say = (words: string, text: string) => (request: StubRequest) =>
      lastSaid(request).includes(words) ? { text } : undefined;
    llm.rule(say(question, reply));
    llm.rule(say(task, 'Watered.'));
    await call('PATCH', path, { at: at(1_000) });
    await person.write(question);
    const run = async () => (await call('GET', `${path}/runs`)).body.data[0];
    await until(
      'both are answered',
      answerTimeoutMs,
      async () => person.answers().some((text) => text.includes(reply)) && (await run())?.status === 'ok',
    ).catch((error: Error) => assert.fail(`${error.message}\n${service.output.slice(-4_000)}`));
  }

  assertAnsweredOnce(): void {
    const { agent, person, question, task, reply } = this;
    for (const words of [question, task])
      assert.equal(agent.world.llm.requests.filter((request) => lastSaid(request).includes(words)).length, 1, words);
    assert.equal(person.answers().filter((text) => text.includes(reply)).length, 1);
  }

  async end(): Promise<void> {
    await callsOf(this.agent)('DELETE', this.path);
  }
}

const taskOf = (mark: string): string => `Water the plums of ${mark}.`;
