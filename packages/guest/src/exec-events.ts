import type { IncomingMessage } from 'node:http';
import { GuestError } from './call.ts';
import { execFrame, FrameReader, type Frame } from './frames.ts';
import type { ExecOutcome } from './protocol.ts';
import { execOutcomeFrom, replyFrom, unexpected } from './shape.ts';

export type ExecEvent =
  | { readonly kind: 'stdout' | 'stderr'; readonly bytes: Buffer }
  | { readonly kind: 'exit'; readonly outcome: ExecOutcome };

/** What a command's frames say, up to its end. Throws when they stop before it. */
export async function* execEvents(reply: IncomingMessage): AsyncGenerator<ExecEvent> {
  const reader = new FrameReader();
  try {
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      for (const frame of reader.push(chunk)) {
        const event = eventOf(frame);
        yield event;
        if (event.kind === 'exit') return;
      }
    }
  } catch (error) {
    if (error instanceof GuestError) throw error;
    throw new GuestError(null, `the guest's answer was cut off (${(error as Error).message})`, { cause: error });
  }
  throw new GuestError(null, "the guest's answer ended before the command's end");
}

function eventOf({ kind, payload }: Frame): ExecEvent {
  switch (kind) {
    case execFrame.stdout:
      return { kind: 'stdout', bytes: payload };
    case execFrame.stderr:
      return { kind: 'stderr', bytes: payload };
    case execFrame.exit:
      return { kind: 'exit', outcome: execOutcomeFrom(replyFrom(payload.toString(), 'POST /v1/exec/stream')) };
    default:
      throw unexpected();
  }
}
