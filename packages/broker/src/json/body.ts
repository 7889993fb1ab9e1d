/**
 * A request's body, scanned while it arrives. When its last byte is in, what Lodge looks at has been found: the fields of
 * the root, the tools by kind, the roles to be renamed. The rest has only been counted.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { invalidRequest } from '../call/call-error.ts';
import { decode, JsonObject, MemberWatcher } from './object.ts';
import { JsonFault, JsonScanner, requestBounds } from './scanner.ts';
import type { JsonKind, TextWeight } from './scanner.ts';

/** A tool that a request offers to the model, as far as its kind tells. */
export interface OfferedTool {
  /** Its fields, decoded; null where it is no object. */
  readonly keys: readonly string[] | null;
  /** Null where it has none that is a text. */
  readonly type: string | null;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const maxTools = 1024;
const maxToolKeys = 32;
const maxDeveloperMessages = 4096;
/** A longer name is that of no kind and of no role. */
const maxNameBytes = 256;

class BodyWatcher extends MemberWatcher {
  readonly tools: OfferedTool[] = [];
  /** Where in `messages` the role is `developer`, in order. */
  readonly developerRoles: Span[] = [];
  #tool: { keys: string[]; type: string | null } | null = null;
  #itemKey = '';
  /** Whether the open value at the root is a list. */
  #isList = false;

  override key(bytes: Uint8Array, depth: number, start: number, end: number, escaped: boolean): void {
    super.key(bytes, depth, start, end, escaped);
    if (depth !== 3 || !this.#isWatched) return;
    if (end - start > maxNameBytes)
      throw invalidRequest('invalid_json', `${this.under} has a field with too long a name.`);
    if (escaped && this.under === 'tools') {
      // Nobody has cause to, and readers differ in what they make of it.
      throw invalidRequest('invalid_json', 'A field of a tool must be written without backslashes.');
    }
    this.#itemKey = decode(bytes, start, end);
    this.#addToolKey(this.#itemKey);
  }

  #addToolKey(key: string): void {
    if (!this.#tool) return;
    if (this.#tool.keys.includes(key)) throw invalidRequest('duplicate_field', 'A tool has a field twice.');
    if (this.#tool.keys.length === maxToolKeys) {
      throw invalidRequest('invalid_json', `A tool has more than ${maxToolKeys} fields.`);
    }
    this.#tool.keys.push(key);
  }

  override open(depth: number, _start: number, kind: 'object' | 'array'): void {
    if (depth === 1) this.#isList = kind === 'array';
    this.#tool = depth === 2 && kind === 'object' && this.#isWatched ? { keys: [], type: null } : this.#tool;
  }

  override value(bytes: Uint8Array, depth: number, start: number, end: number, kind: JsonKind): void {
    super.value(bytes, depth, start, end, kind);
    if (!this.#isWatched) return;
    if (depth === 2 && this.under === 'tools') this.#endTool();
    if (depth === 3 && kind === 'string' && end - start <= maxNameBytes) this.#nameIn(bytes, start, end);
  }

  #nameIn(bytes: Uint8Array, start: number, end: number): void {
    if (this.#tool && this.#itemKey === 'type') this.#tool.type = decode(bytes, start, end);
    if (this.under !== 'messages' || this.#itemKey !== 'role' || decode(bytes, start, end) !== 'developer') return;
    if (this.developerRoles.length === maxDeveloperMessages) {
      throw invalidRequest('invalid_json', `More than ${maxDeveloperMessages} messages are the developer's.`);
    }
    this.developerRoles.push({ start, end });
  }

  #endTool(): void {
    if (this.tools.length === maxTools)
      throw invalidRequest('invalid_json', `tools has more than ${maxTools} entries.`);
    this.tools.push(this.#tool ?? { keys: null, type: null });
    this.#tool = null;
  }

  get #isWatched(): boolean {
    return this.#isList && (this.under === 'tools' || this.under === 'messages');
  }
}

/** As it arrives: `add` what came, `scan` until there is nothing left to do, and at the end `end`. All three throw `CallError`s. */
export class ArrivingBody {
  readonly #watcher = new BodyWatcher();
  readonly #scanner = new JsonScanner(requestBounds, this.#watcher);
  readonly #hash: Hash = createHash('sha256');
  #bytes = Buffer.alloc(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Copies, so that many small pieces cost no more memory than their bytes. */
  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length, 4096));
      this.#bytes.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#size);
    this.#size = size;
  }

  /** Looks at no more than so many bytes. True when there are more. */
  scan(maxBytes: number): boolean {
    const from = this.#scanner.at;
    const to = Math.min(this.#size, from + maxBytes);
    this.#hash.update(this.#bytes.subarray(from, to));
    try {
      this.#scanner.scan(this.#bytes, to);
    } catch (error) {
      throw refused(error);
    }
    return to < this.#size;
  }

  /** The body, when all of it was scanned. */
  end(): JsonBody {
    const bytes = this.#bytes.subarray(0, this.#size);
    try {
      this.#scanner.end();
      if (!isUtf8(bytes)) throw new JsonFault();
    } catch (error) {
      throw refused(error);
    }
    return new JsonBody(bytes, this.#watcher, this.#scanner.weight, this.#hash.digest('base64url'));
  }
}

function refused(error: unknown): unknown {
  return error instanceof JsonFault ? invalidRequest('invalid_json', `The body ${error.message}.`) : error;
}

/** A whole body. */
export class JsonBody extends JsonObject {
  /** SHA-256 of the bytes as they came, base64url. */
  readonly digest: string;
  readonly tools: readonly OfferedTool[];
  readonly developerRoles: readonly Span[];
  readonly weight: TextWeight;
  /** As they came. */
  readonly bytes: Buffer;

  constructor(bytes: Buffer, watcher: BodyWatcher, weight: TextWeight, digest: string) {
    super(bytes, 0, bytes.length, watcher.members);
    this.bytes = bytes;
    this.tools = watcher.tools;
    this.developerRoles = watcher.developerRoles;
    this.weight = weight;
    this.digest = digest;
  }

  /** Scans a whole text. */
  static of(bytes: Uint8Array): JsonBody {
    const arriving = new ArrivingBody();
    arriving.add(bytes);
    arriving.scan(bytes.length);
    return arriving.end();
  }

  kind(key: string): JsonKind | undefined {
    return this.members.find((member) => member.key === key)?.kind;
  }

  /** Whether a field says anything: false, null, an empty text, list or object says nothing. */
  says(key: string): boolean {
    const member = this.members.find((candidate) => candidate.key === key);
    if (!member) return false;
    const { valueStart, end } = member;
    if (end - valueStart > emptyBytes) return true;
    return !/^(?:false|null|""|\[\s*\]|\{\s*\})$/.test(this.bytes.toString('latin1', valueStart, end));
  }

  /**
   * Refuses a field that differs from one of `names` in nothing but the size or the width of letters: some readers take it for
   * that one.
   */
  refuseOtherSpellings(names: readonly string[]): void {
    const known = new Set(names);
    const meant = new Map(names.map((name) => [plainSpelling(name), name]));
    for (const { key } of this.members) {
      const name = known.has(key) ? undefined : meant.get(plainSpelling(key));
      if (name !== undefined) throw invalidRequest('invalid_json', `The field ${name} must be spelled so.`);
    }
  }
}

const plainSpelling = (key: string): string => key.normalize('NFKC').toLowerCase();

const emptyBytes = 64;
