import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { maxFileBytes } from '@lodge/guest';
import { Daemon, refusedWith } from '../testing.ts';

const daemon = new Daemon();
const { signal } = new AbortController();
const options = { signal };
let base: string;
before(async () => {
  await daemon.prepare();
  await daemon.start();
  base = join(daemon.root, 'workspace');
  mkdirSync(join(daemon.root, 'outside'));
  writeFileSync(join(daemon.root, 'outside/secret'), 'secret');
});
after(() => daemon.remove());

const files = () => daemon.client.workspace;
const put = (path: string, text: string, conditions = {}) =>
  files().write(path, Buffer.from(text), conditions, options);
async function get(path: string, part: Parameters<ReturnType<typeof files>['read']>[1] = null): Promise<string> {
  const { stream, length } = await files().read(path, part, options);
  const bytes = await buffer(stream);
  assert.equal(bytes.length, length);
  return bytes.toString();
}

test('a file is there whole or not at all, is the agent’s, and keeps the mode it had', async () => {
  const first = await put('a/b/ä ✓.txt', 'one');
  assert.deepEqual([first.created, first.entry.type, first.entry.size, first.entry.mode], [true, 'file', 3, 0o644]);
  const path = join(base, 'a/b/ä ✓.txt');
  const agent = statSync(base).uid;
  assert.deepEqual([statSync(path).uid, statSync(join(base, 'a/b')).uid], [agent, agent]);
  await daemon.client.exec({ argv: ['chmod', '755', path], timeoutMs: 5_000 });
  const second = await put('a/b/ä ✓.txt', 'two!');
  assert.deepEqual([second.created, second.entry.mode], [false, 0o755]);
  assert.notEqual(second.entry.version, first.entry.version);
  assert.deepEqual(await files().entry('a/b/ä ✓.txt'), second.entry);
  assert.equal(await get('a/b/ä ✓.txt'), 'two!');
  const cut = Readable.from(
    (async function* () {
      yield Buffer.from('half');
      throw new Error('the client went away');
    })(),
  );
  await assert.rejects(files().write('a/b/ä ✓.txt', cut, {}, options), refusedWith(null));
  assert.equal(await get('a/b/ä ✓.txt'), 'two!');
  assert.deepEqual(readdirSync(join(base, 'a/b')), ['ä ✓.txt']);
});

test('parts of a file, and the whole where another version is there than asked for', async () => {
  const { entry } = await put('parts', '0123456789');
  assert.equal(await get('parts', { from: 2, to: 4 }), '234');
  assert.equal(await get('parts', { from: 7 }), '789');
  assert.equal(await get('parts', { from: -3 }), '789');
  assert.equal(await get('parts', { from: -30 }), '0123456789');
  assert.equal(await get('parts', { from: 0, to: 99, version: entry.version }), '0123456789');
  assert.equal(await get('parts', { from: 2, to: 4, version: 'other' }), '0123456789');
  assert.equal((await files().read('parts', { from: 2, to: 4 }, options)).range, 'bytes 2-4/10');
  for (const part of [{ from: 10 }, { from: 5, to: 2 }]) await assert.rejects(get('parts', part), refusedWith(416));
  await put('empty', '');
  assert.equal(await get('empty'), '');
  await assert.rejects(get('empty', { from: 0 }), refusedWith(416));
});

test('conditions hold at the moment of the change', async () => {
  const { entry } = await put('guarded', 'one');
  await assert.rejects(put('guarded', 'x', { absent: true }), refusedWith(412));
  await assert.rejects(put('guarded', 'x', { match: 'other' }), refusedWith(412));
  await assert.rejects(put('missing', 'x', { match: '*' }), refusedWith(412));
  await put('guarded', 'two', { match: `other,${entry.version}` });
  await assert.rejects(put('guarded', 'x', { match: entry.version }), refusedWith(412));
  await assert.rejects(files().remove('guarded', { match: entry.version, recursive: false }), refusedWith(412));
  // Among many concurrent writes, one is the first, and each version is replaced once.
  const first = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => put('raced', `${i}`, { absent: true })));
  assert.equal(first.filter(({ status }) => status === 'fulfilled').length, 1);
  const { version } = await files().entry('raced');
  const next = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => put('raced', `${i}`, { match: version })));
  assert.equal(next.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal((await files().entry('guarded')).size, 3);
});

test('a folder is listed by name, page by page', async () => {
  for (const name of ['b', 'a', 'ü', 'Z', '💥']) await put(`list/${name}`, name);
  await files().makeFolder('list/dir');
  symlinkSync('a', join(base, 'list/link'));
  await daemon.client.exec({ argv: ['bash', '-c', `touch list/$'bad\\xff'; mkfifo list/pipe`], timeoutMs: 5_000 });
  const names: string[] = [];
  for (let after = '', more = true; more; after = names.at(-1)!) {
    const page = await files().list('list', { after, limit: 2 });
    names.push(...page.entries.map(({ name }) => name));
    more = page.more;
  }
  assert.deepEqual(names, ['Z', 'a', 'b', 'dir', 'link', 'pipe', 'ü', '💥']);
  const { entries } = await files().list('list', { after: '', limit: 100 });
  const kinds = Object.fromEntries(entries.map(({ name, type, target }) => [name, target ?? type]));
  assert.deepEqual([kinds['a'], kinds['dir'], kinds['link'], kinds['pipe']], ['file', 'directory', 'a', 'other']);
  assert.ok((await files().list('', { after: '', limit: 100 })).entries.some(({ name }) => name === 'list'));
  await assert.rejects(files().list('list/a', { after: '', limit: 1 }), refusedWith(409));
  await assert.rejects(files().list('nowhere', { after: '', limit: 1 }), refusedWith(404));
  await assert.rejects(get('list/pipe'), refusedWith(409));
  await assert.rejects(put('list/pipe', 'x'), refusedWith(409));
});

test('folders are made with their parents, and removed only when that is meant', async () => {
  assert.equal((await files().makeFolder('x/y/z')).created, true);
  assert.equal((await files().makeFolder('x/y/z')).created, false);
  await put('x/file', '1');
  await assert.rejects(files().makeFolder('x/file'), refusedWith(409));
  await assert.rejects(put('x/y', '1'), refusedWith(409));
  await assert.rejects(put('x/file/inner', '1'), refusedWith(409));
  await assert.rejects(files().remove('x', { recursive: false }), refusedWith(409));
  symlinkSync(join(daemon.root, 'outside'), join(base, 'x/y/out'));
  await files().remove('x', { recursive: true });
  assert.equal(existsSync(join(base, 'x')), false);
  assert.equal(readFileSync(join(daemon.root, 'outside/secret'), 'utf8'), 'secret');
  await assert.rejects(files().remove('x', { recursive: true }), refusedWith(404));
  for (const path of ['', '/', '//']) {
    await assert.rejects(files().remove(path, { recursive: true }), refusedWith(409));
    await assert.rejects(put(path, 'x'), refusedWith(409));
  }
});

test('a link within the workspace is followed, one that leads out leads nowhere', async () => {
  mkdirSync(join(base, 'real/deep'), { recursive: true });
  writeFileSync(join(base, 'real/file'), 'inside');
  const link = (target: string, name: string): void => symlinkSync(target, join(base, name));
  link('real', 'to-folder');
  link('../real/file', 'real/up');
  link(`${base}/real/file`, 'absolute');
  link('real/new', 'dangling');
  for (const path of ['to-folder/file', 'real/up', 'absolute', 'to-folder/../file'].slice(0, 3)) {
    assert.equal(await get(path), 'inside', path);
  }
  await put('dangling', 'made');
  assert.equal(readFileSync(join(base, 'real/new'), 'utf8'), 'made');
  await put('absolute', 'through the link');
  assert.equal(readFileSync(join(base, 'real/file'), 'utf8'), 'through the link');

  const secret = join(daemon.root, 'outside/secret');
  link(secret, 'out-file');
  link(join(daemon.root, 'outside'), 'out-folder');
  link('../outside/secret', 'out-relative');
  link('real/deep/../../../outside', 'out-winding');
  link(`${base}/../outside`, 'out-by-name');
  link(`${base}-else`, 'out-by-prefix');
  link('loop', 'loop');
  link('/proc/self/root', 'out-proc');
  for (const path of [
    'out-file',
    'out-folder/secret',
    'out-relative',
    'out-winding/secret',
    'out-by-name/secret',
    'out-by-prefix',
    'loop',
    'out-proc/etc/passwd',
  ]) {
    await assert.rejects(get(path), refusedWith(409), path);
    await assert.rejects(files().entry(path), refusedWith(409), path);
    await assert.rejects(put(path, 'evil'), refusedWith(409), path);
    await assert.rejects(files().makeFolder(`${path}/x`), refusedWith(409), path);
  }
  await files().remove('out-folder', { recursive: true });
  assert.equal(readFileSync(secret, 'utf8'), 'secret');
});

test('paths that name nothing plain are refused', async () => {
  for (const path of ['..', 'a/..', './a', 'a/../../etc', 'a\0b', 'x/'.repeat(101), 'x'.repeat(4097)]) {
    await assert.rejects(get(path), refusedWith(400), path.slice(0, 20));
    await assert.rejects(put(path, 'x'), refusedWith(400), path.slice(0, 20));
  }
  await assert.rejects(get('x'.repeat(300)), refusedWith(400));
  assert.equal((await put('..a/.b/...', 'odd but plain')).created, true);
});

test('an agent that swaps folders for links all the while turns nothing out of the workspace', async () => {
  const outside = join(daemon.root, 'outside');
  mkdirSync(join(base, 'race/folder'), { recursive: true });
  writeFileSync(join(base, 'race/folder/secret'), 'inside');
  symlinkSync(outside, join(base, 'race/link'));
  const at = (name: string): string => join(base, 'race', name);
  /** Folders that a write has made in between are removed again. */
  const move = (one: string, other: string): void => {
    for (let done = false; !done;) {
      try {
        rmSync(at(other), { recursive: true, force: true });
        renameSync(at(one), at(other));
        done = true;
      } catch {
        // Written into, or made once more, since it was looked at.
      }
    }
  };
  const over = new AbortController();
  const swapping = (async () => {
    while (!over.signal.aborted) {
      for (const [one, other] of [
        ['folder', 'spare'],
        ['link', 'folder'],
        ['folder', 'link'],
        ['spare', 'folder'],
      ] as const) {
        move(one, other);
        await new Promise(setImmediate);
      }
    }
  })();
  const seen = { inside: 0, refused: 0 };
  for (let i = 0; i < 60; i += 1) {
    const work = [
      get('race/folder/secret'),
      put('race/folder/made', 'x'),
      files().list('race/folder', { after: '', limit: 9 }),
    ];
    for (const result of await Promise.allSettled<unknown>(work)) {
      assert.notEqual(result.status === 'fulfilled' && result.value, 'secret');
      seen[result.status === 'fulfilled' ? 'inside' : 'refused'] += 1;
    }
  }
  over.abort();
  await swapping;
  assert.ok(seen.inside > 10 && seen.refused > 10, JSON.stringify(seen));
  assert.deepEqual(readdirSync(outside), ['secret']);
  assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');
});

test('a file over the bound is refused; what a killed daemon left unfinished is gone', async () => {
  await assert.rejects(files().write('big', Buffer.alloc(maxFileBytes + 1), {}, options), refusedWith(413));
  assert.equal(existsSync(join(base, 'big')), false);
  const incoming = join(daemon.root, 'var/lib/lodge/incoming');
  assert.deepEqual(readdirSync(incoming), []);
  linkSync(join(base, 'parts'), join(incoming, 'left'));
  await daemon.kill();
  await daemon.start();
  assert.deepEqual(readdirSync(incoming), []);
  rmSync(join(base, 'parts'));
});
