import { ConnectionError } from '../errors.ts';
import type { Attempt } from './attempt.ts';

/** Below this, and with a known length, a body is read at once. */
const smallBytes = 64 * 1024;

/** The whole body as text; refuses one longer than `maxBytes`. */
export async function readText(reply: Response, attempt: Attempt, maxBytes: number): Promise<string> {
  const length = Number(reply.headers.get('content-length') ?? Number.NaN);
  if (length <= Math.min(smallBytes, maxBytes) && !reply.headers.has('content-encoding')) return reply.text();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(reply, attempt)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ConnectionError(`The server's reply is longer than ${maxBytes} bytes.`);
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join('');
}

/** The chunks of a body as they come. Whoever stops early cuts the connection. */
export async function* chunksOf(reply: Response, attempt: Attempt): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const reader = reply.body?.getReader();
  let isWhole = false;
  try {
    for (;;) {
      const next = (await reader?.read()) ?? { done: true, value: undefined };
      attempt.touch();
      if (next.done) break;
      yield next.value as Uint8Array<ArrayBuffer>;
    }
    isWhole = true;
  } catch (error) {
    throw attempt.errorOf(error);
  } finally {
    attempt.end(!isWhole);
    if (!isWhole) void reader?.cancel().catch(() => undefined);
  }
}

/** The reply for whoever reads it by themselves, with the bound on its silence. */
export function wholeReply({ reply, attempt }: { readonly reply: Response; readonly attempt: Attempt }): Response {
  const { status, statusText, headers } = reply;
  if (reply.body === null) attempt.end();
  const body = reply.body === null ? null : streamOf(chunksOf(reply, attempt));
  return new Response(body, { status, statusText, headers });
}

/** A stream of what is generated. Cancelling it ends the generator. */
export const streamOf = (
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void>,
): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await chunks.return();
    },
  });
