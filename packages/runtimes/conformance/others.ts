/** Cases: several agents of one runtime, which are clones of one template. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { isLongRun } from '@lodge/testkit/forms';
import { assertNothingInCommon, draw, forkCount, furtherAgents, startWaiting, type Drawn } from './randomness.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { Summons } from './summons.ts';
import { Tested } from './world.ts';

/** Bound on the starts of all forks on a busy host without KVM. */
const forksTimeoutMs = 15 * 60_000;
/** Forks that run side by side. The others are paused until it is their turn: on few cores the gateways of all starve. */
const awake = 4;

export function others(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  // Questions between agents go through the host, like any of its tools, so a slow runtime is asked where every case runs.
  const whereCheap = subject.bootsQuickly ? check : further;
  const drawn: Drawn[] = [];
  let other: Tested;

  check('another of the kind sees nothing of it', async (agent) => {
    const own = '/workspace/own.txt';
    await agent.shell(`echo own > ${own}`);
    other = await Tested.create(agent.world, subject, `Other ${randomBytes(3).toString('hex')}`);
    await assert.rejects(other.file(own), { status: 404 });
    drawn.push(await draw(subject, agent), await draw(subject, other));
  });

  whereCheap('another of the kind answers what it asks, asks back and is told why not', async (agent) => {
    await agent.patch({ peers: [other.id] });
    await other.patch({ peers: [agent.id] });
    const { llm } = agent.world;
    llm.script([
      { toolCalls: [subject.hostTool('ask_agent', { agent: other.id, message: 'What is the word?' })] },
      { toolCalls: [subject.hostTool('ask_agent', { agent: agent.id, message: 'Which word?' })] },
      { text: 'The word is plum.' },
      { text: 'They say plum.' },
    ]);
    const before = llm.requests.length;
    assert.match(await agent.answer('Ask the other one'), /They say plum/);
    const [, , refused, answered] = llm.requests.slice(before).map(({ body }) => JSON.stringify(body));
    assert.match(refused!, /cannot be asked again/);
    assert.match(answered!, /The word is plum/);
    await agent.patch({ peers: [] });
  });

  check('none draws a random value that another draws', async (agent) => {
    await remove(other);
    for (let further = 1; further < furtherAgents; further += 1) {
      const other = await Tested.create(agent.world, subject, 'Other');
      drawn.push(await draw(subject, other));
      await remove(other);
    }
    assert.equal(drawn.length, 1 + furtherAgents);
    assertNothingInCommon(drawn);
  });

  check('its forks draw no random value that it draws, or another fork', async (agent) => {
    // The short form of this is in the cases of saved machines, with one fork.
    const summons = isLongRun ? await Summons.prepare(agent) : null;
    if (isLongRun) {
      await startWaiting(subject, agent);
      drawn.push(await draw(subject, agent));
    }
    let snapshot: string | undefined;
    let calls = 0;
    for (let left = forkCount; left > 0; calls += 1) {
      const made = await fork(agent, { most: left, snapshot });
      ({ snapshot } = made);
      left -= made.forks.length;
      for (const [index, fork] of made.forks.entries()) {
        await fork.awaitStatus('running', forksTimeoutMs);
        if (index >= awake) assert.equal(await fork.act('pause'), 'paused');
      }
      if (calls === 0) await summons?.come();
      for (const [index, fork] of made.forks.entries()) {
        if (index >= awake) assert.equal(await fork.act('resume'), 'running');
        const sample = await draw(subject, fork);
        for (const [thread, since] of Object.entries(sample.since))
          assert.equal(since, agent.id, `${thread} has lived since before the fork`);
        drawn.push(sample);
        await remove(fork);
      }
    }
    // The same values were ready in it, and it goes on.
    drawn.push(await draw(subject, agent));
    summons?.assertAnsweredOnce();
    await summons?.end();
    const values = assertNothingInCommon(drawn);
    console.log(`${subject.name}: ${values} values, drawn ${drawn.length} times; ${forkCount} forks of ${calls} calls`);
  });
}

/** Forks it with one call, as often as the host has room for: a GiB for each. */
async function fork(
  agent: Tested,
  { most, snapshot }: { readonly most: number; readonly snapshot: string | undefined },
) {
  for (let count = most; ; count = Math.ceil(count / 2)) {
    const wanted = { count, snapshot, include: ['schedules'] };
    const { status, body } = await agent.world.service.call('POST', `/agents/${agent.id}/fork?wait=false`, wanted);
    if (status === 503 && count > 1) continue;
    assert.equal(status, 202, JSON.stringify(body));
    const forks = (body.data as readonly { id: string }[]).map(({ id }) => Tested.of(agent.world, id));
    assert.equal(forks.length, count);
    return { forks, snapshot: body.snapshot as string };
  }
}

/** With one DELETE. */
async function remove({ id, world: { service } }: Tested): Promise<void> {
  const reply = await service.call('DELETE', `/agents/${id}`);
  assert.deepEqual(reply.body, { object: 'agent.deleted', id, deleted: true });
  assert.equal((await service.call('GET', `/agents/${id}`)).status, 404);
}
