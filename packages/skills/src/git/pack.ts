/**
 * Reads a pack: the objects that a server sends, some of them as differences to others. Every length is checked before memory
 * is taken for it. Source: gitformat-pack(5).
 */
import { SkillProblem } from '@lodge/domain';
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';

export interface GitObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag';
  readonly data: Buffer;
}

const mib = 2 ** 20;
const maxObjects = 50_000;
/** Unpacked bytes of all objects. */
const maxBytes = 64 * mib;

const types: Readonly<Record<number, GitObject['type']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const offsetDelta = 6;
const namedDelta = 7;

const broken = (): SkillProblem => new SkillProblem('the server sent a pack that cannot be read');

interface Delta {
  readonly at: number;
  readonly base: number | string;
  readonly change: Buffer;
}

/** Adds the objects of a pack by their names, which are computed: a server cannot give one a wrong name. */
export function readPack(pack: Uint8Array, objects: Map<string, GitObject>): void {
  new PackReader(Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength), objects).read();
}

class PackReader {
  readonly #pack: Buffer;
  readonly #objects: Map<string, GitObject>;
  readonly #byOffset = new Map<number, GitObject>();
  #left = maxBytes;
  #at = 12;

  constructor(pack: Buffer, objects: Map<string, GitObject>) {
    this.#pack = pack;
    this.#objects = objects;
  }

  read(): void {
    const pack = this.#pack;
    if (pack.length < 32 || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2) throw broken();
    const count = pack.readUInt32BE(8);
    if (count > maxObjects) throw new SkillProblem(`the repository has more than ${maxObjects} files and folders`);
    const deltas: Delta[] = [];
    for (let i = 0; i < count; i += 1) {
      const delta = this.#entry();
      if (delta !== null) deltas.push(delta);
    }
    this.#apply(deltas);
  }

  /** Reads an object, or the difference that waits for its base. */
  #entry(): Delta | null {
    const at = this.#at;
    const { type, size } = this.#head();
    const base = type === offsetDelta ? at - this.#offset() : type === namedDelta ? this.#name() : null;
    const data = this.#inflated(size);
    if (base !== null) return { at, base, change: data };
    const plain = types[type];
    if (plain === undefined) throw broken();
    this.#put(at, { type: plain, data });
    return null;
  }

  #byte(): number {
    const byte = this.#pack[this.#at];
    if (byte === undefined) throw broken();
    this.#at += 1;
    return byte;
  }

  #head(): { readonly type: number; readonly size: number } {
    let byte = this.#byte();
    const type = (byte >> 4) & 7;
    let size = byte & 15;
    for (let factor = 16; byte & 0x80; factor *= 128) {
      byte = this.#byte();
      size += (byte & 0x7f) * factor;
      if (size > maxBytes) throw tooLarge();
    }
    return { type, size };
  }

  #offset(): number {
    let byte = this.#byte();
    let offset = byte & 0x7f;
    while (byte & 0x80) {
      byte = this.#byte();
      offset = (offset + 1) * 128 + (byte & 0x7f);
      if (offset > this.#pack.length) throw broken();
    }
    return offset;
  }

  #name(): string {
    const name = this.#pack.subarray(this.#at, this.#at + 20);
    this.#at += 20;
    return name.toString('hex');
  }

  #inflated(size: number): Buffer {
    this.#take(size);
    try {
      const { buffer, engine } = inflateSync(this.#pack.subarray(this.#at), {
        maxOutputLength: size + 1,
        info: true,
      }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
      if (buffer.length !== size) throw broken();
      this.#at += engine.bytesWritten;
      return buffer;
    } catch (cause) {
      throw cause instanceof SkillProblem ? cause : broken();
    }
  }

  #take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw tooLarge();
  }

  #put(at: number, object: GitObject): void {
    const name = createHash('sha1').update(`${object.type} ${object.data.length}\0`).update(object.data).digest('hex');
    this.#byOffset.set(at, object);
    this.#objects.set(name, object);
  }

  /** A base may be a difference itself, so each round makes bases for the next. A usual pack takes one. */
  #apply(deltas: readonly Delta[]): void {
    let waiting = deltas;
    for (let round = 0; waiting.length > 0; round += 1) {
      const rest = waiting.filter(({ at, base, change }) => {
        const found = typeof base === 'number' ? this.#byOffset.get(base) : this.#objects.get(base);
        if (found !== undefined) this.#put(at, { type: found.type, data: this.#changed(found.data, change) });
        return found === undefined;
      });
      if (rest.length === waiting.length || round > 50) throw broken();
      waiting = rest;
    }
  }

  #changed(base: Buffer, change: Buffer): Buffer {
    let at = 0;
    const byte = (): number => {
      const value = change[at];
      if (value === undefined) throw broken();
      at += 1;
      return value;
    };
    const size = (): number => {
      let value = 0;
      for (let factor = 1, more = true; more; factor *= 128) {
        const next = byte();
        value += (next & 0x7f) * factor;
        if (value > maxBytes) throw tooLarge();
        more = (next & 0x80) !== 0;
      }
      return value;
    };
    const bits = (flags: number, first: number, count: number): number => {
      let value = 0;
      for (let i = 0; i < count; i += 1) if (flags & (first << i)) value += byte() * 256 ** i;
      return value;
    };
    if (size() !== base.length) throw broken();
    const result = Buffer.alloc(this.#sized(size()));
    let end = 0;
    while (at < change.length) {
      const flags = byte();
      const isCopy = (flags & 0x80) !== 0;
      const from = isCopy ? bits(flags, 1, 4) : at;
      const length = isCopy ? bits(flags, 16, 3) || 0x10000 : flags;
      const source = isCopy ? base : change;
      if (length === 0 || from + length > source.length || end + length > result.length) throw broken();
      source.copy(result, end, from, from + length);
      end += length;
      if (!isCopy) at += length;
    }
    if (end !== result.length) throw broken();
    return result;
  }

  #sized(bytes: number): number {
    this.#take(bytes);
    return bytes;
  }
}

const tooLarge = (): SkillProblem =>
  new SkillProblem(`what the server sent has more than ${maxBytes / mib} MiB: its repository is too large`);
