/** A page of a bucket's list (ListObjectsV2), read by a scan: nothing of it is taken for a document. */
import { BackupError } from '../../errors.ts';
import { maxPageEntries } from './settings.ts';

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  /** Ms since 1970 by the storage's clock; null where it tells none. */
  readonly writtenAt: number | null;
}

export interface ListingPage {
  readonly objects: readonly ListedObject[];
  /** Common prefixes, where a delimiter was asked for. */
  readonly folders: readonly string[];
  /** Where the next page begins; null: this is the last. */
  readonly next: string | null;
}

/** An entry has a key of 1,024 bytes at most, escaped, and some 300 bytes more. */
export const maxPageBytes = 4 * 2 ** 20;

export function readPage(body: Buffer, where: string): ListingPage {
  const text = body.toString('utf8');
  if (!text.includes('<ListBucketResult')) throw new BackupError(`The list of ${where} is none that can be read.`);
  const objects = elements(text, 'Contents').map((entry) => ({
    key: unescaped(first(entry, 'Key') ?? ''),
    bytes: numberOf(first(entry, 'Size')),
    writtenAt: timeOf(first(entry, 'LastModified')),
  }));
  const folders = elements(text, 'CommonPrefixes').map((entry) => unescaped(first(entry, 'Prefix') ?? ''));
  if (objects.length + folders.length > maxPageEntries)
    throw new BackupError(`The list of ${where} has too long a page.`);
  const isCut = first(text, 'IsTruncated') === 'true';
  const next = isCut ? unescaped(first(text, 'NextContinuationToken') ?? '') : null;
  if (next === '') throw new BackupError(`The list of ${where} is cut off without saying where it goes on.`);
  return { objects, folders, next };
}

function elements(text: string, name: string): string[] {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const found: string[] = [];
  for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at)) {
    const end = text.indexOf(close, at);
    if (end < 0 || found.length > maxPageEntries) break;
    found.push(text.slice(at + open.length, end));
    at = end + close.length;
  }
  return found;
}

function first(text: string, name: string): string | null {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const at = text.indexOf(open);
  const end = at < 0 ? -1 : text.indexOf(close, at);
  return end < 0 ? null : text.slice(at + open.length, end);
}

/** Names of ours have none of these. Others are passed over, so it is enough that no other name becomes one of ours. */
function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#34;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** 0 where it is none, which no file of ours has. */
function numberOf(text: string | null): number {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function timeOf(text: string | null): number | null {
  const at = text === null || text.length > 40 ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
