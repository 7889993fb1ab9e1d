import { Refusal } from '@lodge/domain';
import type { FastifyRequest } from 'fastify';
import type { AgentFile } from '@lodge/contract';
import type { Entry } from '@lodge/guest';

const longestBytes = 4096;
const longestNameBytes = 255;
const deepest = 100;

/** The path within the workspace that a request names; empty is the workspace itself. Decoded once, by the router. */
export function filePath({ params }: FastifyRequest): string {
  const { '*': path = '' } = params as { readonly '*'?: string };
  return namedPath(path);
}

/** A path within the workspace as its names make it. */
export function namedPath(path: string): string {
  const names = path.split('/').filter((name) => name !== '');
  const problem = problemOf(path, names);
  if (problem !== null) throw new Refusal('invalid_request', `path ${problem}.`);
  return names.join('/');
}

function problemOf(path: string, names: readonly string[]): string | null {
  if (path.includes('\0') || !path.isWellFormed()) return 'must not contain NUL or unpaired surrogates';
  if (names.some((name) => name === '.' || name === '..')) return 'must not contain . or ..';
  if (Buffer.byteLength(path) > longestBytes) return `must have at most ${longestBytes} bytes`;
  if (names.some((name) => Buffer.byteLength(name) > longestNameBytes)) {
    return `must have names of at most ${longestNameBytes} bytes`;
  }
  return names.length > deepest ? `must have at most ${deepest} names` : null;
}

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
