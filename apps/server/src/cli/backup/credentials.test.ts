/** Credentials of a place are read once, and only restic gets them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readConfig } from '../../config/config.ts';
import { takeCredentials } from './credentials.ts';

let place: string;
let file: string;
before(async () => {
  place = await mkdtemp(join(tmpdir(), 'lodge-credentials-'));
  file = join(place, 'credentials');
});
after(() => rm(place, { recursive: true, force: true }));

const none = readConfig({});
const ofFile = (): ReturnType<typeof readConfig> => readConfig({ LODGE_BACKUP_CREDENTIALS_FILE: file });
const whole = { AWS_ACCESS_KEY_ID: 'AKVAR', AWS_SECRET_ACCESS_KEY: 'of the environment'.replaceAll(' ', '-') };

test('those of the environment are taken out of it', async () => {
  // Whatever the machine has set goes first.
  await takeCredentials(none, process.env);
  Object.assign(process.env, whole, { B2_ACCOUNT_KEY: 'token-value' });
  assert.deepEqual(await takeCredentials(none, process.env), { ...whole, B2_ACCOUNT_KEY: 'token-value' });
  assert.doesNotMatch(execFileSync('env').toString(), /AKVAR|of-the-environment|token-value/);
});

test('a file is read in either form, comes first, and those of the environment are taken away all the same', async () => {
  const forms = [
    '# mine\n[default]\n aws_access_key_id=AKFILE\naws_secret_access_key = a+b/c=\n\n[other]\naws_access_key_id = AKOTHER\n',
    'AWS_ACCESS_KEY_ID=AKFILE\nAWS_SECRET_ACCESS_KEY=a+b/c=\nLD_PRELOAD=/tmp/x.so\nRESTIC_PASSWORD=x\n',
  ];
  for (const text of forms) {
    await writeFile(file, text, { mode: 0o600 });
    const env = { ...whole };
    const wanted = { AWS_ACCESS_KEY_ID: 'AKFILE', AWS_SECRET_ACCESS_KEY: 'a+b/c=' };
    assert.deepEqual(await takeCredentials(ofFile(), env), wanted);
    assert.deepEqual(env, {});
  }
});

test('what is open to others or no credential is said without a secret', async () => {
  const refused = async (env: NodeJS.ProcessEnv, wanted: RegExp, config = none): Promise<void> => {
    await assert.rejects(takeCredentials(config, env), (error: Error) => {
      assert.equal(error.name, 'CommandError');
      assert.match(error.message, wanted);
      assert.doesNotMatch(error.message, /AKVAR|of-the-env|line/);
      return true;
    });
  };
  await refused({ ...whole, AWS_SECRET_ACCESS_KEY: 'two\nlines' }, /characters that no credential has/);
  await chmod(file, 0o640);
  await refused({}, /Others than its owner may read .*chmod 600/, ofFile());
  await chmod(file, 0o600);
  await writeFile(file, '[default]\nregion = x\n');
  await refused({}, /has no credentials that restic knows/, ofFile());
  await rm(file);
  await refused({}, /cannot be read: ENOENT/, ofFile());
});
