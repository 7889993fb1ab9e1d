/**
 * Cases: the folder that a runtime made becomes another agent, by `lodge import`. Its conversations are one as Lodge has them,
 * and one as the runtime has them on a server of its owner.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { Tested } from './world.ts';

const run = promisify(execFile);
const command = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));

interface Made {
  /** Packs what somebody on a server would have. */
  readonly pack: string;
  /** Arguments of the import, from the folder with the unpacked one on. */
  readonly args: (folder: string) => readonly string[];
  /** The file of things that the agent remembers in every conversation. */
  readonly memory: string;
  /** A turn that does not come from Lodge, with the session that the runtime gives it. */
  readonly ownTurn: (text: string) => string;
}

const turn = (text: string): string =>
  JSON.stringify({ model: 'openclaw/main', messages: [{ role: 'user', content: text }] });

const made: Readonly<Record<Subject['kind'], Made>> = {
  runtime_a: {
    pack: 'cd /home/agent && tar cf /workspace/folder.tar --exclude=.openclaw/tmp --exclude=.openclaw/npm .openclaw -C / workspace/SOUL.md workspace/MEMORY.md',
    memory: '/workspace/MEMORY.md',
    args: (folder) => ['openclaw', join(folder, '.openclaw'), '--workspace', join(folder, 'workspace')],
    ownTurn: (text) =>
      `token=$(jq -r .gateway.auth.token ~/.openclaw/openclaw.json); curl -sSf http://127.0.0.1:18789/v1/chat/completions -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -H 'x-openclaw-session-key: agent:main:main' -d '${turn(text)}'`,
  },
  runtime_b: {
    pack: 'cd / && tar cf /home/agent/folder.tar workspace && mv /home/agent/folder.tar /workspace/',
    memory: '/workspace/memories/MEMORY.md',
    args: (folder) => ['hermes', join(folder, 'workspace'), '--provider', 'stub'],
    ownTurn: (text) =>
      `. ~/.lodge/gateway.env; curl -sSf http://127.0.0.1:8642/v1/chat/completions -H "Authorization: Bearer $API_SERVER_KEY" -H 'Content-Type: application/json' -H 'X-Hermes-Session-Id: 20260101_120000_own' -d '${turn(text)}'`,
  },
};

const marked = (word: string): string => `${word}-${randomBytes(6).toString('hex')}`;

export function imports(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  // It changes with OpenClaw's version, whose trial has this case, and takes an emulated OpenClaw two minutes.
  const whereCheap = subject.bootsQuickly ? check : further;

  whereCheap('another agent that is made of its folder knows what it was told', async (agent) => {
    const { llm } = agent.world;
    const { pack, memory, ownTurn } = made[subject.kind];
    const [told, own, soul, noted] = ['told', 'own', 'soul', 'noted'].map(marked) as [string, string, string, string];
    await agent.shell(`printf 'You are ${soul}.' > /workspace/SOUL.md`);
    await agent.shell(`mkdir -p "$(dirname ${memory})" && printf 'The owner likes ${noted}.' > ${memory}`);
    llm.script([{ text: 'Noted.' }, { text: 'Noted.' }]);
    await agent.answer(`The word is ${told}.`, { user: 'kept' });
    assert.match(await agent.shell(ownTurn(`My word is ${own}.`)), /Noted/);
    await agent.shell(pack);
    const folder = await mkdtemp(join(tmpdir(), 'lodge-import-'));
    try {
      await unpack(agent, folder);
      const other = await importOf(agent, subject, folder);
      for (const [user, word] of [
        ['kept', told],
        ['main', own],
      ] as const) {
        llm.script([{ text: 'I remember.' }]);
        assert.match(await other.answer('What was the word?', { user }), /I remember/);
        const seen = other.lastSeen;
        for (const [what, each] of Object.entries({ [`conversation ${user}`]: word, identity: soul, memory: noted }))
          assert.ok(seen.includes(each), what);
      }
      await agent.world.service.call('DELETE', `/agents/${other.id}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
      await agent.shell(`rm -f /workspace/folder.tar /workspace/SOUL.md ${memory}`);
    }
  });

  if (subject.kind === 'runtime_a')
    further('an agent that is made of the folder of an older release knows what that was told', async (agent) => {
      const { llm } = agent.world;
      const word = marked('older');
      const folder = await mkdtemp(join(tmpdir(), 'lodge-import-'));
      try {
        await writeOlder(folder, word);
        const other = await importOf(agent, subject, folder);
        llm.script([{ text: 'I remember.' }]);
        assert.match(await other.answer('What was the word?', { user: 'main' }), /I remember/);
        assert.ok(other.lastSeen.includes(word));
        await agent.world.service.call('DELETE', `/agents/${other.id}`);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
}

/** Writes files as OpenClaw 2026.3.13 wrote them: an index of conversations, and each of these in a file. */
async function writeOlder(folder: string, word: string): Promise<void> {
  const own = join(folder, '.openclaw');
  const sessions = join(own, 'agents/main/sessions');
  await mkdir(sessions, { recursive: true });
  await mkdir(join(folder, 'workspace'));
  await writeFile(join(own, 'openclaw.json'), '{}');
  const [id, timestamp] = ['93c4c5fb-45b5-47e2-828d-1ddc470083ca', '2026-03-26T21:06:40.015Z'];
  const at = Date.parse(timestamp);
  const message = (
    ...[itself, parent, role, text, more]: readonly [string, string | null, string, string, object]
  ) => ({
    type: 'message',
    id: itself,
    parentId: parent,
    timestamp,
    message: { role, content: [{ type: 'text', text }], ...more, timestamp: at },
  });
  const model = { api: 'openai-completions', provider: 'stub', model: 'test-model' };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  const lines = [
    { type: 'session', version: 3, id, timestamp, cwd: '/home/other/.openclaw/workspace' },
    message('c557b55c', null, 'user', `My word is ${word}.`, {}),
    message('0a754e65', 'c557b55c', 'assistant', 'Noted.', { ...model, usage, stopReason: 'stop' }),
  ];
  await writeFile(join(sessions, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const sessionFile = `/home/other/.openclaw/agents/main/sessions/${id}.jsonl`;
  const index = { 'agent:main:main': { sessionId: id, updatedAt: at, sessionFile, modelProvider: 'stub' } };
  await writeFile(join(sessions, 'sessions.json'), JSON.stringify(index));
}

async function unpack({ id, world: { service } }: Tested, folder: string): Promise<void> {
  const reply = await fetch(`${service.baseUrl}/agents/${id}/files/folder.tar`, {
    headers: { 'x-api-key': service.apiKey },
  });
  assert.equal(reply.status, 200);
  const file = join(folder, 'folder.tar');
  await writeFile(file, Buffer.from(await reply.arrayBuffer()));
  await run('tar', ['xf', file, '--no-same-owner', '-C', folder]);
  await rm(file);
}

async function importOf({ world }: Tested, subject: Subject, folder: string): Promise<Tested> {
  const { service, keys } = world;
  const secret = ['--secret', 'stub=env:KEY'];
  const agent = ['--name', 'Taken over', '--model', subject.model('test-model')];
  const { stdout } = await run(
    process.execPath,
    [command, 'import', ...made[subject.kind].args(folder), ...agent, ...secret, '--yes', '--json'],
    {
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        LODGE_KEYRING: 'off',
        LODGE_URL: service.baseUrl,
        LODGE_API_KEY: service.apiKey,
        KEY: keys[0],
      },
    },
  );
  const said = JSON.parse(stdout) as { id: string; conversations: string[] };
  assert.ok(said.conversations.includes('main'), stdout);
  return Tested.of(world, said.id);
}
