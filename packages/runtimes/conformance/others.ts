/** Cases: several agents of one runtime, which are clones of one template. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { assertNothingInCommon, draw, forkGroups, furtherAgents, type Drawn } from './randomness.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { Tested } from './world.ts';

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
    let snapshot: string | undefined;
    for (const count of forkGroups) {
      const reply = await agent.world.service.call('POST', `/agents/${agent.id}/fork`, { count, snapshot });
      assert.equal(reply.status, 201, JSON.stringify(reply.body));
      ({ snapshot } = reply.body as { snapshot: string });
      const forks = (reply.body.data as readonly { id: string; status: string }[]).map(({ id, status }) => {
        assert.equal(status, 'running');
        return Tested.of(agent.world, id);
      });
      for (const fork of forks) {
        drawn.push(await draw(subject, fork));
        await remove(fork);
      }
    }
    // The same values were ready in it, and it goes on.
    drawn.push(await draw(subject, agent));
    assertNothingInCommon(drawn);
  });
}

/** With one DELETE. */
async function remove({ id, world: { service } }: Tested): Promise<void> {
  const reply = await service.call('DELETE', `/agents/${id}`);
  assert.deepEqual(reply.body, { object: 'agent.deleted', id, deleted: true });
  assert.equal((await service.call('GET', `/agents/${id}`)).status, 404);
}
