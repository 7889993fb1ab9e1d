import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlText } from './html-text.ts';

test('HTML becomes lines as a person sees them', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['<p>Hello <b>Ann</b></p><p>Bye</p>', 'Hello Ann\n\nBye'],
    ['<div dir="ltr">one<div>two</div><div><br></div><div>three</div></div>', 'one\ntwo\n\nthree'],
    ['a<br>b<br/>c', 'a\nb\nc'],
    ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    ['<div>yes</div><blockquote><div>old</div><blockquote>older</blockquote></blockquote>', 'yes\n> old\n>> older'],
    ['<style>p { color: red }</style><script>alert("<p>")</script><title>T</title>text', 'text'],
    ['<!-- hidden --> seen <!--[if mso]> x <![endif]-->', 'seen'],
    [
      '&lt;b&gt; &amp;amp; &#x4e2d;&#25991; &nbsp;&euro; &unknown; &#0; &#xd800; &#x110000;',
      '<b> &amp; 中文 € &unknown;',
    ],
    ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
    ['<p>unclosed <b', 'unclosed'],
    ['&constructor; &toString;', '&constructor; &toString;'],
    ['', ''],
  ];
  for (const [html, text] of cases) assert.equal(htmlText(html), text, html);
});

test('hostile HTML takes time in proportion to its length', () => {
  for (const part of [
    '<',
    '<a',
    '<!--',
    '<script>',
    '</script',
    '<style><script>',
    '&',
    '&#',
    '<blockquote>',
    '<p>x',
    '<li',
    '\n ',
  ]) {
    const html = part.repeat(Math.ceil(500_000 / part.length));
    const before = process.cpuUsage();
    htmlText(html);
    const tookMs = process.cpuUsage(before).user / 1_000;
    assert.ok(tookMs < 1_500, `${part} took ${tookMs} ms`);
  }
});
