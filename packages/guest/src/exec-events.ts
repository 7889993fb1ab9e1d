import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { GuestError } from './call.ts';
import { execFrame, FrameReader, type Frame } from './frames.ts';
import type { ExecOutcome, ExecResult } from './protocol.ts';
import { execOutcomeFrom, replyFrom, unexpected } from './shape.ts';

export type ExecEvent =
  | { readonly kind: 'stdout' | 'stderr'; readonly bytes: Buffer }
  | { readonly kind: 'exit'; readonly outcome: ExecOutcome };

/**
 * Events that are yielded before other work of this thread gets a chance, because a guest may send a frame for each byte.
 */
const eventsAtOnce = 256;

/** Yields a command's events up to its end. Throws when they stop before it, or when a stream exceeds `maxOutputBytes`. */
export async function* execEvents(reply: IncomingMessage, maxOutputBytes: number): AsyncGenerator<ExecEvent> {
  const reader = new FrameReader();
  const left = { stdout: maxOutputBytes, stderr: maxOutputBytes };
  let yielded = 0;
  try {
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      for (const frame of reader.push(chunk)) {
        const event = eventOf(frame);
        if (event.kind !== 'exit' && (left[event.kind] -= event.bytes.length) < 0) throw unexpected();
        yield event;
        if (event.kind === 'exit') return;
        yielded += 1;
        if (yielded % eventsAtOnce === 0) await setImmediate();
      }
    }
  } catch (error) {
    if (error instanceof GuestError) throw error;
    throw new GuestError(null, `the guest's answer was cut off (${(error as Error).message})`, { cause: error });
  }
  throw new GuestError(null, "the guest's answer ended before the command's end");
}

/** Collects all of a command's output, which `events` bounds. */
export async function collectExec(events: AsyncIterable<ExecEvent>): Promise<ExecResult> {
  const decoders = { stdout: new StringDecoder(), stderr: new StringDecoder() };
  const texts = { stdout: '', stderr: '' };
  for await (const event of events) {
    if (event.kind !== 'exit') {
      texts[event.kind] += decoders[event.kind].write(event.bytes);
      continue;
    }
    const stdout = texts.stdout + decoders.stdout.end();
    const stderr = texts.stderr + decoders.stderr.end();
    return { ...event.outcome, stdout, stderr };
  }
  throw unexpected();
}

function eventOf({ kind, payload }: Frame): ExecEvent {
  switch (kind) {
    case execFrame.stdout:
    case execFrame.stderr:
      // A daemon has no reason to send an empty frame, and a hostile one could send them without end.
      if (payload.length === 0) throw unexpected();
      return { kind: kind === execFrame.stdout ? 'stdout' : 'stderr', bytes: payload };
    case execFrame.exit:
      return { kind: 'exit', outcome: execOutcomeFrom(replyFrom(payload, 'POST /v1/exec/stream')) };
    default:
      throw unexpected();
  }
}
