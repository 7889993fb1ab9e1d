import type { BigIntStats } from 'node:fs';
import type { Entry } from '@lodge/guest';
import { Refusal } from '../errors.ts';

export function entryOf(stat: BigIntStats): Entry {
  const { ino, size, mtimeNs, ctimeNs } = stat;
  return {
    type: typeOf(stat),
    size: Number(size),
    modifiedMs: Number(mtimeNs / 1_000_000n),
    mode: Number(stat.mode & 0o7777n),
    version: [ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-'),
  };
}

function typeOf(stat: BigIntStats): Entry['type'] {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'symlink' : 'other';
}

/** Whether what is there (null: nothing) is what a caller's `match` speaks of. */
export function checkMatch(match: string | null, entry: Entry | null): void {
  if (match === null) return;
  const fits = entry !== null && (match === '*' || match.split(',').includes(entry.version));
  if (!fits) throw new Refusal(412, 'another version is there');
}
