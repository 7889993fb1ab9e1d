import { errorBody } from '@lodge/contract';
import type { ApiError } from '../errors.ts';
import { eventBlocks, readBlock } from './event-stream.ts';
import { connectionError, gatewayError } from './gateway.ts';
import type { GatewayFailure, GatewayReply } from './gateway.ts';

/** A whole answer is kept in memory while it is read: it is no longer than this. */
const mostAnswerBytes = 16 * 1024 * 1024;
const mostErrorBytes = 64 * 1024;

export type Json = { readonly [key: string]: unknown };

/** The gateway's reply if it is a good one; otherwise throws what the client is told. */
export async function checkedReply(reply: GatewayReply): Promise<GatewayReply> {
  if (reply.statusCode === 200) return reply;
  const retryAfter = reply.headers['retry-after'];
  const body = asObject(parseJson(await readText(reply, mostErrorBytes)));
  throw gatewayError({
    ...failureOf(asObject(body?.['error']) ?? {}),
    status: reply.statusCode,
    ...(typeof retryAfter === 'string' && /^\d+$/.test(retryAfter) && { retryAfter }),
  });
}

/** The answer of a turn that does not stream, as JSON text. */
export async function wholeAnswer(reply: GatewayReply, model: string): Promise<string> {
  const answer = await readAnswer(reply);
  const error = asObject(answer['error']);
  if (error) throw gatewayError(failureOf(error));
  return JSON.stringify({ ...answer, model });
}

/** The whole of an answer, an object. */
export async function readAnswer(reply: GatewayReply): Promise<Json> {
  const answer = asObject(parseJson(await readText(reply, mostAnswerBytes)));
  if (!answer) throw connectionError(new Error('the gateway answered with something that is not JSON'));
  return answer;
}

export interface AnswerEnd {
  readonly failed: (error: unknown) => ApiError;
  readonly flush: () => Promise<void>;
}

/**
 * The answer of a turn that streams, block by block as it comes, `model` replaced by the name that the client knows. Ends with `[DONE]`, or
 * with an error in OpenAI's shape; `failed` is told of it first. Before the end mark comes `flush`: a turn that has ended is
 * on the agent's disk. Never throws.
 */
export async function* answerBlocks(
  reply: Promise<GatewayReply>,
  model: string,
  { failed, flush }: AnswerEnd,
): AsyncGenerator<string> {
  try {
    const { body } = await reply;
    for await (const block of eventBlocks(body)) {
      const { data, rest } = readBlock(block);
      if (data === '[DONE]') {
        await flush();
        yield 'data: [DONE]\n\n';
        return;
      }
      // OpenAI's clients take any event of a chat for a chunk of it; Hermes tells of its tools in events of its own.
      if (rest.some((line) => line.startsWith('event:'))) continue;
      yield renamed(block, data, rest, model);
    }
    throw new Error('the stream ended without its end mark');
  } catch (error) {
    const { code, message } = failed(connectionError(error));
    yield `data: ${JSON.stringify(errorBody(code, message))}\n\n`;
  }
}

function renamed(block: string, data: string | null, rest: readonly string[], model: string): string {
  const chunk = data === null ? null : asObject(parseJson(data));
  const error = asObject(chunk?.['error']);
  if (error) throw gatewayError(failureOf(error));
  if (typeof chunk?.['model'] !== 'string') return `${block}\n\n`;
  return `${[...rest, `data: ${JSON.stringify({ ...chunk, model })}`].join('\n')}\n\n`;
}

async function readText({ body }: GatewayReply, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > mostBytes) throw new Error('the answer is too large');
      chunks.push(chunk);
    }
  } catch (error) {
    throw connectionError(error);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A response that failed has a code where other errors have a type. */
export const failureOf = ({ type, code, message }: Json): GatewayFailure => ({
  type: typeof type === 'string' && type !== 'error' ? type : typeof code === 'string' ? code : '',
  message: typeof message === 'string' ? message : '',
});

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const asObject = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
