import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { invalidRequest } from './call-error.ts';

interface Member {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/**
 * A JSON object that goes on as it came, but for the fields that are set, renamed or removed: every other byte stays, so
 * that what a provider caches, signs or counts by is what the guest wrote. A field that is there twice is refused: the
 * two sides might each take another of them.
 */
export class JsonBody {
  readonly text: string;
  readonly json: Json;
  readonly #members: readonly Member[];
  /** By the member's index: its new text, or null when it is left out. */
  readonly #edits = new Map<number, string | null>();
  readonly #added: string[] = [];

  constructor(bytes: Uint8Array) {
    const parsed = parse(bytes);
    this.text = parsed.text;
    this.json = parsed.json;
    this.#members = membersOf(this.text);
    if (new Set(this.#members.map(({ key }) => key)).size !== this.#members.length) {
      throw invalidRequest('duplicate_field', 'The body has a field twice.');
    }
  }

  set(key: string, value: unknown): void {
    const text = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
    const index = this.#indexOf(key);
    if (index === -1) this.#added.push(text);
    else this.#edits.set(index, text);
  }

  /** Does nothing when there is no such field. */
  rename(from: string, to: string): void {
    const index = this.#indexOf(from);
    if (index === -1) return;
    const { valueStart, end } = this.#members[index]!;
    const kept = `${JSON.stringify(to)}:${this.text.slice(valueStart, end)}`;
    this.#edits.set(index, this.json[to] === undefined ? kept : null);
  }

  remove(key: string): void {
    const index = this.#indexOf(key);
    if (index !== -1) this.#edits.set(index, null);
  }

  toString(): string {
    if (this.#edits.size === 0 && this.#added.length === 0) return this.text;
    const first = this.#members[0];
    const last = this.#members.at(-1);
    if (!first || !last) return `{${this.#added.join(',')}}`;
    let result = '';
    for (const [index, { start, end }] of this.#members.entries()) {
      const kept = this.#edits.has(index) ? this.#edits.get(index)! : this.text.slice(start, end);
      if (kept === null) continue;
      // The comma, and whatever space is around it, is the one before this member.
      if (result !== '') result += this.text.slice(this.#members[index - 1]!.end, start);
      result += kept;
    }
    const parts = [result, ...this.#added].filter((part) => part !== '');
    return this.text.slice(0, first.start) + parts.join(',') + this.text.slice(last.end);
  }

  #indexOf(key: string): number {
    return this.#members.findIndex((member) => member.key === key);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Uint8Array): { text: string; json: Json } {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw invalidRequest('invalid_json', 'The body is not valid JSON.');
  }
  const json = asObject(value);
  if (!json) throw invalidRequest('invalid_json', 'The body must be a JSON object.');
  return { text, json };
}

/** The members of the object that a text, which is valid JSON, is. */
function membersOf(text: string): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text[at] !== '}') {
    const keyEnd = stringEnd(text, at);
    const valueStart = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const end = valueEnd(text, valueStart);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, start: at, valueStart, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

const space = /[ \t\r\n]*/y;
const bracket = /["[\]{}]/g;
const scalar = /[^,}\]\s]*/y;

function skipSpace(text: string, at: number): number {
  space.lastIndex = at;
  space.test(text);
  return space.lastIndex;
}

function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
}

function valueEnd(text: string, start: number): number {
  const begin = text[start];
  if (begin === '"') return stringEnd(text, start);
  if (begin !== '{' && begin !== '[') {
    scalar.lastIndex = start;
    scalar.test(text);
    return scalar.lastIndex;
  }
  let depth = 0;
  bracket.lastIndex = start;
  for (let found = bracket.exec(text); found; found = bracket.exec(text)) {
    if (found[0] === '"') bracket.lastIndex = stringEnd(text, found.index);
    else depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
    if (depth === 0) return bracket.lastIndex;
  }
  return text.length;
}
