/** A JSON object of which only its members' places are known: what nobody asks for is never read. */
import { invalidRequest } from '../call/call-error.ts';
import { JsonFault, scanJson } from './scanner.ts';
import type { JsonBounds, JsonKind, JsonWatcher } from './scanner.ts';

export interface Member {
  /** Decoded. */
  readonly key: string;
  /** Its key is written with a backslash. */
  readonly escaped: boolean;
  readonly start: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly end: number;
  readonly kind: JsonKind;
}

/** A value that holds others, where a plain one was asked for. */
export const nested = Symbol('nested');
export type Scalar = string | number | boolean | null;

const maxMembers = 1000;
const maxKeyBytes = 256;
/** Texts that are looked at are names; a longer one is none. */
const maxTextBytes = 1024;
/** Objects within that are looked at: settings, with a schema perhaps. */
const maxObjectBytes = 256 * 1024;
const innerBounds: JsonBounds = { depth: 64, values: 20_000 };

/** Gathers the members of the root object while it is scanned. Throws an `invalidRequest` for what two readers could read differently. */
export class MemberWatcher implements JsonWatcher {
  readonly members: Member[] = [];
  readonly #keys = new Set<string>();
  #key: Pick<Member, 'key' | 'escaped' | 'start' | 'keyEnd'> | null = null;

  key(bytes: Uint8Array, depth: number, start: number, keyEnd: number, escaped: boolean): void {
    if (depth !== 1) return;
    if (keyEnd - start > maxKeyBytes)
      throw invalidRequest('invalid_json', 'The body has a field with too long a name.');
    const key = decode(bytes, start, keyEnd);
    if (this.#keys.has(key)) throw invalidRequest('duplicate_field', 'The body has a field twice.');
    if (this.#keys.size === maxMembers)
      throw invalidRequest('invalid_json', `The body has more than ${maxMembers} fields.`);
    this.#keys.add(key);
    this.#key = { key, escaped, start, keyEnd };
  }

  open(_depth: number, _start: number, _kind: 'object' | 'array'): void {}

  value(_bytes: Uint8Array, depth: number, valueStart: number, end: number, kind: JsonKind): void {
    if (depth === 1) this.members.push({ ...this.#key!, valueStart, end, kind });
  }

  /** The key of the member that is being read. */
  get under(): string | undefined {
    return this.#key?.key;
  }
}

/**
 * It goes on as it came, but for the fields that are set, renamed or removed: every other byte stays, so that what a
 * provider caches, signs or counts by is what the guest wrote. A key that was written with a backslash goes out plain: not
 * every reader decodes those right.
 */
export class JsonObject {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;
  readonly #members: readonly Member[];
  /** By the member's index: its new text, or null when it is left out. */
  readonly #edits = new Map<number, Buffer | null>();
  /** Pieces within members that are written otherwise, in the order of their places. */
  readonly #splices: { readonly start: number; readonly end: number; readonly text: Buffer }[] = [];
  readonly #added: Buffer[] = [];

  /** `bytes` from `start` to `end` is the object, and perhaps space around it. */
  constructor(bytes: Buffer, start: number, end: number, members: readonly Member[]) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.#members = members;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Undefined where there is no such field, `nested` for a list or an object. */
  value(key: string): Scalar | typeof nested | undefined {
    const member = this.#find(key);
    if (!member) return undefined;
    if (member.kind === 'object' || member.kind === 'array') return nested;
    const { valueStart, end } = member;
    if (end - valueStart > maxTextBytes) throw invalidRequest('field_too_large', `${key} is too long.`);
    return JSON.parse(this.#bytes.toString('utf8', valueStart, end)) as Scalar;
  }

  /** Null where the field is no object. */
  object(key: string): JsonObject | null {
    const member = this.#find(key);
    if (member?.kind !== 'object') return null;
    const { valueStart, end } = member;
    if (end - valueStart > maxObjectBytes) throw invalidRequest('field_too_large', `${key} is too large.`);
    const bytes = this.#bytes.subarray(valueStart, end);
    const watcher = new MemberWatcher();
    try {
      scanJson(bytes, innerBounds, watcher);
    } catch (error) {
      if (error instanceof JsonFault) throw invalidRequest('field_too_large', `${key} ${error.message}.`);
      throw error;
    }
    const escaped = watcher.members.find((inner) => inner.escaped);
    if (escaped) throw invalidRequest('invalid_json', `The fields of ${key} must be written without backslashes.`);
    return new JsonObject(bytes, 0, bytes.length, watcher.members);
  }

  set(key: string, value: unknown): void {
    this.#put(key, Buffer.from(`${JSON.stringify(key)}:${JSON.stringify(value)}`));
  }

  /** Sets a field to an object, as that is after its edits. */
  setObject(key: string, value: JsonObject): void {
    this.#put(key, Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), value.toBytes()]));
  }

  #put(key: string, text: Buffer): void {
    const index = this.#indexOf(key);
    if (index === -1) this.#added.push(text);
    else this.#edits.set(index, text);
  }

  /** Does nothing when there is no such field; one that is there by the new name already stays, and this one goes. */
  rename(from: string, to: string): void {
    const index = this.#indexOf(from);
    if (index === -1) return;
    if (this.#indexOf(to) !== -1) return this.remove(from);
    const { valueStart, end } = this.#members[index]!;
    const key = Buffer.from(`${JSON.stringify(to)}:`);
    this.#edits.set(index, Buffer.concat([key, this.#bytes.subarray(valueStart, end)]));
  }

  remove(key: string): void {
    const index = this.#indexOf(key);
    if (index !== -1) this.#edits.set(index, null);
  }

  /** Writes other text where a part of a member is. To be called in the order of the places. */
  splice(start: number, end: number, text: string): void {
    this.#splices.push({ start, end, text: Buffer.from(text) });
  }

  /** The same memory where nothing was edited. */
  toBytes(): Buffer {
    const first = this.#members[0];
    const last = this.#members.at(-1);
    if (!first || !last) return this.#whole();
    if (this.#edits.size === 0 && this.#added.length === 0 && this.#splices.length === 0 && !this.#hasEscapes()) {
      return this.#bytes.subarray(this.#start, this.#end);
    }
    const parts: Buffer[] = [this.#bytes.subarray(this.#start, first.start)];
    let isFirst = true;
    for (const [index, member] of this.#members.entries()) {
      const edit = this.#edits.get(index);
      if (edit === null) continue;
      // The comma, and whatever space is around it, is the one before this member.
      if (!isFirst) parts.push(this.#bytes.subarray(this.#members[index - 1]!.end, member.start));
      isFirst = false;
      if (edit) parts.push(edit);
      else this.#keep(member, parts);
    }
    for (const text of this.#added) {
      if (!isFirst) parts.push(comma);
      isFirst = false;
      parts.push(text);
    }
    parts.push(this.#bytes.subarray(last.end, this.#end));
    return Buffer.concat(parts);
  }

  #whole(): Buffer {
    if (this.#added.length === 0) return this.#bytes.subarray(this.#start, this.#end);
    return Buffer.from(`{${this.#added.join(',')}}`);
  }

  #hasEscapes(): boolean {
    return this.#members.some(({ escaped }) => escaped);
  }

  #keep({ key, escaped, start, keyEnd, end }: Member, parts: Buffer[]): void {
    let at = start;
    if (escaped) {
      parts.push(Buffer.from(JSON.stringify(key)));
      at = keyEnd;
    }
    for (const splice of this.#splices) {
      if (splice.start < at || splice.end > end) continue;
      parts.push(this.#bytes.subarray(at, splice.start), splice.text);
      at = splice.end;
    }
    parts.push(this.#bytes.subarray(at, end));
  }

  #find(key: string): Member | undefined {
    return this.#members[this.#indexOf(key)];
  }

  #indexOf(key: string): number {
    return this.#members.findIndex((member) => member.key === key);
  }
}

const comma = Buffer.from(',');

/**
 * A string by itself: V8 (seen in Node 24.21) compares a key with a backslash to keys that it has read before by its raw
 * characters, so a key must not be read as part of an object.
 */
export function decode(bytes: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}
