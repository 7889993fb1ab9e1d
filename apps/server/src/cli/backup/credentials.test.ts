/** Credentials of a bucket are read once, and nothing that this process starts is given them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readConfig } from '../../config/config.ts';
import { takeCredentials } from './credentials.ts';
import { targetOf } from './target.ts';

let place: string;
let file: string;
before(async () => {
  place = await mkdtemp(join(tmpdir(), 'lodge-credentials-'));
  file = join(place, 'credentials');
});
after(() => rm(place, { recursive: true, force: true }));

const none = readConfig({});
const ofFile = (): ReturnType<typeof readConfig> => readConfig({ LODGE_BACKUP_S3_CREDENTIALS_FILE: file });
const whole = { AWS_ACCESS_KEY_ID: 'AKVAR', AWS_SECRET_ACCESS_KEY: 'of the environment'.replaceAll(' ', '-') };

test('those of the environment are taken out of it', async () => {
  Object.assign(process.env, whole, { AWS_SESSION_TOKEN: 'token-value' });
  const found = await takeCredentials(none, process.env);
  assert.deepEqual(found, {
    accessKeyId: 'AKVAR',
    secretAccessKey: 'of-the-environment',
    sessionToken: 'token-value',
  });
  assert.doesNotMatch(execFileSync('env').toString(), /AKVAR|of-the-environment|token-value/);
});

test('a file is read in its usual form, and those of the environment are taken away all the same', async () => {
  await writeFile(
    file,
    '# mine\n[default]\n aws_access_key_id=AKFILE\naws_secret_access_key = a+b/c=\n\n[other]\naws_access_key_id = AKOTHER\n',
    { mode: 0o600 },
  );
  const env = { ...whole };
  assert.deepEqual(await takeCredentials(ofFile(), env), { accessKeyId: 'AKFILE', secretAccessKey: 'a+b/c=' });
  assert.deepEqual(env, {});
});

test('what is missing, open to others or no credential is said without a secret', async () => {
  const refused = async (env: NodeJS.ProcessEnv, wanted: RegExp, config = none): Promise<void> => {
    await assert.rejects(takeCredentials(config, env), (error: Error) => {
      assert.equal(error.name, 'CommandError');
      assert.match(error.message, wanted);
      assert.doesNotMatch(error.message, /AKVAR|of-the-env|line/);
      return true;
    });
  };
  await refused({}, /the environment has none whole/);
  await refused({ AWS_ACCESS_KEY_ID: 'AKVAR' }, /the environment has none whole/);
  await refused({ ...whole, AWS_SECRET_ACCESS_KEY: 'two\nlines' }, /characters that no credential has/);
  await chmod(file, 0o640);
  await refused({}, /Others than its owner may read .*chmod 600/, ofFile());
  await chmod(file, 0o600);
  await writeFile(file, '[default]\nregion = x\n');
  await refused({}, /credentials has none whole/, ofFile());
  await rm(file);
  await refused({}, /cannot be read: ENOENT/, ofFile());
});

test('a place is a folder or a bucket, and nothing of an address with credentials is repeated', async () => {
  assert.equal(targetOf(['/backup'], 'backup').folder, '/backup');
  const bucket = targetOf(['s3://key:secret@bucket'], 'backup');
  assert.equal(bucket.folder, null);
  await assert.rejects(bucket.open(none, { ...whole }), ({ message }: Error) => !message.includes('secret'));
  assert.throws(() => targetOf(['ftp://key:secret@host/x'], 'backup'), /^CommandError: .*ftp is neither\.$/);
  assert.throws(() => targetOf([], 'restore'), /Name one folder or one bucket/);
});
