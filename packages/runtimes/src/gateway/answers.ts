/** Reads OpenAI's answers as far as all runtimes give them alike: events that add text, end an answer or report an error. */
import { asObject, textBounds } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { GatewayEvent, ReportedError, TurnApi, WholeAnswer } from '@lodge/ports';
import { readBlock } from './event-reader.ts';
import { parseJson } from './json.ts';
import type { Steps } from './steps.ts';

/** An event as read. Null when it is none of the API's; an error when the turn failed. */
export type ReadEvent = GatewayEvent | { readonly error: ReportedError } | null;

/** With `steps`, reports of the runtime's tools in a chat are events too. */
export const readEvent = (api: TurnApi, block: string, steps: Steps | null = null): ReadEvent =>
  api === 'responses' ? responseEvent(block) : chatEvent(block, steps);

/** Reads an event of a chat. Comments are events too, because they keep a silent stream alive. */
function chatEvent(block: string, steps: Steps | null): ReadEvent {
  const { data: text, otherLines } = readBlock(block);
  const event = { block, data: null, otherLines, text: '', isLast: text === '[DONE]' };
  if (event.isLast) return event;
  // Chunks have no name. Runtimes report their tools in named events, and clients would take those for chunks.
  const name = otherLines.find((line) => line.startsWith('event:'));
  if (name !== undefined && steps === null) return null;
  const data = text === null ? null : parseJson(text, textBounds.turnEvent);
  if (name !== undefined) return stepEvent(steps, name.slice('event:'.length).trim(), data);
  const error = asObject(data?.['error']);
  if (error) return { error: reportedError(error, null) };
  return { ...event, data, text: data === null ? '' : (textOf(firstChoice(data)?.['delta']) ?? '') };
}

function stepEvent(steps: Steps | null, name: string, data: Json | null): ReadEvent {
  const step = data === null ? null : (steps?.next(name, data) ?? null);
  return step && { block: '', data: null, otherLines: [], text: '', isLast: false, step };
}

/** Events after which nothing of a response follows. */
const lastOfResponse = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function responseEvent(block: string): ReadEvent {
  const { data: text, otherLines } = readBlock(block);
  const data = text === null ? null : parseJson(text, textBounds.turnEvent);
  if (data === null) return null;
  const type = typeof data['type'] === 'string' ? data['type'] : '';
  const error = type === 'error' ? data : asObject(asObject(data['response'])?.['error']);
  if (error) return { error: reportedError(error, null) };
  const delta = type === 'response.output_text.delta' ? data['delta'] : '';
  return {
    block,
    data,
    otherLines,
    text: typeof delta === 'string' ? delta : '',
    isLast: lastOfResponse.has(type),
  };
}

/** Reads an answer that did not stream. Null when the body is no JSON object. */
export function readWhole(api: TurnApi, text: string): WholeAnswer | { readonly error: ReportedError } | null {
  const body = parseJson(text, textBounds.turnAnswer);
  if (body === null) return null;
  const error = asObject(body['error']);
  if (error) return { error: reportedError(error, null) };
  return { body, text: api === 'responses' ? responseText(body) : (textOf(firstChoice(body)?.['message']) ?? '') };
}

const firstChoice = (body: Json): Json | null => {
  const choices = body['choices'];
  return Array.isArray(choices) ? asObject(choices[0]) : null;
};

function textOf(message: unknown): string | null {
  const content = asObject(message)?.['content'];
  return typeof content === 'string' ? content : null;
}

function responseText({ output }: Json): string {
  const items: readonly unknown[] = Array.isArray(output) ? output : [];
  const parts = items.flatMap((item): readonly unknown[] => {
    const content = asObject(item)?.['content'];
    return Array.isArray(content) ? content : [];
  });
  return parts.map((part) => outputText(part) ?? '').join('');
}

function outputText(given: unknown): string | null {
  const part = asObject(given);
  return part?.['type'] === 'output_text' && typeof part['text'] === 'string' ? part['text'] : null;
}

const maxTypeChars = 200;
const maxMessageChars = 8_192;

/** Reads an error. A failed response has a code where other errors have a type. */
export function reportedError(
  { type, code, message }: Json,
  status: number | null,
  retryAfterSeconds: number | null = null,
): ReportedError {
  const named = typeof type === 'string' && type !== 'error' ? type : code;
  return {
    status,
    type: typeof named === 'string' ? named.slice(0, maxTypeChars) : '',
    message: typeof message === 'string' ? message.slice(0, maxMessageChars) : '',
    retryAfterSeconds,
  };
}
