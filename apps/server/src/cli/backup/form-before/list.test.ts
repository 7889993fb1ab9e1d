/** An old list that leads out of its folder, or that no release of Lodge has written, is refused before its use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasForm } from './list.ts';

const chunk = 'ab'.repeat(20);
const stored = { mode: 0o600, uid: 0, gid: 0, bytes: 10, mtimeNs: '1', mark: '1:2:3', chunks: [chunk, 3, chunk] };

interface Parts {
  readonly file?: string;
  readonly record?: string;
  readonly templateFile?: string;
  readonly template?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly setting?: string;
  readonly list?: Readonly<Record<string, unknown>>;
}

function listWith(parts: Parts): unknown {
  return {
    version: 1,
    at: '2026-01-01T00:00:00.000Z',
    release: '0.1.0',
    instance: 'lodge',
    database: {
      facts: {
        version: 1,
        migrations: [{ name: '0001_initial.sql', checksum: 'x' }],
        tables: [{ name: 'agents', rows: 1 }],
        sequences: [{ name: 'events_id_seq', value: '12', called: true }],
      },
      tables: { agents: [chunk] },
    },
    agents: [
      {
        agentId: 'rlmh2zq5it8z',
        templateId: 'bare-0123',
        ran: false,
        files: { [parts.file ?? 'rlmh2zq5it8z.aside/snapshot/manifest']: { ...stored, ...parts.facts } },
        record: { name: parts.record ?? 'rlmh2zq5it8z/vm.json', text: '{}' },
      },
    ],
    templates: [
      {
        id: parts.template ?? 'bare-0123',
        folder: { mode: 0o750, uid: 0, gid: 64 },
        files: { [parts.templateFile ?? 'disk.qcow2']: stored },
      },
    ],
    settings: { [parts.setting ?? 'LODGE_PORT']: '1' },
    ...parts.list,
  };
}

test('a list as it is written has the form', () => {
  for (const file of ['a/disk.qcow2', 'a/disk.moving', 'a.aside/disk.qcow2', 'a/snapshot/devices']) {
    assert.ok(hasForm(listWith({ file })), file);
  }
});

test('names that lead elsewhere have not', () => {
  const hostile: Parts[] = [
    ...['../../etc/cron.d/x', 'a/../../x', '/etc/passwd', 'a/vm.json/x', 'a//disk.qcow2', 'A/disk.qcow2', ''].map(
      (file) => ({ file }),
    ),
    ...['../vm.json', '/etc/vm.json', 'a/b/vm.json', 'a/vm.json.new', 'vm.json'].map((record) => ({ record })),
    ...['..', '.', '../x', 'x/../y', '/x', 'a/b'].flatMap((name) => [{ template: name }, { templateFile: name }]),
    ...['PATH=1', 'A B', "X'\nY", ''].map((setting) => ({ setting })),
  ];
  for (const parts of hostile) assert.equal(hasForm(listWith(parts)), false, JSON.stringify(parts));
});

test('numbers and chunks that cannot be have not', () => {
  const facts = [
    { bytes: -1 },
    { bytes: 1e300 },
    { mode: 0o4755 },
    { uid: -1 },
    { uid: 2 ** 32 },
    { mtimeNs: '1e9' },
    { chunks: ['../x'] },
    { chunks: [0] },
    { chunks: [2 ** 40] },
    { chunks: null },
  ];
  for (const each of facts) assert.equal(hasForm(listWith({ facts: each })), false, JSON.stringify(each));
});

test('another version, and what is no list at all, have not', () => {
  for (const list of [null, [], 'x', {}, listWith({ list: { version: 2 } }), listWith({ list: { database: {} } })]) {
    assert.equal(hasForm(list), false, JSON.stringify(list));
  }
});
