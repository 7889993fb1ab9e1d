/** A backup that the earlier release wrote comes back whole, and a changed bit is reported with its file. */
import assert from 'node:assert/strict';
import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { sourceBefore } from './source.ts';

const key = { key: randomBytes(32), id: 'abcd0123' };
const name = '2026-01-01T00-00-00-000Z-abcdef';
const chunkBytes = 512 * 1024;
const first = randomBytes(chunkBytes);
const last = Buffer.from('the end of the disk');
let place: string;
let firstPath: string;

function sealed(bytes: Buffer, under: string): Buffer {
  const nonce = randomBytes(12);
  const sealing = Buffer.from(hkdfSync('sha256', key.key, '', 'lodge backup seal v1', 32));
  const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(under));
  return Buffer.concat([nonce, cipher.update(zstdCompressSync(bytes)), cipher.final(), cipher.getAuthTag()]);
}

async function putChunk(bytes: Buffer): Promise<string> {
  const naming = Buffer.from(hkdfSync('sha256', key.key, '', 'lodge backup name v1', 32));
  const chunk = createHmac('sha256', naming).update(bytes).digest('hex').slice(0, 40);
  const folder = join(place, key.id, 'chunks', chunk.slice(0, 2));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, chunk), sealed(bytes, chunk));
  return chunk;
}

before(async () => {
  place = await mkdtemp(join(tmpdir(), 'lodge-before-'));
  const [a, b, rows] = [await putChunk(first), await putChunk(last), await putChunk(Buffer.from('"(1,x)"\n'))];
  firstPath = join(place, key.id, 'chunks', a.slice(0, 2), a);
  const { uid, gid } = await stat(place);
  const facts = { mode: 0o640, uid, gid, mtimeNs: '1700000000123456789', mark: '1' };
  const disk = { ...facts, bytes: 3 * chunkBytes + last.length, chunks: [a, 2, b] };
  const list = {
    version: 1,
    at: '2026-01-01T00:00:00.000Z',
    release: '0.1.0',
    instance: 'lodge',
    database: {
      facts: {
        version: 1,
        migrations: [{ name: '0001.sql', checksum: 'x' }],
        tables: [{ name: 't', rows: 1 }],
        sequences: [],
      },
      tables: { t: [rows] },
    },
    agents: [
      {
        agentId: 'one',
        templateId: 'bare-0',
        ran: false,
        files: { 'one/disk.qcow2': disk },
        record: { name: 'one/vm.json', text: '{}' },
      },
    ],
    templates: [],
    settings: {},
  };
  await mkdir(join(place, key.id, 'backups'));
  await writeFile(join(place, key.id, 'backups', name), sealed(Buffer.from(JSON.stringify(list)), `backup ${name}`));
});
after(() => rm(place, { recursive: true, force: true }));

test('it comes back with its holes, its mode and the very time of its last write', async () => {
  const source = (await sourceBefore(place, key, undefined))!;
  assert.equal(source.name, name);
  const dataDir = join(place, 'data');
  await mkdir(join(dataDir, 'vms'), { recursive: true });
  await source.fill(dataDir);
  const path = join(dataDir, 'vms', 'one', 'disk.qcow2');
  assert.deepEqual(await readFile(path), Buffer.concat([first, Buffer.alloc(2 * chunkBytes), last]));
  const { mode, mtimeNs } = await stat(path, { bigint: true });
  assert.deepEqual([mode & 0o777n, mtimeNs], [0o640n, 1_700_000_000_123_456_789n]);
  const rows: string[] = [];
  for await (const piece of source.rows('t')) rows.push(piece);
  assert.equal(rows.join(''), '"(1,x)"\n');
});

test('none under another key, and none that is damaged', async () => {
  assert.equal(await sourceBefore(place, { key: randomBytes(32), id: '00000000' }, undefined), null);
  assert.equal(await sourceBefore(place, key, '2025-01-01T00-00-00-000Z-abcdef'), null);
  const bytes = await readFile(firstPath);
  bytes[100]! ^= 1;
  await writeFile(firstPath, bytes);
  await assert.rejects(sourceBefore(place, key, name), (error: Error) =>
    error.message.startsWith(`${firstPath} is damaged`),
  );
});
