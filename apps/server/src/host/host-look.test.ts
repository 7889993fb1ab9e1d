import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '../config/config.ts';
import { createHostLook } from './host-look.ts';
import { noteLastBackup } from './last-backup.ts';

const folder = await mkdtemp(join(tmpdir(), 'lodge-look-'));
after(() => rm(folder, { recursive: true }));
const base = { LODGE_DATA_DIR: folder, LODGE_CACHE_DIR: folder };
const nobody = async (): Promise<number> => 0;

test('backups are told with their place, their times and the age of the last one, which the control plane may read', async () => {
  const none = await createHostLook(readConfig(base), nobody).backups();
  assert.deepEqual(none, { place: null, times: [], last: null, isKnown: true });
  const config = readConfig({ ...base, LODGE_BACKUP_PLACE: '/backup/lodge', LODGE_BACKUP_AT: '03:05,15:30' });
  await noteLastBackup(config, { at: '2026-11-26T03:05:00.000Z', folder: '/backup/lodge', name: 'b1' });
  assert.equal((await stat(join(folder, 'last-backup.json'))).mode & 0o777, 0o644);
  assert.deepEqual(await createHostLook(config, nobody).backups(), {
    place: '/backup/lodge',
    times: ['03:05', '15:30'],
    last: { at: new Date('2026-11-26T03:05:00.000Z'), place: '/backup/lodge', name: 'b1' },
    isKnown: true,
  });
});

test('the checks are those of doctor, without what only the command line means', async () => {
  const look = createHostLook(readConfig({ ...base, LODGE_REGISTRATION: 'open' }), () =>
    Promise.reject(new Error('gone')),
  );
  const { findings } = await look.findings();
  assert.ok(findings.length > 10);
  assert.ok(findings.some(({ name, state }) => name === 'registration' && state === 'warn'));
  assert.ok(!findings.some(({ name }) => name === 'user'));
});
