/** Cases: the agent's knowledge and files outlive everything that happens to its machine. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLongRun } from '@lodge/testkit/forms';
import { occurrences, occurrencesIn } from '../../../tests/e2e/guest-memory.ts';
import { Kept } from './kept.ts';
import { hasPackages } from './programs.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { templateTimeoutMs, type Tested } from './world.ts';
import { until } from './until.ts';

/** Bound on a cold boot on a busy host without KVM. */
const bootTimeoutMs = 30 * 60_000;

export function life(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  // A start costs OpenClaw without KVM the translation of all its code.
  const whereCheap = subject.bootsQuickly ? check : further;
  const kept = new Kept(subject, 'keeper');
  const { user } = kept;
  const remembers = kept.remembers.bind(kept);

  check('it is told a word and writes a file', (agent) => kept.tell(agent));

  further('a pause: resumed, or simply spoken to', async (agent) => {
    assert.equal(await agent.act('pause'), 'paused');
    assert.equal(await agent.act('resume'), 'running');
    await remembers(agent);
    assert.equal(await agent.act('pause'), 'paused');
    await remembers(agent);
    assert.equal((await agent.record()).status, 'running');
  });

  further('a stop, and a start', async (agent) => {
    assert.equal(await agent.act('stop'), 'stopped');
    assert.equal(await agent.act('start'), 'running');
    await remembers(agent);
  });

  further('a stop from a pause', async (agent) => {
    assert.equal(await agent.act('pause'), 'paused');
    assert.equal(await agent.act('stop'), 'stopped');
    await remembers(agent, { wake: 'true' });
  });

  check('a stop lets the turn in hand end; a request that asks for it wakes the agent', async (agent) => {
    const { llm } = agent.world;
    llm.script([{ chunks: ['slow ', 'but ', 'whole'], intervalMs: 4_000 }]);
    const turn = agent.stream('Take your time', { user });
    await until('the model is asked', 300_000, () => llm.requests.length > 0);
    const stopping = agent.act('stop');
    assert.equal((await turn).text, 'slow but whole');
    assert.equal(await stopping, 'stopped');
    await assert.rejects(agent.pid(), /no emulator/);
    await assert.rejects(agent.say('Hello?'), { status: 409, code: 'agent_not_running' });
    await remembers(agent, { wake: 'true' });
    await hasPackages(agent);
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const declare = signal === 'SIGKILL' ? whereCheap : further;
    declare(`a restart of the control plane by ${signal}, beside which the VM runs on`, async (agent) => {
      const { service } = agent.world;
      const pid = await agent.pid();
      await service.end(signal);
      await service.up();
      await agent.awaitStatus('running', bootTimeoutMs);
      await remembers(agent);
      assert.equal(await agent.pid(), pid, 'the VM ran on');
    });
  }

  further('another size, in effect without a restart', async (agent) => {
    const pid = await agent.pid();
    await agent.patch({ size: 'medium' });
    await until('it has two vCPUs', bootTimeoutMs, async () => (await agent.record()).machine.vcpus === 2);
    assert.deepEqual((await agent.record()).machine, { vcpus: 2, memory_mb: 4096, disk_gb: 10 });
    assert.equal((await (await agent.guest()).health()).cpusOnline, 2);
    assert.equal(await agent.pid(), pid);
    await remembers(agent);
  });

  check('no secret in its memory, on its disk or in its files, which have their form', async (agent) => {
    const { service, keys } = agent.world;
    const masterKey = await readFile(join(service.dataDir, 'master.key'));
    const secrets = [...keys, service.apiKey, ...agent.secrets].map((text) => Buffer.from(text));
    const needles = [...secrets, masterKey, Buffer.from(masterKey.toString('utf8').trim())];
    const none = needles.map(() => 0);
    for (const [path, look] of Object.entries(subject.files)) {
      const text = await agent.file(path);
      look(text);
      for (const secret of secrets) assert.ok(!text.includes(secret.toString()), path);
    }
    await (await agent.guest()).sync(false);
    const folder = join(service.dataDir, 'vms', agent.id);
    const found = await occurrences(await agent.pid(), folder, [Buffer.from('kept.txt'), ...needles]);
    assert.ok(found.memory[0]! > 0 && found.disk[0]! > 0, 'the search finds what is there');
    assert.deepEqual([found.memory.slice(1), found.disk.slice(1)], [none, none]);
  });

  if (subject.bootsQuickly) {
    further('a restart', async (agent) => {
      const reply = await agent.world.service.call('POST', `/agents/${agent.id}/restart?wait=false`);
      assert.equal(reply.status, 202, JSON.stringify(reply.body));
      await agent.awaitStatus('running', bootTimeoutMs);
      await remembers(agent);
    });
  }
}

/**
 * Cases: a boot from the agent's own disk. Without KVM, OpenClaw takes minutes to start on it. The short form looks for what
 * was said in the bytes of the disk, and the long form asks OpenClaw.
 */
export function returns(results: Results, subject: Subject, agent: () => Tested): void {
  const { check } = results.of(agent);
  const kept = new Kept(subject, 'returner');
  const remembers = kept.remembers.bind(kept);

  check('its VM killed the moment it had answered: back from its disk', async (agent) => {
    const pid = await agent.pid();
    await kept.tell(agent, () => process.kill(pid, 'SIGKILL'));
    while ((await agent.record()).status === 'running') await sleep(50);
    if (subject.bootsQuickly || isLongRun) {
      await agent.awaitStatus('running', bootTimeoutMs);
      await remembers(agent);
      await hasPackages(agent);
      return;
    }
    const needles = [kept.word, kept.written].map((text) => Buffer.from(text));
    const found = await occurrencesIn(join(agent.world.service.dataDir, 'vms', agent.id), needles);
    assert.ok(
      found.every((times) => times > 0),
      `on the disk: ${found.join(', ')}`,
    );
  });
  // It needs one more template: minutes without KVM. The short form is tests/failure/upgrade.test.ts, with bare guests.
  if (!isLongRun) return;
  check('runs on under a newer template, and is moved to it with memory and files', async (agent) => {
    const { service } = agent.world;
    await service.end('SIGTERM');
    service.env['CONFORMANCE_RELEASE'] = '-next';
    service.output = '';
    await service.up();
    await service.awaitTemplate(templateTimeoutMs, subject.name);
    const before = await agent.record();
    assert.deepEqual([before.status, before.upgrade_available], ['running', true]);
    await remembers(agent);
    const reply = await service.call('POST', `/agents/${agent.id}/upgrade?wait=false`);
    assert.equal(reply.status, 202, JSON.stringify(reply.body));
    await agent.awaitStatus('running', bootTimeoutMs);
    const { upgrade_available: isOld, status_reason: reason } = await agent.record();
    assert.deepEqual([isOld, reason], [false, null]);
    await remembers(agent);
  });
}
