/**
 * The world outside of the box, each part as a separate process: a provider of models, two services that the first hostile
 * agent is connected to and that are its accomplices, and the mail of Google.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ConsentBrowser } from '@lodge/testkit/consent-browser';
import type { Flooded, PostOffice } from './programs/post-office.ts';

const prices = { input: '1', output: '2' };
const office: PostOffice = {
  clientId: 'client.apps.example.com',
  clientSecret: 'GOCSPX-stub-secret-of-client',
  hostile: 'hostile@example.com',
  bystander: 'bystander@example.com',
};
/** A text of the alphabet that one of the services answers in. */
const token = '80a00f0b51c6d51dc228b0b2b1f4fb3a';
const connectTimeoutMs = 120_000;

/** An account, by its key. */
interface Api {
  readonly call: (method: string, path: string, body?: object) => Promise<{ status: number; text: string }>;
}

interface Connected {
  readonly baseUrl: string;
  readonly hostile: Api;
  readonly bystander: Api;
  /** Ids of agents. */
  readonly ids: { readonly one: string; readonly bystander: string };
}

export class Outside {
  readonly env: Readonly<Record<string, string>>;
  readonly #services: Talker;
  readonly #servicesUrl: string;
  readonly #google: Talker;

  private constructor(services: Talker, servicesUrl: string, google: Talker, googleUrl: string) {
    this.#services = services;
    this.#servicesUrl = servicesUrl;
    this.#google = google;
    const models = [{ name: 'priced', prices }];
    const providers = [{ id: 'stub', base_url: `${servicesUrl}/v1`, models }];
    this.env = {
      LODGE_PROVIDERS: JSON.stringify(providers),
      LODGE_CONNECTION_ADDRESSES: 'any',
      LODGE_GOOGLE_API: googleUrl,
      LODGE_GOOGLE_OAUTH: googleUrl,
      LODGE_GOOGLE_CONSENT: googleUrl,
      LODGE_GOOGLE_CLIENT_ID: office.clientId,
      LODGE_GOOGLE_CLIENT_SECRET: office.clientSecret,
      LODGE_GMAIL_POLL_SECONDS: '1',
    };
  }

  static async start(): Promise<Outside> {
    const services = new Talker('provider.mjs');
    const google = new Talker('post-office.ts', JSON.stringify(office));
    try {
      return new Outside(services, `http://127.0.0.1:${await services.line()}`, google, await google.line());
    } catch (error) {
      await Promise.all([services.end(), google.end()]);
      throw error;
    }
  }

  /** Gives both accounts a mailbox, and the hostile one the services. */
  async connect({ baseUrl, hostile, bystander, ids }: Connected): Promise<void> {
    const url = this.#servicesUrl;
    const headers = { 'X-Token': token };
    const put = async (name: string, fields: object): Promise<void> => {
      await asked(hostile, 'PUT', `/agents/${ids.one}/connections/${name}`, { url, headers, ...fields });
    };
    await put('answers', { kind: 'http', allow: [{ methods: ['GET'], paths: ['/*'] }] });
    // Two have all the tools that an agent may have.
    for (const name of ['tools', 'more']) await put(name, { kind: 'mcp', url: `${url}/mcp` });
    this.#google.say(`${new URL(baseUrl).origin}/oauth/gmail/callback`);
    await connectMail(hostile, ids.one, office.hostile);
    await connectMail(bystander, ids.bystander, office.bystander);
  }

  /** Strangers write to the hostile mailbox for so long. */
  async flood(ms: number): Promise<Flooded> {
    this.#google.say(String(ms));
    return JSON.parse(await this.#google.line()) as Flooded;
  }

  async close(): Promise<void> {
    await Promise.all([this.#services.end(), this.#google.end()]);
  }
}

/** One of the programs, which prints lines. */
class Talker {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string, ...argv: string[]) {
    const program = fileURLToPath(new URL(`programs/${name}`, import.meta.url));
    const child = spawn(process.execPath, [program, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  say(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.#child.spawnargs.join(' ')} has ended`);
    return value;
  }

  async end(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/** Anybody may write to it. */
async function connectMail(account: Api, agentId: string, address: string): Promise<void> {
  const path = `/agents/${agentId}/channels/gmail`;
  await asked(account, 'PUT', path, { access: { mode: 'open' } });
  const begun = await asked(account, 'POST', `${path}/oauth/start`, { login_hint: address });
  const browser = new ConsentBrowser();
  const consent = await browser.ask(await browser.agree(begun['authorization_url'] as string));
  await browser.ask(consent.headers.get('location')!);
  const deadline = Date.now() + connectTimeoutMs;
  for (;;) {
    const { status } = await asked(account, 'GET', path);
    if (status === 'connected') return;
    if (Date.now() > deadline) throw new Error(`the mailbox ${address} is ${String(status)}`);
    await sleep(200);
  }
}

async function asked(
  { call }: Api,
  method: string,
  path: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, text } = await call(method, path, body);
  if (status !== 200 && status !== 201) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
