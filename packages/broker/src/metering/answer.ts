/** Reads what a provider answered: how much was used, whether it failed, and what must not go on as it is. */
import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { EventBlock } from '../wires/events.ts';
import type { Wire } from '../wires/wire.ts';
import type { Redact } from './redact.ts';
import type { TokenMeter } from './token-meter.ts';

/** A whole reply, or one event of a stream. */
export type AnswerKind = 'reply' | 'event';

export interface AnswerRead {
  /** A JSON object, or an event. */
  readonly isReadable: boolean;
  /** Nothing but the stream's end comes behind it. */
  readonly isLast: boolean;
  /** It is there because usage was asked for, and for nothing else. */
  readonly isUsageOnly: boolean;
  /** The bytes that go on: unchanged where they have no secret. */
  readonly clean: Uint8Array;
}

export function readAnswer(
  kind: AnswerKind,
  bytes: Buffer,
  wire: Wire,
  meter: TokenMeter,
  redact: Redact,
  parse: (text: string) => unknown = JSON.parse,
): AnswerRead {
  const block = new EventBlock(bytes);
  const clean = redact(block.text);
  const goesOn = clean === block.text ? bytes : Buffer.from(clean);
  let [isLast, isUsageOnly] = [false, false];
  let isReadable = kind === 'event';
  for (const data of kind === 'event' ? block.data : [block.text]) {
    const object = objectOf(data, parse);
    if (kind === 'event') isLast ||= wire.isLast(data, object);
    if (!object) continue;
    isReadable = true;
    meter.read(object);
    if (kind === 'event') isUsageOnly ||= wire.isUsageOnly(object);
  }
  return { isReadable, isLast, isUsageOnly, clean: goesOn };
}

function objectOf(text: string, parse: (text: string) => unknown): Json | null {
  try {
    return asObject(parse(text));
  } catch {
    return null;
  }
}

const small = 4096;
const large = 256 * 1024;
const manyValues = 5000;

/** Whether reading this may take more than a few milliseconds, so that it must run beside the event loop. */
export function isHeavy(bytes: Uint8Array): boolean {
  if (bytes.length <= small) return false;
  if (bytes.length > large) return true;
  let values = 0;
  // Each value but the first of a container has a comma before it; those within texts count too, which does no harm.
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values++;
  return values > manyValues;
}
