import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { authorityPath } from '@lodge/domain';
import { hostsInGuest, script } from './hosts.ts';

const root = mkdtempSync(join(tmpdir(), 'lodge-hosts-'));
after(() => rmSync(root, { recursive: true }));
const bundle = join(root, 'etc/ssl/certs/ca-certificates.crt');
const names = join(root, 'etc/hosts');
mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true });
mkdirSync(join(root, 'bin'));
writeFileSync(names, '127.0.0.1 localhost agent\n');
writeFileSync(bundle, 'debian\n');
// The list is Debian's own program's: here it is what this one says, and each of its runs is counted.
writeFileSync(
  join(root, 'bin/update-ca-certificates'),
  `#!/bin/sh\ncat ${root}${authorityPath} > ${bundle} 2>/dev/null || echo debian > ${bundle}\necho ran >> ${root}/runs\n`,
);
chmodSync(join(root, 'bin/update-ca-certificates'), 0o755);

const certificate = ['-----BEGIN CERTIFICATE-----', 'aaa', 'bbb', 'ccc', 'ddd', '-----END CERTIFICATE-----', ''].join(
  '\n',
);
const apply = (lines: string, input: string): void =>
  void execFileSync('/bin/sh', ['-c', script, 'sh', lines, authorityPath], {
    input,
    env: { LODGE_ROOT: root, PATH: `${join(root, 'bin')}:/usr/bin:/bin` },
  });
const runs = (): number =>
  existsSync(join(root, 'runs')) ? readFileSync(join(root, 'runs'), 'utf8').split('\n').length - 1 : 0;

test('names and trust come and go, and what else is there stays', () => {
  apply('', '');
  assert.equal(runs(), 0, 'a machine without hosts is left alone');
  apply('10.0.2.2 api.github.com\n10.0.2.2 github.com', certificate);
  assert.match(
    readFileSync(names, 'utf8'),
    /^127\.0\.0\.1 localhost agent\n#.*\n10\.0\.2\.2 api\.github\.com\n10\.0\.2\.2 github\.com\n#.*\n$/,
  );
  assert.equal(readFileSync(bundle, 'utf8'), certificate);
  writeFileSync(names, `${readFileSync(names, 'utf8')}10.0.0.9 own\n`);
  apply('10.0.2.2 github.com', certificate);
  assert.equal(runs(), 1, 'what fits is not made again');
  const text = readFileSync(names, 'utf8');
  assert.ok(text.includes('10.0.0.9 own') && !text.includes('api.github.com'));
  writeFileSync(bundle, 'cut short');
  apply('10.0.2.2 github.com', certificate);
  assert.equal(readFileSync(bundle, 'utf8'), certificate, 'an interrupted list is made again');
  apply('', '');
  assert.equal(readFileSync(names, 'utf8'), '127.0.0.1 localhost agent\n10.0.0.9 own\n');
  assert.ok(!existsSync(join(root, authorityPath)));
  assert.equal(readFileSync(bundle, 'utf8'), 'debian\n');
});

test('an agent without hosts has the digest that it had', () => {
  assert.deepEqual(hostsInGuest(null), {});
  assert.notDeepEqual(
    hostsInGuest({ hosts: ['a.b'], authority: 'c' }),
    hostsInGuest({ hosts: ['a.c'], authority: 'c' }),
  );
});
