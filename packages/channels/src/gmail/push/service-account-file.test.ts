import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readServiceAccount } from './service-account-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'lodge-service-account-'));
after(() => rm(folder, { recursive: true }));
const path = join(folder, 'key.json');
const pem = (keys: { readonly privateKey: { export(how: object): string | Buffer } }): string =>
  keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const rsa = pem(generateKeyPairSync('rsa', { modulusLength: 2_048 }));
const good = { type: 'service_account', client_email: 'a@p.iam.gserviceaccount.com', private_key: rsa };

test('a key file of Google gives address and key; without one there is no push', async () => {
  await writeFile(path, JSON.stringify(good));
  assert.deepEqual(await readServiceAccount(path), { email: good.client_email, privateKey: rsa });
  assert.equal(await readServiceAccount(null), null);
});

test('anything else is refused by the name of the variable, and nothing of the file is repeated', async () => {
  const elliptic = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  const files = [
    '',
    'null',
    '[]',
    '{"type":"authorized_user","refresh_token":"secret"}',
    JSON.stringify({ ...good, type: 'authorized_user' }),
    JSON.stringify({ ...good, client_email: undefined }),
    JSON.stringify({ ...good, private_key: 'secret' }),
    JSON.stringify({ ...good, private_key: elliptic }),
  ];
  for (const file of files) {
    await writeFile(path, file);
    const error: unknown = await readServiceAccount(path).catch((each: unknown) => each);
    assert.ok(error instanceof Error && error.message.startsWith('LODGE_GMAIL_PUBSUB_KEY_FILE: '), file);
    assert.ok(!error.message.includes('secret') && error.cause === undefined);
  }
  await assert.rejects(
    readServiceAccount(join(folder, 'none')),
    /^Error: LODGE_GMAIL_PUBSUB_KEY_FILE: .* cannot be read\.$/,
  );
});
