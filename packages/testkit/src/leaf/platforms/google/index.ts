/**
 * A stub for Google: consent and tokens as accounts.google.com and oauth2.googleapis.com give them, and the Gmail API of as many
 * mailboxes as wanted, and Pub/Sub to which they publish, all at one address.
 *
 *     const google = await startGoogleStub();
 *     const mailbox = google.mailbox('agent@example.com');
 *     const refreshToken = google.consent('agent@example.com');
 *     mailbox.deliver({ from: 'ann@example.org', text: 'Hello' });
 *     google.fault({ of: 'POST messages/send', does: 'answer-lost' });
 *     await google.close();
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerGmail } from './gmail-routes.ts';
import { googleError } from './http.ts';
import type { Answer, Call } from './http.ts';
import { StubMailbox } from './mailbox.ts';
import { pubsubScope, StubPubsub } from './pubsub.ts';
import { StubOauth } from './oauth.ts';
import type { OauthClient } from './oauth.ts';

export type { Mail, MailFile } from './mail.ts';
export type { SentMail, StoredMail } from './mailbox.ts';
export { StubMailbox } from './mailbox.ts';
export { StubOauth } from './oauth.ts';
export type { ServiceAccountKey } from './oauth.ts';
export { StubPubsub } from './pubsub.ts';

export const gmailScope = 'https://www.googleapis.com/auth/gmail.modify';

/**
 * - `drop`: the connection breaks before the request is carried out.
 * - `answer-lost`: the connection breaks after it.
 * - `hang`: nothing comes, until the stub is closed.
 * - `rate`, `quota`: 429 with `Retry-After`, and 403 with `rateLimitExceeded`.
 * - a number: that status.
 */
export type FaultKind = 'drop' | 'answer-lost' | 'hang' | 'rate' | 'quota' | number;

export interface Fault {
  /** A beginning of `GET history`, `GET messages/<id>`, `POST messages/send`, `POST token`, ...; default: of all. */
  readonly of?: string;
  /** Default: of all mailboxes. */
  readonly mailbox?: string;
  readonly does: FaultKind;
  /** Default 1. */
  readonly times?: number;
  /** Only for `rate`. Default 1. */
  readonly retryAfterSeconds?: number;
}

export interface GoogleStub {
  /** The origin of everything: API, consent, tokens. */
  readonly url: string;
  readonly client: OauthClient;
  readonly oauth: StubOauth;
  readonly pubsub: StubPubsub;
  /** The calls, oldest first: the last thousand, as `GET history` with the mailbox's address behind it. */
  readonly calls: readonly string[];
  /** The mailbox of this address, made at the first call. */
  mailbox(address: string): StubMailbox;
  /** A refresh token of the mailbox, with the scope of Gmail unless others are given. */
  consent(address: string, scopes?: readonly string[]): string;
  /** How often a mailbox was asked for, its tokens included. */
  callsOf(address: string): number;
  fault(fault: Fault): void;
  /** Clears the faults of one mailbox, or of all. */
  clearFaults(mailbox?: string): void;
  /** Every answer comes so much later. */
  delayMs: number;
  close(): Promise<void>;
}

const maxCalls = 1_000;
const maxBodyBytes = 64 * 1024 * 1024;

export async function startGoogleStub(options: { client?: OauthClient; port?: number } = {}): Promise<GoogleStub> {
  const stub = new Stub(options.client ?? defaultClient);
  const server = createServer((request, response) => void stub.serve(request, response));
  server.keepAliveTimeout = 60_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  stub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stub.onClose = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  return stub;
}

const defaultClient: OauthClient = {
  clientId: '1234-stub.apps.googleusercontent.com',
  clientSecret: 'GOCSPX-stub-secret',
  redirectUris: ['http://127.0.0.1:8080/oauth/gmail/callback'],
};

class Stub implements GoogleStub {
  url = '';
  delayMs = 0;
  readonly client: OauthClient;
  readonly oauth: StubOauth;
  readonly pubsub = new StubPubsub();
  readonly calls: string[] = [];
  onClose: () => Promise<void> = async () => {};
  readonly #mailboxes = new Map<string, StubMailbox>();
  readonly #callsOf = new Map<string, number>();
  #faults: (Fault & { left: number })[] = [];

  constructor(client: OauthClient) {
    this.client = client;
    this.oauth = new StubOauth(client);
  }

  mailbox(address: string): StubMailbox {
    const known = this.#mailboxes.get(address.toLowerCase());
    if (known) return known;
    const made = new StubMailbox(address);
    made.onChange = (topic) => this.pubsub.publish(topic, { emailAddress: made.address, historyId: made.historyId });
    this.#mailboxes.set(made.address, made);
    return made;
  }

  consent(address: string, scopes: readonly string[] = [gmailScope]): string {
    this.mailbox(address);
    return this.oauth.grant(address, scopes);
  }

  fault(fault: Fault): void {
    this.#faults.push({ ...fault, left: fault.times ?? 1 });
  }

  callsOf(address: string): number {
    return this.#callsOf.get(address.toLowerCase()) ?? 0;
  }

  clearFaults(mailbox?: string): void {
    this.#faults = mailbox === undefined ? [] : this.#faults.filter((each) => each.mailbox !== mailbox);
  }

  close(): Promise<void> {
    return this.onClose();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const body = await bodyOf(request);
    if (body === null) return;
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const call = {
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
      gone: gone.signal,
    };
    const { name, mailbox, carryOut } = this.#route(call);
    this.calls.push(`${name} ${mailbox}`);
    this.#callsOf.set(mailbox, this.callsOf(mailbox) + 1);
    if (this.calls.length > maxCalls) this.calls.shift();
    if (this.delayMs > 0) await sleep(this.delayMs, undefined, { ref: false });
    const fault: Fault | undefined = this.#faultOf(name, mailbox);
    if (fault?.does === 'hang') return;
    if (fault?.does === 'drop') return void request.socket.destroy();
    const answer = faulty(fault) ?? (await carryOut());
    if (fault?.does === 'answer-lost') return void request.socket.destroy();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  #route(call: Call): { name: string; mailbox: string; carryOut: () => Answer | Promise<Answer> } {
    const plain = (name: string, carryOut: () => Answer) => ({ name: `${call.method} ${name}`, mailbox: '', carryOut });
    const form = (): URLSearchParams => new URLSearchParams(call.body.toString());
    if (call.path === '/o/oauth2/v2/auth') return plain('auth', () => this.oauth.authorize(call.query));
    if (call.path === '/token') {
      const mailbox = this.oauth.ownerOf(form().get('refresh_token') ?? '');
      return { ...plain('token', () => this.oauth.token(form())), mailbox };
    }
    if (call.path === '/revoke')
      return plain('revoke', () => this.oauth.revokeToken(call.query.get('token') ?? form().get('token') ?? ''));
    const pubsub = /^\/v1\/(projects\/[^/]+\/subscriptions\/[^/:]+):(pull|acknowledge)$/.exec(call.path);
    if (pubsub) return this.#pubsubRoute(pubsub[1]!, pubsub[2]!, call);
    const path = /^\/(?:upload\/)?gmail\/v1\/users\/me\/(.+)$/.exec(call.path)?.[1];
    if (path === undefined) return plain('unknown', () => googleError(404, 'notFound', 'Not Found'));
    const grant = this.oauth.bearer(call.headers['authorization'] as string | undefined);
    const carryOut = (): Answer => {
      if (grant === null) return googleError(401, 'authError', 'Invalid Credentials');
      if (!grant.scopes.includes(gmailScope))
        return googleError(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.');
      return answerGmail(this.mailbox(grant.address), this.pubsub, path, call);
    };
    const token = String(call.headers['authorization'] ?? '').replace(/^Bearer /, '');
    return { name: `${call.method} ${path}`, mailbox: this.oauth.ownerOf(token), carryOut };
  }

  #pubsubRoute(subscription: string, method: string, call: Call) {
    const grant = this.oauth.bearer(call.headers['authorization'] as string | undefined);
    const who = grant?.scopes.includes(pubsubScope) ? grant.address : null;
    const carryOut = () => this.pubsub.answer(who, subscription, method, call);
    return { name: `${call.method} ${method}`, mailbox: grant?.address ?? '', carryOut };
  }

  #faultOf(name: string, mailbox: string): Fault | undefined {
    const fault = this.#faults.find(
      (each) => name.startsWith(each.of ?? '') && (each.mailbox === undefined || each.mailbox === mailbox),
    );
    if (fault) {
      fault.left -= 1;
      if (fault.left <= 0) this.#faults = this.#faults.filter((each) => each !== fault);
    }
    return fault;
  }
}

function faulty(fault: Fault | undefined): Answer | null {
  if (fault === undefined) return null;
  switch (fault.does) {
    case 'drop':
    case 'answer-lost':
    case 'hang':
      return null;
    case 'rate':
      return googleError(429, 'rateLimitExceeded', 'Too many concurrent requests for user', {
        'retry-after': String(fault.retryAfterSeconds ?? 1),
      });
    case 'quota':
      return googleError(403, 'rateLimitExceeded', 'Rate Limit Exceeded');
    default:
      return googleError(fault.does, 'backendError', 'Backend Error');
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBodyBytes) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}
