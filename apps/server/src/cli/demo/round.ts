/** A user's actions with an agent, by plain HTTP, reported step by step. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dialTo, guestClient } from '@lodge/guest';
import { CommandError } from '../command.ts';

export interface Round {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataDir: string;
  readonly tell: (what: string) => void;
  readonly signal: AbortSignal;
}

const file = '/workspace/from-the-agent.txt';

export async function playRound(round: Round): Promise<void> {
  const { tell } = round;
  const id = await createAgent(round);
  const models = await call(round, 'GET', '/models');
  tell(`GET /v1/models lists ${models.data.map((model: { id: string }) => model.id).join(', ')}`);

  await chat(round, id, 'Hello, who are you?');
  await stream(round, id, 'Now as a stream, please.');
  await chat(round, id, `run: uname -sm > ${file} && id -un >> ${file} && cat ${file}`);
  await readBack(round, id);

  await call(round, 'DELETE', `/agents/${id}`);
  tell(`DELETE /v1/agents/${id}: the agent and its virtual machine are gone`);
}

async function createAgent(round: Round): Promise<string> {
  const since = stopwatch();
  round.tell('POST /v1/agents {"name":"Demo"}');
  let agent = await call(round, 'POST', '/agents', { name: 'Demo' });
  while (agent.status === 'provisioning') {
    await sleep(500, undefined, { signal: round.signal });
    agent = await call(round, 'GET', `/agents/${agent.id}`);
  }
  if (agent.status !== 'running')
    throw new CommandError(`The agent did not start: ${JSON.stringify(agent.status_reason)}`);
  const { name, version } = agent.runtime;
  round.tell(
    `    agent ${agent.id} is ${agent.status} after ${since()}: ${name} ${version} in a virtual machine of its own`,
  );
  return agent.id as string;
}

async function chat(round: Round, id: string, text: string): Promise<void> {
  const since = stopwatch();
  round.tell(`POST /v1/chat/completions: ${text}`);
  const messages = [{ role: 'user', content: text }];
  const reply = await call(round, 'POST', '/chat/completions', { model: id, messages });
  round.tell(`    after ${since()}: ${oneLine(reply.choices[0].message.content)}`);
}

async function stream(round: Round, id: string, text: string): Promise<void> {
  const since = stopwatch();
  round.tell(`POST /v1/chat/completions with "stream": true: ${text}`);
  const messages = [{ role: 'user', content: text }];
  const response = await request(round, 'POST', '/chat/completions', { model: id, stream: true, messages });
  let first = '';
  let pieces = 0;
  let all = '';
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const data = /^data: (\{.*)/.exec(line)?.[1];
      if (data === undefined) continue;
      const event = JSON.parse(data);
      if (event.error) throw new CommandError(`The stream ended with an error: ${event.error.message}`);
      const piece: unknown = event.choices[0]?.delta?.content;
      if (typeof piece !== 'string' || piece === '') continue;
      first ||= since();
      pieces += 1;
      all += piece;
    }
  }
  round.tell(`    first words after ${first}, ${pieces} pieces in ${since()}: ${oneLine(all)}`);
}

/** Reads the file past the agent, through the daemon in its VM. */
async function readBack(round: Round, id: string): Promise<void> {
  const record = await readFile(join(round.dataDir, 'vms', id, 'vm.json'), 'utf8');
  const { address, credential } = JSON.parse(record) as { address: string; credential: string };
  const guest = guestClient({ dial: dialTo(address), credential: () => Promise.resolve(credential) });
  const bytes = await guest.readFile(file, { signal: round.signal });
  round.tell(`${file} in the virtual machine holds: ${oneLine(Buffer.from(bytes).toString())}`);
}

// eslint-disable-next-line typescript/no-explicit-any -- replies are looked into as a client without types would
async function call(round: Round, method: string, path: string, body?: object): Promise<any> {
  return (await request(round, method, path, body)).json();
}

async function request(
  { baseUrl, apiKey, signal }: Round,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    signal,
    headers: { 'x-api-key': apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok)
    throw new CommandError(`${method} /v1${path} was answered with ${response.status}: ${await response.text()}`);
  return response;
}

function stopwatch(): () => string {
  const startedAt = performance.now();
  return () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' | ');
}
