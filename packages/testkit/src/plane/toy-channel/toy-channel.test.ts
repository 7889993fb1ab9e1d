/**
 * Guards the rooms for channels and runtimes: a channel is one folder and one line where things are put together, a runtime is
 * too, and neither knows of the other or of HTTP.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../plane.ts';
import type { Plane } from '../plane.ts';
import { startToyGateway } from '../toy-runtime/toy-gateway.ts';
import type { ToyGateway } from '../toy-runtime/toy-gateway.ts';
import { createToyRuntime } from '../toy-runtime/toy-runtime.ts';
import { ToyChannel } from './toy-channel.ts';

let world: World;
let gateway: ToyGateway;
let plane: Plane;
let agentId: string;
let channel: ToyChannel;

before(async () => {
  world = await World.open();
  gateway = await startToyGateway();
  // The wiring of the runtime.
  plane = await startPlane(world, new FakeHost(), {
    runtimes: new Map([['runtime_a', createToyRuntime(gateway.port)]]),
  });
  ({ id: agentId } = await running(world, plane));
  // The wiring of the channel.
  channel = new ToyChannel({ runTurn: plane.engine.runTurn, accountId: world.accountId, agentId });
});
after(async () => {
  channel?.close();
  await plane?.end();
  gateway?.close();
  await world?.close();
});

test('a message is a turn in a conversation of its sender, and the answer is sent back', async () => {
  await channel.receive('ada', 'Hello');
  await channel.receive('bo', 'Hi');
  assert.deepEqual(channel.sent.splice(0), [
    { to: 'ada', text: 'toy:ada toy:p/m Hello', files: [] },
    { to: 'bo', text: 'toy:bo toy:p/m Hi', files: [] },
  ]);
});

test('a file that the answer links to is sent along', async () => {
  await channel.receive('ada', 'report');
  const [sent] = channel.sent.splice(0);
  assert.deepEqual(sent?.files, ['/workspace/out/report.pdf']);
});

test('an error in the runtime’s own words is told in ours', async () => {
  await channel.receive('ada', 'busy');
  assert.deepEqual(channel.sent.splice(0), [
    { to: 'ada', text: "The agent's LLM provider answered: too many requests.", files: [] },
  ]);
});

test('a message wakes an agent that sleeps', async () => {
  await plane.agents.act(world.accountId, agentId, 'stop');
  await plane.agents.awaitVerb(world.accountId, agentId, 'stop', 10_000, never);
  await channel.receive('ada', 'Hello');
  assert.equal(channel.sent.splice(0)[0]?.text, 'toy:ada toy:p/m Hello');
  await until('it runs', async () => (await world.store.agents.find(agentId))?.status === 'running');
});
