/** Cases: people reach the agent on every messaging channel, in every state of its machine. */
import assert from 'node:assert/strict';
import { channelNames, channelTitles } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import { isLongRun } from '@lodge/testkit/forms';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';
import { until } from './until.ts';

const states = ['running', 'paused', 'stopped'] as const;
type State = (typeof states)[number];
/**
 * Waking is the same for all channels, and a start costs an emulated guest the translation of all its code. In the short
 * form only one channel starts it.
 */
const statesFor = (channel: ChannelName): readonly State[] =>
  isLongRun || channel === 'telegram' ? states : states.filter((state) => state !== 'stopped');
/**
 * A channel belongs to the host and looks the same to every runtime. In the short form a slow runtime is tested with one
 * channel.
 */
const channelsFor = ({ bootsQuickly }: Subject): readonly ChannelName[] =>
  isLongRun || bootsQuickly ? channelNames : ['telegram'];
const answerTimeoutMs = 5 * 60_000;

async function bring(agent: Tested, state: State): Promise<void> {
  if ((await agent.record()).status !== 'running') assert.equal(await agent.act('start'), 'running');
  if (state === 'paused') assert.equal(await agent.act('pause'), 'paused');
  if (state === 'stopped') assert.equal(await agent.act('stop'), 'stopped');
}

export function channels(results: Results, subject: Subject, agent: () => Tested): void {
  const check = (name: string, run: (agent: Tested) => Promise<void>): void => results.case(name, () => run(agent()));
  const direct = new Map<State, number>();
  const times: string[] = [];

  check('a direct chat, for comparison, with a running, a paused and a stopped agent', async (agent) => {
    for (const state of states) {
      await bring(agent, state);
      agent.world.llm.script([{ text: `Directly to the ${state}.` }]);
      const began = performance.now();
      assert.match(await agent.answer('Hello', { user: 'direct', query: { wake: 'true' } }), /Directly/);
      direct.set(state, performance.now() - began);
    }
  });

  for (const channel of channelsFor(subject)) {
    const tried = statesFor(channel);
    check(`${channelTitles[channel]}: a message is answered by a ${tried.join(', by a ')} agent`, async (agent) => {
      const person = agent.world.platforms.correspondent(channel);
      await person.connect(agent);
      for (const state of tried) {
        await bring(agent, state);
        const answer = `Over ${channel} to the ${state}.`;
        agent.world.llm.script([{ text: answer }]);
        const began = performance.now();
        await person.write(`Hello from ${channel}, ${state}`);
        await until(`an answer on ${channel} of the ${state}`, answerTimeoutMs, () =>
          person.answers().some((text) => text.includes(answer)),
        ).catch(async (error: Error) => assert.fail(`${error.message}\n${await seen(agent, channel)}`));
        times.push(timed(channel, state, performance.now() - began, direct.get(state)!));
        assert.match(agent.lastSeen, new RegExp(`Hello from ${channel}, ${state}`));
        assert.equal((await agent.record()).status, 'running');
      }
      agent.keepSecret(person.secrets);
    });
  }

  check('what a message took beside a direct chat', async () => {
    console.log(times.join('\n'));
    assert.equal(times.length, channelsFor(subject).flatMap(statesFor).length);
  });
}

const timed = (channel: ChannelName, state: State, ms: number, directMs: number): string =>
  `channel ${channel.padEnd(9)} ${state.padEnd(8)} ${ms.toFixed(0)} ms, a direct chat ${directMs.toFixed(0)} ms`;

async function seen(agent: Tested, channel: ChannelName): Promise<string> {
  const { service } = agent.world;
  const messages = await service.call('GET', `/agents/${agent.id}/messages?content=true`);
  const record = await service.call('GET', `/agents/${agent.id}/channels/${channel}`);
  return `${JSON.stringify(record.body)}\n${JSON.stringify(messages.body)}\n${service.output.slice(-4000)}`;
}
