import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineRedactor, redact } from './redact.ts';

const key = (length: number): string => 'aB3dE5gH7jK9'.repeat(20).slice(0, length);

// Assembled here, so that no scanner takes this file for a leak.
const secrets: Readonly<Record<string, string>> = {
  Lodge: `lodge_live_${key(43)}`,
  OpenAI: `sk-${key(48)}`,
  'OpenAI project': `sk-proj-${key(60)}_x-${key(20)}`,
  Anthropic: `sk-ant-api03-${key(90)}`,
  OpenRouter: `sk-or-v1-${key(64)}`,
  'Slack bot': `xoxb-123456789012-${key(24)}`,
  'Slack app': `xapp-1-A0123-456-${key(40)}`,
  'Google API': `AIza${key(35)}`,
  'Google OAuth': `ya29.${key(60)}`,
  Groq: `gsk_${key(52)}`,
  GitHub: `ghp_${key(36)}`,
  'GitHub fine-grained': `github_pat_${key(22)}_${key(59)}`,
  GitLab: `glpat-${key(20)}`,
  'Hugging Face': `hf_${key(34)}`,
  AWS: `AKIA${'ABCD1234'.repeat(2)}`,
  Telegram: `123456789:${key(35)}`,
  Discord: `M${key(25)}.${key(6)}.${key(38)}`,
  JWT: `eyJ${key(20)}.eyJ${key(30)}.${key(43)}`,
  webhook: `whsec_${key(32)}`,
};

test('keys and tokens of known shapes are taken out wherever they stand', () => {
  for (const [issuer, secret] of Object.entries(secrets)) {
    for (const text of [
      secret,
      `using ${secret}.`,
      `{"a":"${secret}"}`,
      `x=${secret}&y`,
      `\\"${secret}\\"`,
      `(${secret})`,
    ]) {
      const clean = redact(text);
      assert.ok(!clean.includes(secret.slice(-12)), `${issuer}: ${clean}`);
      assert.ok(clean.includes('[redacted]'), issuer);
    }
  }
  assert.equal(
    redact(`https://api.telegram.org/bot${secrets['Telegram']}/getMe`),
    'https://api.telegram.org/bot[redacted]/getMe',
  );
});

test('values are taken out by their name, and the rest stays', () => {
  for (const [text, clean] of [
    ['api_key=hunter2', 'api_key=[redacted]'],
    ['OPENAI_API_KEY=hunter2 next', 'OPENAI_API_KEY=[redacted] next'],
    ['{"password":"hun\\"ter2","user":"u"}', '{"password":"[redacted]","user":"u"}'],
    ['{\\"password\\":\\"hunter2\\",\\"a\\":1}', '{\\"password\\":\\"[redacted]\\"'],
    ["botToken: 'hunter2', enabled: true", "botToken: '[redacted]', enabled: true"],
    ['client-secret => hunter2', 'client-secret => [redacted]'],
    ['x-api-key: hunter2', 'x-api-key: [redacted]'],
    ['Authorization: Basic aHVudGVyMg==', 'Authorization: Basic [redacted]'],
    ['{"authorization":"Bearer hunter2"}', '{"authorization":"Bearer [redacted]"}'],
    ['with bearer abc.def-123 now', 'with bearer [redacted] now'],
    ['Cookie: a=hunter2; b=hunter2', 'Cookie: [redacted]'],
    ['postgres://u:hunter2@host/db', 'postgres://[redacted]@host/db'],
    ['https://hunter2@host/', 'https://[redacted]@host/'],
    ['GET /x?key=hunter2&q=1', 'GET /x?key=[redacted]&q=1'],
    ['my password is hunter2!', 'my password is [redacted]'],
  ] as const) {
    const found = redact(text);
    assert.ok(!found.includes('hunter2') && !found.includes('aHVud') && !found.includes('abc.def'), found);
    assert.ok(found.startsWith(clean), `${found} for ${clean}`);
  }
});

test('a web token is found behind other words and within them', () => {
  const token = secrets['JWT']!;
  for (const [text, clean] of [
    [`session_${token}`, 'session_[redacted]'],
    [`a.b.${token}`, 'a.b.[redacted]'],
    [`${token}.x.y.rest.of`, '[redacted].rest.of'],
    [`eyJ${key(20)}.only-two`, `eyJ${key(20)}.only-two`],
  ] as const)
    assert.equal(redact(text), clean);
});

test('what is no secret stays', () => {
  for (const text of [
    'input_tokens: 4096, output_tokens=12, max_tokens: 100',
    'the token is expired',
    'the bearer of this',
    '{"token":null,"password":false}',
    'GET https://example.com/a?page=2 200 in 12:30:45',
    'user@example.com wrote to sk-ipped',
    'task-1234567890 done; risk-free',
    'agent k7d2m9q4x1ab is running',
    'mask_of_something_quite_long_indeed',
    '2026-11-21T14:00:00.123Z [gateway] ready',
  ])
    assert.equal(redact(text), text);
});

test('redacting twice changes nothing more', () => {
  for (const secret of Object.values(secrets)) {
    const once = redact(`token=${secret} "secret": "${secret}" https://u:${secret}@h Bearer ${secret}`);
    assert.equal(redact(once), once);
  }
});

test('a private key is taken out, in one text or line by line', () => {
  const pem = `-----BEGIN RSA PRIVATE KEY-----\n${key(64)}\n${key(64)}==\n-----END RSA PRIVATE KEY-----`;
  assert.equal(redact(`a ${pem} b`), 'a [redacted] b');
  assert.equal(redact(JSON.stringify({ k: pem, b: 1 })), '{"k":"[redacted]","b":1}');
  assert.equal(redact(pem.slice(0, 80)), '[redacted]');
  const line = createLineRedactor();
  const lines = `before ${pem} after\nnext`.split('\n').map((text) => line(text));
  assert.deepEqual(
    lines,
    ['before [redacted]', null, null, 'after', 'next'].map((text) => (text === 'after' ? ' after' : text)),
  );
  const cut = createLineRedactor();
  assert.deepEqual(
    ['-----BEGIN PRIVATE KEY-----', key(64), 'An ordinary line, with (words).', key(64)].map((text) => cut(text)),
    ['[redacted]', null, 'An ordinary line, with (words).', key(64)],
  );
});

test('no text takes long', () => {
  const length = 256 * 1024;
  for (const unit of [
    'a',
    'sk-',
    '-',
    'token=',
    'eyJ.',
    '_eyJ',
    '-eyJhbGciOi',
    '.eyJhbGciOi',
    '"\\',
    'a.',
    '1:',
    '://',
    'http://a',
    ' ',
    'password is ',
    '-----BEGIN ',
    '1',
    '=',
    "'",
    'cookie:',
  ]) {
    const text = unit.repeat(length / unit.length);
    const before = process.cpuUsage();
    redact(text);
    const line = createLineRedactor();
    line(text);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `${unit}: ${user + system} µs of CPU`);
  }
});
