/** Failures as they cross the channel. Their messages are for the operator's log, at both ends. */
import { isJsonObject } from '@lodge/domain';
import type { VmDeath } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { VmErrorCode } from '@lodge/ports';

export interface SentError {
  /** Null: it is no error of a driver's own. */
  readonly code: VmErrorCode | null;
  readonly name: string;
  readonly message: string;
  /** See `VmError`. */
  readonly death?: VmDeath;
}

const maxNameCharacters = 64;
const maxMessageCharacters = 8192;

export function sentError(error: unknown): SentError {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  const { code, death } = error instanceof VmError ? error : { code: null, death: null };
  const short = { name: name.slice(0, maxNameCharacters), message: message.slice(0, maxMessageCharacters) };
  return { code, ...short, ...(death && { death }) };
}

/** An error from a machine host, which is trusted. */
export function receivedError({ code, name, message, death }: SentError): Error {
  if (code !== null) return new VmError(code, message, { death: death ?? null });
  const error = new Error(message);
  error.name = name;
  return error;
}

/** A control plane's error of a failed preparation, which may contain anything. */
export function untrustedError(value: unknown): Error {
  const { name, message } = isJsonObject(value) ? value : {};
  const error = new Error(typeof message === 'string' ? message.slice(0, maxMessageCharacters) : 'it did not say why');
  if (typeof name === 'string') error.name = name.slice(0, maxNameCharacters);
  return error;
}
