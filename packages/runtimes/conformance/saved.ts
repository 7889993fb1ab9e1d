/**
 * Cases: snapshots of the agent. Its owner looks into one, goes back to one, and makes other agents of it, here and on another
 * Lodge. The rules, and files that want to do harm, are tested in packages/engine/src/saved and tests/e2e.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Reply } from '@lodge/testkit/service';
import { callsOf, lastSaid } from './calls.ts';
import { Kept } from './kept.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { Summons } from './summons.ts';
import { until } from './until.ts';
import { startService, templateTimeoutMs, Tested } from './world.ts';

const openTimeoutMs = 10 * 60_000;
/** Bound on a cold boot on a busy host without KVM. */
const bootTimeoutMs = 30 * 60_000;
const marked = (what: string): string => `${what}-${randomBytes(6).toString('hex')}`;

export function saved(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  // An import boots a machine, which takes an emulated OpenClaw minutes. An agent of a snapshot starts as a fork does.
  const whereCheap = subject.bootsQuickly ? check : further;
  const kept = new Kept(subject, 'saved');
  const { user } = kept;
  const later = marked('later');
  let snapshot: string;

  check('a file is read out of its snapshot, changes since are listed, and paths are copied back', async (agent) => {
    const call = callsOf(agent);
    await kept.tell(agent);
    await agent.shell('cd /workspace && mkdir garden && cd garden && echo first > changed && echo first > removed');
    const { id, ...made } = (await call('POST', `/agents/${agent.id}/snapshots`, { name: 'good' })).body;
    const { status, memory, loads, runtime } = made;
    assert.deepEqual({ status, memory, loads, runtime: runtime.name }, ready(subject));
    snapshot = id as string;

    const change = `rm kept.txt garden/removed; echo ${later} > garden/changed; echo ${later} > garden/added`;
    agent.world.llm.script([{ toolCalls: [subject.shell(change)] }, { text: 'Changed.' }]);
    assert.match(await agent.answer(`The other word is ${later}.`, { user }), /Changed\./);

    const { data } = (await call('GET', `/snapshots/${snapshot}/diff?to=now`)).body;
    const changes = (data as { path: string; change: string }[]).map(({ path, change }) => `${change} ${path}`);
    const expected = ['added garden/added', 'changed garden/changed', 'removed garden/removed', 'removed kept.txt'];
    assert.deepEqual(
      changes.filter((line) => / (garden\/|kept\.txt)/.test(line)),
      expected,
    );
    assert.equal(await fileOf(agent, snapshot, 'garden/changed'), 'first\n');
    assert.equal(await fileOf(agent, snapshot, 'kept.txt'), kept.written);

    const paths = ['kept.txt', 'garden/removed'];
    await call('POST', `/agents/${agent.id}/restore`, { snapshot, paths });
    await kept.isOnDisk(agent);
    assert.equal(
      await agent.shell('cd /workspace && stat -c %U kept.txt; cat garden/*'),
      `agent\n${later}\n${later}\nfirst`,
    );
  });

  check('its last turn is undone, in its memory and on its disk', async (agent) => {
    const call = callsOf(agent);
    const back = await call('POST', `/agents/${agent.id}/restore`, { snapshot: 'before_last_turn' });
    assert.deepEqual([back.body.status, back.body.status_reason], ['running', null], JSON.stringify(back.body));
    const [{ data }] = (await call('GET', `/events?agent_id=${agent.id}&type=agent.restored`)).body.data;
    assert.deepEqual([data.snapshot_id, data.loaded], [snapshot, 'memory']);
    assert.equal(await agent.shell('cd /workspace/garden && cat *'), 'first\nfirst');
    await kept.remembers(agent);
    assert.match(agent.lastSeen, /Your machine was set back/);
    assert.ok(!agent.lastSeen.includes(later), 'it does not know the turn');
  });

  check('a fork goes on beside it, which alone answers messages and its schedule', async (agent) => {
    const call = callsOf(agent);
    const { llm } = agent.world;
    const summons = await Summons.prepare(agent);
    const forked = (await call('POST', `/agents/${agent.id}/fork`, { include: ['schedules'] })).body;
    const fork = Tested.of(agent.world, forked.data[0].id as string);
    const { status, status_reason: reason, channels, forked_from: from } = await fork.record();
    assert.deepEqual({ status, reason, channels }, { status: 'running', reason: null, channels: [] });
    assert.deepEqual([from.agent_id, from.snapshot_id], [agent.id, forked.snapshot]);

    await summons.come();
    llm.rule((request) => (lastSaid(request).includes('Which one are you?') ? { text: 'The fork.' } : undefined));
    assert.match(await fork.answer('Which one are you?', { user }), /The fork\./);
    assert.match(
      agent.lastSeen,
      new RegExp(`You are a fork of the agent [^]*\\(${agent.id}\\)[^]*\\(${fork.id}\\) now`),
    );
    assert.ok(agent.lastSeen.includes(kept.word), 'it remembers what its parent was told');
    await kept.isOnDisk(fork);
    summons.assertAnsweredOnce();
    assert.deepEqual((await call('GET', `/agents/${fork.id}/messages`)).body.data, []);
    const { data: copies } = (await call('GET', `/agents/${fork.id}/schedules`)).body;
    const copy = copies.find(({ name }: { name: string }) => name === 'Later');
    assert.deepEqual([copy?.enabled, copy?.next_run_at], [false, null], JSON.stringify(copies));

    const identity = 'hostname; cat /etc/machine-id /proc/sys/kernel/random/boot_id';
    const [own, other] = await Promise.all([agent.shell(identity), fork.shell(identity)]);
    const [[host, ...rest], [otherHost, ...otherRest]] = [own.split('\n'), other.split('\n')];
    assert.deepEqual([host, otherHost], [agent.id, fork.id]);
    assert.notEqual(rest[0], otherRest[0], 'its machine-id');
    await call('DELETE', `/agents/${fork.id}`);
    await summons.end();
  });

  whereCheap('another agent is made from its snapshot, with keys and settings of its own', async (agent) => {
    const call = callsOf(agent);
    const { llm, keys } = agent.world;
    const asked = {
      name: 'Published',
      from: { snapshot },
      model: subject.model('other-model'),
      llm_keys: [{ provider: 'stub', api_key: keys[1] }],
      instructions: `You are ${later}.`,
      lifecycle: { idle_timeout_seconds: 0 },
    };
    const made = (await call('POST', '/agents', asked)).body;
    assert.deepEqual([made.status, made.runtime_kind, made.channels], ['running', subject.kind, []]);
    const other = Tested.of(agent.world, made.id as string);
    llm.script([{ text: 'At your service.' }]);
    assert.match(await other.answer('Who are you?', { user: 'stranger' }), /At your service\./);
    const { key, model } = llm.requests.at(-1)!;
    assert.deepEqual([key, model], [keys[1], 'other-model']);
    assert.match(agent.lastSeen, new RegExp(`You are a new agent, [^]*snapshot of the agent ${agent.id}`));
    assert.ok(agent.lastSeen.includes(`You are ${later}.`));
    await kept.isOnDisk(other);
    await call('DELETE', `/agents/${other.id}`);
  });

  whereCheap(
    'as one file it goes to an empty Lodge, knows there what it knew, and takes no key along',
    async (agent) => {
      const { world } = agent;
      await kept.remembers(agent);
      // Where the case of the fork is left out, this connects it.
      await agent.onTelegram();
      const reply = await raw(agent, `/agents/${agent.id}/export`, { method: 'POST' });
      assert.equal(reply.status, 200, await reply.clone().text());
      const file = Buffer.from(await reply.arrayBuffer());
      const content = gunzipSync(file);
      const masterKey = await readFile(join(world.service.dataDir, 'master.key'), 'utf8');
      const secrets = [...world.keys, world.service.apiKey, ...agent.secrets, masterKey.trim()];
      assert.deepEqual(
        secrets.filter((secret) => content.includes(secret)),
        [],
      );
      for (const there of [kept.word, kept.written])
        assert.ok(content.includes(there), 'the search finds what is there');

      const service = await startService(subject, world.env);
      try {
        await service.awaitTemplate(templateTimeoutMs, subject.name);
        const away = { ...world, service };
        const body = new Blob([file]);
        const imported = await raw({ world: away }, '/agents/import?name=Moved', { method: 'POST', body });
        const made = (await imported.json()) as Reply['body'];
        assert.ok(imported.ok, `${JSON.stringify(made)}\n${service.output}`);
        const missing = (made.import.missing as { kind: string; name: string }[]).map(
          ({ kind, name }) => `${kind} ${name}`,
        );
        assert.ok(missing.includes('llm_key stub') && missing.includes('channel telegram'), missing.join(', '));
        const moved = Tested.of(away, made.id as string);
        await moved.awaitStatus('running', bootTimeoutMs);
        await moved.patch({ llm_keys: [{ provider: 'stub', api_key: world.keys[1] }] });
        await kept.remembers(moved);
        assert.equal(world.llm.requests.at(-1)!.key, world.keys[1]);
      } finally {
        await service.destroy();
      }
    },
  );
}

const ready = ({ name }: Subject) => ({ status: 'ready', memory: true, loads: 'memory', runtime: name });

const raw = ({ world: { service } }: Pick<Tested, 'world'>, path: string, init: RequestInit): Promise<Response> =>
  fetch(`${service.baseUrl}${path}`, { ...init, headers: { 'x-api-key': service.apiKey } });

/** Reads a file of a snapshot. The first request may be over before the snapshot is open. */
async function fileOf(agent: Tested, snapshot: string, path: string): Promise<string> {
  let text = '';
  await until(`${path} of the snapshot`, openTimeoutMs, async () => {
    const reply = await raw(agent, `/snapshots/${snapshot}/files/${path}`, {});
    text = await reply.text();
    assert.ok(reply.status === 200 || reply.status === 409, text);
    return reply.status === 200;
  });
  return text;
}
