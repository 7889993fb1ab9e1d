import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handoverMessage, readHandover, takeSecrets } from './handover.ts';

test('secrets leave the environment; the command that writes the master key is not handed on', () => {
  const env = {
    DATABASE_URL: 'postgres://lodge:secret@db/lodge',
    LODGE_MASTER_KEY: '',
    LODGE_MASTER_KEY_COMMAND: 'vault read -token=secret key',
    LODGE_PROVIDERS: '[{"key":"secret"}]',
    LODGE_PORT: '8080',
  };
  const secrets = takeSecrets(env);
  assert.deepEqual(env, { LODGE_PORT: '8080' });
  assert.deepEqual(secrets, {
    DATABASE_URL: 'postgres://lodge:secret@db/lodge',
    LODGE_MASTER_KEY_COMMAND: '# run by the machine host',
    LODGE_PROVIDERS: '[{"key":"secret"}]',
  });
});

test('what is handed over arrives as it was', () => {
  const given = {
    connectionString: 'postgres://lodge@%2Fsocket:5432/postgres',
    brokerHost: '10.201.255.253',
    secrets: { DATABASE_URL: 'x' },
    masterKey: Buffer.alloc(32, 7),
    tls: { cert: Buffer.from('cert'), key: Buffer.from([0, 255, 1]) },
    platformFiles: { gmail: { account: { email: 'a@p.iam.gserviceaccount.com', privateKey: 'pem' } } },
  };
  for (const tls of [given.tls, null]) {
    const sent = JSON.parse(JSON.stringify(handoverMessage({ ...given, tls }))) as ReturnType<typeof handoverMessage>;
    assert.deepEqual(readHandover(sent), { ...given, tls });
  }
});
