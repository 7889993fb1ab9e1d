/** The part of the Gmail API (v1) that is about one mailbox. It refuses what Gmail refuses. */
import { googleError, json } from './http.ts';
import type { Answer, Call } from './http.ts';
import { headerLines, headersOf } from './mailbox.ts';
import type { HistoryRecord, StoredMail, StubMailbox } from './mailbox.ts';
import type { StubPubsub } from './pubsub.ts';

/** Bound on a sent message, with its files in base64. */
const maxSendBytes = 35 * 1024 * 1024;
const notFound = googleError(404, 'notFound', 'Requested entity was not found.');

/** `path` is what follows `/gmail/v1/users/me/`. */
export function answerGmail(mailbox: StubMailbox, pubsub: StubPubsub, path: string, call: Call): Answer {
  const parts = path.split('/');
  const route = `${call.method} ${parts[0]}${parts.length > 1 ? (parts[1] === 'send' ? '/send' : '/:id') : ''}${parts.length > 2 ? `/${parts[2]}` : ''}`;
  const [, id = ''] = parts;
  switch (route) {
    case 'GET profile':
      return json(200, {
        emailAddress: mailbox.address,
        messagesTotal: mailbox.messages.size,
        threadsTotal: new Set([...mailbox.messages.values()].map(({ threadId }) => threadId)).size,
        historyId: String(mailbox.historyId),
      });
    case 'GET history':
      return listHistory(mailbox, call.query);
    case 'GET messages':
      return listMessages(mailbox, call.query);
    case 'GET messages/:id':
      return getMessage(mailbox, id, call.query);
    case 'POST messages/send':
      return sendMessage(mailbox, call);
    case 'POST messages/:id/modify':
      return modifyMessage(mailbox, id, call);
    case 'GET threads/:id':
      return getThread(mailbox, id, call.query);
    case 'GET labels':
      return json(200, { labels: [...mailbox.labels].map(([labelId, name]) => ({ id: labelId, name, type: 'user' })) });
    case 'POST labels':
      return createLabel(mailbox, call);
    case 'POST watch':
      return watch(mailbox, pubsub, call);
    case 'POST stop':
      mailbox.watch = null;
      return { status: 204, body: '' };
    default:
      return notFound;
  }
}

/** Gmail publishes once at once: that the topic takes it is a part of the answer. */
function watch(mailbox: StubMailbox, pubsub: StubPubsub, call: Call): Answer {
  const { topicName = '', labelIds = [] } = JSON.parse(call.body.toString()) as Record<string, never>;
  const refusal = pubsub.refusal(topicName);
  if (refusal) return refusal;
  mailbox.watch = { topic: topicName, labelIds, endsAt: Date.now() + mailbox.watchMs };
  mailbox.onChange(topicName);
  return json(200, { historyId: String(mailbox.historyId), expiration: String(mailbox.watch.endsAt) });
}

function listHistory(mailbox: StubMailbox, query: URLSearchParams): Answer {
  const start = Number(query.get('startHistoryId'));
  if (!Number.isInteger(start) || start <= 0) return googleError(400, 'invalidArgument', 'Invalid startHistoryId');
  if (start < mailbox.oldestHistoryId) return notFound;
  const types = query.getAll('historyTypes');
  const label = query.get('labelId');
  const wanted = mailbox.isDeaf
    ? []
    : mailbox.history.filter(
        ({ id, type, message }) =>
          id > start && (types.length === 0 || types.includes(type)) && (!label || message.labelIds.has(label)),
      );
  const { page, next } = paged(wanted, query, 100);
  const shown = mailbox.reversesHistory ? page.toReversed() : page;
  const records = (mailbox.duplicatesHistory ? shown.flatMap((each) => [each, each]) : shown).map(recordJson);
  return json(200, {
    ...(records.length > 0 && { history: records }),
    ...(next !== null && { nextPageToken: next }),
    historyId: String(mailbox.isDeaf ? start : mailbox.historyId),
  });
}

const recordJson = ({ id, type, message }: HistoryRecord): object => {
  const brief = { id: message.id, threadId: message.threadId, labelIds: [...message.labelIds] };
  return {
    id: String(id),
    messages: [{ id: message.id, threadId: message.threadId }],
    ...(type === 'messageAdded' ? { messagesAdded: [{ message: brief }] } : { labelsAdded: [{ message: brief }] }),
  };
};

/** The supported part of Gmail's search: `in:inbox`, `after:<seconds>` and `rfc822msgid:`. Newest first. */
function listMessages(mailbox: StubMailbox, query: URLSearchParams): Answer {
  let found = [...mailbox.messages.values()].toReversed();
  for (const label of query.getAll('labelIds')) found = found.filter(({ labelIds }) => labelIds.has(label));
  for (const word of (query.get('q') ?? '').split(' ').filter((each) => each !== '')) {
    const [name, value] = splitOnce(word);
    if (name === 'in') found = found.filter(({ labelIds }) => labelIds.has(value.toUpperCase()));
    else if (name === 'after') found = found.filter(({ receivedAt }) => receivedAt >= Number(value) * 1_000);
    else if (name === 'rfc822msgid')
      found = found.filter(({ raw }) => headersOf(raw)['message-id']?.replaceAll(/[<>]/g, '') === value);
    else return googleError(400, 'invalidArgument', `the stub does not search for ${name}`);
  }
  const { page, next } = paged(found, query, 100);
  return json(200, {
    ...(page.length > 0 && { messages: page.map(({ id, threadId }) => ({ id, threadId })) }),
    ...(next !== null && { nextPageToken: next }),
    resultSizeEstimate: found.length,
  });
}

function splitOnce(word: string): [string, string] {
  const colon = word.indexOf(':');
  return colon === -1 ? [word, ''] : [word.slice(0, colon), word.slice(colon + 1)];
}

function paged<Each>(
  all: readonly Each[],
  query: URLSearchParams,
  usual: number,
): { page: Each[]; next: string | null } {
  const size = Math.min(500, Number(query.get('maxResults') ?? usual));
  const from = Number(query.get('pageToken') ?? 0);
  return { page: all.slice(from, from + size), next: from + size < all.length ? String(from + size) : null };
}

function getMessage(mailbox: StubMailbox, id: string, query: URLSearchParams): Answer {
  const message = mailbox.messages.get(id);
  if (!message) return notFound;
  return json(200, messageJson(message, query));
}

function getThread(mailbox: StubMailbox, id: string, query: URLSearchParams): Answer {
  const messages = [...mailbox.messages.values()].filter(({ threadId }) => threadId === id);
  if (messages.length === 0) return notFound;
  return json(200, { id, messages: messages.map((message) => messageJson(message, query)) });
}

function messageJson(message: StoredMail, query: URLSearchParams): object {
  const { id, threadId, labelIds, raw, receivedAt, historyId } = message;
  const brief = {
    id,
    threadId,
    labelIds: [...labelIds],
    internalDate: String(receivedAt),
    historyId: String(historyId),
    sizeEstimate: raw.length,
  };
  switch (query.get('format') ?? '') {
    case 'raw':
      return { ...brief, raw: Buffer.from(raw).toString('base64url') };
    case 'metadata': {
      const wanted = query.getAll('metadataHeaders').map((name) => name.toLowerCase());
      const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name.toLowerCase());
      return { ...brief, payload: { headers: headerLines(raw).filter(({ name }) => isWanted(name)) } };
    }
    default:
      return brief;
  }
}

function sendMessage(mailbox: StubMailbox, call: Call): Answer {
  const { raw, threadId } = sentIn(call);
  if (raw === null) return googleError(400, 'invalidArgument', "'raw' RFC822 payload message string is required");
  if (Buffer.byteLength(raw) > maxSendBytes) return googleError(413, 'uploadTooLarge', 'Request too large');
  const headers = headersOf(raw);
  if (!headers['to']?.includes('@')) return googleError(400, 'invalidArgument', 'Recipient address required');
  if (headers['from'] !== undefined && !headers['from'].toLowerCase().includes(mailbox.address))
    return googleError(400, 'invalidArgument', 'Invalid From header');
  if (threadId !== null && ![...mailbox.messages.values()].some((each) => each.threadId === threadId)) return notFound;
  const sent = mailbox.send(raw, threadId);
  return json(200, { id: sent.id, threadId: sent.threadId, labelIds: ['SENT'] });
}

/** As JSON with `raw`, or as an upload of JSON and mail in two parts. */
function sentIn({ headers, query, body }: Call): { raw: string | null; threadId: string | null } {
  const type = String(headers['content-type'] ?? '');
  if (query.get('uploadType') !== 'multipart') {
    const given = JSON.parse(body.toString()) as { raw?: string; threadId?: string };
    return {
      raw: given.raw === undefined ? null : Buffer.from(given.raw, 'base64url').toString(),
      threadId: given.threadId ?? null,
    };
  }
  const boundary = `--${/boundary="?([^";]+)/.exec(type)?.[1] ?? ''}`;
  const [, metadata = '', mail = ''] = body.toString().split(`${boundary}\r\n`);
  const content = (part: string): string => part.slice(part.indexOf('\r\n\r\n') + 4);
  const given = JSON.parse(content(metadata)) as { threadId?: string };
  const end = mail.lastIndexOf(`\r\n${boundary}--`);
  return {
    raw: content(end === -1 ? mail : mail.slice(0, end)) || null,
    threadId: given.threadId ?? null,
  };
}

function modifyMessage(mailbox: StubMailbox, id: string, call: Call): Answer {
  if (!mailbox.messages.has(id)) return notFound;
  const { addLabelIds = [], removeLabelIds = [] } = JSON.parse(call.body.toString()) as Record<string, string[]>;
  if (![...addLabelIds, ...removeLabelIds].every((label) => mailbox.labels.has(label)))
    return googleError(400, 'invalidArgument', 'Invalid label');
  const message = mailbox.modify(id, addLabelIds, removeLabelIds);
  return json(200, { id, threadId: message.threadId, labelIds: [...message.labelIds] });
}

function createLabel(mailbox: StubMailbox, call: Call): Answer {
  const { name = '' } = JSON.parse(call.body.toString()) as { name?: string };
  if ([...mailbox.labels.values()].includes(name)) return googleError(409, 'aborted', 'Label name exists or conflicts');
  const id = `Label_${mailbox.labels.size}`;
  mailbox.labels.set(id, name);
  return json(200, { id, name, type: 'user' });
}
