import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { allSettings, ConfigError, readConfig } from './config.ts';
import { configurationMarkdown } from './reference.ts';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError, `expected a ConfigError, got ${String(error)}`);
    return error.problems;
  }
  return [];
}

test('an empty environment gives a whole configuration', () => {
  const config = readConfig({});
  assert.equal(config.port, 8080);
  assert.equal(config.masterKeyFile, '/var/lib/lodge/master.key');
  assert.equal(config.publicUrl, null);
  assert.equal(config.databaseUrl, null);
});

test('prices of machines are texts by size; what is left out costs nothing', () => {
  const { computePrices } = readConfig({ LODGE_COMPUTE_PRICES: '{"large":{"running":"0.05","storage":"0.0001"}}' });
  assert.deepEqual(computePrices.large, { running: '0.05', paused: '0', storage: '0.0001' });
  assert.deepEqual(computePrices.small, { running: '0', paused: '0', storage: '0' });
  for (const wrong of [
    '[]',
    '{',
    '{"huge":{}}',
    '{"large":1}',
    '{"large":{"running":0.05}}',
    '{"large":{"idle":"1"}}',
  ]) {
    assert.match(problemsOf({ LODGE_COMPUTE_PRICES: wrong }).join(), /^LODGE_COMPUTE_PRICES must be /, wrong);
  }
});

test('an empty variable counts as unset, and variables of others are left alone', () => {
  assert.deepEqual(readConfig({ LODGE_PORT: '', PATH: '/bin', LODGER: 'x' }), readConfig({}));
});

test('the master key follows the data folder unless it is set', () => {
  assert.equal(readConfig({ LODGE_DATA_DIR: '/srv/lodge/' }).masterKeyFile, '/srv/lodge/master.key');
  assert.equal(readConfig({ LODGE_MASTER_KEY_FILE: '/etc/lodge.key' }).masterKeyFile, '/etc/lodge.key');
});

test('the master key comes from one place', () => {
  const key = 'A'.repeat(43) + '=';
  assert.equal(readConfig({ LODGE_MASTER_KEY: key }).masterKey, key);
  const [problem] = problemsOf({ LODGE_MASTER_KEY: key, LODGE_MASTER_KEY_COMMAND: 'cat key' });
  assert.match(problem ?? '', /exclude one another/);
  assert.doesNotMatch(problem ?? '', /AAAA|cat key/);
  assert.doesNotMatch(problemsOf({ LODGE_MASTER_KEY: 'hunter2' }).join(' '), /hunter2/);
});

test('push of Gmail takes topic, subscription and key, or none of them', () => {
  const all = {
    LODGE_GMAIL_PUBSUB_TOPIC: 'projects/my-project/topics/gmail',
    LODGE_GMAIL_PUBSUB_SUBSCRIPTION: 'projects/example.com:my-project/subscriptions/lodge_1',
    LODGE_GMAIL_PUBSUB_KEY_FILE: '/etc/lodge/pubsub.json',
  };
  assert.equal(readConfig(all).platforms.gmail['topic'], all.LODGE_GMAIL_PUBSUB_TOPIC);
  for (const name of Object.keys(all)) assert.match(problemsOf({ ...all, [name]: '' }).join(), /KEY_FILE go together$/);
});

test('an unknown LODGE_ variable is an error that names the nearest one', () => {
  const [problem] = problemsOf({ LODGE_DATADIR: '/srv' });
  assert.match(problem ?? '', /^LODGE_DATADIR is not a setting; the nearest one is LODGE_DATA_DIR/);
});

test('everything that is wrong is reported at once', () => {
  const problems = problemsOf({ LODGE_PORT: 'http', LODGE_INSTANCE: 'Main', LODGE_PROT: '80' });
  assert.equal(problems.length, 3);
});

test('no error repeats a value that may hold a credential', () => {
  const problems = problemsOf({ DATABASE_URL: 'mysql://root:hunter2@db/lodge', LODGE_PROVIDERS: '{"key":"hunter2"}' });
  assert.deepEqual(
    problems.map((problem) => problem.split(' ')[0]),
    ['LODGE_PROVIDERS', 'DATABASE_URL'],
  );
  assert.doesNotMatch(problems.join(' '), /hunter2/);
});

const refused: Record<string, readonly string[]> = {
  LODGE_HOST: ['example.com', '127.0.0.1:80'],
  LODGE_PORT: ['65536', '-1', '8080.5', '0x50', ' 80'],
  LODGE_PUBLIC_URL: ['lodge.example.com', 'ftp://x', 'https://x/v1', 'https://u:p@x', 'https://x/?a=1'],
  LODGE_DATA_DIR: ['data', '/', '/a,b', `/${'x'.repeat(60)}`, '/a b'],
  LODGE_CACHE_DIR: ['./cache'],
  LODGE_INSTANCE: ['9lives', 'UPPER', 'toolonginstance', 'a-b'],
  LODGE_NETWORK_RANGE: [
    '10.201.0.0',
    '10.201.0.0/15',
    '10.201.0.0/25',
    '10.201.1.0/16',
    '8.8.0.0/16',
    '10.0.0.0/16',
    'fd00::/64',
  ],
  LODGE_BROKER_PORT: ['0', '8080'],
  LODGE_DNS: ['127.0.0.53', 'one.one.one.one', '::1'],
  LODGE_ACCELERATOR: ['KVM', 'hvf'],
  LODGE_MAX_RUNNING: ['0', '-1'],
  LODGE_MAX_IMPORT_MIB: ['0', '1.5'],
  LODGE_MAX_SNAPSHOT_GIB: ['0', '1.5'],
  LODGE_RATE_READS: ['0', '1.5'],
  LODGE_RATE_WRITES: ['0'],
  LODGE_RATE_CREATES: ['0'],
  LODGE_RATE_CALLS: ['0'],
  LODGE_RATE_ADDRESS: ['0'],
  LODGE_CREATES_AT_ONCE: ['0'],
  LODGE_MAX_CONNECTIONS: ['9'],
  LODGE_MAX_CONNECTIONS_OF_NETWORK: ['0'],
  LODGE_TRUSTED_PROXIES: ['proxy.example.com', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', '10.0.0.0/'],
  LODGE_EGRESS_BLOCKED: ['service.example', '10.0.0.1/8', '10.0.0.0/33', '::/1', '10.0.0.0/8 11.0.0.0/8'],
  LODGE_EGRESS_MAIL: ['yes', 'OPEN'],
  LODGE_CONNECTION_ADDRESSES: ['private', 'ANY'],
  LODGE_NETWORK_MBIT: ['-1', '100001', 'fast'],
  LODGE_CORS_ORIGINS: ['example.com', 'https://x/path', '*'],
  LODGE_TLS_CERT: ['cert.pem'],
  LODGE_TLS_KEY: ['key.pem'],
  LODGE_DEFAULT_MODEL: ['claude', '/claude', 'anthropic/'],
  LODGE_PROVIDERS: ['{}', 'ollama'],
  LODGE_PRICES: ['[]', 'gpt-5'],
  LODGE_COMPUTE_PRICES: [
    '[]',
    '{',
    '{"huge":{}}',
    '{"large":1}',
    '{"large":{"running":0.05}}',
    '{"large":{"idle":"1"}}',
  ],
  LODGE_EGRESS_PROXY: ['proxy:3128', 'socks5://proxy', 'http://proxy/path'],
  LODGE_LLM_CALLS_AT_ONCE: ['0', '1001'],
  LODGE_LLM_CALLS_PER_MINUTE: ['0'],
  LODGE_LLM_CONTENT_DAYS: ['0', '366', '1w'],
  LODGE_LLM_CONTENT_MAX_MIB: ['-1', '1.5', 'much'],
  LODGE_LLM_CALL_MAX: ['0', 'all'],
  LODGE_LLM_CALL_DAYS: ['0', '1w'],
  LODGE_MASTER_KEY_FILE: ['key', '/etc/'],
  LODGE_BACKUP_PLACE: ['a b', "x'y"],
  LODGE_BACKUP_AT: ['3:30', '24:00', '03:30;04:30', ''.padEnd(150, '03:30,') + '03:30'],
  LODGE_BACKUP_KEEP: ['many!', 'DAILY=7'],
  LODGE_BACKUP_CREDENTIALS_FILE: ['credentials', '/etc/'],
  LODGE_BACKUP_SSH_CONFIG: ['ssh', '/etc/a b'],
  LODGE_MASTER_KEY: ['hunter2', `${'A'.repeat(42)}=`, 'A'.repeat(44), '!'.repeat(43)],
  LODGE_MASTER_KEY_COMMAND: [' '],
  LODGE_REGISTRATION: ['yes', 'Open'],
  LODGE_CREATE_WAIT_MS: ['600001', '1m'],
  LODGE_LIFECYCLE_WAIT_MS: ['600001', '1m'],
  LODGE_LOG_MAX_ENTRIES: ['999', '10000001'],
  LODGE_LOG_MAX_MIB: ['0', '1GiB'],
  LODGE_LOG_MAX_AGE_DAYS: ['0', '3651', '1w'],
  LODGE_EVENT_MAX: ['999', '10000001'],
  LODGE_EVENT_MAX_DAYS: ['0', '3651', '1w'],
  LODGE_METRICS_PORT: ['0', '65536', '8080', '4000'],
  LODGE_METRICS_HOST: ['example.com', '127.0.0.1:9464'],
  LODGE_PROVISION_TIMEOUT_MS: ['9999', 'Infinity'],
  LODGE_CHAT_TIMEOUT_MS: ['0'],
  LODGE_MEMORY_RESERVED_MIB: ['1GiB'],
  LODGE_MEMORY_OVERCOMMIT: ['0.5', '17', '1e1'],
  LODGE_UNBOUND_MEMORY: ['yes', 'Allow'],
  LODGE_PAGE_OUT_AFTER_MINUTES: ['-1', '10m', '10081'],
  LODGE_ZRAM_MIB: ['-1', '4GiB', '1048577'],
  LODGE_DISK_RATE: ['-1', '1001', 'fast'],
  LODGE_DISK_RESERVED_MIB: ['2GiB'],
  LODGE_DISK_OVERCOMMIT: ['0.5', '65'],
  LODGE_DISK_FLOOR_MIB: ['63', '1e4'],
  LODGE_TELEGRAM_API: ['api.example.com', 'ftp://x', 'https://x/v1', 'https://u:p@x'],
  LODGE_SLACK_API: ['api.example.com', 'ftp://x', 'https://x/v1', 'https://u:p@x'],
  LODGE_DISCORD_API: ['api.example.com', 'ftp://x', 'https://x/v1', 'https://u:p@x'],
  LODGE_GOOGLE_API: ['api.example.com', 'ftp://x', 'https://x/v1', 'https://u:p@x'],
  LODGE_GOOGLE_OAUTH: ['api.example.com', 'ftp://x', 'https://x/v1', 'https://u:p@x'],
  LODGE_GOOGLE_CONSENT: ['accounts.example.com'],
  LODGE_GOOGLE_PUBSUB: ['pubsub.example.com'],
  LODGE_GOOGLE_CLIENT_ID: ['a b', 'x/y'],
  LODGE_GOOGLE_CLIENT_SECRET: ['a b'],
  LODGE_GMAIL_POLL_SECONDS: ['0', '3601'],
  LODGE_WHATSAPP_MEDIA: ['mmg.whatsapp.net', 'http://example.com', 'https://x/path', 'wss://x'],
  LODGE_GMAIL_PUBSUB_TOPIC: [
    'gmail',
    'projects/p/topics/gmail',
    'projects/my-project/subscriptions/gmail',
    'projects/my-project/topics/a b',
  ],
  LODGE_GMAIL_PUBSUB_SUBSCRIPTION: [
    'lodge',
    'projects/my-project/topics/gmail',
    'projects/my-project/subscriptions/../x',
  ],
  LODGE_GMAIL_PUBSUB_KEY_FILE: ['key.json', '/etc/'],
  LODGE_WHATSAPP_ROOT: ['00', 'G'.repeat(64)],
  LODGE_WHATSAPP_URL: ['web.whatsapp.com', 'https://x', 'ws://example.com/ws', 'wss://u:p@x', 'wss://x/#a'],
  LODGE_TRYOUT: ['true', 'On'],
  LODGE_WEBHOOK_ADDRESSES: ['private', 'true'],
  LODGE_SKILL_ADDRESSES: ['private', 'true'],
  LODGE_CLAWHUB_URL: ['clawhub.ai', 'https://clawhub.ai/api'],
  LODGE_SKILLS_SH_URL: ['skills.sh', 'ftp://skills.sh'],
  LODGE_PACKAGES_APT: ['main', 'deb ftp://mirror.example/debian x main', 'deb http://mirror.example/$(id) x main', ';'],
  LODGE_PACKAGES_PIP: ['mirror.example', 'ftp://mirror.example/simple', 'https://user:password@mirror.example/simple'],
  LODGE_PACKAGES_NPM: ['mirror.example', 'https://mirror.example/?a=b'],
  LODGE_PACKAGES_HOSTS: ['https://mirror.example', 'a b', 'a.example:x'],
  LODGE_PACKAGES_TIMEOUT_MS: ['999', '600001'],
  LODGE_WEBHOOKS_PER_ACCOUNT: ['-1', '1001'],
  LODGE_MAX_AGENTS: ['0', '16385'],
  LODGE_AGENT_DAILY_USD: ['0', '-1', '$5', '1e3', '0.0000001'],
  LODGE_AGENT_MONTHLY_USD: ['0.00', '5,00'],
  LODGE_ACCOUNT_DAILY_USD: ['1000000000'],
  LODGE_ACCOUNT_MONTHLY_USD: ['none'],
  LODGE_SPEND_ACTION: ['warn', 'Pause'],
  LODGE_UNPRICED_MODELS: ['free', 'Refuse'],
  LODGE_TURN_CALLS: ['0', '100001'],
  LODGE_SAME_CALLS: ['0', '1.5'],
  LODGE_AGENTS_DOMAIN: ['*.example.com', 'Agents.localhost', '-a.b', 'a..b'],
  LODGE_PREFIX_RUNTIME_A: ['hermes', 'a.b', 'a-'],
  LODGE_PREFIX_RUNTIME_B: ['9', 'openclaw'],
  LODGE_LOG_LEVEL: ['verbose'],
  LODGE_VM_UID_BASE: ['0', '2147483647'],
  LODGE_SYSTEM_USER: ['Lodge', 'a:b'],
  LODGE_CONTROL_USER: ['Lodge', '0', 'lodge'],
  LODGE_RELAY_USER: ['Lodge', '0', 'lodge-control'],
  DATABASE_URL: ['localhost:5432', 'http://db/lodge'],
};

for (const { name } of allSettings) {
  test(`${name} refuses what it cannot use, and the error names it`, () => {
    const values = refused[name] ?? [];
    assert.ok(values.length > 0, 'every setting has a value that it refuses');
    for (const value of values) {
      const problems = problemsOf({ [name]: value });
      assert.equal(problems.length, 1, `${name}=${value} was taken, or gave more than one problem`);
      assert.match(problems[0]!, new RegExp(`\\b${name}\\b.* must `));
    }
  });
}

test('docs/reference/configuration.md is what the settings say (scripts/docs.ts writes it)', async () => {
  const path = new URL('../../../../docs/reference/configuration.md', import.meta.url);
  assert.equal(await readFile(path, 'utf8'), configurationMarkdown());
});
