/** Replies that are streams of events: chats, responses, commands. They are not resumed, because they are carried out once. */
import { ConnectionError, errorOfEvent } from '../errors.ts';
import type { CallOptions } from '../options.ts';
import { eventsOf } from './events.ts';
import type { ServerEvent } from './events.ts';
import type { Call, Transport } from './transport.ts';

/**
 * The events of a reply. Throws a `ConnectionError` if it breaks off before an event for which `isLast` is true. Whoever stops
 * early cuts the connection, which ends what the request began.
 */
export async function* streamed(
  http: Transport,
  call: Call,
  options: CallOptions,
  isLast: (event: ServerEvent) => boolean,
): AsyncGenerator<ServerEvent & { readonly value: unknown }, void> {
  const headers = { ...call.headers, accept: 'text/event-stream' };
  const { reply, attempt } = await http.open({ ...call, headers }, options);
  if (!(reply.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
    attempt.end(true);
    throw new ConnectionError('The server did not reply with a stream of events.');
  }
  for await (const event of eventsOf(reply, attempt)) {
    const ends = isLast(event);
    const value = ends && event.data === '[DONE]' ? null : jsonOf(event.data);
    if (event.event === 'error' || isError(value)) throw errorOfEvent(value, reply.headers);
    yield { ...event, value };
    if (ends) return;
  }
  throw new ConnectionError('The stream broke off before its end.');
}

export function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ConnectionError('The server sent an event that is not JSON.', { cause });
  }
}

/** The body of an error, in a stream. A stream of responses has OpenAI's form of it. */
export function isError(value: unknown): value is { readonly error: object } {
  const { error } = (value ?? {}) as { readonly error?: unknown };
  return typeof error === 'object' && error !== null && 'code' in error && 'type' in error;
}
