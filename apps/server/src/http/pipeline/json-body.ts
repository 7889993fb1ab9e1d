import { Refusal } from '@lodge/domain';
import type { FastifyRequest } from 'fastify';

/** The contract's bound on a JSON body. */
export const maxBodyBytes = 1024 * 1024;
/** Deeper than any honest body; a deeper one would overflow the stack of a recursive reader. */
const deepest = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body. An empty one is no body. */
export function parseJsonBody(request: FastifyRequest, bytes: Buffer): unknown {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  if (bytes.length === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new Refusal('invalid_json', 'The body is not valid JSON in UTF-8.');
  }
  // Fastify takes null for a missing body, which is different.
  if (value === null) throw new Refusal('invalid_request', 'The body must be an object.');
  const escaped = escapedKeys(text);
  return escaped.length === 0 ? value : withKeys(text, escaped);
}

/** A key that is written with a backslash, and where: `text.slice(start, end)` is its literal. */
interface EscapedKey {
  readonly start: number;
  readonly end: number;
  readonly key: string;
}

/**
 * Refuses texts that JSON.parse accepts and no honest client sends: a duplicate key in one object (readers disagree on which
 * counts), `__proto__`, and unbounded nesting. `text` is valid JSON, so only strings and brackets matter. Returns the keys
 * that JSON.parse may have read wrong.
 */
function escapedKeys(text: string): EscapedKey[] {
  const open: (Set<string> | null)[] = [];
  const escaped: EscapedKey[] = [];
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
      case 0x5b: // [
        if (open.length === deepest) {
          throw new Refusal('invalid_json', `The body is nested deeper than ${deepest} levels.`);
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
        if (keys && isKey(text, end)) {
          const literal = text.slice(i, end);
          const key = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
          addKey(keys, key);
          // A key that looks like a placeholder gets its own placeholder.
          if (key.length !== end - i - 2 || key.startsWith(placeholder)) escaped.push({ start: i, end, key });
        }
        i = end - 1;
        break;
      }
      default:
    }
  }
  return escaped;
}

function addKey(keys: Set<string>, key: string): void {
  const shown = JSON.stringify(key.slice(0, 64));
  if (key === '__proto__') throw new Refusal('invalid_request', `The field ${shown} is not allowed.`);
  if (keys.has(key)) throw new Refusal('invalid_request', `The field ${shown} is given twice.`);
  keys.add(key);
}

/** A private-use character, which begins the placeholders of escaped keys. */
const placeholder = '\ue000';

/**
 * Reads the text with these keys unchanged. V8 (seen in Node 24.21) compares a key that is written with a backslash to the
 * keys of objects that it has read before by its raw characters: after `{"\\\\":1}` it reads `{"\\]":2}` as `{"\\\\":2}`,
 * whoever sent the first. So it gets keys without backslashes.
 */
function withKeys(text: string, escaped: readonly EscapedKey[]): unknown {
  const parts: string[] = [];
  let from = 0;
  for (const [index, { start, end }] of escaped.entries()) {
    parts.push(text.slice(from, start), `"${placeholder}${index}"`);
    from = end;
  }
  return restored(JSON.parse(parts.join('') + text.slice(from)), escaped);
}

function restored(value: unknown, escaped: readonly EscapedKey[]): unknown {
  if (Array.isArray(value)) return value.map((item) => restored(item, escaped));
  if (typeof value !== 'object' || value === null) return value;
  const keyOf = (key: string): string => (key.startsWith(placeholder) ? escaped[Number(key.slice(1))]!.key : key);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [keyOf(key), restored(item, escaped)]));
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
