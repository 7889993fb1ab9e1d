/** Cases: skills of the owner's library reach conversations that have begun, and the agent cannot change them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { skillText, tarGzOf } from '../../skills/src/testing/archives.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { until } from './until.ts';
import { type Tested } from './world.ts';

/** Without KVM, OpenClaw takes most of a minute to say for the first time which skills it has. */
const placedTimeoutMs = 10 * 60_000;
const set = '/var/lib/lodge/skills/set';

export function skills(results: Results, _subject: Subject, agent: () => Tested): void {
  const { check } = results.of(agent);

  check('a skill, its next version and its removal are in the next turn of an old conversation', async (agent) => {
    const old = { user: 'old' };
    await agent.answer('Good morning.', old);
    const skill = new TestedSkill(agent, 'github');
    const first = await skill.add();
    await skill.give();
    await agent.answer('And now?', old);
    assert.match(agent.lastSeen, new RegExp(`github.*${first}`), 'name and description are in the prompt');

    const folder = `${set}/lodge/github`;
    const tries = [`echo >> ${folder}/SKILL.md`, `rm -rf ${folder}`, `mv ${set} /tmp`, `touch ${folder}/more`];
    for (const command of tries) {
      const { body } = await agent.world.service.call('POST', `/agents/${agent.id}/exec`, { command });
      assert.notEqual(body.exit_code, 0, command);
    }

    const second = await skill.add();
    await skill.is('loaded');
    await agent.answer('And now?', old);
    assert.match(agent.lastSeen, new RegExp(`github.*${second}`));
    assert.ok(!agent.lastSeen.includes(first), 'the version before is gone');

    // The agent's own of the same name comes before it.
    await agent.shell(`mkdir -p /workspace/skills && cp -r ${folder} /workspace/skills`);
    await skill.add();
    await skill.is('shadowed');
    await agent.shell('rm -r /workspace/skills/github');

    await skill.take();
    await agent.answer('And now?', old);
    assert.doesNotMatch(agent.lastSeen, /Says word-/, 'it is gone');
  });
}

/** A skill of the account, with a word of its own in each version. OpenClaw's package has a skill called `github`, too. */
export class TestedSkill {
  private readonly agent: Tested;
  private readonly name: string;

  constructor(agent: Tested, name: string) {
    this.agent = agent;
    this.name = name;
  }

  /** Adds a version to the library, and returns the word in its description. */
  async add(): Promise<string> {
    const word = `word-${randomBytes(6).toString('hex')}`;
    const { baseUrl, apiKey } = this.agent.world.service;
    const text = skillText(this.name).replace(/^description: .*$/m, `description: Says ${word}.`);
    const reply = await fetch(`${baseUrl}/skills`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/gzip' },
      body: tarGzOf([{ path: `${this.name}/SKILL.md`, content: text }]),
    });
    assert.equal(reply.status, 201, await reply.text());
    return word;
  }

  /** Gives it to the agent, and waits until the runtime offers it. */
  async give(members: readonly (string | null)[] | null = null): Promise<void> {
    const reply = await this.call('PUT', { members });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    await this.is('loaded');
  }

  is(state: 'loaded' | 'shadowed'): Promise<void> {
    return until(`its skill is ${state}`, placedTimeoutMs, async () => (await this.record()).state === state);
  }

  async take(): Promise<void> {
    assert.equal((await this.call('DELETE')).status, 200);
    await until(
      'its skill is gone',
      placedTimeoutMs,
      async () => (await this.agent.record()).settings_pending === false,
    );
  }

  private async record() {
    return (await this.call('GET')).body;
  }

  private call(method: string, body?: object) {
    return this.agent.world.service.call(method, `/agents/${this.agent.id}/skills/${this.name}`, body);
  }
}
