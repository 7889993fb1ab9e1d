/** Cases: the machine has the programs for work, and the agent adds missing ones. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Results } from './results.ts';
import { openStores, type Words } from './stores.ts';
import type { Subject } from './subjects.ts';
import { until } from './until.ts';
import { type Tested } from './world.ts';

/** The programs that docs/guides/workspace.md lists. */
const programs =
  'bash curl file git jq less make node npm npx pip python3 rg sqlite3 ssh tar unzip wget zip apt-get perl'.split(' ');

export function machinePrograms(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);

  async function exec(agent: Tested, body: object): Promise<string> {
    const reply = await agent.world.service.call('POST', `/agents/${agent.id}/exec`, body);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body.stdout as string;
  }

  /** Runs one turn in which the agent runs these commands one after another. Each has an expected output. */
  async function work(agent: Tested, commands: readonly (readonly [command: string, says: string])[]): Promise<void> {
    const { llm } = agent.world;
    llm.script([...commands.map(([command]) => ({ toolCalls: [subject.work(command)] })), { text: 'All of it runs.' }]);
    const before = llm.requests.length;
    assert.match(await agent.answer('Get to work'), /All of it runs/);
    const bodies = llm.requests.slice(before + 1).map(({ body }) => JSON.stringify(body));
    for (const [index, [command, says]] of commands.entries()) {
      assert.ok(bodies[index]!.includes(says), `${command} says ${says}: ${bodies[index]!.slice(-3_000)}`);
    }
  }

  check('its machine has the programs that the guide lists, and root is root there', async (agent) => {
    const missing = `for name in ${programs.join(' ')}; do command -v $name > /dev/null || echo "$name is missing"; done`;
    assert.equal(await exec(agent, { command: `${missing}; whoami` }), 'agent\n');
    assert.equal(
      await exec(agent, { command: 'whoami; pwd; echo "$HOME"', user: 'root' }),
      'root\n/workspace\n/root\n',
    );
  });

  // OpenClaw's image has the same programs below its runtime, so its slow cases run where every case does.
  const whereCheap = subject.bootsQuickly ? check : further;

  whereCheap('it clones, makes an environment of Python, installs by npm, and runs all of it', (agent) =>
    withStores(agent, async ({ repository, wheel, npm }) => {
      const inVenv = 'pip --python code/venv/bin/python';
      await work(agent, [
        [`git clone --quiet ${seenAt}/code.git && code/say`, repository],
        // A pip of its own would take a minute without KVM, so the machine's pip installs into it.
        [`python3 -m venv --without-pip code/venv && ${inVenv} install ${fromIndex} && code/venv/bin/plum`, wheel],
        [`npm install --global --silent --registry ${seenAt} plum && plum-of-npm`, npm],
      ]);
      for (const command of outside('plum-of-npm')) assert.equal(await exec(agent, { command }), `${npm}\n`);
    }),
  );

  whereCheap('what it installs for itself by pip is on every PATH', (agent) =>
    withStores(agent, async ({ wheel }) => {
      const place = '/home/agent/.local/bin/plum';
      await work(agent, [[`pip install ${fromIndex} && plum && sh -c 'command -v plum'`, place]]);
      for (const command of outside('plum')) assert.equal(await exec(agent, { command }), `${wheel}\n`);
    }),
  );
}

/**
 * Cases: the owner's packages are in the machine, for all its programs. All of them come by way of the host, as the agent reaches
 * nothing else meanwhile. Failures are in tests/failure/packages.test.ts.
 */
export function ownersPackages(results: Results, subject: Subject, agent: () => Tested): void {
  const { check } = results.of(agent);

  check('packages of its owner are installed behind the reply, and are on every PATH', async (agent) => {
    const { word } = agent.world.mirror;
    const few = { apt: ['plum-deb=1.0-1'], pip: [], npm: [] };
    const packages = subject.bootsQuickly ? { ...few, pip: ['plum==1.0'], npm: ['plum@1'] } : few;
    // The agent's own of these names would come before them.
    if (subject.bootsQuickly) await forgetsItsOwn(agent);
    const changed = await agent.patch({ packages, egress: { mode: 'none' } });
    assert.deepEqual([changed.settings_pending, changed.packages], [true, packages]);
    await installed(agent);
    await agent.patch({ egress: null });
    const { llm } = agent.world;
    llm.script([{ toolCalls: [subject.work('plum-deb')] }, { text: 'It runs.' }]);
    assert.match(await agent.answer('Get to work'), /It runs/);
    assert.ok(agent.lastSeen.includes(word), 'its own tools find it');
    for (const command of subject.bootsQuickly ? ['plum-deb', 'plum', 'plum-of-npm'] : ['plum-deb'])
      await says(agent, command, word);
    if (subject.bootsQuickly) await says(agent, 'python3 -c "import plum; plum.say()"', word);
  });
}

async function forgetsItsOwn(agent: Tested): Promise<void> {
  const command = 'pip uninstall --yes --quiet plum && npm uninstall --global --silent plum';
  const { body } = await agent.world.service.call('POST', `/agents/${agent.id}/exec`, { command });
  assert.equal(body.exit_code, 0, JSON.stringify(body));
}

/** Packages that were installed are there after what the cases before have done to the machine. */
export const hasPackages = (agent: Tested): Promise<void> => says(agent, 'plum-deb', agent.world.mirror.word);

/** apt takes about ten seconds of an emulated processor. */
const installMs = 10 * 60_000;

const installed = (agent: Tested): Promise<void> =>
  until('its packages are installed', installMs, async () => {
    const { settings_pending: isPending, packages_error: message } = await agent.record();
    assert.equal(message, null, agent.world.service.output.slice(-3_000));
    return isPending === false;
  });

async function says(agent: Tested, command: string, word: string): Promise<void> {
  const { body } = await agent.world.service.call('POST', `/agents/${agent.id}/exec`, { command });
  assert.equal(body.stdout, `${word}\n`, JSON.stringify(body));
}

/** The stores are reached like private ones: by a connection, whose credential the machine never sees. */
const seenAt = 'http://10.0.2.2:4000/connections/stores';
const fromIndex = `--quiet --index-url ${seenAt}/simple --trusted-host 10.0.2.2 plum`;
/** The owner's ways to a program: a command, and a login shell as in a terminal. */
const outside = (command: string): readonly string[] => [command, `bash -lc "${command}"`];

async function withStores(agent: Tested, use: (words: Words) => Promise<void>): Promise<void> {
  const { service } = agent.world;
  const word = (of: string): string => `${of}-${randomBytes(6).toString('hex')}`;
  const words = { repository: word('cloned'), wheel: word('wheel'), npm: word('npm') };
  const stores = await openStores(words, seenAt);
  try {
    const path = `/agents/${agent.id}/connections/stores`;
    const connection = { kind: 'http', url: stores.url, allow: [{ methods: ['GET'], paths: ['/*'] }] };
    const put = await service.call('PUT', path, connection);
    assert.equal(put.status, 200, JSON.stringify(put.body));
    await use(words);
    assert.equal((await service.call('DELETE', path)).status, 200);
  } finally {
    await stores.close();
  }
}
