/**
 * Google's stub as a process of its own, so that large mail costs no other event loop anything. It prints its URL. The first line of
 * its input is the redirect URI of the client. Each further one is a time in ms for which strangers write to the hostile mailbox,
 * and is answered by a line that says what came of it, as `Flooded` in JSON.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGoogleStub } from '@lodge/testkit/google';

export interface PostOffice {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Addresses of mailboxes. */
  readonly hostile: string;
  readonly bystander: string;
}

export interface Flooded {
  /** Mails of strangers to the hostile mailbox. */
  readonly written: number;
  /** Ms until an honest mail to the other mailbox had its answer, before; null: it had none. */
  readonly quietMs: number | null;
  /** The same of each honest mail meanwhile, one after another. */
  readonly answeredMs: readonly (number | null)[];
}

const MiB = 2 ** 20;
const atOnce = 8;
/** For an honest mail's answer. */
const answerMs = 60_000;

const { clientId, clientSecret, ...addresses } = JSON.parse(process.argv[2]!) as PostOffice;
const redirectUris: string[] = [];
const google = await startGoogleStub({ client: { clientId, clientSecret, redirectUris } });
const hostile = google.mailbox(addresses.hostile);
const bystander = google.mailbox(addresses.bystander);

/** The bodies of mails, by the property that makes them hard to read. */
const bodies: Readonly<Record<string, () => string>> = {
  'short lines': () => `Content-Type: text/plain\r\n\r\n${'a\r\n'.repeat(300_000)}`,
  'too many lines': () => `Content-Type: text/plain\r\n\r\n${'a\r\n'.repeat((8 * MiB) / 3)}`,
  parts: () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\n\r\n'.repeat(100_000)}--b--`,
  'parts in parts': () => {
    const part = (at: number): string => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`;
    return `${Array.from({ length: 20_000 }, (_, at) => part(at)).join('')}\r\n`;
  },
  'broken HTML': () =>
    `Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from('<a href="'.repeat(116_000)).toString('base64')}`,
  'a large file': () =>
    `Content-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${'A'.repeat(76)}\r\n`.repeat((24 * MiB) / 78)}`,
};

const [head] = google
  .mailbox('any@example.com')
  .deliver({ from: 'Mallory <mallory@evil.example>', to: addresses.hostile, text: '' })
  .raw.split('Content-Type');
const mails = Object.values(bodies).map((body) => `${head}${body()}`);

/** Keeps so many mails in the hostile mailbox that nobody has fetched yet. */
async function flood(until: number): Promise<number> {
  let written = 0;
  const unread = new Set<string>();
  while (Date.now() < until) {
    const asked = google.calls.join('\n');
    for (const id of unread) if (asked.includes(id)) unread.delete(id);
    for (; unread.size < atOnce; written += 1) unread.add(hostile.deliverRaw(mails[written % mails.length]!).id);
    await sleep(100);
  }
  // Running mails go on, and the rest is gone: the next attack must not pay for it.
  hostile.messages.clear();
  return written;
}

/** Ms from an honest mail to the answer to it; null: there was none. */
async function honest(): Promise<number | null> {
  const began = performance.now();
  const before = bystander.sent.length;
  bystander.deliver({ from: 'Ann <ann@example.org>', text: 'ping' });
  while (bystander.sent.length === before) {
    if (performance.now() - began > answerMs) return null;
    await sleep(20);
  }
  return Math.round(performance.now() - began);
}

async function honestWhile(until: number): Promise<(number | null)[]> {
  const answered: (number | null)[] = [];
  do answered.push(await honest());
  while (Date.now() < until && answered.at(-1) !== null);
  return answered;
}

console.log(google.url);
for await (const line of createInterface({ input: process.stdin })) {
  if (redirectUris.length === 0) {
    redirectUris.push(line);
    continue;
  }
  const ms = Number(line);
  const quietMs = await honest();
  const until = Date.now() + ms;
  const [written, answeredMs] = await Promise.all([flood(until), honestWhile(until)]);
  console.log(JSON.stringify({ written, quietMs, answeredMs } satisfies Flooded));
}
await google.close();
