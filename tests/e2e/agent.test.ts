/**
 * The round a new user makes, against a real OpenClaw in a real VM: create, list models, chat, stream, have the agent use
 * its shell, and find no secret in the guest. Only the LLM provider is a stand-in.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { guestClient } from '@lodge/guest';
import { Service } from '@lodge/testkit/service';
import { startStandinLlm } from '@lodge/testkit/standin-llm';
import type { StandinLlm } from '@lodge/testkit/standin-llm';
import { occurrences, qemuPid } from './guest-memory.ts';

/** Building image and template from nothing under emulation, with room to spare. */
const templateTimeoutMs = 30 * 60_000;
const providerKey = `sk-marked-${randomBytes(12).toString('hex')}`;
let llm: StandinLlm;
let service: Service;

before(
  async () => {
    llm = await startStandinLlm({ host: '127.0.0.1', port: 0, keys: [providerKey] });
    const provider = { id: 'standin', base_url: `http://127.0.0.1:${llm.port}/v1`, needs_key: true };
    service = await Service.start({ env: { LODGE_PROVIDERS: JSON.stringify([provider]) } });
    await service.awaitTemplate(templateTimeoutMs);
  },
  { timeout: templateTimeoutMs + 120_000 },
);

after(async () => {
  await service?.destroy();
  await llm?.close();
});

async function createAgent(name: string): Promise<string> {
  const llm_keys = [{ provider: 'standin', api_key: providerKey }];
  const reply = await service.call('POST', '/agents', { name, model: 'standin/test-model', llm_keys });
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  assert.equal(reply.body.status, 'running');
  return reply.body.id as string;
}

async function guestOf(id: string) {
  const record = JSON.parse(await readFile(join(service.dataDir, 'vms', id, 'vm.json'), 'utf8')) as { address: string };
  return guestClient(record.address);
}

describe('an agent', { timeout: 20 * 60_000 }, () => {
  let id: string;
  let client: OpenAI;

  test('is created by one POST and answers an unmodified OpenAI client', async () => {
    id = await createAgent('First');
    client = new OpenAI({ baseURL: service.baseUrl, apiKey: service.apiKey, maxRetries: 0 });
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    assert.deepEqual(models, [id]);

    llm.script([{ text: 'Hello from the model.' }]);
    const reply = await client.chat.completions.create({
      model: id,
      messages: [{ role: 'user', content: 'Hi there' }],
    });
    assert.match(reply.choices[0]!.message.content!, /Hello from the model\./);
    const seen = llm.requests.at(-1)!;
    assert.equal(seen.headers.authorization, `Bearer ${providerKey}`);
    assert.equal((seen.body as { model: string }).model, 'test-model');
    assert.match(JSON.stringify(seen.body), /Hi there/);
  });

  test('streams, with the agent named by the base URL', async () => {
    llm.script([{ text: 'one two three' }]);
    const own = new OpenAI({ baseURL: `${service.baseUrl}/agents/${id}`, apiKey: service.apiKey, maxRetries: 0 });
    const stream = await own.chat.completions.create({
      model: 'any',
      stream: true,
      messages: [{ role: 'user', content: 'Count' }],
    });
    let text = '';
    let finish: string | null = null;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    assert.equal(text, 'one two three');
    assert.equal(finish, 'stop');
  });

  test('runs a shell command in its VM when the model asks for it, unseen by another agent', async () => {
    const marker = `marker-${randomBytes(8).toString('hex')}`;
    const command = `echo ${marker} > /workspace/from-the-agent.txt`;
    llm.script([{ toolCalls: [{ name: 'exec', arguments: { command } }] }, { text: 'The file is written.' }]);
    const before = llm.requests.length;
    const reply = await client.chat.completions.create({
      model: id,
      messages: [{ role: 'user', content: 'Write the file' }],
    });
    assert.match(reply.choices[0]!.message.content!, /The file is written\./);
    assert.equal(llm.requests.length - before, 2, 'one call for the tool call, one with its result');

    const written = await (await guestOf(id)).readFile('/workspace/from-the-agent.txt');
    assert.equal(Buffer.from(written).toString(), `${marker}\n`);
    const second = await createAgent('Second');
    await assert.rejects((await guestOf(second)).readFile('/workspace/from-the-agent.txt'), { status: 404 });
    assert.equal((await service.call('DELETE', `/agents/${second}`)).status, 200);
  });

  test('has no provider key, API key or master key in memory or on disk', async () => {
    const masterKey = await readFile(join(service.dataDir, 'master.key'));
    const needles = [
      Buffer.from(providerKey),
      Buffer.from(service.apiKey),
      masterKey,
      Buffer.from(masterKey.toString('utf8').trim()),
    ];
    const control = Buffer.from('from-the-agent.txt');
    const found = await occurrences(await qemuPid(service.dataDir, id), join(service.dataDir, 'vms', id), [
      control,
      ...needles,
    ]);
    assert.ok(found.memory[0]! > 0 && found.disk[0]! > 0, 'the search finds what is there');
    assert.deepEqual(
      found.memory.slice(1),
      needles.map(() => 0),
    );
    assert.deepEqual(
      found.disk.slice(1),
      needles.map(() => 0),
    );
  });

  test("answers the provider's refusal as a clear error and stays running", async () => {
    llm.script([{ status: 401 }]);
    const chat = client.chat.completions.create({ model: id, messages: [{ role: 'user', content: 'Hi' }] });
    await assert.rejects(chat, (error: { status: number; message: string }) => {
      assert.ok(error.status >= 400 && error.status < 600);
      assert.doesNotMatch(error.message, new RegExp(providerKey));
      return true;
    });
    assert.equal((await service.call('GET', `/agents/${id}`)).body.status, 'running');
  });

  test('is gone after one DELETE', async () => {
    const reply = await service.call('DELETE', `/agents/${id}`);
    assert.deepEqual(reply.body, { object: 'agent.deleted', id, deleted: true });
    assert.equal((await service.call('GET', `/agents/${id}`)).status, 404);
  });
});
