/** A guest is not trusted: what it sends is checked before it is believed to have a shape. */
import { boundedJson, JsonBoundsError, textBounds } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import { GuestError } from './call.ts';
import {
  protocolVersion,
  type Entry,
  type EntryList,
  type ExecOutcome,
  type ExecResult,
  type GuestHealth,
  type LogChunk,
  type NamedEntry,
  type ProcessEnd,
  type WriteResult,
} from './protocol.ts';

export type Reply = Readonly<Record<string, unknown>>;

export function unexpected(): GuestError {
  return new GuestError(200, 'the guest sent a reply of another shape than the protocol has');
}

/** The one place where a guest's JSON is read. `what` names the text for the error. */
export function replyFrom(text: string | Uint8Array, what: string, bounds: JsonBounds = textBounds.guestReply): Reply {
  let value: unknown;
  try {
    value = boundedJson(text, bounds);
  } catch (error) {
    const fault = error instanceof JsonBoundsError ? error.message : 'something that is not JSON';
    throw new GuestError(200, `the guest answered ${what} with ${fault}`, { cause: error });
  }
  return objectFrom(value);
}

function objectFrom(value: unknown): Reply {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected();
  return value as Reply;
}

function numberIn(reply: Reply, key: string): number {
  const value = reply[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unexpected();
  return value;
}

/** A size, a time or a mode: what a guest says of a file is shown to users and made into headers. */
function countIn(reply: Reply, key: string): number {
  const value = numberIn(reply, key);
  if (!Number.isSafeInteger(value) || value < 0) throw unexpected();
  return value;
}

/** Null when an older daemon does not send it. */
function laterNumberIn(reply: Reply, key: string): number | null {
  return reply[key] === undefined || reply[key] === null ? null : numberIn(reply, key);
}

function stringIn(reply: Reply, key: string): string {
  const value = reply[key];
  if (typeof value !== 'string') throw unexpected();
  return value;
}

export function healthFrom(reply: Reply): GuestHealth {
  return {
    protocol: protocolVersion,
    uptimeSeconds: numberIn(reply, 'uptimeSeconds'),
    cpusOnline: numberIn(reply, 'cpusOnline'),
    memoryTotalMib: numberIn(reply, 'memoryTotalMib'),
    memoryAvailableMib: laterNumberIn(reply, 'memoryAvailableMib'),
    oomKills: laterNumberIn(reply, 'oomKills'),
    diskFreeMib: laterNumberIn(reply, 'diskFreeMib'),
    diskTotalMib: laterNumberIn(reply, 'diskTotalMib'),
  };
}

export function execResultFrom(reply: Reply): ExecResult {
  return { ...execOutcomeFrom(reply), stdout: stringIn(reply, 'stdout'), stderr: stringIn(reply, 'stderr') };
}

export function execOutcomeFrom(reply: Reply): ExecOutcome {
  return { ...endFrom(reply), timedOut: reply['timedOut'] === true, truncated: reply['truncated'] === true };
}

export function endFrom(reply: Reply): ProcessEnd {
  return {
    exitCode: reply['exitCode'] === null ? null : numberIn(reply, 'exitCode'),
    signal: reply['signal'] === null ? null : stringIn(reply, 'signal'),
  };
}

/** A text that is longer than was asked for is none of the protocol's: JSON may spend six bytes on a character. */
export function logChunkFrom(reply: Reply, limitBytes: number): LogChunk {
  const text = stringIn(reply, 'text');
  if (text.length > limitBytes) throw unexpected();
  return { text, nextOffset: numberIn(reply, 'nextOffset') };
}

const entryTypes = ['file', 'directory', 'symlink', 'other'] as const;

export function entryFrom(reply: Reply): Entry {
  const type = entryTypes.find((known) => known === reply['type']);
  const version = stringIn(reply, 'version');
  // It goes into headers.
  if (type === undefined || !/^[\w-]{1,100}$/.test(version)) throw unexpected();
  return {
    type,
    size: countIn(reply, 'size'),
    modifiedMs: modifiedFrom(reply),
    mode: countIn(reply, 'mode') & 0o7777,
    version,
  };
}

/** The agent may set any time, and one beyond what a date can hold must not fail whoever reads it. */
function modifiedFrom(reply: Reply): number {
  const latestMs = Date.UTC(9999, 11, 31);
  return Math.min(latestMs, Math.max(0, numberIn(reply, 'modifiedMs')));
}

export function entryListFrom(reply: Reply, limit: number): EntryList {
  const { entries, more } = reply;
  if (!Array.isArray(entries) || entries.length > limit || typeof more !== 'boolean') throw unexpected();
  return { entries: entries.map((entry) => namedEntryFrom(objectFrom(entry))), more };
}

function namedEntryFrom(reply: Reply): NamedEntry {
  const name = stringIn(reply, 'name');
  if (name === '' || name.includes('/') || name.includes('\0')) throw unexpected();
  return { name, ...entryFrom(reply), target: reply['target'] === null ? null : stringIn(reply, 'target') };
}

export function writeResultFrom(reply: Reply): WriteResult {
  return { created: reply['created'] === true, entry: entryFrom(objectFrom(reply['entry'])) };
}
