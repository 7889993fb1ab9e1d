import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxInboundChars, maxInboundFiles } from '@lodge/ports';
import { StubMailbox } from '@lodge/testkit/google';
import type { Mail } from '@lodge/testkit/google';
import { MailThread, UnreadableError } from './mail-thread.ts';
import type { ReadMail } from './read-mail.ts';

const mailbox = 'agent@example.com';

/** As `messages.get` answers. */
function answerOf(raw: string): Uint8Array {
  const fields = { id: 'a1', threadId: 'b2', labelIds: ['INBOX'], internalDate: '1700000000000' };
  return new Uint8Array(Buffer.from(JSON.stringify({ ...fields, raw: Buffer.from(raw).toString('base64url') })));
}

const rawOf = (mail: Partial<Mail>): string =>
  new StubMailbox(mailbox).deliver({ from: 'ann@example.org', subject: '', ...mail }).raw;

const read = (thread: MailThread, raw: string) =>
  thread.run<'read'>(mailbox, { kind: 'read', answer: answerOf(raw), mailbox });

async function mailIn(thread: MailThread, raw: string): Promise<ReadMail> {
  const reading = await read(thread, raw);
  assert.ok('mail' in reading, JSON.stringify(reading));
  return reading.mail;
}

test('a mail is read in its own character set, with its files, and text goes before HTML', async () => {
  const thread = new MailThread();
  const head = rawOf({ text: 'x' }).split('Content-Type')[0]!;
  const latin = `${head}Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nCaf=E9?`;
  assert.equal((await mailIn(thread, latin)).text, 'Café?');
  assert.equal((await mailIn(thread, rawOf({ text: 'plain', html: '<b>html</b>' }))).text, 'plain');
  assert.equal((await mailIn(thread, rawOf({ html: '<p>only</p><p>html</p>' }))).text, 'only\n\nhtml');
  const raw = rawOf({
    text: 'see',
    files: [
      { name: '../../a.txt', mediaType: 'text/plain', content: 'one' },
      { name: 'b.png', mediaType: 'image/png', content: Buffer.alloc(5_000, 7) },
    ],
  });
  const { files } = await mailIn(thread, raw);
  assert.deepEqual(
    files.map(({ name, bytes }) => [name, bytes]),
    [
      ['a.txt', 3],
      ['b.png', 5_000],
    ],
  );
  const bytes = await thread.run<'file'>(mailbox, { kind: 'file', answer: answerOf(raw), index: 1 });
  assert.deepEqual(Buffer.from(bytes!), Buffer.alloc(5_000, 7));
  assert.equal(await thread.run<'file'>(mailbox, { kind: 'file', answer: answerOf(raw), index: 9 }), null);
});

test('texts, files, subjects and references are bounded', async () => {
  const thread = new MailThread();
  const mail = await mailIn(
    thread,
    rawOf({
      subject: 'long '.repeat(500),
      text: '😀'.repeat(200_000),
      references: Array.from({ length: 500 }, (_, at) => `<${at}@example.org>`),
      headers: ['In-Reply-To: not an id <a b@c> <x@y>'],
      files: Array.from({ length: 50 }, (_, at) => ({ name: `${at}`, mediaType: 'text/plain', content: 'x' })),
    }),
  );
  assert.ok(mail.text.length <= maxInboundChars && !mail.text.endsWith('\ud83d'));
  assert.equal(mail.files.length, maxInboundFiles);
  assert.ok(mail.subject.length <= 300);
  assert.equal(mail.references.length, 10);
  assert.equal(mail.references[0], '<0@example.org>');
});

test('what is no mail of Gmail is unreadable, and ends nothing', async () => {
  const thread = new MailThread();
  for (const text of ['', 'null', '[]', '{"id":"a"}', '{"id":1,"threadId":2,"raw":3}', '{"raw":{}}']) {
    const answer = new Uint8Array(Buffer.from(text));
    assert.deepEqual(await thread.run<'read'>(mailbox, { kind: 'read', answer, mailbox }), { skipped: 'unreadable' });
    await assert.rejects(
      thread.run<'file'>(mailbox, { kind: 'file', answer: new Uint8Array(Buffer.from(text)), index: 0 }),
      UnreadableError,
    );
  }
  assert.equal((await mailIn(thread, rawOf({ text: 'still here' }))).text, 'still here');
});

test('a mail that takes too long is given up, and nothing waits for it on this thread', async () => {
  const thread = new MailThread({ timeoutMs: 1_000, idleMs: 60_000, mails: 2 });
  const hostile = `Content-Type: text/calendar\r\n\r\n${'\n'.repeat(390_000)}x`;
  await mailIn(thread, rawOf({ text: 'first' }));
  const before = process.threadCpuUsage();
  // Where a file is read, text has a larger budget: this takes 5 s.
  const given = thread.run<'file'>(mailbox, { kind: 'file', answer: answerOf(hostile), index: 0 });
  const next = mailIn(thread, rawOf({ text: 'next' }));
  await assert.rejects(given, UnreadableError);
  assert.equal((await next).text, 'next');
  const { user } = process.threadCpuUsage(before);
  assert.ok(user < 1_000_000, `this thread worked for ${user} µs`);
});

test('HTML beside a text is read in time that grows with its length', async () => {
  const thread = new MailThread({ timeoutMs: 10_000, idleMs: 60_000, mails: 2 });
  const head = rawOf({ text: 'x' }).split('Content-Type')[0]!;
  const mail = (...parts: readonly string[]): string =>
    `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.map((part) => `--b\r\nContent-Type: ${part}\r\n`).join('')}--b--`;
  const html = (text: string): string => `text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${btoa(text)}`;
  // Made text of by an expression this takes two minutes.
  const hostile = await mailIn(thread, mail('text/plain\r\n\r\nwords', html('<a href="'.repeat(116_000))));
  assert.equal(hostile.text, 'words');
  const honest = mail('text/plain\r\n\r\none', html('<p>two <b>2</b></p>'), 'text/plain\r\n\r\nthree', html('<br>'));
  assert.equal((await mailIn(thread, honest)).text, 'one\n\ntwo 2\nthree');
});

test('a mail of short lines takes the thread no longer than another, and another mailbox does not wait for ten of them', async () => {
  const thread = new MailThread();
  const head = rawOf({ text: 'x' }).split('Content-Type')[0]!;
  const hostile = answerOf(`${head}Content-Type: text/plain\r\n\r\n${'a\r\n'.repeat(300_000)}`);
  const order: string[] = [];
  const reads = Array.from({ length: 10 }, async () => {
    await thread.run<'read'>('attacked', { kind: 'read', answer: hostile.slice(), mailbox });
    order.push('attacked');
  });
  const honest = thread.run<'read'>('other', { kind: 'read', answer: answerOf(rawOf({ text: 'hi' })), mailbox });
  await honest.then(() => order.push('other'));
  assert.ok(order.length <= 3, `behind ${order.length - 1} of ten`);
  await Promise.all(reads);
});

test('few mails are in memory at once, and a fetch that fails gives its place back', async () => {
  const thread = new MailThread({ timeoutMs: 5_000, idleMs: 60_000, mails: 2 });
  let now = 0;
  let most = 0;
  const one = (at: number) =>
    thread.withMail(
      `mailbox-${at}`,
      async () => {
        now += 1;
        most = Math.max(most, now);
        await sleep(5);
        if (at % 3 !== 0) return at;
        now -= 1;
        throw new Error('no answer');
      },
      async (mail) => {
        await sleep(5);
        now -= 1;
        return mail;
      },
    );
  const done = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => one(at)));
  assert.equal(most, 2);
  assert.equal(done.filter(({ status }) => status === 'fulfilled').length, 13);
});

test('a thread without a job ends, and begins again', async () => {
  const thread = new MailThread({ timeoutMs: 5_000, idleMs: 20, mails: 1 });
  assert.equal((await mailIn(thread, rawOf({ text: 'one' }))).text, 'one');
  await sleep(100);
  assert.equal((await mailIn(thread, rawOf({ text: 'two' }))).text, 'two');
});

test('Markdown becomes HTML in which nothing loads and nothing runs', async () => {
  const thread = new MailThread();
  const text =
    '# T\n\n<script>x</script> ![p](https://evil.example/p.png) [a](javascript:alert(1)) [b](https://b.example)';
  const html = await thread.run<'html'>(mailbox, { kind: 'html', text });
  for (const never of ['<script', '<img', 'href="javascript']) assert.ok(!html.includes(never), html);
  for (const there of ['<h1>T</h1>', '&lt;script&gt;', 'href="https://b.example"'])
    assert.ok(html.includes(there), html);
});
