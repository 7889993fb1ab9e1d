/**
 * Real programs use host connections by their built-in addresses, with HTTP/1.1 and a placeholder alone. They run beside the door
 * in a network of their own, as in a machine: by its list of names, its list of authorities and its variables.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { authorityPath, environmentOf } from '@lodge/domain';
import type { CallGuard, StoredCall } from '@lodge/ports';
import { startTlsServices } from '../../../packages/connections/src/testing/tls-services.ts';
import { known, placeholder, startWorld } from '../../../packages/connections/src/testing/world.ts';
import type { TestWorld } from '../../../packages/connections/src/testing/world.ts';
import { enterPrivateHost } from '../../../packages/vm/src/qemu/network/testing/private-host.ts';
import { ownPython, packagesFor } from '../python/environment.ts';
import { ghFolder } from './bring.ts';
import { makeServices } from './services.ts';

// The network inside leads nowhere, so what is missing is brought before.
const [gh, python] = [await ghFolder(), await ownPython()];
const packages = await packagesFor(python, new URL('requirements.txt', import.meta.url).pathname);
enterPrivateHost(import.meta.filename);

const run = promisify(execFile);
const secret = (): string => `real-${randomBytes(24).toString('hex')}`;
const tokens = { github: secret(), npm: secret(), pypi: secret() };
const hosts = ['api.github.com', 'github.com', 'registry.npmjs.org', 'pypi.org', 'files.pythonhosted.org'];
const bundle = '/etc/ssl/certs/ca-certificates.crt';

const asked: StoredCall[] = [];
const guard: CallGuard = {
  async ask(_caller, _act, call) {
    asked.push(call);
    return { verdict: 'allowed', ended: async () => undefined };
  },
};
const outputs: string[] = [];
let folder: string;
let work: string;
let stand: ReturnType<typeof makeServices>;
let services: Awaited<ReturnType<typeof startTlsServices>>;
let world: TestWorld;
let variables: Readonly<Record<string, string>>;

before(async () => {
  folder = await mkdtemp('/tmp/lodge-programs-');
  work = join(folder, 'work');
  await mkdir(work);
  stand = makeServices(join(folder, 'services'), tokens);
  services = await startTlsServices((req, res) => void stand.answer(req, res).catch(() => res.destroy()));
  const rules = [{ on: 'connection:github', match: 'POST /*/git-receive-pack', policy: 'ask' }] as const;
  const confirmations = { rules, default: 'allow', deliver: [], deciders: [], expires: '24h' } as const;
  world = await startWorld({ hostOutbound: services.outbound, guard }, [known], confirmations);
  put('github', hosts.slice(0, 2), { GITHUB_TOKEN: tokens.github }, ['/repos/*', '/graphql', '/acme/*']);
  put('npm', hosts.slice(2, 3), { NPM_TOKEN: tokens.npm }, ['/@acme/*']);
  put('pypi', hosts.slice(3), { PYPI_TOKEN: tokens.pypi }, ['/none']);
  await likeAMachine();
});
after(async () => {
  await world?.close();
  await services?.close();
  await rm(folder, { recursive: true, force: true });
});

function put(
  name: string,
  names: readonly string[],
  secrets: Readonly<Record<string, string>>,
  paths: readonly string[],
) {
  world.put(known, {
    name,
    kind: 'host',
    url: `https://${names[0]}`,
    hosts: names,
    allow: [
      { methods: ['GET', 'HEAD'], paths: ['/*'] },
      { methods: ['POST', 'PUT'], paths },
    ],
    secrets: Object.fromEntries(
      Object.entries(secrets).map(([variable, value]) => [variable, { value, in: ['authorization'] }]),
    ),
  });
}

/** Names, authorities and variables as the guest has them, and port 443 that leads to the door. */
async function likeAMachine(): Promise<void> {
  const authority = await world.trusted();
  await writeFile(join(folder, 'hosts'), `127.0.0.1 localhost ${hosts.join(' ')}\n`);
  await writeFile(join(folder, 'bundle'), `${await readFile(bundle, 'utf8')}\n${authority}`);
  await run('mount', ['--bind', join(folder, 'hosts'), '/etc/hosts']);
  await run('mount', ['--bind', join(folder, 'bundle'), bundle]);
  await run('mount', ['-t', 'tmpfs', 'tmpfs', '/usr/local/share/ca-certificates']);
  await writeFile(authorityPath, authority);
  const names = ['GITHUB_TOKEN', 'NPM_TOKEN', 'PYPI_TOKEN'];
  const own = Object.fromEntries(names.map((name) => [name, placeholder(name)]));
  variables = environmentOf({}, { hosts, variables: own, authority });
  const relay = createServer((guest) => {
    const inner = connect({ port: world.broker.port, host: '127.0.0.1', localAddress: known });
    guest.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => guest.destroy()).pipe(guest);
  }).listen(443, '127.0.0.1');
  await once(relay, 'listening');
  relay.unref();
}

/** Runs commands as an agent would, and returns what they print. */
async function shell(text: string): Promise<string> {
  const env = {
    ...variables,
    HOME: work,
    PATH: `${gh}:${process.env['PATH']}`,
    PYTHONPATH: packages,
    PYTHON: python.program,
    NODE: process.execPath,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
  const options = { cwd: work, env, timeout: 120_000, maxBuffer: 2 ** 24 };
  const { stdout, stderr } = await run('sh', ['-euc', text], options).catch((error: unknown) => {
    throw new Error(
      `${text}\n${String((error as { stderr?: string }).stderr)}\n${world.lines.map(({ entry }) => entry.message).join('\n')}`,
    );
  });
  outputs.push(stdout, stderr);
  return stdout;
}

const lines = (): readonly string[] => stand.seen.map(({ line }) => line);

test('gh', async () => {
  assert.match(await shell('gh api repos/acme/site/issues'), /"path":"\/repos\/acme\/site\/issues"/);
  assert.match(await shell('gh api repos/acme/site/issues -f title=Hello'), /"number":7/);
  assert.match(stand.seen.at(-1)!.agent, /GitHub CLI/);
});

test('git clones and pushes, after a yes, by its own HTTP', async () => {
  const url = 'https://x-access-token:$GITHUB_TOKEN@github.com/acme/site.git';
  await shell(`git clone -q ${url} site && cd site && git config user.name A && git config user.email a@example.com
    echo Hello >a.md && git add . && git commit -qm First && git push -q origin HEAD:main`);
  assert.match(stand.git('log', '--oneline', 'main'), /First/);
  assert.deepEqual(
    asked.map((call) => (call.kind === 'host' ? `${call.method} ${call.url}${call.path}` : call.kind)),
    ['POST https://github.com/acme/site.git/git-receive-pack'],
  );
  await shell(`git clone -q ${url} again && grep -q Hello again/a.md`);
  assert.match(stand.seen.at(-1)!.agent, /^git\//);
});

test('git gets the token from gh, as the guide for GitHub says', async () => {
  const url = 'https://github.com/acme/site.git';
  assert.match(await shell(`gh auth setup-git && git ls-remote ${url}`), /refs\/heads\/main/);
});

test('a push that is too large to wait for a yes fails, and nothing is pushed', async () => {
  const large =
    'cd site && head -c 3000000 /dev/urandom >b && git add . && git commit -qm Large && git push -q origin HEAD:large';
  await assert.rejects(shell(large), /413/);
  assert.equal(stand.git('branch', '--list', 'large'), '');
  assert.ok(world.lines.some(({ entry }) => entry.message.includes('at most 128 KiB')));
});

test('npm publishes and installs a package in a scope', async () => {
  await shell(`mkdir pack use && echo '//registry.npmjs.org/:_authToken=\${NPM_TOKEN}' >.npmrc
    cd pack && echo '{"name":"@acme/site","version":"1.0.0"}' >package.json && npm publish --access public --loglevel error
    cd ../use && echo '{}' >package.json && npm install --no-audit --no-fund --loglevel error @acme/site`);
  assert.match(await readFile(join(work, 'use/node_modules/@acme/site/package.json'), 'utf8'), /@acme\/site/);
  assert.ok(lines().includes('PUT registry.npmjs.org/@acme/site'));
});

test('pip', async () => {
  await shell(
    '"$PYTHON" -m pip download -q --no-deps --no-cache-dir --index-url "https://x:$PYPI_TOKEN@pypi.org/simple/" -d wheels acme-site',
  );
  assert.deepEqual(await readdir(join(work, 'wheels')), ['acme_site-1.0-py3-none-any.whl']);
});

test('curl, Node and requests of Python', async () => {
  for (const command of [
    'curl -sS --fail -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/user',
    'curl -sS --fail -u "x:$GITHUB_TOKEN" https://api.github.com/user',
    `"$NODE" -e 'fetch("https://api.github.com/user", { headers: { authorization: "Bearer " + process.env.GITHUB_TOKEN } }).then((answer) => answer.text()).then(console.log)'`,
    `"$PYTHON" -c 'import os, requests; print(requests.get("https://api.github.com/user", headers={"Authorization": "Bearer " + os.environ["GITHUB_TOKEN"]}, timeout=30).text)'`,
  ])
    assert.match(await shell(command), /"login":"ann"/, command);
});

test('no program has seen a secret, nor does any file or log have one', async () => {
  const files = (await readdir(work, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  const contents = await Promise.all(files.map((each) => readFile(join(each.parentPath, each.name), 'latin1')));
  assert.ok(contents.length > 20 && contents.some((text) => text.includes('lodge-secret-github-token')));
  const everything = [...outputs, ...contents, JSON.stringify([asked, world.lines, world.logged, variables])].join(
    '\n',
  );
  for (const each of Object.values(tokens)) {
    for (const form of [each, Buffer.from(each).toString('hex'), Buffer.from(each).toString('base64').slice(0, -4)])
      assert.ok(!everything.includes(form));
  }
});
