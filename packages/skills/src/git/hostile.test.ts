/** Repositories are read from a server that speaks git's protocol, and hostile ones are refused by name. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { Refusal } from '@lodge/domain';
import type { ReadSkill, SkillReader } from '@lodge/ports';
import { openSkillReader } from '../reader.ts';
import { skillText } from '../testing/archives.ts';
import { flush, pktLine } from './pkt-line.ts';
import { commitOf, headOf, objectOf, packOf, startGitServer, treeOf } from '../testing/git-server.ts';
import type { GitServer, InTree, MadeObject } from '../testing/git-server.ts';
import { doSkillJob } from '../reading/jobs.ts';

let server: GitServer;
let reader: SkillReader;
const hubs = { clawhub: 'http://127.0.0.1:1', 'skills.sh': 'http://127.0.0.1:1' };
before(async () => {
  server = await startGitServer();
  reader = openSkillReader({ addresses: 'any', egressProxy: null, hubs });
});
after(async () => {
  await reader?.close();
  await server?.close();
});

const readFrom = (url: string, ref: string | null = null, path = 'skills/notes'): Promise<ReadSkill> =>
  reader.read('a', { kind: 'git', url, ref, path }, new AbortController().signal);
const refusalOf = async (reading: Promise<ReadSkill>): Promise<string> => {
  const error = (await reading.then(
    () => assert.fail('it was read'),
    (reason: unknown) => reason,
  )) as Refusal;
  return `${error.code}: ${error.message}`;
};

const skill = objectOf('blob', skillText());
const script = objectOf('blob', '#!/bin/sh\necho notes\n');

/** A commit whose folder skills/notes has these entries, and its objects. */
function commitWith(entries: readonly InTree[], blobs: readonly MadeObject[] = [skill]) {
  const notes = treeOf(entries);
  const skills = treeOf([{ name: 'notes', mode: '40000', object: notes }]);
  const root = treeOf([{ name: 'skills', mode: '40000', object: skills }]);
  const commit = commitOf(root);
  return { commit, trees: [commit, root, skills, notes], all: [commit, root, skills, notes, ...blobs] };
}

const problemOf = async (pack: Buffer, commit: string, path = 'skills/notes'): Promise<string> => {
  const result = await doSkillJob({ kind: 'git', packs: [pack], commit, path });
  return 'problem' in result ? result.problem : JSON.stringify(Object.keys(result));
};

test('a folder is fetched by branch, tag and commit, its files apart where the server can leave them out', async () => {
  const main = { name: 'SKILL.md', object: skill };
  const made = commitWith([main, { name: 'run.sh', mode: '100755', object: script }], [skill, script]);
  const { id } = made.commit;
  server.refs = [
    `${id} HEAD symref-target:refs/heads/main`,
    `${id} refs/heads/main`,
    `${'0'.repeat(40)} refs/tags/v1 peeled:${id}`,
  ];
  const wanted: (readonly string[])[] = [];
  for (const canFilter of [true, false]) {
    server.canFilter = canFilter;
    server.pack = (wants) => {
      wanted.push(wants);
      return packOf(!canFilter ? made.all : wants.includes(id) ? made.trees : [skill, script]);
    };
    for (const ref of [null, 'main', 'v1', id]) {
      const read = await readFrom(server.url, ref);
      assert.deepEqual(read.source, {
        kind: 'git',
        url: server.url,
        ...(ref && { ref }),
        path: 'skills/notes',
        commit: id,
      });
      assert.deepEqual(
        read.files.map(({ path, executable }) => [path, executable]),
        [
          ['SKILL.md', false],
          ['run.sh', true],
        ],
      );
    }
  }
  assert.deepEqual(wanted.slice(0, 2), [[id], [skill.id, script.id]]);
  assert.equal(wanted.length, 12);
  assert.match(await refusalOf(readFrom(server.url, 'nothing')), /^invalid_request: git\.ref names no branch/);
  assert.match(await refusalOf(readFrom(server.url, null, 'a/../b')), /^invalid_request: git\.path must be a folder/);
});

test('a server that sends elsewhere, says no, too much or nonsense is no source', async () => {
  const answers: readonly (readonly [NonNullable<GitServer['instead']>, RegExp])[] = [
    [{ status: 302, headers: { location: 'http://169.254.169.254/' } }, /sends elsewhere, which is not followed/],
    [{ status: 404 }, /no such repository, or it is not public/],
    [{ status: 500 }, /answered 500/],
    [{ status: 200, body: '<html>' }, /not git's/],
    [{ status: 200, body: '001e# service=git-upload-pack\n0000' }, /does not speak version 2/],
    [{ status: 200, body: 'x'.repeat(2 ** 20 + 1) }, /more than 1 MiB/],
    [{ status: 200, headers: { 'content-encoding': 'gzip' }, body: '' }, /compressed/],
  ];
  for (const [instead, problem] of answers) {
    server.instead = instead;
    assert.match(await refusalOf(readFrom(server.url)), new RegExp(`^skill_source_failed: git: .*${problem.source}`));
  }
  server.instead = null;
});

test('hostile references and packs are refused by name, and cost no time', async () => {
  const { commit, all } = commitWith([{ name: 'SKILL.md', object: skill }]);
  const head = [`${commit.id} HEAD`, `${commit.id} refs/heads/main`];
  const packet = (bytes: string): string => (bytes.length + 4).toString(16).padStart(4, '0') + bytes;
  const refs = (...lines: readonly string[]) => ({ command: 'ls-refs', answer: lines.map(pktLine).join('') + flush });
  const fetched = (answer: string | Buffer) => ({ command: 'fetch', answer });
  const cases: readonly (readonly [title: string, problem: RegExp, said: ReturnType<typeof refs | typeof fetched>])[] =
    [
      ['no references', /names no branch/, refs()],
      ['a reference that is no hash', /names no branch/, refs('refs/heads/main refs/heads/main', '../../etc HEAD')],
      ['a reference to a short hash', /names no branch/, refs(`${commit.id.slice(0, 39)} HEAD`)],
      ['a reference of another name', /names no branch/, refs(`${commit.id} refs/heads/other`)],
      ['a reference with a name in another', /names no branch/, refs(`${commit.id} refs/heads/main\0HEAD`)],
      ['a reference to nothing', /did not send all|cannot be read/, refs(`${'1'.repeat(40)} HEAD`)],
      ['a reference to a file', /did not send all/, refs(`${skill.id} HEAD`)],
      ['more references than 1 MiB', /more than 1 MiB/, { command: 'ls-refs', answer: 'x'.repeat(2 ** 20 + 1) }],
      ['a line that is longer than the answer', /not git's/, { command: 'ls-refs', answer: 'ffff' }],
      ['a line without a length', /not git's/, { command: 'ls-refs', answer: '<html>' }],
      ['an error for references', /names no commit/, { command: 'ls-refs', answer: packet('ERR no') }],
      ['an error for a pack', /names no commit/, fetched(packet('ERR no'))],
      ['no pack', /not git's/, fetched(packet('acknowledgments\n') + flush)],
      ['a fault in the midst', /refused to send/, fetched(packet('packfile\n') + packet('\x03out of memory') + flush)],
      ['an empty pack', /cannot be read/, fetched(packet('packfile\n') + flush)],
      ['millions of empty lines', /more than 50000 lines/, fetched('0000'.repeat(5_000_000))],
      ['a pack of 25 MiB', /more than 24 MiB/, fetched(Buffer.alloc(25 * 2 ** 20, 0x30))],
    ];
  server.pack = () => packOf(all);
  for (const [title, problem, { command, answer }] of cases) {
    server.refs = head;
    server.says = (asked) => (asked === command ? answer : null);
    const began = performance.now();
    assert.match(await refusalOf(readFrom(server.url)), problem, title);
    assert.ok(performance.now() - began < 5_000, title);
  }
  server.says = () => null;
  assert.equal((await readFrom(server.url)).name, 'notes');
});

test('with public addresses alone nothing is fetched from this host, and nothing by http', async () => {
  const careful = openSkillReader({ addresses: 'public', egressProxy: null, hubs });
  const read = (url: string) =>
    careful.read('a', { kind: 'git', url, ref: null, path: '' }, new AbortController().signal);
  assert.match(await refusalOf(read(server.url)), /^invalid_request: git\.url must begin with https/);
  for (const host of ['127.0.0.1', '[::1]', '169.254.169.254', '10.0.0.1']) {
    assert.match(await refusalOf(read(`https://${host}/x.git`)), /^skill_source_failed: git: .*not public/, host);
  }
  assert.match(await refusalOf(read('https://user:word@example.com/x')), /no user in it/);
  await careful.close();
});

const empty = objectOf('blob', '');
const entries: readonly (readonly [title: string, problem: RegExp, entries: readonly InTree[]])[] = [
  ['a link', /"a" is a link/, [{ name: 'a', mode: '120000', object: skill }]],
  ['a submodule', /"a" is a submodule/, [{ name: 'a', mode: '160000', object: skill }]],
  ['a name that leads out', /leads out/, [{ name: '..', object: skill }]],
  ['a name with a slash', /leads out/, [{ name: '../x', object: skill }]],
  ['a repository in it', /leave \.git out/, [{ name: '.git', object: skill }]],
  [
    'two cases of a name',
    /there twice/,
    [
      { name: 'a', object: skill },
      { name: 'A', object: skill },
    ],
  ],
  ['257 files', /more than 256 files/, Array.from({ length: 257 }, (_, i) => ({ name: `f${i}`, object: empty }))],
];
for (const [title, problem, inTree] of entries) {
  test(`refused in a repository: ${title}`, async () => {
    const { commit, all } = commitWith(inTree, [skill, empty]);
    assert.match(await problemOf(packOf(all), commit.id), problem);
  });
}

test('refused in a repository: a file that LFS keeps, a path that is none, a folder of folders without end', async () => {
  const lfs = objectOf('blob', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n');
  const kept = commitWith([{ name: 'a', object: lfs }], [lfs]);
  assert.match(await problemOf(packOf(kept.all), kept.commit.id), /kept by Git LFS/);
  assert.match(await problemOf(packOf(kept.all), kept.commit.id, 'skills/none'), /path names no folder/);
  assert.match(await problemOf(packOf(kept.all), kept.commit.id, 'skills/notes/a'), /path names no folder/);
  let tree = treeOf([{ name: 'a', object: skill }]);
  const trees = [skill, tree];
  for (let depth = 0; depth < 10; depth += 1) {
    tree = treeOf(Array.from({ length: 10 }, (_, i) => ({ name: `d${i}`, mode: '40000', object: tree })));
    trees.push(tree);
  }
  const commit = commitOf(tree);
  assert.match(await problemOf(packOf([commit, ...trees]), commit.id, ''), /more than 256 files/);
});

test('packs that lie about their objects are refused within their bounds', async () => {
  const { commit, all } = commitWith([{ name: 'SKILL.md', object: skill }]);
  const bomb = Buffer.concat([headOf(3, 200 * 2 ** 20), deflateSync(Buffer.alloc(2 ** 20))]);
  const longer = Buffer.concat([headOf(3, 3), deflateSync(Buffer.alloc(2 ** 20))]);
  const delta = (change: readonly number[]): Buffer =>
    Buffer.concat([headOf(7, change.length), Buffer.from(skill.id, 'hex'), deflateSync(Buffer.from(change))]);
  const size = skill.data.length;
  const packs: readonly (readonly [RegExp, Buffer])[] = [
    [/more than 64 MiB/, packOf([bomb])],
    [/cannot be read/, packOf([longer])],
    [/cannot be read/, packOf([...all, delta([size, 200, 0x80 | 0x11, 0, 200])])],
    [/cannot be read/, packOf([...all, delta([size, 4, 0x90, 255])])],
    [/cannot be read/, packOf([...all, delta([1, 1, 1, 65])])],
    [/more than 64 MiB/, packOf([...all, delta([size, 0xff, 0xff, 0xff, 0x7f])])],
    [/cannot be read/, packOf([delta([size, 1, 1, 65])])],
    [/cannot be read/, packOf([Buffer.from([0x65, 0x81, 0x00])])],
    [/more than 50000/, packOf([], 60_000)],
    [/cannot be read/, packOf(all, all.length + 1)],
    [/cannot be read/, Buffer.from('PACK')],
    [/did not send all/, packOf([skill])],
  ];
  for (const [problem, pack] of packs) assert.match(await problemOf(pack, commit.id), problem);
  const good = packOf([...all, delta([size, 3, 0x90, 2, 1, 0x21])]);
  assert.match(await problemOf(good, commit.id), /skill/);
});
