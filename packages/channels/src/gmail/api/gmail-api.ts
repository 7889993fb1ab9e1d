/** The calls of the Gmail API (v1) that the channel makes, for one mailbox. Every answer is bounded before it is read. */
import type { Readable } from 'node:stream';
import { gmail } from '@googleapis/gmail';
import type { gmail_v1 } from '@googleapis/gmail';
import { OAuth2Client } from 'google-auth-library';
import { asObject, boundedJson } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { within } from '../../shared/deadline.ts';
import { idOf, textOf } from '../../shared/plain.ts';
import type { GmailTimings } from '../options.ts';
import { maxAnswerBytes, maxHeadBytes } from '../mail/read-mail.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { brokenFailure, failureOf, GoogleFailure, unavailable } from './google-failure.ts';
import type { Tokens } from './tokens.ts';

export interface Profile {
  readonly address: string;
  readonly historyId: string;
}

export interface Page {
  /** Ids of received messages, oldest first. */
  readonly ids: readonly string[];
  readonly next: string | null;
}

export interface HistoryPage extends Page {
  /** Everything up to here is in this page and those before it. */
  readonly historyId: string;
}

export interface ThreadMail {
  readonly id: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly isSent: boolean;
  readonly labelIds: readonly string[];
}

const listBounds = { bytes: 2 * 1024 * 1024, depth: 8, elements: 60_000 };
const threadBounds = { bytes: 4 * 1024 * 1024, depth: 8, elements: 100_000 };
const maxThreadHeaderChars = 4_096;
const maxLabels = 200;
const historyPageSize = 100;
const listPageSize = 500;

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/** One for all mailboxes of a platform: it holds no credentials. */
export const gmailClient = (api: string): GmailClient => ({ users: gmail({ version: 'v1', rootUrl: api }).users, api });

export interface GmailClient {
  readonly users: gmail_v1.Resource$Users;
  /** Where it is. */
  readonly api: string;
}

export class GmailApi {
  readonly #client: GmailClient;
  readonly #tokens: Pick<Tokens, 'access' | 'forget'>;
  readonly #timings: Pick<GmailTimings, 'callMs' | 'mailMs'>;

  constructor(
    client: GmailClient,
    tokens: Pick<Tokens, 'access' | 'forget'>,
    timings: Pick<GmailTimings, 'callMs' | 'mailMs'>,
  ) {
    this.#client = client;
    this.#tokens = tokens;
    this.#timings = timings;
  }

  async profile(signal: AbortSignal): Promise<Profile> {
    const answer = await this.#json(signal, listBounds, (my, how) => this.#client.users.getProfile(my, how));
    const address = textOf(answer['emailAddress']).toLowerCase();
    const historyId = historyIdOf(answer['historyId']);
    if (!address.includes('@') || historyId === null) throw notGmail();
    return { address, historyId };
  }

  /** Has Gmail publish changes of the inbox to a topic of Pub/Sub, which it tries at once; costs 100 units. */
  async watch(topicName: string, signal: AbortSignal): Promise<{ readonly expiresAtMs: number }> {
    const requestBody = { topicName, labelIds: ['INBOX'], labelFilterBehavior: 'include' };
    const answer = await this.#json(signal, listBounds, (my, how) =>
      this.#client.users.watch({ ...my, requestBody }, how),
    );
    const expiresAtMs = Number(idOf(answer['expiration'], 20) ?? Number.NaN);
    if (!Number.isSafeInteger(expiresAtMs)) throw notGmail();
    return { expiresAtMs };
  }

  /** Null: the history does not reach back so far. */
  async history(from: string, pageToken: string | null, signal: AbortSignal): Promise<HistoryPage | null> {
    const params = {
      startHistoryId: from,
      labelId: 'INBOX',
      historyTypes: ['messageAdded'],
      maxResults: historyPageSize,
      ...(pageToken !== null && { pageToken }),
    };
    const answer = await orNull(
      this.#json(signal, listBounds, (my, how) => this.#client.users.history.list({ ...my, ...params }, how)),
    );
    if (answer === null) return null;
    const records = objectsIn(answer['history']);
    const next = idOf(answer['nextPageToken'], 500);
    const ids = records.flatMap((record) => objectsIn(record['messagesAdded'])).map((added) => added['message']);
    const historyId = next === null ? historyIdOf(answer['historyId']) : lastHistoryId(records);
    return { ids: idsOf(ids), next, historyId: historyId ?? from };
  }

  /** Newest first: messages in the inbox that came after a time. */
  async listAfter(seconds: number, pageToken: string | null, signal: AbortSignal): Promise<Page> {
    const params = {
      q: `after:${seconds}`,
      labelIds: ['INBOX'],
      maxResults: listPageSize,
      ...(pageToken !== null && { pageToken }),
    };
    const answer = await this.#json(signal, listBounds, (my, how) =>
      this.#client.users.messages.list({ ...my, ...params }, how),
    );
    return { ids: idsOf(answer['messages']), next: idOf(answer['nextPageToken'], 500) };
  }

  /** Id of the mail with this `Message-ID`; null: there is none. */
  async withMessageId(messageId: string, signal: AbortSignal): Promise<string | null> {
    const params = { q: `rfc822msgid:${messageId.replaceAll(/[<>\s]/g, '')}`, maxResults: 1, includeSpamTrash: true };
    const answer = await this.#json(signal, listBounds, (my, how) =>
      this.#client.users.messages.list({ ...my, ...params }, how),
    );
    return idsOf(answer['messages'])[0] ?? null;
  }

  /** The answer as it came, with the header of the mail in it; null: it is gone. */
  head(id: string, signal: AbortSignal): Promise<Uint8Array | null> {
    const limits = { bytes: maxHeadBytes, timeoutMs: this.#timings.callMs };
    return orNull(
      this.#call(signal, limits, (my, how) => this.#client.users.messages.get({ ...my, id, format: 'metadata' }, how)),
    );
  }

  /** The answer as it came, with the whole mail in it; null: it is gone. */
  raw(id: string, signal: AbortSignal): Promise<Uint8Array | null> {
    const limits = { bytes: maxAnswerBytes, timeoutMs: this.#timings.mailMs };
    return orNull(
      this.#call(signal, limits, (my, how) => this.#client.users.messages.get({ ...my, id, format: 'raw' }, how)),
    );
  }

  /** Oldest first; null: it is gone. */
  async thread(id: string, names: readonly string[], signal: AbortSignal): Promise<readonly ThreadMail[] | null> {
    const params = { id, format: 'metadata', metadataHeaders: [...names] };
    const answer = await orNull(
      this.#json(signal, threadBounds, (my, how) => this.#client.users.threads.get({ ...my, ...params }, how)),
    );
    return answer === null ? null : objectsIn(answer['messages']).flatMap(threadMail);
  }

  /** Rejects with `unavailable` where it may have been sent. */
  async send(mail: Readable, threadId: string | null, signal: AbortSignal): Promise<string> {
    const params = {
      requestBody: threadId === null ? {} : { threadId },
      media: { mimeType: 'message/rfc822', body: mail },
    };
    const limits = { bytes: listBounds.bytes, timeoutMs: this.#timings.mailMs };
    // A stream is sent once: a token that was good a moment ago is not tried again.
    const body = await this.#once(signal, limits, (my, how) =>
      this.#client.users.messages.send({ ...my, ...params }, how),
    );
    const id = idOf(recordOf(boundedJson(body, listBounds))['id'], 64);
    if (id === null) throw notGmail();
    return id;
  }

  /** Labels a message; the label is made when the mailbox has none of that name. */
  async label(messageId: string, name: string, known: string | null, signal: AbortSignal): Promise<string> {
    const labelId = known ?? (await this.#labelId(name, signal));
    const params = { id: messageId, requestBody: { addLabelIds: [labelId] } };
    await this.#json(signal, listBounds, (my, how) => this.#client.users.messages.modify({ ...my, ...params }, how));
    return labelId;
  }

  async #labelId(name: string, signal: AbortSignal): Promise<string> {
    const listed = await this.#json(signal, listBounds, (my, how) => this.#client.users.labels.list(my, how));
    const found = idOf(objectsIn(listed['labels']).find((label) => label['name'] === name)?.['id']);
    if (found !== null) return found;
    const requestBody = { name, labelListVisibility: 'labelShow', messageListVisibility: 'show' };
    const made = await this.#json(signal, listBounds, (my, how) =>
      this.#client.users.labels.create({ ...my, requestBody }, how),
    );
    const id = idOf(made['id']);
    if (id === null) throw notGmail();
    return id;
  }

  async #json(signal: AbortSignal, bounds: typeof listBounds, call: Calls): Promise<Record<string, unknown>> {
    const body = await this.#call(signal, { bytes: bounds.bytes, timeoutMs: this.#timings.callMs }, call);
    try {
      return recordOf(boundedJson(body, bounds));
    } catch {
      throw notGmail();
    }
  }

  /** Repeats the call with a new access token when Google refuses the present one. */
  async #call(signal: AbortSignal, limits: CallLimits, call: Calls): Promise<Uint8Array> {
    try {
      return await this.#once(signal, limits, call);
    } catch (error) {
      if (!(error instanceof GoogleFailure) || error.kind !== 'unauthorized') throw error;
      return this.#once(signal, limits, call);
    }
  }

  async #once(signal: AbortSignal, { bytes, timeoutMs }: CallLimits, call: Calls): Promise<Uint8Array> {
    const token = await this.#tokens.access();
    // Knows this token alone, and so renews none. A kept client would occupy 30 KiB for each mailbox.
    const auth = new OAuth2Client({ transporterOptions: { fetchImplementation: boundedFetch() } });
    auth.setCredentials({ access_token: token });
    const answer = (await within(timeoutMs, signal, async (own) =>
      call(
        { userId: 'me', auth },
        {
          signal: own,
          responseType: 'arraybuffer',
          validateStatus: () => true,
          retry: false,
          size: bytes,
          rootUrl: this.#client.api,
        },
      ),
    ).catch((error: unknown) => {
      throw brokenFailure(error);
    })) as Raw;
    const body = answer.data instanceof ArrayBuffer ? new Uint8Array(answer.data) : new Uint8Array();
    if (answer.status >= 200 && answer.status < 300) return body;
    if (answer.status === 401) this.#tokens.forget(token);
    throw failureOf(answer.status, new Headers(answer.headers), body);
  }
}

interface CallLimits {
  readonly bytes: number;
  readonly timeoutMs: number;
}

/** The mailbox's owner, and the library's settings. */
interface Mine {
  readonly userId: 'me';
  readonly auth: OAuth2Client;
}
interface How {
  readonly signal: AbortSignal;
  readonly responseType: 'arraybuffer';
  readonly validateStatus: () => boolean;
  readonly retry: false;
  readonly size: number;
  /** The base URL of uploads, for which the client's own does not apply. */
  readonly rootUrl: string;
}
type Calls = (my: Mine, how: How) => PromiseLike<unknown>;

const notGmail = (): GoogleFailure => new GoogleFailure('unavailable', unavailable);

async function orNull<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GoogleFailure && error.kind === 'not_found') return null;
    throw error;
  }
}

const recordOf = (value: unknown): Json => asObject(value) ?? {};

const objectsIn = (list: unknown): Json[] => (Array.isArray(list) ? list.map(recordOf) : []);

/** Each once, in their order. */
const idsOf = (list: unknown): string[] => [
  ...new Set(objectsIn(list).flatMap(({ id }) => (typeof id === 'string' && isMessageId(id) ? [id] : []))),
];

/** Gmail's own, which goes into addresses. */
export const isMessageId = (id: string): boolean => /^[0-9a-zA-Z_-]{1,32}$/.test(id);

/** An unsigned number of 64 bits. */
const historyIdOf = (value: unknown): string | null => {
  const id = idOf(value, 20);
  return id !== null && /^\d+$/.test(id) ? id : null;
};

const lastHistoryId = (records: readonly Record<string, unknown>[]): string | null =>
  records
    .map(({ id }) => historyIdOf(id))
    .reduce((last, id) => (id !== null && (last === null || BigInt(id) > BigInt(last)) ? id : last), null);

function threadMail(message: Record<string, unknown>): ThreadMail[] {
  const { id, labelIds } = message;
  if (typeof id !== 'string' || !isMessageId(id)) return [];
  const headers = objectsIn(recordOf(message['payload'])['headers']).map(
    ({ name, value }) => [textOf(name).toLowerCase(), textOf(value, maxThreadHeaderChars)] as const,
  );
  const labels = Array.isArray(labelIds) ? labelIds.slice(0, maxLabels).map((label) => textOf(label)) : [];
  return [{ id, headers: new Map(headers), isSent: labels.includes('SENT'), labelIds: labels }];
}
