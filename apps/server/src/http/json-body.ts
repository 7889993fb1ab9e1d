import type { FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';

/** The contract's bound on a JSON body. */
export const mostBodyBytes = 1024 * 1024;
/** Deeper than any honest body; what is deeper would overflow the stack of whoever walks it. */
const deepest = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body. An empty one is no body. */
export function parseJsonBody(request: FastifyRequest, bytes: Buffer): unknown {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  if (bytes.length === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new ApiError('invalid_json', 'The body is not valid JSON in UTF-8.');
  }
  // Fastify takes null for no body at all, which is another thing.
  if (value === null) throw new ApiError('invalid_request', 'The body must be an object.');
  checkKeys(text);
  return value;
}

/**
 * Refuses what JSON.parse lets pass and no honest client sends: a key that stands twice in one object (readers disagree on
 * which counts), `__proto__`, and nesting without end. `text` is valid JSON, so only strings and brackets need be looked at.
 */
function checkKeys(text: string): void {
  const open: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
      case 0x5b: // [
        if (open.length === deepest) {
          throw new ApiError('invalid_json', `The body is nested deeper than ${deepest} levels.`);
        }
        open.push(text[i] === '{' ? new Set() : null);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        break;
      case 0x22: {
        const end = endOfString(text, i);
        const keys = open.at(-1);
        if (keys && isKey(text, end)) addKey(keys, text.slice(i, end));
        i = end - 1;
        break;
      }
      default:
    }
  }
}

function addKey(keys: Set<string>, literal: string): void {
  const key = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  const shown = JSON.stringify(key.slice(0, 64));
  if (key === '__proto__') throw new ApiError('invalid_request', `The field ${shown} is not allowed.`);
  if (keys.has(key)) throw new ApiError('invalid_request', `The field ${shown} is given twice.`);
  keys.add(key);
}

/** Index after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Whether the string that ends before `index` is followed by a colon. */
function isKey(text: string, index: number): boolean {
  let i = index;
  while (text.charCodeAt(i) <= 0x20) i += 1;
  return text[i] === ':';
}
