import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackupError } from '../errors.ts';
import { placeOf } from './place.ts';

test('a place is a folder or one of the storages, and is named as it was', () => {
  assert.equal(placeOf('/mnt/backups').folder, '/mnt/backups');
  for (const name of [
    's3:https://storage.example/bucket/lodge',
    'sftp:backup@host.example:/srv/lodge',
    'b2:bucket:lodge',
  ]) {
    const place = placeOf(name);
    assert.equal(place.name, name);
    assert.equal(place.folder, null);
  }
});

test('a name with a credential, of another scheme or with a character that means something is refused and not repeated', () => {
  for (const name of [
    's3:https://key:secret@storage.example/bucket',
    's3:https://key@storage.example/bucket',
    'sftp:user:secret@host.example:/srv',
    'sftp:user:secret@@host.example:/srv',
    's3://bucket',
    'ftp:host/path',
    'sftp:host:/srv; secret',
  ]) {
    assert.throws(
      () => placeOf(name),
      (error: Error) => error instanceof BackupError && !error.message.includes('secret'),
      name,
    );
  }
});
