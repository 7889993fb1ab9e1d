/**
 * What an agent knows outlives everything that happens to its machine: a word it was told in a conversation and a file it
 * wrote are there after a pause, a stop, a restart of the control plane, a killed VM and another size. A
 * real OpenClaw in a real VM; only the LLM provider is a stand-in, whose recorded requests show what the agent remembers.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, beforeEach, describe, test } from 'node:test';
import OpenAI from 'openai';
import { guestClient } from '@lodge/guest';
import { Service, type Reply } from '@lodge/testkit/service';
import { startStandinLlm } from '@lodge/testkit/standin-llm';
import type { StandinLlm } from '@lodge/testkit/standin-llm';
import { qemuPid } from './guest-memory.ts';

/** Building image and template from nothing under emulation, with room to spare. */
const templateTimeoutMs = 30 * 60_000;
/** A cold boot on a busy host without KVM. */
const bootTimeoutMs = 15 * 60_000;
const providerKey = `sk-marked-${randomBytes(12).toString('hex')}`;
const word = `word-${randomBytes(6).toString('hex')}`;
const seed = randomBytes(6).toString('hex');
/** Only who runs the command knows this: it is in no message. */
const fileText = `${createHash('sha256').update(seed).digest('hex')}  -\n`;
let llm: StandinLlm;
let service: Service;
let id: string;

before(
  async () => {
    llm = await startStandinLlm({ host: '127.0.0.1', port: 0, keys: [providerKey] });
    const provider = { id: 'standin', base_url: `http://127.0.0.1:${llm.port}/v1`, needs_key: true };
    service = await Service.start({ env: { LODGE_PROVIDERS: JSON.stringify([provider]) } });
    await service.awaitTemplate(templateTimeoutMs);
    const reply = await service.call('POST', '/agents', {
      name: 'Keeper',
      model: 'standin/test-model',
      size: 'small',
      llm_keys: [{ provider: 'standin', api_key: providerKey }],
      // It sleeps when a test says so, not because a slow test keeps it waiting.
      lifecycle: { idle_timeout_seconds: 0 },
    });
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    id = reply.body.id as string;
  },
  { timeout: templateTimeoutMs + 120_000 },
);

after(async () => {
  await service?.destroy();
  await llm?.close();
});

beforeEach(() => llm.reset());

const record = async () => (await service.call('GET', `/agents/${id}`)).body;
const guestOf = async () => {
  const vm = JSON.parse(await readFile(join(service.dataDir, 'vms', id, 'vm.json'), 'utf8')) as { address: string };
  return guestClient(vm.address);
};

/** One turn of the one conversation; the agent keeps its history, so only what is new is sent. */
async function say(content: string, query = ''): Promise<string> {
  const baseURL = `${service.baseUrl}/agents/${id}`;
  const client = new OpenAI({ baseURL, apiKey: service.apiKey, maxRetries: 0, timeout: 5 * 60_000 });
  const messages = [{ role: 'user' as const, content }];
  const options = query === '' ? {} : { query: Object.fromEntries(new URLSearchParams(query)) };
  const reply = await client.chat.completions.create({ model: 'any', user: 'keeper', messages }, options);
  return reply.choices[0]!.message.content!;
}

async function stream(content: string): Promise<string> {
  const baseURL = `${service.baseUrl}/agents/${id}`;
  const client = new OpenAI({ baseURL, apiKey: service.apiKey, maxRetries: 0, timeout: 5 * 60_000 });
  const messages = [{ role: 'user' as const, content }];
  const chunks = await client.chat.completions.create({ model: 'any', user: 'keeper', messages, stream: true });
  let text = '';
  for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? '';
  return text;
}

/** The model is sent the conversation with the word in it, and the file is as it was written. */
async function assertRemembers(query = ''): Promise<void> {
  llm.script([{ text: 'I remember.' }]);
  assert.match(await say('What was the word?', query), /I remember\./);
  const { messages } = llm.requests.at(-1)!.body as { messages: { role: string }[] };
  const users = messages.filter(({ role }) => role === 'user');
  assert.match(JSON.stringify(users[0]), new RegExp(word), 'the first thing said is still the first');
  const kept = await (await guestOf()).readFile('/workspace/kept.txt');
  assert.equal(Buffer.from(kept).toString(), fileText);
}

async function act(verb: string): Promise<Reply> {
  return service.call('POST', `/agents/${id}/${verb}`);
}

async function awaitStatus(wanted: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { status, status_reason: reason } = await record();
    if (status === wanted) return;
    if (status === 'error' && wanted !== 'error') assert.fail(`${JSON.stringify(reason)}\n${service.output}`);
    if (performance.now() > deadline) assert.fail(`${status} instead of ${wanted}\n${service.output}`);
    await sleep(100);
  }
}

describe('an agent that was told a word and wrote a file', { timeout: 90 * 60_000 }, () => {
  test('has both to begin with', async () => {
    const command = `printf %s ${seed} | sha256sum > kept.txt`;
    llm.script([{ toolCalls: [{ name: 'exec', arguments: { command } }] }, { text: 'Noted and written.' }]);
    assert.match(await say(`The word is ${word}. Write the file.`), /Noted and written\./);
    await assertRemembers();
  });

  test('knows them after a pause, whether it is resumed or simply spoken to', async () => {
    const paused = await act('pause');
    assert.deepEqual([paused.status, paused.body.status], [200, 'paused']);
    const resumed = await act('resume');
    assert.deepEqual([resumed.status, resumed.body.status], [200, 'running']);
    await assertRemembers();
    assert.equal((await act('pause')).body.status, 'paused');
    await assertRemembers();
    assert.equal((await record()).status, 'running');
  });

  test('knows them after a stop, which leaves no process behind', async () => {
    const stopped = await act('stop');
    assert.deepEqual([stopped.status, stopped.body.status], [200, 'stopped'], JSON.stringify(stopped.body));
    await assert.rejects(qemuPid(service.dataDir, id), /no emulator/);
    await assert.rejects(say('Hello?'), { status: 409, code: 'agent_not_running' });
    const started = await act('start');
    assert.deepEqual([started.status, started.body.status], [200, 'running'], JSON.stringify(started.body));
    await assertRemembers();
  });

  test('is woken from a stop by a request that asks for it, and stopped from a pause', async () => {
    assert.equal((await act('pause')).body.status, 'paused');
    assert.equal((await act('stop')).body.status, 'stopped');
    await assertRemembers('wake=true');
  });

  test('ends the turn in hand before it stops', async () => {
    llm.script([{ chunks: ['slow ', 'but ', 'whole'], intervalMs: 4_000 }]);
    const turn = stream('Take your time');
    while (llm.requests.length === 0) await sleep(50);
    const stopped = await act('stop');
    assert.equal(await turn, 'slow but whole');
    assert.equal(stopped.body.status, 'stopped', JSON.stringify(stopped.body));
    assert.equal((await act('start')).body.status, 'running');
    await assertRemembers();
  });

  test('is not paused in the middle of a long turn, but soon after it, and wakes again', async () => {
    const lifecycle = { idle_timeout_seconds: 2 };
    const changed = await service.call('PATCH', `/agents/${id}`, { lifecycle });
    assert.equal(changed.body.lifecycle.idle_timeout_seconds, 2, JSON.stringify(changed.body));
    const seen = new Set<string>();
    llm.script([{ chunks: ['one ', 'two ', 'three ', 'four'], intervalMs: 6_000 }]);
    const turn = stream('Count slowly').finally(() => seen.add('over'));
    while (!seen.has('over')) {
      const { status } = await record();
      if (!seen.has('over')) seen.add(status);
      await sleep(200);
    }
    assert.equal(await turn, 'one two three four');
    assert.deepEqual(seen, new Set(['running', 'over']));
    await awaitStatus('paused', 30_000);
    await assertRemembers();
    await service.call('PATCH', `/agents/${id}`, { lifecycle: { idle_timeout_seconds: 0 } });
    await act('resume');
  });

  test('knows them after restarts of the control plane, orderly and not', async () => {
    const pid = await qemuPid(service.dataDir, id);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await service.end(signal);
      await service.up();
      await awaitStatus('running', 60_000);
      await assertRemembers();
    }
    assert.equal(await qemuPid(service.dataDir, id), pid, 'the VM ran on');
  });

  test('knows them with another size, which is in effect without a restart', async () => {
    const pid = await qemuPid(service.dataDir, id);
    const changed = await service.call('PATCH', `/agents/${id}`, { size: 'medium' });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const deadline = performance.now() + 60_000;
    while ((await record()).machine.vcpus !== 2 && performance.now() < deadline) await sleep(200);
    assert.deepEqual((await record()).machine, { vcpus: 2, memory_mb: 4096, disk_gb: 10 });
    assert.equal((await (await guestOf()).health()).cpusOnline, 2);
    assert.equal(await qemuPid(service.dataDir, id), pid);
    await assertRemembers();
  });

  test('knows them after its VM was killed the moment it had answered, and came back from its disk', async () => {
    const pid = await qemuPid(service.dataDir, id);
    const last = `last-${randomBytes(6).toString('hex')}`;
    llm.script([{ text: 'Noted.' }]);
    assert.match(await say(`And the last word is ${last}.`), /Noted/);
    process.kill(pid, 'SIGKILL');
    while ((await record()).status === 'running') await sleep(50);
    await awaitStatus('running', bootTimeoutMs);
    await assertRemembers();
    assert.match(JSON.stringify(llm.requests.at(-1)!.body), new RegExp(last), 'what was answered is kept');
  });
});
