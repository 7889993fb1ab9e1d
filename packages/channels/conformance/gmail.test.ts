import { startGoogleStub } from '@lodge/testkit/google';
import type { GoogleStub, SentMail, StubMailbox } from '@lodge/testkit/google';
import { createGmail } from '../src/gmail/gmail.ts';
import { describePlatform } from './suite.ts';
import type { AccountUnderTest, Misbehaviour, SentByAgent, UserMessage, Written } from './under-test.ts';

const timings = {
  pollMs: 40,
  probeMs: 400,
  callMs: 2_000,
  mailMs: 5_000,
  backoff: { firstMs: 50, maxMs: 300, stableMs: 200 },
};

describePlatform(
  'Gmail',
  {
    // A mail stays as it is; the place in the history is ours.
    acknowledges: false,
    groups: false,
    threads: false,
    bots: true,
    files: true,
    limitsSends: true,
    progress: false,
    buttons: false,
    deafWithinMs: 4_000,
    revokes: true,
  },
  async () => {
    const google = await startGoogleStub();
    const { clientId, clientSecret } = google.client;
    const endpoints = {
      api: `${google.url}/`,
      consent: `${google.url}/o/oauth2/v2/auth`,
      token: `${google.url}/token`,
    };
    let accounts = 0;
    return {
      platform: createGmail({ clientId, clientSecret, endpoints, timings }),
      account: async () => {
        accounts += 1;
        return new MailboxUnderTest(google, `agent-${accounts}@example.com`);
      },
      stop: () => google.close(),
    };
  },
);

/** One person, who writes into one thread. */
class MailboxUnderTest implements AccountUnderTest {
  readonly credentials: Readonly<Record<string, string>>;
  readonly wrong = [];
  readonly #google: GoogleStub;
  readonly #mailbox: StubMailbox;
  readonly #read = new Map<SentMail, SentByAgent>();
  #first: { readonly messageId: string } | null = null;
  #last: string | null = null;

  constructor(google: GoogleStub, address: string) {
    this.#google = google;
    this.#mailbox = google.mailbox(address);
    this.credentials = { refreshToken: google.consent(address) };
  }

  get secrets(): readonly string[] {
    return [...Object.values(this.credentials), this.#google.client.clientSecret, 'ya29.'];
  }

  async userWrites({ text, from, file }: UserMessage): Promise<Written> {
    const name = (from?.name ?? 'Ann').replaceAll(/[\r\n]/g, ' ');
    const mail = this.#mailbox.deliver({
      from: `=?utf-8?B?${Buffer.from(name).toString('base64').slice(0, 3_000)}?= <ann@example.org>`,
      subject: '',
      text,
      ...(from?.isBot === true && { headers: ['Auto-Submitted: auto-generated'] }),
      ...(this.#first && { references: [this.#first.messageId] }),
      ...(file && { files: [{ ...file, content: file.bytes }] }),
    });
    this.#first ??= mail;
    this.#last = mail.id;
    return { id: mail.id, place: mail.threadId };
  }

  sent(): readonly SentByAgent[] {
    for (const mail of this.#mailbox.sent) if (!this.#read.has(mail)) this.#read.set(mail, readBack(mail));
    return [...this.#read.values()];
  }

  typings(): number {
    return 0;
  }

  acknowledged(): boolean {
    return false;
  }

  calls(): number {
    return this.#google.callsOf(this.#mailbox.address);
  }

  async misbehave(how: Misbehaviour): Promise<void> {
    const { address } = this.#mailbox;
    switch (how.do) {
      case 'unreachable':
        return this.#google.fault({ does: 'drop', mailbox: address, times: Number.POSITIVE_INFINITY });
      case 'mend':
        return this.#google.clearFaults(address);
      case 'deaf':
        this.#mailbox.isDeaf = true;
        return;
      case 'redeliver':
        return this.#mailbox.repeat(this.#last!);
      case 'revoke':
        return this.#google.oauth.revoke(address);
      case 'limit_next_send': {
        const retryAfterSeconds = how.retryAfterMs / 1_000;
        return this.#google.fault({ of: 'POST messages/send', mailbox: address, does: 'rate', retryAfterSeconds });
      }
      case 'unclear_next_send':
        return this.#google.fault({ of: 'POST messages/send', mailbox: address, does: 'answer-lost' });
      case 'limit_next_edit':
        throw new Error('a mail that was sent is not edited');
    }
  }
}

/** Reads the composer's mail by hand: parts are base64, quoted-printable or plain. */
function readBack({ raw, threadId }: SentMail): SentByAgent {
  const text = bodyOf(raw);
  const attachment = /filename="?([^"\r\n]+)"?[\s\S]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(raw);
  const file = attachment && { name: attachment[1]!, bytes: Buffer.from(attachment[2]!, 'base64') };
  return { place: threadId, text, file };
}

function bodyOf(raw: string): string {
  return raw.slice(raw.indexOf('\r\n\r\n'));
}
