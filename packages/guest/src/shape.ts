/** Checks the shape of a guest's JSON before it is used, because a guest is not trusted. */
import { boundedJson, JsonBoundsError, textBounds } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import { boolean, integer, listOf, matching, number, object, oneOf, optional } from '@lodge/domain/shapes';
import { orNull, picked, ShapeError, text } from '@lodge/domain/shapes';
import type { Shape } from '@lodge/domain/shapes';
import { GuestError } from './call.ts';
import {
  browserStatuses,
  maxBrowserHoldSeconds,
  protocolVersion,
  type BrowserState,
  type Entry,
  type EntryList,
  type ExecOutcome,
  type ExecResult,
  type GuestHealth,
  type LogChunk,
  type NamedEntry,
  type ProcessEnd,
  type UploadState,
  type WriteResult,
} from './protocol.ts';

export type Reply = Readonly<Record<string, unknown>>;

export function unexpected(cause?: Error): GuestError {
  return new GuestError(200, 'the guest sent a reply of another shape than the protocol has', { cause });
}

/** Parses a guest's JSON, in the one place that does. `what` names the text for the error. */
export function replyFrom(text: string | Uint8Array, what: string, bounds: JsonBounds = textBounds.guestReply): Reply {
  let value: unknown;
  try {
    value = boundedJson(text, bounds);
  } catch (error) {
    const fault = error instanceof JsonBoundsError ? error.message : 'something that is not JSON';
    throw new GuestError(200, `the guest answered ${what} with ${fault}`, { cause: error });
  }
  return read(object, value);
}

/** Reads a reply by its shape. */
function read<T>(shape: Shape<T>, reply: unknown): T {
  try {
    return shape(reply, 'the reply');
  } catch (error) {
    throw error instanceof ShapeError ? unexpected(error) : error;
  }
}

/** Text without a bound of its own, because a reply is bounded as a whole. */
const anyText = text(Infinity);
/** A size, a time or a mode. Users see these values, and headers contain them. */
const count = integer(0, Number.MAX_SAFE_INTEGER);
const isTrue: Shape<boolean> = (value) => value === true;

/** The daemon's health. An older daemon leaves some figures out. */
const health = picked({
  uptimeSeconds: number,
  cpusOnline: number,
  memoryTotalMib: number,
  memoryAvailableMib: optional(number),
  oomKills: optional(number),
  diskFreeMib: optional(number),
  diskTotalMib: optional(number),
});
const end = { exitCode: orNull(number), signal: orNull(anyText) };
const outcome = { ...end, timedOut: isTrue, truncated: isTrue };

export const healthFrom = (reply: Reply): GuestHealth => ({ protocol: protocolVersion, ...read(health, reply) });
export const execResultFrom = (reply: Reply): ExecResult =>
  read(picked({ ...outcome, stdout: anyText, stderr: anyText }), reply);
export const execOutcomeFrom = (reply: Reply): ExecOutcome => read(picked(outcome), reply);
export const endFrom = (reply: Reply): ProcessEnd => read(picked(end), reply);

/** Reads a piece of a log. A text longer than requested breaks the protocol. JSON may spend six bytes on a character. */
export const logChunkFrom = (reply: Reply, limitBytes: number): LogChunk =>
  read(picked({ text: text(limitBytes), nextOffset: number }), reply);

const entryFields = picked({
  type: oneOf('file', 'directory', 'symlink', 'other'),
  size: count,
  modifiedMs: number,
  mode: count,
  // The version goes into headers.
  version: matching(/^[\w-]{1,100}$/, 'the version of a file'),
});

/** Latest time of change. The agent may set any time, and one beyond a date's range must not fail the reader. */
const latestMs = Date.UTC(9999, 11, 31);

const entry: Shape<Entry> = (value, name) => {
  const { modifiedMs, mode, ...fields } = entryFields(value, name);
  return { ...fields, modifiedMs: Math.min(latestMs, Math.max(0, modifiedMs)), mode: mode & 0o7777 };
};

const names = picked({ name: matching(/^[^/\0]+$/, 'the name of a file'), target: orNull(anyText) });
const namedEntry: Shape<NamedEntry> = (value, name) => ({ ...names(value, name), ...entry(value, name) });

export const entryFrom = (reply: Reply): Entry => read(entry, reply);
export const entryListFrom = (reply: Reply, limit: number): EntryList =>
  read(picked({ entries: listOf(namedEntry, limit), more: boolean }), reply);
export const writeResultFrom = (reply: Reply): WriteResult => read(picked({ created: isTrue, entry }), reply);
export const uploadStateFrom = (reply: Reply): UploadState => read(picked({ size: count }), reply);

const browser = picked({
  status: oneOf(...browserStatuses),
  message: orNull(text(1_000)),
  heldForSeconds: orNull(integer(0, maxBrowserHoldSeconds)),
});
export const browserStateFrom = (reply: Reply): BrowserState => read(browser, reply);
export const browserAvailableFrom = (reply: Reply): { readonly available: boolean } =>
  read(picked({ available: boolean }), reply);
