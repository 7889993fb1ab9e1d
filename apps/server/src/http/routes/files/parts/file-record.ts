import type { AgentFile } from '@lodge/contract';
import type { Entry } from '@lodge/guest';

export function fileRecord(path: string, entry: Entry, target: string | null = null): AgentFile {
  return {
    object: 'file',
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    type: entry.type,
    size: entry.size,
    mode: entry.mode.toString(8).padStart(4, '0'),
    modified_at: new Date(entry.modifiedMs).toISOString(),
    etag: etagOf(entry),
    target: target?.toWellFormed() ?? null,
  };
}

export const etagOf = ({ version }: Entry): string => `"${version}"`;
