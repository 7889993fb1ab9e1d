import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlEnvironment } from './control-environment.ts';

const user = { name: 'lodge-control' };
const identity = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  HOME: '/own',
  USER: 'lodge-control',
  LOGNAME: 'lodge-control',
};

test('what it reads is passed on, and nothing that is for root alone', () => {
  const passed = {
    PATH: '/usr/bin',
    TZ: 'UTC',
    LC_ALL: 'C.UTF-8',
    LODGE_PORT: '8080',
    LODGE_PUBLIC_URL: 'https://lodge.example.com',
    https_proxy: 'http://proxy:3128',
    NO_PROXY: 'localhost',
    NODE_OPTIONS: '--max-old-space-size=512',
    NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
    PGSSLROOTCERT: '/etc/db.pem',
    LD_LIBRARY_PATH: '/opt/lib',
  };
  const kept = {
    VAULT_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    NODE_AUTH_TOKEN: 'secret',
    npm_config__auth: 'secret',
    CREDENTIALS_DIRECTORY: '/run/credentials/lodge.service',
    SSH_AUTH_SOCK: '/run/agent',
    SUDO_COMMAND: 'npm start',
    LODGE_MASTER_KEY: 'secret',
    LODGE_NO_SETTING: 'secret',
    DATABASE_URL: 'postgres://lodge:secret@db/lodge',
    BARE_RELEASE: '2',
    HOME: '/root',
    USER: 'root',
  };
  assert.deepEqual(controlEnvironment({ ...passed, ...kept }, user, '/own'), { ...passed, ...identity });
});

test('an entry names what it reads itself; the cache of what was compiled is its own', () => {
  const env = { BARE_RELEASE: '2', NODE_COMPILE_CACHE: '/var/cache/lodge/node' };
  assert.deepEqual(controlEnvironment(env, user, '/own', ['BARE_RELEASE']), {
    BARE_RELEASE: '2',
    NODE_COMPILE_CACHE: '/own/node',
    ...identity,
  });
});
