/** Files of an agent's workspace over HTTP: the real API, engine, store and guest daemon; only the machine is not there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

const run = promisify(execFile);
const mib = 1024 * 1024;
let world: World;
let client: Client;
let id: string;
let base: string;
before(async () => {
  world = await openWorld({ withGuest: true });
  client = new Client(world);
  id = await client.agent('running');
  base = join(world.guest!.root, 'workspace');
});
after(() => world?.close());

interface Asked {
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly key?: string;
  readonly agent?: string;
}
/** One request with its path as it is: fetch would take the dots out. */
async function ask(method: string, path: string, { body, headers, key = world.key, agent = id }: Asked = {}) {
  const sent = request(world.url, {
    method,
    path: `/v1/agents/${agent}/files${path}`,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }), ...headers },
  });
  sent.end(body);
  const reply = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
  });
  const text = await textOf(reply);
  const isJson = reply.headers['content-type']?.startsWith('application/json') && !reply.headers['content-disposition'];
  return { status: reply.statusCode!, headers: reply.headers, text, body: isJson ? JSON.parse(text) : null };
}
const refused = async (answer: ReturnType<typeof ask>, status: number, code: string, about?: RegExp) => {
  const { status: given, body, text } = await answer;
  assert.deepEqual([given, body?.error?.code], [status, code], text);
  if (about) assert.match(body.error.message, about);
};

test('a file is written, read, replaced and deleted, whatever its name is', async () => {
  for (const name of [
    'plain.txt',
    'with space',
    'ümlaut',
    '✓ 💥',
    'quote\'"',
    '%41',
    'a+b',
    '#hash?',
    'C:\\x',
    '..x',
    '.hidden',
  ]) {
    const path = `/some/where/${encodeURIComponent(name)}`;
    const made = await ask('PUT', path, { body: `in ${name}`, headers: { 'content-type': 'application/x-any' } });
    assert.equal(made.status, 201, `${name}: ${made.text}`);
    assert.deepEqual([made.body.path, made.body.name, made.body.type], [`some/where/${name}`, name, 'file']);
    assert.equal(made.headers.etag, made.body.etag);
    const read = await ask('GET', path);
    assert.deepEqual([read.status, read.text, read.headers.etag], [200, `in ${name}`, made.body.etag]);
    assert.equal(readFileSync(join(base, 'some/where', name), 'utf8'), `in ${name}`);
    const again = await ask('PUT', path, { body: '' });
    assert.deepEqual([again.status, again.body.size], [200, 0]);
    assert.deepEqual((await ask('DELETE', path)).body, {
      object: 'file.deleted',
      path: `some/where/${name}`,
      deleted: true,
    });
    await refused(ask('GET', path), 404, 'file_not_found');
  }
});

test('what comes from a guest is a download and nothing that a browser shows', async () => {
  await ask('PUT', '/page.html', { body: '<script>alert(1)</script>' });
  const { headers } = await ask('GET', '/page.html');
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(headers['content-disposition'], "attachment; filename*=UTF-8''page.html");
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(String(headers['content-security-policy']), /sandbox/);
  const evil = await ask('PUT', `/${encodeURIComponent('a"\r\nX-Evil: 1')}`, { body: 'x' });
  assert.equal(evil.status, 201);
  const read = await ask('GET', `/${encodeURIComponent('a"\r\nX-Evil: 1')}`);
  assert.deepEqual([read.status, read.headers['x-evil']], [200, undefined]);
});

test('ranges and conditions are RFC 9110’s', async () => {
  const {
    body: { etag },
  } = await ask('PUT', '/digits.json', { body: '0123456789' });
  const get = (headers: Record<string, string>) => ask('GET', '/digits.json', { headers });
  for (const [range, text, content] of [
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
  ] as const) {
    const part = await get({ range, 'accept-encoding': 'gzip, br' });
    assert.deepEqual(
      [part.status, part.text, part.headers['content-range'], part.headers['content-length']],
      [206, text, content, String(text.length)],
    );
  }
  for (const range of ['bytes=4-2', 'lines=1-2', 'bytes=1-2,4-5', 'nonsense'])
    assert.equal((await get({ range })).status, 200, range);
  for (const range of ['bytes=10-', 'bytes=-0', 'bytes=99-100']) {
    const none = await get({ range });
    assert.deepEqual([none.status, none.headers['content-range']], [416, 'bytes */10'], range);
  }
  assert.equal((await get({ range: 'bytes=1-2', 'if-range': etag })).status, 206);
  assert.equal((await get({ range: 'bytes=1-2', 'if-range': '"other"' })).status, 200);
  assert.deepEqual(
    [(await get({ 'if-none-match': etag })).status, (await get({ 'if-none-match': `W/${etag}` })).status],
    [304, 304],
  );
  assert.equal((await get({ 'if-none-match': '"other"' })).status, 200);
  assert.equal((await get({ 'if-match': '"other"' })).status, 412);
  const head = await ask('HEAD', '/digits.json');
  assert.deepEqual([head.status, head.text, head.headers['content-length'], head.headers.etag], [200, '', '10', etag]);

  const put = (headers: Record<string, string>) => ask('PUT', '/digits.json', { body: 'new', headers });
  await refused(put({ 'if-none-match': '*' }), 412, 'precondition_failed');
  await refused(put({ 'if-match': '"other"' }), 412, 'precondition_failed');
  await refused(put({ 'if-match': `W/${etag}` }), 412, 'precondition_failed');
  assert.equal((await put({ 'if-match': `"other", ${etag}` })).status, 200);
  await refused(ask('DELETE', '/digits.json', { headers: { 'if-match': etag } }), 412, 'precondition_failed');
  await refused(put({ 'if-none-match': '"x"' }), 400, 'invalid_request', /if-none-match/);
});

test('folders: made, listed in pages, and removed only when that is meant', async () => {
  assert.equal((await ask('PUT', '/tree/in/side?directory=1')).status, 201);
  assert.equal((await ask('PUT', '/tree/in/side?directory=1')).status, 200);
  for (const name of ['b', 'a', 'ü']) await ask('PUT', `/tree/${encodeURIComponent(name)}`, { body: name });
  symlinkSync('a', join(base, 'tree/link'));
  const names: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = (await ask('GET', `/tree/?list=1&limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)).body;
    names.push(...page.data.map((file: { path: string; type: string }) => `${file.path} ${file.type}`));
    cursor = page.next_cursor as string | null;
  }
  assert.deepEqual(names, ['tree/a file', 'tree/b file', 'tree/in directory', 'tree/link symlink', 'tree/ü file']);
  assert.ok((await ask('GET', '?list=1')).body.data.some(({ path }: { path: string }) => path === 'tree'));
  await refused(ask('GET', '/tree'), 409, 'file_conflict');
  await refused(ask('GET', ''), 409, 'file_conflict');
  await refused(ask('GET', '/tree/a?list=1'), 409, 'file_conflict');
  await refused(ask('GET', '/tree/none?list=1'), 404, 'file_not_found');
  await refused(ask('GET', '/tree?limit=2'), 400, 'invalid_request', /limit/);
  const cursor = (await ask('GET', '/tree?list=1&limit=1')).body.next_cursor as string;
  await refused(ask('GET', `?list=1&cursor=${encodeURIComponent(cursor)}`), 400, 'invalid_request');
  await refused(ask('PUT', '/tree', { body: 'x' }), 409, 'file_conflict');
  await refused(ask('PUT', '/tree/a/b', { body: 'x' }), 409, 'file_conflict');
  await refused(ask('DELETE', '/tree'), 409, 'file_conflict', /not empty/);
  assert.equal((await ask('DELETE', '/tree?recursive=true')).status, 200);
  assert.equal(existsSync(join(base, 'tree')), false);
  assert.ok([400, 405].includes((await ask('DELETE', '?recursive=true')).status));
  assert.equal((await ask('POST', '/tree')).status, 405);
});

test('two hundred hostile paths reach nothing outside the workspace', async (t) => {
  const root = world.guest!.root;
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside/secret'), 'the secret');
  const links = [
    [join(root, 'outside'), 'out'],
    ['..', 'up'],
    ['../outside/secret', 'file'],
    ['/etc/passwd', 'passwd'],
    ['/proc/self/root', 'proc'],
    ['loop', 'loop'],
  ] as const;
  const putBack = (): void => {
    for (const [target, name] of links) {
      rmSync(join(base, name), { recursive: true, force: true });
      symlinkSync(target, join(base, name));
    }
  };
  const listing = () =>
    ['.', 'outside', 'etc', 'var/lib/lodge'].map((folder) => readdirSync(join(root, folder)).join());
  const before = listing();
  const dots = [
    '..',
    '%2e%2e',
    '%2E.',
    '.%2e',
    '%252e%252e',
    '..%00',
    '..%5c',
    '%c0%ae%c0%ae',
    '..;',
    '.',
    '%2e',
    '．．'.replaceAll('．', '%ef%bc%8e'),
  ];
  const slashes = ['/', '%2f', '%252f', '//', '/./', '%5c'];
  const ends = ['outside/secret', 'etc/passwd'];
  const paths = [
    ...dots.flatMap((dot) => slashes.flatMap((slash) => ends.map((end) => `/${[dot, dot, dot, end].join(slash)}`))),
    ...['out', 'up', 'file', 'passwd', 'proc', 'loop'].flatMap((link) => [
      `/${link}`,
      `/${link}/secret`,
      `/${link}/outside/secret`,
      `/${link}/..%2foutside/secret`,
      `/${link}/etc/passwd`,
      `/${link}/new`,
    ]),
    '/%00',
    '/a%00b',
    '/%ff%fe',
    '/%',
    '/%zz',
    '/%u002e',
    `/${'a/'.repeat(3000)}`,
    `/${'x'.repeat(5000)}`,
    `/${'%2e%2e%2f'.repeat(500)}etc/passwd`,
    '//etc/passwd',
    '/%2fetc%2fpasswd',
    '/file:///etc/passwd',
    `/${encodeURIComponent(join(root, 'outside/secret'))}`,
    `//${join(root, 'outside/secret')}`,
    '/~',
    '/~root/.ssh',
    '/$HOME',
    '/`id`',
    '/*',
    '/con',
    '/../files/x',
    '/x/../../files',
    '/x/%2e%2e/%2e%2e/%2e%2e/stop',
  ];
  const statuses = new Map<number, number>();
  for (const path of paths) {
    putBack();
    for (const [method, body] of [['GET'], ['PUT', 'evil'], ['DELETE']] as const) {
      const answer = await ask(method, path, body === undefined ? {} : { body });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      assert.ok(answer.status < 500, `${method} ${path}: ${answer.text}`);
      assert.doesNotMatch(answer.text, /the secret|root:|\/tmp\/lodge/, `${method} ${path}`);
    }
  }
  assert.deepEqual(listing(), before);
  assert.equal(readFileSync(join(root, 'outside/secret'), 'utf8'), 'the secret');
  t.diagnostic(`${paths.length} paths, three requests each: ${JSON.stringify(Object.fromEntries(statuses))}`);
  assert.ok(paths.length >= 200);
  for (const name of readdirSync(base)) rmSync(join(base, name), { recursive: true });
});

test('64 MiB go up and down, and more do not, with little memory', async (t) => {
  const file = join(world.guest!.root, 'big');
  const bytes = randomBytes(64 * mib);
  writeFileSync(file, bytes);
  const url = `${world.url}/v1/agents/${id}/files/big`;
  const curl = (...argv: string[]) =>
    run('curl', ['-sS', '--fail-with-body', '-H', `x-api-key: ${world.key}`, ...argv, url]);
  global.gc?.();
  const idle = process.memoryUsage().rss;
  let most = idle;
  const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 10);
  const times: number[] = [];
  for (const argv of [
    ['-T', file],
    ['-H', 'Transfer-Encoding: chunked', '-T', file],
    ['-o', `${file}.back`],
  ]) {
    const started = performance.now();
    await curl(...argv);
    times.push(Math.round(performance.now() - started));
  }
  clearInterval(sampling);
  const digest = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
  assert.equal(digest(readFileSync(`${file}.back`)), digest(bytes));
  assert.equal(digest(readFileSync(join(base, 'big'))), digest(bytes));
  const grown = (most - idle) / mib;
  t.diagnostic(`up, up chunked and down in ${times.join(', ')} ms; the server grew by ${grown.toFixed(1)} MiB`);
  assert.ok(grown < 32, `${grown} MiB`);

  writeFileSync(file, Buffer.alloc(64 * mib + 1));
  for (const argv of [
    ['-T', file],
    ['-H', 'Transfer-Encoding: chunked', '-T', file],
  ]) {
    const failed = await curl(...argv).then(
      () => null,
      (error: unknown) => error as { stdout: string },
    );
    assert.match(String(failed?.stdout), /request_too_large/);
  }
  assert.equal(digest(readFileSync(join(base, 'big'))), digest(bytes));
});

test('an upload that is cut off changes nothing', async () => {
  await ask('PUT', '/kept', { body: 'kept' });
  const sent = request(`${world.url}/v1/agents/${id}/files/kept`, {
    method: 'PUT',
    headers: { 'x-api-key': world.key, 'content-length': 1_000_000 },
  });
  sent.on('error', () => undefined);
  sent.write(Buffer.alloc(500_000));
  await new Promise((resolve) => setTimeout(resolve, 200));
  sent.destroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal((await ask('GET', '/kept')).text, 'kept');
  assert.deepEqual(readdirSync(join(world.guest!.root, 'var/lib/lodge/incoming')), []);
});

test('files need a live agent: one that sleeps is woken, one that is stopped only when that is asked for', async () => {
  for (const status of ['stopped', 'provisioning', 'error'] as const) {
    const agent = await client.agent(status);
    for (const method of ['GET', 'PUT', 'DELETE'])
      await refused(ask(method, '/x', { agent }), 409, 'agent_not_running');
    if (status === 'stopped') {
      assert.equal((await ask('PUT', '/woken?wake=true', { agent, body: 'x' })).status, 201);
      assert.equal(await client.status(agent), 'running');
    }
    await client.call('DELETE', `/agents/${agent}`);
  }
  const paused = await client.agent('paused');
  assert.equal((await ask('GET', '/woken', { agent: paused })).status, 200);
  assert.equal(await client.status(paused), 'running');
});

test('who may read, may not write; another account has no such agent', async () => {
  const reader = await world.keyOf(world.accountId, ['agents:read']);
  assert.equal((await ask('GET', '?list=1', { key: reader })).status, 200);
  for (const method of ['PUT', 'DELETE'])
    await refused(ask(method, '/x', { key: reader }), 403, 'insufficient_scope', /agents:write/);
  const agent = await client.agent('stopped');
  for (const path of ['?list=1&wake=true', '/x?wake=true'])
    await refused(ask('GET', path, { agent, key: reader }), 403, 'insufficient_scope', /agents:write/);
  assert.equal(await client.status(agent), 'stopped');
  const chatter = await world.keyOf(world.accountId, ['agents:chat']);
  await refused(ask('GET', '/x', { key: chatter }), 403, 'insufficient_scope', /agents:read/);
  const stranger = await world.keyOf(await world.newAccount());
  for (const method of ['GET', 'PUT', 'DELETE'])
    await refused(ask(method, '/x', { key: stranger }), 404, 'agent_not_found');
});
