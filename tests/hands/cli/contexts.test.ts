/** Contexts, keys and the places that a key goes to. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWorld } from '../../e2e/api/world.ts';
import type { World } from '../../e2e/api/world.ts';
import { newPerson } from './command.ts';
import type { Person } from './command.ts';

describe('contexts', () => {
  let world: World;
  let person: Person;
  const seen: IncomingMessage['headers'][] = [];
  const stranger = createServer((request, reply) => {
    seen.push(request.headers);
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ object: 'list', data: [], has_more: false, next_cursor: null }));
  });
  let strangerUrl: string;
  before(async () => {
    stranger.listen(0, '127.0.0.1');
    [world, person] = await Promise.all([openWorld({ loops: false }), newPerson(), once(stranger, 'listening')]);
    strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  });
  after(async () => {
    stranger.close();
    await Promise.all([world.close(), person.remove()]);
  });
  const mode = async (name: string): Promise<string> =>
    ((await stat(join(person.home, 'config/lodge', name))).mode & 0o777).toString(8);

  test('without a key a command says how to sign in', async () => {
    const { code, stderr, stdout } = await person.lodge(['agents', 'list', '--url', world.url]);
    assert.equal(code, 3);
    assert.equal(stdout, '');
    assert.match(stderr, /^Error: Nobody is signed in\.\n {2}Sign in with `lodge login`/);
  });

  test('a key of stdin is checked, and kept in files that only their owner reads', async () => {
    const wrong = await person.lodge(['login', world.url, '--with-key'], { input: 'lodge_live_wrong\n' });
    assert.equal(wrong.code, 3, wrong.stderr);
    assert.equal((await person.lodge(['context', 'list', '--json'])).stdout, '{\n  "data": []\n}\n');

    const right = await person.lodge(['login', `${world.url}/v1`, '--with-key'], { input: `${world.key}\n` });
    assert.equal(right.code, 0, right.stderr);
    assert.match(right.stdout, /^Signed in to http:\/\/127\.0\.0\.1:\d+ as default, as the context local\.\n$/);
    assert.ok(!(right.stdout + right.stderr).includes(world.key));
    assert.deepEqual([await mode('config.json'), await mode('keys.json'), await mode('')], ['600', '600', '700']);
    assert.ok(!(await readFile(join(person.home, 'config/lodge/config.json'), 'utf8')).includes(world.key));
    const listed = await person.lodge(['agents', 'list', '--json']);
    assert.deepEqual(JSON.parse(listed.stdout), { object: 'list', data: [], has_more: false });
  });

  test('contexts are added, chosen and removed', async () => {
    const added = await person.lodge(['context', 'add', 'other', `${strangerUrl}/`]);
    assert.equal(added.code, 0, added.stderr);
    assert.equal((await person.lodge(['context', 'use', 'other'])).code, 0);
    const { stdout } = await person.lodge(['context', 'list']);
    assert.equal(stdout, ` \tlocal\t${world.url}\tfile\n*\tother\t${strangerUrl}\tnone\n`);
    assert.equal((await person.lodge(['context', 'use', 'nowhere'])).code, 2);
    assert.equal((await person.lodge(['agents', 'list'])).code, 3, 'the other one has no key');
    assert.equal((await person.lodge(['agents', 'list', '--context', 'local'])).code, 0);
    assert.equal((await person.lodge(['context', 'remove', 'other'])).code, 2, 'nobody can be asked');
    assert.equal((await person.lodge(['context', 'remove', 'other', '--yes'])).code, 0);
    assert.equal((await person.lodge(['context', 'use', 'local'])).code, 0);
  });

  test('variables go before the context, and options before variables', async () => {
    const env = { LODGE_URL: world.url, LODGE_API_KEY: 'lodge_live_wrong' };
    const { code, stderr } = await person.lodge(['agents', 'list'], { env });
    assert.equal(code, 3);
    assert.match(stderr, /The key came from LODGE_API_KEY/);
    assert.equal((await person.lodge(['agents', 'list', '--context', 'local'], { env })).code, 0);
  });

  test("a context's key goes to no other address", async () => {
    for (const [args, env] of [
      [['--url', strangerUrl], {}],
      [[], { LODGE_URL: strangerUrl }],
      [['--context', 'local', '--url', strangerUrl], {}],
    ] as const) {
      const { code } = await person.lodge(['agents', 'list', ...args], { env });
      assert.equal(code, 3);
      await person.lodge(['api', 'GET', '/v1/agents', ...args], { env });
    }
    assert.ok(seen.length > 0);
    assert.ok(!JSON.stringify(seen).includes(world.key));
  });

  test('a redirect takes no key with it', async () => {
    const redirecting = createServer((_request, reply) => {
      reply.writeHead(307, { location: `${strangerUrl}/v1/agents` }).end();
    }).listen(0, '127.0.0.1');
    await once(redirecting, 'listening');
    const url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
    const before = seen.length;
    const { code } = await person.lodge(['agents', 'list'], { env: { LODGE_URL: url, LODGE_API_KEY: world.key } });
    redirecting.close();
    assert.notEqual(code, 0);
    assert.equal(seen.length, before);
  });

  test('files that are no settings, and names and addresses that cannot be any, are refused', async () => {
    for (const args of [
      ['context', 'add', '../evil', world.url],
      ['context', 'add', 'a', 'ftp://example.com'],
      ['context', 'add', 'a', 'http://key@example.com'],
      ['context', 'add', 'a', '\x1b[31m'],
      ['agents', 'list', '--url', 'nonsense'],
      ['login', world.url, '--with-key', '--context', 'a b'],
    ]) {
      const { code, stderr } = await person.lodge(args);
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
      assert.ok(!stderr.includes('\x1b'));
    }
  });

  test('a keyring that never answers delays nothing for long, and the key is in the file', async () => {
    const silent = createNetServer().listen(join(person.home, 'bus'));
    await once(silent, 'listening');
    const env = { LODGE_KEYRING: 'on', DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(person.home, 'bus')}` };
    const began = performance.now();
    const args = ['login', world.url, '--with-key', '--context', 'local', '--json'];
    const { code, stdout, stderr } = await person.lodge(args, { env, input: world.key, isCheckout: true });
    silent.close();
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).key, 'file');
    assert.ok(performance.now() - began < 20_000);
  });

  test('signing out forgets the key', async () => {
    const { code } = await person.lodge(['logout']);
    assert.equal(code, 0);
    assert.ok(!(await readFile(join(person.home, 'config/lodge/keys.json'), 'utf8')).includes(world.key));
    assert.equal((await person.lodge(['agents', 'list'])).code, 3);
  });
});
