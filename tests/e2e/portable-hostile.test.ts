/** Files that want to do harm by an import: each is refused with a reason, and nothing is made or left of it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Side } from './portable-side.ts';

let to: Side;
before(async () => {
  to = await Side.open();
});
after(() => to?.close());

const block = 512;
interface Part {
  readonly path?: string;
  readonly type?: string;
  readonly content?: Buffer | string;
  readonly size?: string;
  readonly mode?: string;
  readonly uid?: string;
  readonly gid?: string;
  readonly link?: string;
  readonly spoilt?: boolean;
}

function entry({
  path = 'workspace/x',
  type = '0',
  content = '',
  size,
  mode,
  uid,
  gid,
  link: target = '',
  spoilt,
}: Part): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(block);
  header.write(path, 0, 100);
  header.write(mode ?? '0000644\0', 100);
  header.write(uid ?? '0001750\0', 108);
  header.write(gid ?? '0001750\0', 116);
  header.write(size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write(`        ${type}`, 148);
  header.write(target, 157, 100);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, spoilt ? 1 : 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, bytes, Buffer.alloc((block - (bytes.length % block)) % block)]);
}
const record = (name: string, value: string): string => {
  const rest = ` ${name}=${value}\n`;
  const length = rest.length + String(rest.length + 2).length;
  return `${length}${rest}`;
};
const pax = (name: string, value: string): Part => ({ path: '@', type: 'x', content: record(name, value) });
const sparse = (name: string, realSize: string): Part => ({
  path: '@',
  type: 'x',
  content: record('GNU.sparse.major', '1') + record('GNU.sparse.name', name) + record('GNU.sparse.realsize', realSize),
});

const folders: readonly Part[] = [
  { path: 'home/agent/', type: '5' },
  { path: 'workspace/', type: '5' },
];
const usual = {
  format: 'lodge-agent',
  version: 1,
  runtime: { kind: 'runtime_a', version: '2026.9.6' },
  agent: { name: 'Hostile', runtime_kind: 'runtime_a', size: 'small' },
  members: [],
  schedules: [],
  missing: [],
};
const archive = (parts: readonly Part[], manifest: unknown = usual, end = Buffer.alloc(1024)): Buffer =>
  gzipSync(
    Buffer.concat([
      entry({ path: 'lodge-agent.json', content: typeof manifest === 'string' ? manifest : JSON.stringify(manifest) }),
      ...folders.map(entry),
      ...parts.map(entry),
      end,
    ]),
  );

const hostile: readonly (readonly [string, readonly Part[], RegExp])[] = [
  ['a path upwards', [{ path: 'workspace/../../etc/passwd' }], /leads elsewhere/],
  ['a path that begins upwards', [{ path: '../etc/passwd' }], /leads elsewhere/],
  ['an absolute path', [{ path: '/etc/passwd' }], /leads elsewhere/],
  ['an absolute path within', [{ path: '/workspace/x' }], /leads elsewhere/],
  ['a path with a dot', [{ path: 'workspace/./x' }], /leads elsewhere/],
  ['a path with two slashes', [{ path: 'workspace//x' }], /leads elsewhere/],
  ['no path', [{ path: '' }], /leads elsewhere/],
  ['a path upwards in a long name', [pax('path', 'workspace/../../etc/x'), {}], /leads elsewhere/],
  ['a path upwards in a long name of GNU', [{ path: '@', type: 'L', content: '../x\0' }, {}], /leads elsewhere/],
  ['a name that is too long', [pax('path', `workspace/${'x'.repeat(300)}`), {}], /leads elsewhere/],
  ['a path that is too long', [pax('path', `workspace/${'x/'.repeat(3000)}x`), {}], /name in it is too long/],
  ['a file elsewhere', [{ path: 'etc/cron.d/x' }], /outside the folders/],
  ['a file beside the home', [{ path: 'home/other/x' }], /outside the folders/],
  ['a second manifest', [{ path: 'lodge-agent.json' }], /outside the folders/],
  ['a folder whose name begins as a known one', [{ path: 'workspace2/x' }], /outside the folders/],
  ['a file in the place of the workspace', [{ path: 'workspace' }], /takes the place/],
  ['a link in the place of the workspace', [{ path: 'workspace', type: '2', link: 'home/agent' }], /takes the place/],
  ['a link outwards', [{ type: '2', link: '/etc/shadow' }], /link outwards/],
  ['a link upwards', [{ type: '2', link: '../../../../etc' }], /link outwards/],
  ['a link to the image by way of upwards', [{ type: '2', link: '../usr/bin' }], /link outwards/],
  ['a link outwards in a long name', [pax('linkpath', '/root'), { type: '2', link: 'y' }], /link outwards/],
  ['a link to nothing', [{ type: '2' }], /link to nothing/],
  ['a hard link outwards', [{ type: '1', link: 'etc/shadow' }], /link outwards/],
  ['a hard link upwards', [{ type: '1', link: 'workspace/../etc/shadow' }], /link outwards/],
  [
    'a hard link through a link',
    [
      { path: 'workspace/l', type: '2', link: '/usr' },
      { type: '1', link: 'workspace/l/x' },
    ],
    /link outwards/,
  ],
  [
    'a file behind a link',
    [{ path: 'workspace/l', type: '2', link: '/usr' }, { path: 'workspace/l/x' }],
    /behind a link/,
  ],
  [
    'a file in the place of a link',
    [{ path: 'workspace/l', type: '2', link: '/usr/bin/x' }, { path: 'workspace/l' }],
    /behind a link/,
  ],
  ['a character device', [{ type: '3' }], /no file, folder or link/],
  ['a block device', [{ type: '4' }], /no file, folder or link/],
  ['a pipe', [{ type: '6' }], /no file, folder or link/],
  ['an unknown kind', [{ type: 'Z' }], /no file, folder or link/],
  ['a file that runs as its owner', [{ mode: '0004755\0' }], /run as its owner/],
  ['a file that runs as its group', [{ mode: '0002755\0' }], /run as its owner/],
  ['a file of another owner', [{ uid: '0000041\0' }], /owner that no agent has/],
  ['a file of another group', [{ gid: '0000041\0' }], /owner that no agent has/],
  ['a file of an owner by a long number', [pax('uid', '4294967294'), {}], /owner that no agent has/],
  ['a wrong sum', [{ spoilt: true }], /no archive/],
  ['a size that is no number', [{ size: 'zzzzzzzzzzz\0' }], /no archive/],
  ['a size beyond the file', [{ size: '00777777777\0' }], /cut short/],
  ['a size beyond the disk', [pax('size', String(11 * 2 ** 30)), {}], /no room/],
  [
    'a size of 2^63',
    [{ size: Buffer.from([0x80, 0, 0, 0, 0x7f, 255, 255, 255, 255, 255, 255, 255]).toString('latin1') }],
    /no archive/,
  ],
  ['a size in a long number', [pax('size', '9'.repeat(30)), {}], /no archive/],
  ['a hole beyond the disk', [sparse('workspace/x', String(2 ** 45)), { content: '0\n' }], /no room/],
  ['a hole of an old form', [{ path: '@', type: 'x', content: record('GNU.sparse.map', '0,1') }, {}], /old form/],
  ['a record without an end', [{ path: '@', type: 'x', content: '99 path=x' }, {}], /no archive/],
  ['a record of no length', [{ path: '@', type: 'x', content: '0 path=x\n' }, {}], /no archive/],
  [
    'a header that is too long',
    [{ path: '@', type: 'x', content: Buffer.alloc(70_000) }, {}],
    /header in it is too long/,
  ],
];

for (const [title, parts, about] of hostile) {
  test(`a file with ${title} is refused`, () => to.refuses(archive(parts), about));
}

const wrongs: readonly (readonly [string, unknown, RegExp])[] = [
  ['of another kind', { ...usual, format: 'other' }, /no export/],
  ['of a later form', { ...usual, version: 2 }, /version must be 1/],
  ['that is no JSON', 'hello', /no export/],
  ['that is a list', [], /no export/],
  [
    'of a newer runtime',
    { ...usual, runtime: { kind: 'runtime_a', version: '2026.10.1' } },
    /runtime.version is newer/,
  ],
  ['of an unknown runtime', { ...usual, runtime: { kind: 'x', version: null } }, /runtime.kind/],
  ['of two runtimes', { ...usual, agent: { ...usual.agent, runtime_kind: 'runtime_b' } }, /runtime_kind/],
  ['without an agent', { ...usual, agent: null }, /agent must be an object/],
  ['with an unknown field', { ...usual, agent: { ...usual.agent, nmae: 1 } }, /nmae/],
  [
    'with a key',
    { ...usual, agent: { ...usual.agent, llm_keys: [{ provider: 'anthropic', api_key: 'x' }] } },
    /llm_keys/,
  ],
  ['with a channel', { ...usual, agent: { ...usual.agent, channels: {} } }, /channels/],
  [
    'with a snapshot to begin from',
    { ...usual, agent: { ...usual.agent, from: { snapshot: 'aaaaaaaaaaaa' } } },
    /from/,
  ],
  ['with a blank name', { ...usual, agent: { ...usual.agent, name: '' } }, /name/],
  ['with a size that is none', { ...usual, agent: { ...usual.agent, size: 'huge' } }, /size/],
  [
    'with a variable that loads programs',
    { ...usual, agent: { ...usual.agent, env: { LD_PRELOAD: 'x' } } },
    /env|LD_PRELOAD/,
  ],
  ['with a member that is none', { ...usual, members: [{ name: 'Main!' }] }, /members\[0\]/],
  ['with two members of one name', { ...usual, members: [{ name: 'scout' }, { name: 'scout' }] }, /members/],
  ['with a schedule that is none', { ...usual, schedules: [{ name: 'x', prompt: 'x' }] }, /schedules\[0\]/],
  ['with a schedule of no times', { ...usual, schedules: [{ name: 'x', prompt: 'x', cron: 'x' }] }, /schedules\[0\]/],
  ['with a list of nothing missing', { ...usual, missing: [{ kind: 'soul', name: 'x' }] }, /missing/],
];
for (const [title, manifest, about] of wrongs) {
  test(`a manifest ${title} is refused`, () => to.refuses(archive([], manifest), about));
}

test('folders that are not there, and what comes before or after the archive, are refused', async () => {
  const only = gzipSync(
    Buffer.concat([entry({ path: 'lodge-agent.json', content: JSON.stringify(usual) }), Buffer.alloc(1024)]),
  );
  await to.refuses(only, /lacks the folder \/home\/agent/);
  await to.refuses(gzipSync(Buffer.concat([...folders.map(entry), Buffer.alloc(1024)])), /no export/);
  await to.refuses(
    archive([], usual, Buffer.concat([Buffer.alloc(1024), entry({ path: 'etc/x' })])),
    /follows its end/,
  );
  await to.refuses(archive([], usual, Buffer.alloc(0)), /cut short/);
  await to.refuses(archive([], usual, Buffer.alloc(4 * 2 ** 20)), /follows its end/);
});

test('files that have no room together, and one that is too long, are refused', async () => {
  const bomb = archive([{ content: Buffer.alloc(40 * 2 ** 20) }]);
  assert.equal((await to.import(bomb)).status, 201, 'what the disk has room for is no bomb');
  to.kept += 1;
  const holes = ['a', 'b'].flatMap((name) => [sparse(`workspace/${name}`, String(6 * 2 ** 30)), { content: '0\n' }]);
  await to.refuses(archive(holes), /no room/);
  await to.refuses(randomBytes(4 * 2 ** 20 + 1), /at most 4 MiB/, {}, 'request_too_large');
});
