/** Conditional requests (RFC 9110, 13) and ranges (14) on files whose ETags are all strong. */
import { Refusal } from '@lodge/domain';
import type { IncomingHttpHeaders } from 'node:http';

const anything = '*';
const beyondAnyFile = 1e15 - 1;

/** Versions that a header lists: strong tags alone, or also those that are marked weak. */
function versionsOf(header: string, weak: boolean): string[] {
  const tags = header.matchAll(/(W\/)?"([^"]*)"/g);
  return [...tags].flatMap(([, isWeak, version = '']) => (isWeak === undefined || weak ? [version] : []));
}

/** `match` for the guest's daemon. A text that can be no version matches none. */
export function matchOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === anything) return anything;
  const versions = versionsOf(header, false).filter((version) => /^[\w-]+$/.test(version));
  return versions.length === 0 ? '-' : versions.join(',');
}

/** Conditions of a write. Refuses an `if-none-match` other than `*`. */
export function conditionsOf({ 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: IncomingHttpHeaders): {
  readonly match?: string;
  readonly absent?: boolean;
} {
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') {
    throw new Refusal('invalid_request', 'if-none-match must be * here: nothing may be there.');
  }
  const match = matchOf(ifMatch);
  return { ...(match !== undefined && { match }), ...(ifNoneMatch !== undefined && { absent: true }) };
}

export function ifMatchHolds(header: string | undefined, version: string): boolean {
  return header === undefined || header.trim() === anything || versionsOf(header, false).includes(version);
}

/** False: the client has this version already. */
export function ifNoneMatchHolds(header: string | undefined, version: string): boolean {
  if (header === undefined) return true;
  return header.trim() !== anything && !versionsOf(header, true).includes(version);
}

export interface WantedPart {
  readonly from: number;
  readonly to?: number;
  readonly version?: string;
}

/**
 * The one range of bytes that a request asks for; null for all: a malformed one, another unit or several ranges do not
 * count.
 */
export function partOf(range: string | undefined, ifRange: string | undefined): WantedPart | null {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  const version = ifRange === undefined ? {} : { version: versionsOf(ifRange, false)[0] ?? '-' };
  if (first !== '') return { from: Number(first), ...(last !== '' && { to: Number(last) }), ...version };
  // The last zero bytes are a range that no file has.
  return { from: Number(last) === 0 ? beyondAnyFile : -Number(last), ...version };
}
