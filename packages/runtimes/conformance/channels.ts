/** Cases: people reach the agent on every messaging channel, in every state of its machine. */
import assert from 'node:assert/strict';
import { channelNames, channelTitles } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import type { Correspondent } from './platforms.ts';
import { isWhole, type Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';
import { until } from './until.ts';

const states = ['running', 'paused', 'stopped'] as const;
type State = (typeof states)[number];
/** The round has Telegram, with an agent that runs and one that sleeps. Waking is the same for all channels. */
const isProvedElsewhere = (channel: ChannelName): boolean => channel === 'telegram';
const statesFor = isWhole ? states : (['running'] as const);
const answerTimeoutMs = 5 * 60_000;

async function bring(agent: Tested, state: State): Promise<void> {
  if ((await agent.record()).status !== 'running') assert.equal(await agent.act('start'), 'running');
  if (state === 'paused') assert.equal(await agent.act('pause'), 'paused');
  if (state === 'stopped') assert.equal(await agent.act('stop'), 'stopped');
}

export function channels(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  // A channel belongs to the host and looks the same to every runtime. A slow runtime is tested where every case runs.
  const declare = (channel: ChannelName) => (subject.bootsQuickly && !isProvedElsewhere(channel) ? check : further);
  const direct = new Map<State, number>();
  const times: string[] = [];

  further('a direct chat, for comparison, with a running, a paused and a stopped agent', async (agent) => {
    for (const state of states) {
      await bring(agent, state);
      agent.world.llm.script([{ text: `Directly to the ${state}.` }]);
      const began = performance.now();
      assert.match(await agent.answer('Hello', { user: 'direct', query: { wake: 'true' } }), /Directly/);
      direct.set(state, performance.now() - began);
    }
  });

  for (const channel of channelNames) {
    const name = `${channelTitles[channel]}: a message is answered by a ${statesFor.join(', by a ')} agent`;
    declare(channel)(name, async (agent) => {
      const person = await correspondent(agent, channel);
      for (const state of statesFor) {
        await bring(agent, state);
        const answer = `Over ${channel} to the ${state}.`;
        agent.world.llm.script([{ text: answer }]);
        const began = performance.now();
        await person.write(`Hello from ${channel}, ${state}`);
        await until(`an answer on ${channel} of the ${state}`, answerTimeoutMs, () =>
          person.answers().some((text) => text.includes(answer)),
        ).catch(async (error: Error) => assert.fail(`${error.message}\n${await seen(agent, channel)}`));
        times.push(timed(channel, state, performance.now() - began, direct.get(state)));
        assert.match(agent.lastSeen, new RegExp(`Hello from ${channel}, ${state}`));
        assert.equal((await agent.record()).status, 'running');
      }
    });
  }

  further('what a message took beside a direct chat', async () => {
    console.log(times.join('\n'));
    assert.equal(times.length, channelNames.length * states.length);
  });
}

async function correspondent(agent: Tested, channel: ChannelName): Promise<Correspondent> {
  if (channel === 'telegram') return agent.onTelegram();
  const person = agent.world.platforms.correspondent(channel);
  await person.connect(agent);
  agent.keepSecret(person.secrets);
  return person;
}

const timed = (channel: ChannelName, state: State, ms: number, directMs = NaN): string =>
  `channel ${channel.padEnd(9)} ${state.padEnd(8)} ${ms.toFixed(0)} ms, a direct chat ${directMs.toFixed(0)} ms`;

async function seen(agent: Tested, channel: ChannelName): Promise<string> {
  const { service } = agent.world;
  const messages = await service.call('GET', `/agents/${agent.id}/messages?content=true`);
  const record = await service.call('GET', `/agents/${agent.id}/channels/${channel}`);
  return `${JSON.stringify(record.body)}\n${JSON.stringify(messages.body)}\n${service.output.slice(-4000)}`;
}
