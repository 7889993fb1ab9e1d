/**
 * A bucket of an S3-compatible storage as a place for backups. An object is there whole or not at all, so a write needs no
 * second name. Whatever the storage answers is bounded here; that it is what was written, the seal tells.
 */
import { createHash } from 'node:crypto';
import { BackupError } from '../../errors.ts';
import { lockByName } from '../lock.ts';
import type { Place, PlaceEntry } from '../place.ts';
import { maxPageBytes, readPage } from './listing.ts';
import type { ListingPage } from './listing.ts';
import { S3Requests } from './requests.ts';
import type { S3Settings } from './settings.ts';

/** 100 million objects, 50 TB of chunks. A list without an end stops there. */
const maxPages = 100_000;

export class S3Place implements Place {
  readonly name: string;
  private readonly requests: S3Requests;
  private readonly settings: S3Settings;
  private readonly root: string;

  constructor(settings: S3Settings) {
    const { bucket, prefix } = settings;
    this.settings = settings;
    this.requests = new S3Requests(settings);
    this.root = prefix === '' ? '' : `${prefix}/`;
    this.name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  }

  where(path: string): string {
    return `${this.name}/${path}`;
  }

  /** Tells a wrong bucket, key or region before anything is read. */
  async prepare(): Promise<void> {
    await this.page(this.root, { 'max-keys': '1' });
  }

  async folders(): Promise<string[]> {
    const found: string[] = [];
    for await (const { folders } of this.pages(this.root, { delimiter: '/' })) {
      for (const each of folders) if (each.startsWith(this.root)) found.push(each.slice(this.root.length, -1));
    }
    return found;
  }

  async *list(folder: string): AsyncIterable<PlaceEntry> {
    const under = `${this.root}${folder}/`;
    const { freshMs } = this.requests.pace;
    for await (const { objects, at } of this.pages(under, {})) {
      for (const { key, bytes, writtenAt } of objects) {
        if (!key.startsWith(under)) continue;
        const isFresh = freshMs > 0 && (at === null || writtenAt === null || at - writtenAt < freshMs);
        yield { path: key.slice(under.length), bytes, isFresh };
      }
    }
  }

  async has(path: string): Promise<boolean> {
    const { found } = await this.requests.send({ method: 'HEAD', key: this.root + path, maxBytes: 0, verb: 'read' });
    return found;
  }

  async read(path: string, maxBytes: number): Promise<Buffer | null> {
    const { found, body } = await this.requests.send({ method: 'GET', key: this.root + path, maxBytes, verb: 'read' });
    return found ? body : null;
  }

  /** `durable`: it is read again, for a list that is not kept as it was written is no backup. */
  async write(path: string, bytes: Buffer, { durable }: { readonly durable: boolean }): Promise<void> {
    const body = bytes;
    await this.requests.send({ method: 'PUT', key: this.root + path, body, maxBytes: maxPageBytes, verb: 'write' });
    if (!durable) return;
    const kept = await this.read(path, bytes.length);
    const hash = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
    if (kept === null || hash(kept) !== hash(bytes)) {
      throw new BackupError(`${this.settings.endpoint} did not keep ${this.where(path)} as it was written.`);
    }
  }

  async remove(path: string): Promise<void> {
    await this.requests.send({ method: 'DELETE', key: this.root + path, maxBytes: maxPageBytes, verb: 'remove' });
  }

  /** What a storage has taken, it keeps. */
  async flush(): Promise<void> {}

  async lock(): Promise<() => void> {
    const name = createHash('sha256').update(`${this.settings.endpoint} ${this.name}`).digest('hex').slice(0, 32);
    return lockByName(name, this.name);
  }

  private async *pages(
    prefix: string,
    query: Readonly<Record<string, string>>,
  ): AsyncIterable<ListingPage & { readonly at: number | null }> {
    let from: string | null = null;
    for (let count = 0; count < maxPages; count += 1) {
      const page: ListingPage & { readonly at: number | null } = await this.page(prefix, {
        ...query,
        'max-keys': String(this.requests.pace.pageEntries),
        ...(from !== null && { 'continuation-token': from }),
      });
      yield page;
      if (page.next === null) return;
      if (page.next === from) break;
      from = page.next;
    }
    throw new BackupError(`The list of ${this.name} has no end.`);
  }

  private async page(
    prefix: string,
    query: Readonly<Record<string, string>>,
  ): Promise<ListingPage & { readonly at: number | null }> {
    const whole = { 'list-type': '2', prefix, ...query };
    const { found, body, at } = await this.requests.send({
      method: 'GET',
      key: '',
      query: whole,
      maxBytes: maxPageBytes,
      verb: 'list',
    });
    if (!found) throw new BackupError(`The list of ${this.name} cannot be had.`);
    return { ...readPage(body, this.name), at };
  }
}
