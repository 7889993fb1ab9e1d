/** Jobs of the mail thread, as plain data. */
import type { HeadReading, MailReading } from './read-mail.ts';

export type MailJob =
  | { readonly kind: 'head'; readonly answer: Uint8Array; readonly mailbox: string }
  | { readonly kind: 'read'; readonly answer: Uint8Array; readonly mailbox: string }
  | { readonly kind: 'file'; readonly answer: Uint8Array; readonly index: number }
  | { readonly kind: 'html'; readonly text: string };

export interface MailResults {
  readonly head: HeadReading;
  readonly read: MailReading;
  readonly file: Uint8Array | null;
  readonly html: string;
}

export type MailResult = { readonly result: MailResults[MailJob['kind']] } | { readonly failed: true };

/** Memory that goes to the other thread without a copy: its former owner loses it. */
export function ownMemory(bytes: Uint8Array | null): ArrayBuffer[] {
  if (bytes === null) return [];
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && byteOffset === 0 && buffer.byteLength === byteLength ? [buffer] : [];
}
