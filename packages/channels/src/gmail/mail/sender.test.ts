import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isProved, writtenSender } from './sender.ts';
import type { Header } from './sender.ts';

const hop =
  'from mail.example.org (mail.example.org. [192.0.2.7]) by mx.google.com with ESMTPS id x1 for <a@b.com>; Sun';
const spf =
  'spf=pass (google.com: domain of ann@example.org designates 192.0.2.7 as permitted sender) smtp.mailfrom=ann@example.org';
const dkim = 'dkim=pass header.i=@example.org header.s=s1 header.b=AbC/d+e=';
const dmarc = 'dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=example.org';

const delivered = (results: string, ...more: readonly Header[]): Header[] => [
  { key: 'delivered-to', value: 'agent@example.com' },
  { key: 'received', value: 'by 2002:a05:6a00:1f12 with SMTP id be18csp; Sun' },
  { key: 'arc-authentication-results', value: 'i=1; mx.google.com; dmarc=pass header.from=example.org' },
  { key: 'return-path', value: '<ann@example.org>' },
  { key: 'received', value: hop },
  { key: 'received-spf', value: 'pass' },
  { key: 'authentication-results', value: results },
  ...more,
];
const from = (value: string): Header => ({ key: 'from', value });
const ann = { address: 'ann@example.org', name: 'Ann' };

describe('the sender as it is written', () => {
  test('one mailbox in a plain form has an address and a name', () => {
    const cases: readonly (readonly [string, string, string])[] = [
      ['ann@example.org', 'ann@example.org', 'ann@example.org'],
      ['Ann <Ann@Example.org>', 'ann@example.org', 'Ann'],
      ['"Ann, the \\"real\\" one" <ann@example.org>', 'ann@example.org', 'Ann, the "real" one'],
      ['=?utf-8?Q?J=C3=BCrgen?= <j@example.org>', 'j@example.org', 'Jürgen'],
      ['"boss@example.com" <eve@evil.example>', 'eve@evil.example', 'boss@example.com'],
      ['<ann+tag@mail.example.org>', 'ann+tag@mail.example.org', 'ann+tag@mail.example.org'],
    ];
    for (const [value, address, name] of cases)
      assert.deepEqual(writtenSender([from(value)]), { address, name }, value);
  });

  test('what two readers may read in two ways has no sender', () => {
    for (const value of [
      '',
      'ann',
      'ann@localhost',
      'ann@example.org, eve@evil.example',
      '<ann@example.org> <eve@evil.example>',
      '<ann@example.org>, Eve <eve@evil.example>',
      'Eve <eve@evil.example> (ann@example.org)',
      'ann@example.org (Ann)',
      'Team: ann@example.org;',
      '"ann@example.org" ann@example.org@evil.example',
      'ann@example.org@evil.example',
      'ann@exämple.org',
      '"unclosed <ann@example.org>',
      'Ann <ann@example.org> x',
      `${'a'.repeat(200)}@example.org`,
      `Ann ${'x'.repeat(5_000)} <ann@example.org>`,
    ])
      assert.equal(writtenSender([from(value)]), null, value.slice(0, 60));
    assert.equal(writtenSender([from('ann@example.org'), from('eve@evil.example')]), null);
    assert.equal(writtenSender([]), null);
  });
});

describe('the sender as Google proved it', () => {
  const proves = (results: string, ...more: readonly Header[]): boolean => isProved(delivered(results, ...more), ann);

  test('DMARC of the domain proves it, and where there is none its signature or its server', () => {
    assert.ok(proves(`mx.google.com; ${dkim}; ${spf}; ${dmarc}`));
    assert.ok(proves(`mx.google.com; arc=pass (i=1 spf=pass spfdomain=x.org); ${dkim}; ${dmarc}`));
    assert.ok(proves(`mx.google.com; ${dkim}; spf=neutral (x) smtp.mailfrom=bounce@mailer.example`));
    assert.ok(proves(`mx.google.com; ${spf}`));
    assert.ok(proves(`mx.google.com; ${dkim}; dmarc=none header.from=example.org`));
    assert.ok(proves(`mx.google.com;\t${dkim} ;  ${dmarc};`));
  });

  test('fields as Google writes them are understood', () => {
    const of = 'prvs=1078cbd532=ann@example.org';
    for (const results of [
      `dkim=pass header.i=@example.org header.s=s1 header.b="IaQ/H0Sz"; ${spf}; ${dmarc}; dara=pass header.i=@gmail.com`,
      `${dkim}; spf=pass (google.com: domain of ${of} designates 192.0.2.7 as permitted sender) smtp.mailfrom="${of}"; ${dmarc}`,
      `dkim=neutral (no key) header.i=@x.example header.s=a; ${dkim}; arc=pass (i=2 spf=pass spfdomain=a.org dkim=pass dkdomain=a.org dmarc=pass fromdomain=a.org); ` +
        `spf=pass (google.com: domain of b+caf_=c=gmail.com@gmail.com designates 192.0.2.7 as permitted sender) smtp.mailfrom="b+caf_=c=gmail.com@gmail.com"; ${dmarc}; dara=pass header.i=@gmail.com`,
      `${dkim}; spf=permerror (google.com: permanent error in processing during lookup of x.org: y not found) smtp.mailfrom=x.org; ${dmarc}`,
      `${dkim}; spf=none (google.com: x.org does not designate permitted sender hosts) smtp.helo=x.org; ${dmarc}; new-method=pass header.x=y`,
    ])
      assert.ok(proves(`mx.google.com; ${results}`), results);
  });

  test('nothing else does', () => {
    for (const results of [
      '',
      'mx.google.com; none',
      `mx.evil.example; ${dmarc}`,
      `mx.google.com.evil.example; ${dmarc}`,
      `mx.google.com; ${dkim}; ${spf}; dmarc=fail (p=NONE sp=NONE dis=NONE) header.from=example.org`,
      `mx.google.com; ${dkim}; dmarc=temperror header.from=example.org`,
      'mx.google.com; dmarc=pass header.from=evil.example',
      'mx.google.com; dmarc=pass header.from=example.org.evil.example',
      'mx.google.com; dmarc=pass',
      `mx.google.com; ${dmarc}; spf=pass smtp.mailfrom=x@evil.example`,
      'mx.google.com; dkim=fail header.i=@example.org',
      'mx.google.com; dkim=pass header.i=@evil.example',
      'mx.google.com; dkim=pass header.i=@sub.example.org',
      'mx.google.com; dkim=pass header.i=x@evil.example@example.org',
      'mx.google.com; spf=pass smtp.mailfrom=eve@evil.example',
      'mx.google.com; spf=softfail smtp.mailfrom=ann@example.org',
    ])
      assert.equal(proves(results), false, results);
  });

  test('words that a sender has put into the field of Google prove nothing', () => {
    for (const injected of [
      'a);dmarc=pass header.from=example.org(x',
      '"a;dmarc=pass header.from=example.org"',
      'a;dmarc=pass header.from=example.org;b=c',
      'a\\);dmarc=pass header.from=example.org',
      'a (;dmarc=pass header.from=example.org',
      'a;dkim=pass header.i=@example.org;x',
      'a);dmarc=pass header.from=example.org;spf=pass (b',
      'a);dmarc=pass header.from=example.org;arc=pass (b',
      'a);dmarc=pass header.from=example.org;other=pass (b',
      'a) smtp.mailfrom=ann@example.org (b',
      'a);dkim=pass header.i=@example.org;other=pass header.b="(b',
    ]) {
      const written = `spf=pass (google.com: domain of ${injected}@evil.example designates 192.0.2.7 as permitted sender) smtp.mailfrom=${injected}@evil.example`;
      assert.equal(proves(`mx.google.com; ${written}`), false, injected);
      const quoted = written.replace(
        `smtp.mailfrom=${injected}@evil.example`,
        `smtp.mailfrom="${injected}@evil.example"`,
      );
      assert.equal(proves(`mx.google.com; ${quoted}`), false, quoted);
      assert.equal(proves(`mx.google.com; ${written}; dmarc=fail header.from=example.org`), false, injected);
    }
    assert.equal(proves(`mx.google.com; ${dmarc}; ${dmarc}`), false);
    assert.equal(proves(`mx.google.com; ${'dkim=fail header.i=@x.org; '.repeat(40)}${dmarc}`), false);
    assert.equal(proves(`mx.google.com; ${dmarc}${' '.repeat(5_000)}`), false);
  });

  test('a field of the sender does not count, wherever it stands', () => {
    const forged = { key: 'authentication-results', value: `mx.google.com; ${dmarc}` };
    const failed = 'mx.google.com; dmarc=fail header.from=example.org';
    assert.equal(proves(failed, forged), false);
    const [, , , returnPath, hopField] = delivered('');
    // Google wrote none, and the sender did.
    assert.equal(isProved([returnPath!, hopField!, { key: 'dkim-signature', value: 'v=1' }, forged], ann), false);
    assert.equal(isProved([forged, returnPath!, hopField!], ann), false);
    assert.equal(isProved([forged], ann), false);
    const otherHop = { key: 'received', value: 'from x by mx.evil.example with ESMTPS id 1' };
    assert.equal(isProved([returnPath!, otherHop, forged], ann), false);
  });
});
